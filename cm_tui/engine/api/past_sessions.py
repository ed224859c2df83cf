"""Agents' sessions of all projects on this machine, and their unreadable records."""

from __future__ import annotations

from pathlib import Path

from cm_tui import model
from cm_tui.engine.memory.importers.plan import all_projects
from cm_tui.engine.memory.importers.unknown import unknown_in
from cm_tui.engine.platform.journal.journal import Journal

__all__ = ["all_projects", "unknown_records"]


def unknown_records(root: Path) -> model.Page[model.UnknownRecord]:
    """Return a project's transcript records of unknown kinds, which were saved, the last one first.

    Raises RefusedError if git's data cannot be opened; StoreError if the journal cannot be read.
    """
    rows = tuple(unknown_in(Journal.of(root)))[::-1]
    return model.Page(rows, len(rows))
