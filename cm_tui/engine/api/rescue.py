"""Keeping the transcripts of all projects on this machine before their agents delete them.

Everything is imported when it is called: the command line imports this module before it knows what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cm_tui.model import Cancel, Progress, RescuePlan


def rescue_plan(environment: Mapping[str, str], root: Path | None = None) -> RescuePlan:
    """Return what a rescue would copy, by names, sizes and times of files; nothing is written.

    Args:
        environment: where the agents keep their transcripts, by the names of their own variables.
        root: of a project; only its transcripts. None: those of all projects.

    Raises:
        RefusedError: git's data cannot be opened.
    """
    from cm_tui.engine.importers.rescue import plan

    return plan(environment, root)


def rescue(environment: Mapping[str, str], root: Path | None, cancel: Cancel) -> Iterator[Progress]:
    """Copy the transcripts that are new or changed; the last step carries the summary as `rescued`.

    Args:
        environment: as for `rescue_plan`.
        root: as for `rescue_plan`.
        cancel: says when to stop; what was copied so far is kept.

    Raises:
        StoreError: the folder of the copies cannot be used, or another rescue goes on.
        ConfigError: the folders that are never recorded cannot be read.
        CancelledError: someone asked.
    """
    from cm_tui.engine.importers.rescue import rescue as steps

    yield from steps(environment, root, cancel)
