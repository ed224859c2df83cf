"""A source as somebody might add one: sayings, one a line, in a file beside the project."""

from __future__ import annotations

from pathlib import Path

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.source import Changes, SourceContext, SourcePassage


class Sayings:
    """Each line of `sayings.txt` is a passage."""

    name = "saying"

    def __init__(self, context: SourceContext) -> None:
        self._file = file_of(context.root)

    def has_changed(self, db: Database) -> bool:
        return db.get_meta("sayings") != self._text()

    def changes(self, db: Database, *, rebuild: bool) -> Changes:
        gone = [] if rebuild else [row[0] for row in db.rows("SELECT id FROM passage WHERE source = ?", [self.name])]
        text = self._text()
        db.set_meta("sayings", text)
        lines = enumerate(text.splitlines(), 1)
        return Changes(gone, [SourcePassage(f"saying/{n}", 1, 1, line.split()[0], line, line) for n, line in lines])

    def _text(self) -> str:
        return self._file.read_text() if self._file.exists() else ""


def file_of(root: Path) -> Path:
    """Where the sayings of a project stand."""
    return root.parent / "sayings.txt"
