"""Saving the transcripts of all projects on this machine before their agents delete them."""

from cm_tui.engine.memory.importers.rescue import plan as rescue_plan
from cm_tui.engine.memory.importers.rescue import refused, rescue

__all__ = ["refused", "rescue", "rescue_plan"]
