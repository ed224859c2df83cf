"""How many tokens a text costs, for whoever shows one."""

from cm_tui.engine.context.budget import tokens

__all__ = ["tokens"]
