"""Token cost of a text, and an entry as agents receive it."""

from cm_tui.engine.context.packs.budget import tokens
from cm_tui.engine.context.packs.injection import line_of

__all__ = ["line_of", "tokens"]
