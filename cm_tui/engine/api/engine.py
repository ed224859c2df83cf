"""The engine for all front ends: one class, whose public methods are the interface."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

from cm_tui.engine.api import projects, worktree_stores
from cm_tui.engine.api.assembly import AssemblyMethods, DefinitionMethods
from cm_tui.engine.api.erasure import ErasureMethods
from cm_tui.engine.api.imports import ImportMethods
from cm_tui.engine.api.narrator import NarratorMethods
from cm_tui.engine.api.stale import StaleMethods

if TYPE_CHECKING:
    from cm_tui.engine.api.engine_base import ExternalLayers


class Engine(
    AssemblyMethods,
    DefinitionMethods,
    NarratorMethods,
    StaleMethods,
    ImportMethods,
    ErasureMethods,
):
    """One project's engine; all paths are relative to the project's root, with `/`.

    Public methods are requests (`@needs`), which the daemon answers as well, or belong to this process (`@in_process`).
    """

    @classmethod
    def open(
        cls, folder: Path | None = None, *, force: bool = False, external_layers: ExternalLayers = lambda _: ()
    ) -> Self:
        """Open the project around a folder (the current one when not given), in this process.

        `force`: accept a root that is refused as unsafe; `external_layers`: returns the state of what keeps a root
        fresh from outside, such as git hooks. Raises RefusedError if the root is unsafe and `force` is not set;
        NotFoundError if there is no such folder; CmError if its store or settings cannot be read.
        """
        from cm_tui.config import load_config

        root, store = projects.locate(folder, force=force)
        store = worktree_stores.own_store(root, store, projects.remove_store)
        return cls(root, store, load_config(root), external_layers)

    @classmethod
    def open_empty(cls, folder: Path | None = None) -> Self:
        """Open the project with an empty store; the previous one, valid or damaged, is deleted."""
        from cm_tui.config import load_config

        root, store = projects.locate(folder)
        store = worktree_stores.own_store(root, store, projects.remove_store)
        config = load_config(root)
        projects.begin_rebuild(root, store)
        return cls(root, store, config)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
