"""Backups: what cannot be made again of projects, in one compressed file for another machine or a container."""

from cm_tui.engine.backup.make import Chosen, make
from cm_tui.engine.backup.restore import Wish, look_at, restore

__all__ = ["Chosen", "Wish", "look_at", "make", "restore"]
