"""One project's engine, in this process: its rooms, and how it is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from cm_tui.config import load_config
from cm_tui.engine.api import projects
from cm_tui.engine.local.assembly import LocalAssembly
from cm_tui.engine.local.curation import LocalCuration
from cm_tui.engine.local.definitions import LocalDefinitions
from cm_tui.engine.local.history import LocalHistory
from cm_tui.engine.local.imports import LocalImports
from cm_tui.engine.local.ingestion import LocalIngestion
from cm_tui.engine.local.narrator import LocalNarrator
from cm_tui.engine.local.recalls import LocalRecalls
from cm_tui.engine.local.rooms import ExternalLayers
from cm_tui.engine.local.stale import LocalStale
from cm_tui.engine.local.tuning import LocalTuning


class LocalEngine(
    LocalAssembly,
    LocalIngestion,
    LocalDefinitions,
    LocalTuning,
    LocalHistory,
    LocalNarrator,
    LocalStale,
    LocalCuration,
    LocalRecalls,
    LocalImports,
):
    """The engine to one project on this machine; each method hands on to the room that knows."""

    @classmethod
    def open(
        cls, folder: Path | None = None, *, force: bool = False, external_layers: ExternalLayers = lambda _: ()
    ) -> Self:
        """Open the project around a folder (the current one when not given).

        Args:
            folder: a folder or file of it.
            force: insist on a root that is refused as unsafe.
            external_layers: gives the state of what keeps a root fresh from outside, such as git hooks.

        Raises:
            RefusedError: the root is unsafe and `force` is not set.
            NotFoundError: there is no such folder.
            CmError: its store or settings cannot be read.
        """
        root, store = projects.locate(folder, force=force)
        return cls(root, store, load_config(root), external_layers)

    @classmethod
    def open_empty(cls, folder: Path | None = None) -> Self:
        """Open the project with an empty store: what was there, whole or damaged, is thrown away."""
        root, store = projects.locate(folder)
        config = load_config(root)
        projects.begin_rebuild(root, store)
        return cls(root, store, config)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
