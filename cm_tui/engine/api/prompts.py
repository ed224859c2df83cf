"""What the engine decides about prompts: whether one is worth a question, and whether it was answered just now."""

from cm_tui.engine.context.prompt_policy import FindNames, Recent, Verdict, classify

__all__ = ["FindNames", "Recent", "Verdict", "classify"]
