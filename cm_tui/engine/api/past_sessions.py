"""Agents' sessions of all projects on this machine, and their unreadable records.

Imports are local: the command line imports this module before it knows the command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cm_tui.model import AllImports, Page, UnknownRecord


def all_projects(agents: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> AllImports:
    """Return the projects on this machine that have sessions and a repository; records nothing.

    `agents`: only their sessions; empty: all agents. `environment`: the agents' own variables, which locate their
    transcripts. Raises UsageError if there is no importer for an agent; ConfigError if the list of folders that are
    never recorded cannot be read.
    """
    from cm_tui.engine.memory.importers.all_projects import all_projects as found

    return found(agents, environment)


def unknown_records(root: Path) -> Page[UnknownRecord]:
    """Return a project's transcript records of unknown kinds, which were saved, the last one first.

    Raises RefusedError if git's data cannot be opened; StoreError if the journal cannot be read.
    """
    from cm_tui.engine.memory.importers.unknown import unknown_in
    from cm_tui.engine.platform.journal.journal import Journal
    from cm_tui.model import Page

    rows = tuple(unknown_in(Journal.of(root)))[::-1]
    return Page(rows, len(rows))
