"""Projects that are indexed once in a process: each test gets them back as they were, at the same place.

A store belongs to the folder it was made from. Put back where it was, a copy needs no new index run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.notes import scan
from cm_tui.engine.platform.git import checkout_links
from cm_tui.engine.platform.git.identity import claimed

Fill = Callable[[Engine], None]
"""Puts into a new project what the template holds."""


def index(engine: Engine) -> None:
    """Index the project."""
    for _ in engine.index():
        pass


def index_with_history(engine: Engine) -> None:
    """Index the project and read its whole history."""
    index(engine)
    for _ in engine.backfill():
        pass


class Template:
    """A git repository at `folder/project`, and beside it `folder/home` with its store.

    Args:
        folder: an empty folder for both, and for the copy they are put back from.
        make: makes the repository at a path.
        fill: puts into the store what tests find there; None leaves the project without one.
    """

    def __init__(self, folder: Path, make: Callable[[Path], object], fill: Fill | None = index) -> None:
        self.root = folder / "project"
        self.home = folder / "home"
        self._kept = folder / "kept"
        make(self.root)
        self.home.mkdir()
        if fill is not None:
            with mock.patch.dict(os.environ, CM_HOME=str(self.home)), Engine.open(self.root) as engine:
                fill(engine)
        self.keep()

    def keep(self) -> None:
        """Have the project and its store put back as they are now."""
        shutil.rmtree(self._kept, ignore_errors=True)
        self._kept.mkdir()
        for one in (self.root, self.home):
            shutil.copytree(one, self._kept / one.name, symlinks=True)

    def put_back(self, home: Path | None = None) -> Path:
        """Put the repository and its store back as they were; return its root.

        Args:
            home: takes the store in place of `self.home`. `CM_HOME` has to be where the store is.
        """
        # The system tells of changes a while after they were made.
        scan.forget(self.root)
        for name, place in (("project", self.root), ("home", home or self.home)):
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(self._kept / name, place, symlinks=True)
        link(self.root, home or self.home)
        return self.root


def link(root: Path, home: Path) -> None:
    """Link a copied project to the copied store, as its owner would: a copied git folder is another one."""
    with mock.patch.dict(os.environ, CM_HOME=str(home)):
        found = claimed(root)
        checkout_links.link(found.text, found.name, root)
