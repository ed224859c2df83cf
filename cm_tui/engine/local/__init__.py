"""The engine that goes straight to a project's store, one class a room."""

from cm_tui.engine.local.engine import LocalEngine

__all__ = ["LocalEngine"]
