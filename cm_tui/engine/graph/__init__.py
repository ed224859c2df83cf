"""Symbols and the ways between them: who calls what, and who imports whom."""

from cm_tui.engine.graph.graph import CALLS, Graph

__all__ = ["CALLS", "Graph"]
