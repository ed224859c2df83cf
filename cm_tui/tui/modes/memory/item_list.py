"""Entries and notes below the headings of their groups."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from cm_tui.engine.api.authors import Author
from cm_tui.errors import CmError
from cm_tui.model import Entry, Hit, Note, SearchResult
from cm_tui.model.dates import age, local_day
from cm_tui.tui.modes.memory.groups import Group, Item, Marks, key_of, signs_of, title_of
from cm_tui.tui.modes.memory.inventory import Inventory
from cm_tui.tui.screens.memory_hit import Authors, answering_line, facts
from cm_tui.tui.tasks.ask import Ask
from cm_tui.tui.widgets.bars import group_sums, score_bar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, elide_path, number_of, one_line

_LEAST_TITLE = 16
_LOOKED_AT = 400
"""Characters of a text that a row begins with."""


@dataclass(frozen=True)
class HeadingRow:
    """The name of a group, and how much is in it."""

    group: Group
    read: int
    total: int


@dataclass(frozen=True)
class ItemRow:
    """An entry or a note."""

    group: Group
    item: Item


@dataclass(frozen=True)
class UnreadRow:
    """A row of a group that was not read yet."""

    group: Group


Row = HeadingRow | ItemRow | UnreadRow


def rows_of(inventory: Inventory) -> list[Row]:
    """Return the rows of all groups, also those that are still to be read: the list is as long as it will be."""
    rows: list[Row] = []
    for page in inventory.pages:
        rows.append(HeadingRow(page.group, len(page.items), page.total))
        rows += [ItemRow(page.group, item) for item in page.items]
        rows += [UnreadRow(page.group)] * (page.total - len(page.items))
    return rows


class ItemList(RowList[Row]):
    """Rows below headings; asks for rows that come on screen and are not read yet."""

    marks = Marks()
    """What rows are marked with, as far as that was asked."""

    @property
    def item(self) -> Item | None:
        """What the row under the cursor is about."""
        row = self.current
        return row.item if isinstance(row, ItemRow) else None

    def is_heading(self, row: Row) -> bool:
        """Return whether a row is the name of a group."""
        return isinstance(row, HeadingRow)

    def key_of(self, row: Row) -> Hashable:
        """Return the name of an item, or of a group."""
        return key_of(row.item) if isinstance(row, ItemRow) else row.group if self.is_heading(row) else None

    def read_of(self, group: Group, many: int) -> int:
        """Return how many rows of a group are among the first rows of the list."""
        return many - 1 - (self.place_of(group) or 0)

    def jump(self, by: int) -> None:
        """Go to the first row of the group after this one, or before it."""
        heads = [place for place, row in enumerate(self.rows) if self.is_heading(row)]
        if by > 0:
            goal = next((place for place in heads if place > self.cursor), None)
        else:
            goal = next((place for place in reversed(heads) if place < self.cursor - 1), None)
        if goal is not None:
            self.cursor = goal + 1

    # --- drawing ---

    def draw(self, row: Row, width: int) -> Content:
        """Heading with its count; or signs, title, how the text begins, and when."""
        if isinstance(row, HeadingRow):
            return _heading(row, width)
        if isinstance(row, UnreadRow):
            return self.placeholder(row.group)
        item, signs = row.item, signs_of(row.item, self.marks)
        return _entry(item, signs, width) if isinstance(item, Entry) else _note(item, signs, width)


def _heading(row: HeadingRow, width: int) -> Content:
    number = number_of(row.read, row.total)
    title = f" {row.group.title}"
    gap = " " * max(1, width - cell_len(title) - len(number) - 1)
    return Content.assemble((title, "bold $primary"), gap, (number, "$muted"))


def _entry(entry: Entry, signs: Content, width: int) -> Content:
    title, (first, _, rest) = title_of(entry), entry.content.strip()[:_LOOKED_AT].partition("\n")
    # What the title says already is not said twice.
    text = _flat(rest if _flat(first).startswith(title.rstrip("…")) and len(title) > len(first) // 2 else entry.content)
    gone = entry.forgotten is not None or entry.held or entry.never_recall
    return _line(signs, title, text, age(time.time() - entry.timestamp / 1000), width, muted=gone)


def _note(note: Note, signs: Content, width: int) -> Content:
    when = local_day(note.time) if note.kind == "day" and note.time is not None else age(time.time() - note.modified)
    place = note.id.removeprefix("user:").removeprefix("extra:")
    return _line(signs, title_of(note), place, when, width, path=True)


def _line(
    signs: Content, title: str, rest: str, when: str, width: int, *, muted: bool = False, path: bool = False
) -> Content:
    """Signs, title, what gives way first, and when at the right."""
    room = width - 5 - cell_len(when)
    title = elide_end(title, max(_LEAST_TITLE, room))
    left = room - cell_len(title) - 2
    rest = "" if left < 6 else elide_path(rest, left) if path else elide_end(rest, left)
    gap = " " * max(1, room - cell_len(title) - (cell_len(rest) + 2 if rest else 0) + 1)
    return Content.assemble(
        signs, " ", (title, "$muted" if muted else "$foreground"), ("  " if rest else "", ""), (rest, "$muted"),
        gap, (when, "$muted"), " ",
    )  # fmt: skip


def _flat(text: str) -> str:
    return " ".join(one_line(text[:_LOOKED_AT]).split())


_SCORE, _BAR = 8, 12


class HitList(RowList[Hit]):
    """Hits of two lines: what it is, whose and how old, with its score; then the bar of that, and the line that answers."""

    row_height = 2
    authors: Mapping[str, Author | None] = {}
    """Who wrote what is listed, by path, as far as that is known."""

    def key_of(self, row: Hit) -> Hashable:
        """Return its passage."""
        return row.passage

    def draw_line(self, row: Hit, line: int, width: int) -> Content:
        """One of the two lines."""
        if line:
            top = max((group_sums(hit.parts).gained for hit in self.rows), default=1.0)
            bar = score_bar(row, _BAR, top, plain=self.app.no_color)
            return Content.assemble("    ", bar, " ", answering_line(row, width - _BAR - 6).stylize_before("$muted"))
        about = facts(row, self.authors.get(row.path), width - 4 - _SCORE - 1)
        return Content.assemble(
            (f"{row.rank:>3} ", "$secondary"), about, " ", (f"{row.score:7.3f} ", "bold $foreground")
        )


MOST = 50
"""Hits that are asked for."""
PROFILES = ("recall", "notes")
"""What is asked: entries, notes and episodes; or notes alone, by the numbers that `cm notes search` has."""


class Question:
    """Asks, and keeps what was answered.

    Args:
        ask: asks the engine.
        drop: forgets a question by its topic.
        answered: called when there is another answer, or none any more.
        named: called when it is known who wrote what is listed.
    """

    def __init__(
        self, ask: Ask, drop: Callable[[str], None], answered: Callable[[], None], named: Callable[[], None]
    ) -> None:
        self._ask = ask
        self._drop = drop
        self._answered = answered
        self.query = ""
        self.profile = PROFILES[0]
        self.result: SearchResult | None = None
        self.problem: CmError | None = None
        self.authors = Authors(ask, named)

    def ask(self, query: str, *, delay: float = 0.0) -> None:
        """Ask; the answer before stays until the new one is there. An empty question has no answer."""
        self.query = query
        if not query:
            self._drop("question")
            self.result = self.problem = None
            self._answered()
            return
        if self.result is None:
            self.problem = None
            self._answered()
        profile = self.profile

        def got(result: SearchResult) -> None:
            self.result, self.problem = result, None
            self._answered()
            self.authors.look_up(result.hits)

        self._ask(
            "question", lambda engine: engine.search(query, profile=profile, limit=MOST), got, self._failed, delay=delay
        )

    @property
    def is_searching(self) -> bool:
        """True while a question has no answer yet, not even that of the question before."""
        return bool(self.query) and self.result is None and self.problem is None

    def next_profile(self) -> None:
        """Ask the same by the other profile."""
        self.profile = PROFILES[(PROFILES.index(self.profile) + 1) % len(PROFILES)]
        self.ask(self.query)

    def _failed(self, error: CmError) -> None:
        self.result, self.problem = None, error
        self._answered()
