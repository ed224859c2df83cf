"""Definition files: retrieval definitions, rules and pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.needs import needs
from cm_tui.engine.api.rooms import Rooms
from cm_tui.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


class DefinitionMethods(Rooms):
    """Retrieval definitions, rules and pipelines of the project."""

    @needs("nothing", writes=("definitions",))
    def context_definitions(self) -> model.Definitions:
        """Return retrieval definitions, rules and pipelines of the project, with their problems.

        Copies the JSON Schemas to `.cm/schemas` if there are definitions and the schemas are of another version.
        """
        from cm_tui.engine.context.definitions.listing import listed

        self._copy_schemas()
        return listed(self._library)

    @needs("nothing", writes=("definitions",))
    def new_definition(self, kind: model.DefinitionKind, name: str) -> str:
        """Write a commented definition for the user to change; return its path, relative to the root.

        `name`: of it and of its file: letters, digits, `-` and `_`. Raises UsageError if the name is invalid;
        RefusedError if the file exists; StoreError if it cannot be written.
        """
        from cm_tui.engine.context.definitions.writing import write_new

        path = write_new(self._root, kind, name)
        self._copy_schemas()
        return path

    def _copy_schemas(self) -> None:
        """Update the schemas next to definitions; skipped in a read-only project."""
        from cm_tui.engine.context.definitions import schemas

        try:
            schemas.copy_to(self._root)
        except StoreError as error:
            import logging

            logging.getLogger(__name__).info("%s", error.message)


def has_definitions(root: Path) -> bool:
    """Return whether a project has its own retrieval definitions or rules, valid or not."""
    from cm_tui.engine.context.definitions.library import load
    from cm_tui.engine.context.definitions.loaded import SHIPPED

    library = load(root)
    files = [*(one.file for one in library.retrieval), *(one.file for one in library.rules)]
    if any(not file.startswith(SHIPPED) for file in files):
        return True
    return any("/ingestion/" not in problem.file for problem in library.problems)
