"""Sessions of agents beyond what one engine answers: of all projects on this machine, and what of them is not understood.

Everything is imported when it is called: the command line imports this module before it knows what is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cm_tui.model import AllImports, Page, UnknownRecord


def all_projects(agents: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> AllImports:
    """Return the projects on this machine that sessions are of and that have a repository; nothing is recorded.

    Args:
        agents: only their sessions; none: all.
        environment: where the agents keep their transcripts, by the names of their own variables.

    Raises:
        UsageError: there is no importer for an agent.
        ConfigError: nobody knows which folders are never recorded.
    """
    from cm_tui.engine.importers.all_projects import all_projects as found

    return found(agents, environment)


def unknown_records(root: Path) -> Page[UnknownRecord]:
    """Return the records of transcripts that are not understood and were kept, of one project, the last one first.

    Args:
        root: of its checkout.

    Raises:
        RefusedError: git's data cannot be opened.
        StoreError: the journal cannot be read.
    """
    from cm_tui.engine.importers.unknown import unknown_in
    from cm_tui.engine.journal.journal import Journal
    from cm_tui.model import Page

    rows = tuple(unknown_in(Journal.of(root)))[::-1]
    return Page(rows, len(rows))
