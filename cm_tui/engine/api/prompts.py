"""Prompt policy: whether a prompt is worth a query, and whether it was answered just now."""

from cm_tui.engine.search.ranking.prompt_policy import FindNames, Recent, Verdict, classify

__all__ = ["FindNames", "Recent", "Verdict", "classify"]
