"""The files that say what is remembered and handed over, in this process."""

from __future__ import annotations

import logging

from cm_tui.engine.local.rooms import LocalRooms
from cm_tui.errors import StoreError
from cm_tui.model import DefinitionKind, Definitions

_log = logging.getLogger(__name__)


class LocalDefinitions(LocalRooms):
    """Retrieval definitions, rules and pipelines of the project."""

    def context_definitions(self) -> Definitions:
        """Return the definitions of the project with what is wrong with them."""
        from cm_tui.engine.definitions.library import load
        from cm_tui.engine.definitions.listing import listed

        self._copy_schemas()
        return listed(load(self._root))

    def new_definition(self, kind: DefinitionKind, name: str) -> str:
        """Write a commented definition for a person to change."""
        from cm_tui.engine.definitions.writing import write_new

        path = write_new(self._root, kind, name)
        self._copy_schemas()
        return path

    def _copy_schemas(self) -> None:
        """Bring the schemas beside definitions up to date; a project that cannot be written to does without."""
        from cm_tui.engine.definitions import schemas

        try:
            schemas.copy_to(self._root)
        except StoreError as error:
            _log.info("%s", error.message)
