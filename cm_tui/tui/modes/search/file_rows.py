"""Rows of files: each stands for its best passage, and its next ones stand below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from cm_tui.model import FileHits, Hit
from cm_tui.tui.modes.search.hit_name import hit_name
from cm_tui.tui.widgets.text import elide_path, one_line

_INDENT = 2
_LEAST_PATH = 24
_LEAST_PASSAGE = 16
"""Cells worth showing of a path and of the passage after it."""
_ELIDED = "…/"


def lines_of(hit: Hit) -> str:
    """Return `12-40`, or `12`."""
    return f"{hit.start_line}-{hit.end_line}" if hit.end_line > hit.start_line else str(hit.start_line)


@dataclass(frozen=True)
class FileRow:
    """A file; what is done with it is done with its best passage."""

    file: FileHits

    @property
    def hit(self) -> Hit:
        """Its best passage."""
        return self.file.hits[0]


@dataclass(frozen=True)
class FurtherRow:
    """A further passage of the file above."""

    hit: Hit


def rows_of_files(files: Sequence[FileHits]) -> tuple[FileRow | FurtherRow, ...]:
    """Return the rows of files, each followed by those of its further passages."""
    rows: list[FileRow | FurtherRow] = []
    for file in files:
        rows.append(FileRow(file))
        rows.extend(FurtherRow(hit) for hit in file.hits[1:])
    return tuple(rows)


def words(row: FileRow | FurtherRow, width: int) -> Content:
    """Return what a row says between rank and score, in exactly so many cells: a path, where there is room its passage too."""
    if isinstance(row, FurtherRow):
        return Content.assemble(" " * _INDENT, _passage(row.hit, width - _INDENT)).truncate(max(0, width), pad=True)
    path, more = one_line(row.file.path), _more(row.file)
    need = cell_len(path + more) + 2
    left = min(need, width - min(_LEAST_PASSAGE, cell_len(_name(row.hit) + lines_of(row.hit)) + 2))
    # Folders give way to the passage, the file's name does not.
    if left < min(need, _LEAST_PATH, cell_len(_ELIDED + path.rpartition("/")[2] + more) + 2):
        return _path(row.file, width)
    return Content.assemble(_path(row.file, left - 2), "  ", _passage(row.hit, width - left))


def _more(file: FileHits) -> str:
    """How many passages of a file are in no row."""
    return f" +{file.more}" if file.more else ""


def _path(file: FileHits, width: int) -> Content:
    """Folders, file name (bright), and how many of its passages are in no row."""
    more = _more(file)
    path = elide_path(one_line(file.path), max(0, width - len(more)))
    head, slash, name = path.rpartition("/")
    text = Content.assemble((head + slash, "$muted"), (name, "bold $foreground"), (more, "$secondary"))
    return text.truncate(max(0, width), ellipsis=True, pad=True)


def _name(hit: Hit) -> str:
    """Return the symbol, or the language without one."""
    return one_line(hit.symbol or hit.language)


def _passage(hit: Hit, width: int) -> Content:
    """The last part of the symbol's name bright, kind, lines; the kind gives way to the name."""
    name, lines = _name(hit), f" :{lines_of(hit)}"
    kind = f" {hit.kind or hit.language}" if hit.symbol else ""
    if cell_len(name + kind + lines) > width:
        kind = ""
    around, own = hit_name(hit, hit.language, max(0, width - cell_len(kind + lines)))
    text = Content.assemble((around, "$soft"), (own, "$foreground"), (kind, "$secondary"), (lines, "$muted"))
    return text.truncate(max(0, width), ellipsis=True, pad=True)
