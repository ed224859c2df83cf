"""The result list of search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message

from cm_tui.engine.api.authors import Author
from cm_tui.model import FileHits, Hit
from cm_tui.tui.modes.search.rows import (
    FileRow,
    FurtherRow,
    Heading,
    ResultRow,
    RowSigns,
    heading,
    hit_name,
    hit_of,
    lines_of,
    rows_of,
    rows_of_files,
    words,
)
from cm_tui.tui.screens.memory_hit import answering_line, facts, is_memory
from cm_tui.tui.widgets.bars import group_sums, score_bar
from cm_tui.tui.widgets.code_nodes import kind_mark
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_path, name_and_place, one_line

WIDE = 84
"""From this width on a row has one line."""
_ROOM_FOR_BARS = 64
"""Cells of a row of files from which on it has a bar."""
_KIND, _SCORE = 2, 8
"""Cells of the letter of a kind, and of a score."""


class ResultList(RowList[ResultRow]):
    """Hits, or files with their best ones, each with the bar of its score, and what is remembered; asks for more near its end."""

    row_height = 2

    class MoreRequested(Message):
        """The cursor or the scroll bar came near the end."""

    limit = 10
    """How many hits the profile gives elsewhere; ranks beyond are dim."""
    _top = 1.0
    _is_wide = False
    _by_file = False
    _unlisted: Hit | None = None
    """The hit that the cursor was on, where its file's row stands for it as it is in no row itself."""
    authors: Mapping[str, Author | None] = MappingProxyType({})
    """Who wrote what is remembered, by path, as far as that is known."""
    signs = RowSigns()

    @property
    def hit(self) -> Hit | None:
        """The hit under the cursor: of a file its best one."""
        return hit_of(self.current)

    @property
    def current_hit(self) -> Hit | None:
        """The hit that the cursor stays on when other rows come."""
        return self._unlisted or self.hit

    def show(
        self,
        hits: tuple[Hit, ...],
        memories: tuple[Hit, ...] = (),
        *,
        files: tuple[FileHits, ...] = (),
        limit: int,
        keep: bool,
        empty: str = "",
        beside_first: bool = False,
    ) -> None:
        """Show hits, or files.

        Args:
            hits: in order; none where there are files.
            memories: what is remembered, in order: it stands behind what the profile gives elsewhere.
            files: in order.
            limit: how many of them the profile gives elsewhere.
            keep: leave the cursor on the hit it is on, where that is still listed.
            empty: said when there are none.
            beside_first: put what is remembered above the hits.
        """
        old = self.current_hit if keep else None
        code, most = rows_of_files(files) or hits, sum(len(file.hits) for file in files[:limit]) or limit
        rows = rows_of(code, memories, most, beside_first=beside_first)
        best = tuple(file.hits[0] for file in files) or hits
        self.limit = limit
        self._top = max((group_sums(hit.parts).gained for hit in best[:200] if not is_memory(hit)), default=0.0)
        self._by_file = bool(files)
        self._set_row_height()
        self.set_rows(rows, cursor=0 if old is None else self._place_of(old, rows), empty=empty)

    def _place_of(self, old: Hit, rows: Sequence[ResultRow]) -> int:
        """Where a hit stands; else its file; else where the cursor is."""
        hits = [hit_of(row) for row in rows]
        place = next((place for place, hit in enumerate(hits) if hit and hit.passage == old.passage), None)
        self._unlisted = None
        if place is None and self._by_file:
            file = (old.source, old.path)
            place = next((place for place, hit in enumerate(hits) if hit and (hit.source, hit.path) == file), None)
            self._unlisted = old if place is not None else None
        return max(0, min(self.cursor, len(rows) - 1)) if place is None else place

    def is_heading(self, row: ResultRow) -> bool:
        """Return whether a row says what follows."""
        return isinstance(row, Heading)

    def watch_cursor(self, before: int, after: int) -> None:
        """Forget what a file's row stood for: the cursor was moved."""
        self._unlisted = None
        super().watch_cursor(before, after)

    def to_memory(self) -> bool:
        """Move the cursor to the first memory, or from there to the first code; False without memories."""
        memories, code = (
            [place for place, row in enumerate(self.rows) if (hit := hit_of(row)) and is_memory(hit) is wanted]
            for wanted in (True, False)
        )
        for place in (code if is_memory(self.hit) else memories)[:1]:
            self.cursor = place
        return bool(memories)

    def on_resize(self, event: events.Resize) -> None:
        """One line or two, by width."""
        self._is_wide = event.size.width >= WIDE
        self._set_row_height()
        super().on_resize(event)
        self.call_after_refresh(self._show_cursor)

    def _set_row_height(self) -> None:
        """One line where there is room, and for files, of which many should be seen at once."""
        self.row_height = 1 if self._is_wide or self._by_file else 2

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for more in time."""
        super().watch_scroll_y(old_value, new_value)
        shown = (new_value + 2 * self.size.height) / self.row_height
        if self.rows and new_value > old_value and shown >= len(self.rows):
            self.post_message(self.MoreRequested())

    def draw_line(self, row: ResultRow, line: int, width: int) -> Content:
        """Kind, symbol, score; path, lines and the bar of the score. Of what is remembered kind, age and who; the line that answers."""
        if isinstance(row, Heading):
            # Where a row has two lines, the first one sets it apart.
            return heading(row, width) if line == self.row_height - 1 else Content("")
        hit = row if isinstance(row, Hit) else row.hit
        if is_memory(hit):
            # Its path is an id: among files, too, it is called by its title.
            rank = row.file.rank if isinstance(row, FileRow) else hit.rank
            return self._remembered(replace(hit, rank=rank), 1 if isinstance(row, FurtherRow) else line, width)
        if isinstance(row, FileRow | FurtherRow):
            return self._of_file(row, width)
        if self.row_height == 1:
            return self._one_line(hit, width)
        return self._second(hit, width) if line else self._first(hit, width)

    def _remembered(self, hit: Hit, line: int, width: int) -> Content:
        score = (f"{hit.score:7.3f} ", "$soft")
        rank, author = (f"{hit.rank:>3} ", "$secondary"), self.authors.get(hit.path)
        if line:
            return Content.assemble("    ", answering_line(hit, width - 5).stylize_before("$muted"))
        if not self._is_wide:
            return Content.assemble(rank, facts(hit, author, width - 4 - 8 - 1), " ", score)
        # Scores stand below each other where code, which has a bar behind its score, is listed too.
        bar = 17 if self._top else 1
        name_width = max(34, (width - 15 - bar) * 3 // 5)
        room = max(0, width - 4 - 2 - name_width - 8 - bar)
        line_ = answering_line(hit, room).stylize_before("$muted").truncate(room, pad=True)
        return Content.assemble(rank, facts(hit, author, name_width), "  ", line_, " ", score)

    def _of_file(self, row: FileRow | FurtherRow, width: int) -> Content:
        # In little room names come before bars: Why shows that of the row under the cursor.
        bar = 16 if self._is_wide else 14 if width >= _ROOM_FOR_BARS else 0
        rank = self._rank(row.file.rank) if isinstance(row, FileRow) else ("    ", "")
        room = width - 4 - self.signs.width - 8 - bar - 1 - (bar > 0)
        return Content.assemble(rank, self.signs.of(row.hit), words(row, room), " ", self._score(row.hit, bar))

    def _rank(self, rank: int) -> tuple[str, str]:
        return f"{rank:>3} ", "$accent" if rank <= self.limit else "$muted"

    def _symbol(self, hit: Hit, width: int) -> Content:
        """The letter of its kind, and its qualname (the last part bright), or its file where it has no symbol."""
        letter, style = kind_mark(hit.kind) if hit.kind else ("·", "$muted")
        around, own = hit_name(hit, hit.path.rpartition("/")[2], width - _KIND)
        text = Content.assemble((f"{letter} ", style), (around, "$soft"), (own, "bold $foreground"))
        return text.truncate(width, ellipsis=True, pad=True)

    def _score(self, hit: Hit, bar: int) -> Content:
        return Content.assemble((f"{hit.score:7.3f} ", "$soft"), self._bar(hit, bar))

    def _bar(self, hit: Hit, width: int) -> Content:
        return score_bar(hit, width, self._top, plain=self.app.no_color)

    def _first(self, hit: Hit, width: int) -> Content:
        room = width - 4 - self.signs.width - _SCORE
        score = (f"{hit.score:7.3f} ", "$soft")
        return Content.assemble(self._rank(hit.rank), self.signs.of(hit), self._symbol(hit, room), score)

    def _second(self, hit: Hit, width: int) -> Content:
        # The path begins below the name, the bar ends below the score.
        lines, bar = f":{lines_of(hit)}", 8 if width < 44 else 12
        lead = 4 + self.signs.width + _KIND
        room = width - lead - 2 - bar - 1
        path = elide_path(one_line(hit.path), room - cell_len(lines))
        pad = " " * (2 + max(0, room - cell_len(path) - cell_len(lines)))
        return Content.assemble(" " * lead, (path, "$muted"), (lines, "$secondary"), pad, self._bar(hit, bar))

    def _one_line(self, hit: Hit, width: int) -> Content:
        bar = 12
        room = width - 4 - self.signs.width - 8 - bar - 1
        where = f"{one_line(hit.path)}:{lines_of(hit)}"
        named = one_line(hit.symbol or hit.path.rpartition("/")[2])
        name, where, gap = name_and_place(named, where, room - _KIND)
        path, colon, lines = where.rpartition(":")
        symbol = self._symbol(hit, cell_len(name) + _KIND)
        place = Content.assemble(gap, (path, "$muted"), (colon + lines, "$secondary"), " ")
        return Content.assemble(self._rank(hit.rank), self.signs.of(hit), symbol, place, self._score(hit, bar))
