"""Saving the transcripts of all projects on this machine before their agents delete them.

Imports are local: the command line imports this module before it knows the command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cm_tui.model import Cancel, Progress, RescuePlan


def rescue_plan(environment: Mapping[str, str], root: Path | None = None) -> RescuePlan:
    """Return what a rescue would copy, by names, sizes and times of files; writes nothing.

    `environment`: the agents' own variables, which locate their transcripts. `root`: of a project; only its
    transcripts. None: those of all projects. Raises RefusedError if git's data cannot be opened.
    """
    from cm_tui.engine.memory.importers.rescue import plan

    return plan(environment, root)


def rescue(environment: Mapping[str, str], root: Path | None, cancel: Cancel) -> Iterator[Progress]:
    """Copy new and changed transcripts; the last step carries the summary as `rescued`.

    `environment`: as for `rescue_plan`. `root`: as for `rescue_plan`. `cancel`: set to stop; finished copies are kept.
    Raises StoreError if the folder of the copies cannot be used, or another rescue is running; ConfigError if the list
    of folders that are never recorded cannot be read; CancelledError if it was cancelled.
    """
    from cm_tui.engine.memory.importers.rescue import rescue as steps

    yield from steps(environment, root, cancel)
