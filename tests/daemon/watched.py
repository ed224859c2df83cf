"""An engine that is watched: each method changes on disk only what it has declared to write."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.needs import Written, declaration_of

AREAS: tuple[tuple[str, Written | None], ...] = (
    # What follows from the rest: the index, which any question brings up to what was recorded, positions, locks, the log.
    (r"home/data/projects/|.*/lock$|.*\.lock$|.*\.cm-new$|home/state/(last-texts|hook|follow)/|home/state/daemon\.log", None),
    (r"home/data/journal/[^/]+/(ingestion/cursor-|imports/)|home/data/note-changes/|home/data/(links|journal/roots)\.json$|project/\.cm/\.gitignore$", None),
    (r"home/data/journal/[^/]+/assemblies/|home/data/recalls/", "log"),
    (r"home/data/(journal|entries|notes)/|project/\.cm/(memory\.json$|memory/|notes/)|project/[^/]+\.md$", "memory"),
    (r"project/\.cm/marks\.json$", "marks"),
    (r"project/\.cm/(schemas|retrieval|rules|ingestion)/", "definitions"),
    (r"project/\.cm/(profiles/|config\.toml$)", "settings"),
)  # fmt: skip
"""Which area a file belongs to, by its place; the first that fits counts."""


class Watched:
    """Stands for an engine, and fails when a method changes what it has not declared to write.

    Args:
        engine: straight to the store.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._engine, name)
        return partial(self._watch, name, found) if callable(found) and not name.startswith("_") else found

    def _watch(self, name: str, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        before = dict(self._files())
        try:
            result = method(*args, **kwargs)
            return iter(list(result)) if isinstance(result, Iterator) else result
        finally:
            after = dict(self._files())
            files = {file for file in before.keys() | after if before.get(file) != after.get(file)}
            changed = {area_of(file) for file in files} - {None}
            declared = set(declaration_of(getattr(Engine, name)).writes)
            assert changed <= declared, f"{name} writes {changed} without saying so: {sorted(files)}"

    def _files(self) -> Iterator[tuple[str, tuple[int, int, int]]]:
        """Files of the home and the project, with what differs after a change."""
        left_out = str(paths.data_dir() / "projects")
        for name, top in (("home", os.environ["CM_HOME"]), ("project", str(self._engine.root))):
            for folder, below, files in os.walk(top):
                below[:] = [one for one in below if one != ".git" and f"{folder}/{one}" != left_out]
                for file in files:
                    with suppress(OSError):
                        state = os.stat(f"{folder}/{file}")  # noqa: PTH116 - twice a call, of each file
                        yield f"{name}{folder[len(top) :]}/{file}", (state.st_mtime_ns, state.st_size, state.st_ino)


def area_of(file: str) -> Written | None:
    """Return what a changed file belongs to; None for what follows from the rest."""
    for pattern, area in AREAS:
        if re.match(pattern, file):
            return area
    raise AssertionError(f"{file} belongs to no area: say in AREAS what has been written when it changes")
