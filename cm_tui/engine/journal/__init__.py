"""The journal: what happened, one event a line, never changed afterwards but by an erasure."""

from cm_tui.engine.journal.event import Event, Position, Problem
from cm_tui.engine.journal.journal import START, Journal

__all__ = ["START", "Event", "Journal", "Position", "Problem"]
