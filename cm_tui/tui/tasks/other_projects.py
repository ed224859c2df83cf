"""Engines of other projects, for as long as something is read from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.engine.api import projects

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


@contextmanager
def engine_at(own: Engine, own_root: Path, root: Path) -> Iterator[Engine]:
    """Hold the engine of a root: the open one for its own project, else one that is closed afterwards.

    Args:
        own: the engine that is open.
        own_root: of its project.
        root: of the project that is asked.

    Raises:
        CmError: the project cannot be opened.
    """
    if projects.locate(root)[1] == projects.locate(own_root)[1]:
        yield own
        return
    from cm_tui.daemon.open_engine import open_engine

    with closing(open_engine(root)) as engine:
        yield engine
