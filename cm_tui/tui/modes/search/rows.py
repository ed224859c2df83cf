"""Signs between the rank of a row and its name: how far it moved, and its mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from textual.content import Content

from cm_tui.model import By, FileHits, Hit, Profile, SearchResult
from cm_tui.tui.widgets.text import BETWEEN_HEADINGS, elide_end, elide_name, elide_path, fit, one_line


def hit_name(hit: Hit, otherwise: str, width: int) -> tuple[str, str]:
    """Return a symbol's parent and its own name, within a width in cells.

    A heading is shown without its parents if they do not fit, because its neighbours share them.

    Args:
        hit: the hit.
        otherwise: what it is called where it has no symbol.
        width: cells.
    """
    name = elide_name(one_line(hit.symbol or otherwise), width)
    head, between, tail = name.rpartition(BETWEEN_HEADINGS if hit.kind == "section" else ".")
    return head + between, tail


_INDENT = 2
_LEAST_PASSAGE = 16
"""Cells worth showing of the passage after a path."""
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
    need, least = cell_len(path + more) + 2, cell_len(_ELIDED + path.rpartition("/")[2] + more) + 2
    own = hit_name(row.hit, row.hit.language, cell_len(_name(row.hit)))[1]
    named = cell_len(f"{own} :{row.hit.start_line}")
    # Folders give way to the passage's name, the file's name does not.
    left = min(need, max(least, width - named))
    if width - left < min(named, _LEAST_PASSAGE):
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
    """The last part of the symbol's name bright, kind, lines; kind, last line and what the symbol is in give way to the name."""
    name, lines = _name(hit), f" :{lines_of(hit)}"
    kind = f" {hit.kind or hit.language}" if hit.symbol else ""
    if cell_len(name + kind + lines) > width:
        kind = ""
    if cell_len(name + lines) > width:
        lines = f" :{hit.start_line}"
    room = max(0, width - cell_len(kind + lines))
    around, own = hit_name(hit, hit.language, max(room, cell_len(name)))
    around, own = (around, own) if cell_len(around + own) <= room else ("", elide_end(own, room))
    text = Content.assemble((around, "$soft"), (own, "$foreground"), (kind, "$secondary"), (lines, "$muted"))
    return text.truncate(max(0, width), ellipsis=True, pad=True)


MORE_CODE = "More code"
FROM_CODE = "Code"
FROM_MEMORY = "From memory"


@dataclass(frozen=True)
class Heading:
    """A row that says what follows; the cursor goes past it."""

    words: str


ResultRow = Hit | FileRow | FurtherRow | Heading


def rows_of(
    code: Sequence[ResultRow], memories: Sequence[Hit], limit: int, *, beside_first: bool = False
) -> tuple[ResultRow, ...]:
    """Return rows: the code that the profile gives everywhere, what is remembered, then code beyond that.

    Args:
        code: rows of it, in order.
        memories: what is remembered, in order.
        limit: how many of the rows of code the profile gives elsewhere.
        beside_first: put what is remembered above all code.
    """
    if not memories:
        return tuple(code)
    if beside_first:
        limit = 0
    rows: tuple[ResultRow, ...] = (*code[:limit], Heading(FROM_MEMORY), *memories)
    return (*rows, Heading(MORE_CODE if limit else FROM_CODE), *code[limit:]) if code[limit:] else rows


def hit_of(row: ResultRow | None) -> Hit | None:
    """Return the hit that a row stands for; a heading stands for none."""
    return row.hit if isinstance(row, FileRow | FurtherRow) else row if isinstance(row, Hit) else None


def heading(row: Heading, width: int) -> Content:
    """Return a quiet line with words in it."""
    words = f"── {row.words} "
    return Content.assemble((fit(words + "─" * max(0, width - cell_len(words) - 1), width), "$muted"))


LEAST_BEFORE = 120
"""Ranks that are known of the order before, at least; what stood behind them is new."""


@dataclass(frozen=True)
class Before:
    """An order by the saved numbers."""

    profile: Profile
    by: By
    ranks: Mapping[tuple[str, str] | int, int]
    """By passage, or by source and path of a file."""


@dataclass(frozen=True)
class Moves:
    """How far results moved."""

    by: Mapping[int, int]
    """How many places each went up, by the id of its passage; below 0: down. What did not move is not in it."""
    new: frozenset[int]
    """Which had no rank before."""

    @property
    def count(self) -> int:
        """How many are not where they were."""
        return len(self.by) + len(self.new)


def before(result: SearchResult, profile: Profile, by: By) -> Before:
    """Return the order of an answer by the saved numbers."""
    ranks: dict[tuple[str, str] | int, int] = {(file.hits[0].source, file.path): file.rank for file in result.files}
    return Before(profile, by, ranks | {hit.passage: hit.rank for hit in result.hits})


def moves(result: SearchResult, known: Before) -> Moves:
    """Return how far what is listed moved; of a file its best passage stands for it."""
    listed: list[tuple[tuple[str, str] | int, int, int]] = [
        ((file.hits[0].source, file.path), file.rank, file.hits[0].passage) for file in result.files
    ]
    listed += [(hit.passage, hit.rank, hit.passage) for hit in result.hits]
    new = frozenset(passage for key, _, passage in listed if key not in known.ranks)
    up = {passage: known.ranks[key] - rank for key, rank, passage in listed if key in known.ranks}
    return Moves({passage: places for passage, places in up.items() if places}, new)


_MOVE = 5
_FLAG = 2
COMPARED = ("◆", "$accent")
RIGHT = ("✓", "$success")
WRONG = ("✗", "$error")


@dataclass(slots=True)
class RowSigns:
    """The columns of a list of hits that are there only where they say something."""

    moves: Mapping[int, int] | None = None
    """How many places each passage went up (or down, below 0), by its id; None: nothing is tuned."""
    new: frozenset[int] = frozenset()
    """Passages that had no rank before."""
    flags: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    """A sign and its colour, by the id of the passage."""

    @property
    def width(self) -> int:
        """Its cells."""
        return (_MOVE if self.moves is not None else 0) + (_FLAG if self.flags else 0)

    def of(self, hit: Hit | None) -> Content:
        """Return the signs of a hit; blank without one."""
        pieces: list[tuple[str, str]] = []
        if self.moves is not None:
            pieces.append(_moved(hit, self.moves, self.new))
        if self.flags:
            sign, style = self.flags.get(hit.passage, (" ", "")) if hit else (" ", "")
            pieces.append((f"{sign:<{_FLAG}}", style))
        return Content.assemble(*pieces)


def _moved(hit: Hit | None, moves: Mapping[int, int], new: frozenset[int]) -> tuple[str, str]:
    if hit is None:
        return " " * _MOVE, ""
    if hit.passage in new:
        return f"{'new':<{_MOVE}}", "$success"
    moved = moves.get(hit.passage, 0)
    if not moved:
        return " " * _MOVE, ""
    arrow, style = ("↑", "$success") if moved > 0 else ("↓", "$error")
    return f"{arrow}{min(abs(moved), 999)}".ljust(_MOVE), style


def signs_of(moves: Moves | None, compared: int | None, marks: Mapping[int, bool]) -> RowSigns:
    """Return the columns for a list.

    Args:
        moves: where what is listed stood before; None: nothing is tuned.
        compared: the passage that is marked for comparison.
        marks: whether passages are marked right or wrong for the question.
    """
    flags = {passage: RIGHT if right else WRONG for passage, right in marks.items()}
    if compared is not None:
        flags[compared] = COMPARED
    return RowSigns(moves.by if moves else None, moves.new if moves else frozenset(), flags)
