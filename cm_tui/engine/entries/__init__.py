"""Entries: what people and agents wrote down to be remembered, in a file of the user and one of each project."""

from cm_tui.engine.entries.entries import Entries
from cm_tui.engine.entries.entry_text import Author

__all__ = ["Author", "Entries"]
