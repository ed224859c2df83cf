"""Whether a project says by files of its own what is handed over."""

from __future__ import annotations

from pathlib import Path

from cm_tui.engine.definitions.library import load
from cm_tui.engine.definitions.loaded import SHIPPED


def has_definitions(root: Path) -> bool:
    """Return whether there are retrieval definitions or rules at a root that are not shipped, also broken ones."""
    library = load(root)
    files = [*(one.file for one in library.retrieval), *(one.file for one in library.rules)]
    if any(not file.startswith(SHIPPED) for file in files):
        return True
    return any("/ingestion/" not in problem.file for problem in library.problems)
