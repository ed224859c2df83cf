"""Whether anything may be recorded: pauses, sessions and folders that never are, and what a pause left behind."""

from cm_tui.engine.recording.gate import PastGate, why_not, without_never_recorded
from cm_tui.engine.recording.pauses import Pause

__all__ = ["PastGate", "Pause", "why_not", "without_never_recorded"]
