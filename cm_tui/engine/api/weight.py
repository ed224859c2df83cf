"""How many tokens a text costs, and an entry as it is given to agents: for whoever shows either."""

from cm_tui.engine.context.budget import tokens
from cm_tui.engine.context.entry_line import line_of

__all__ = ["line_of", "tokens"]
