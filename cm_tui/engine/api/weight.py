"""Token cost of a text, and an entry as agents receive it."""

from cm_tui.engine.context.budget import tokens
from cm_tui.engine.context.entry_line import line_of

__all__ = ["line_of", "tokens"]
