"""The list of commits with a filter, and how much of it is known."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from cm_tui.errors import CmError
from cm_tui.model import CommitPoint, HistoryStatus, Page, Progress
from cm_tui.model.dates import day
from cm_tui.model.history import reading_text
from cm_tui.tui.modes.history.rows import RECORDED
from cm_tui.tui.screens.list_mode import TYPING
from cm_tui.tui.screens.mode_screen import ModePanel
from cm_tui.tui.tasks.ask import Engine, GrowingRows
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.rowlist import PAGE, PagedRows, RowList
from cm_tui.tui.widgets.split import Words
from cm_tui.tui.widgets.text import count, elide_end, fit, number_of, one_line

AUTHOR = 16
"""Cells for an author, where there is room for one."""
ROOMY = 90
"""Cells from which on an author and whole days are shown: the subject comes first."""
_SHORT, _WHOLE = 7, 10
"""Cells of a day."""
_ELEVEN_MONTHS = 330 * 86_400.0
"""Seconds within which a day without its year is the only one of that name."""


class CommitList(RowList["CommitPoint | None"]):
    """Commits with the point under the cursor, another one that is marked, and what is not known in grey."""

    BINDINGS: ClassVar[list[BindingType]] = [("space", "mark")]

    @dataclass
    class Marked(Message):
        """This revision was marked as the other one to compare."""

        moment: CommitPoint

    length = 0
    author_width = AUTHOR
    """Cells of the longest author that is known of."""
    head = 0
    known = range(0)
    """Ordinals whose symbols are known."""
    mark: CommitPoint | None = None
    shown: CommitPoint | None = None
    """Where the whole application stands; None: now."""
    filter_words = ""
    recorded: frozenset[int] = frozenset()
    """Ordinals of what agents saw; they carry a mark."""

    def action_mark(self) -> None:
        """Mark the revision under the cursor, or take its mark away."""
        if self.current is not None:
            self.post_message(self.Marked(self.current))

    def draw(self, row: CommitPoint | None, width: int) -> Content:
        """Sign, ordinal, day, a mark where an agent stood, subject, author; the panel beside has day and author in full."""
        if row is None:
            return Content.styled("   …", "$muted")
        known = row.ordinal in self.known
        sign, style = self._sign(row)
        digits = len(f"{max(self.length, row.ordinal):,}")
        roomy = width >= ROOMY
        author = f"  {fit(one_line(row.author), min(AUTHOR, self.author_width))}" if roomy else ""
        seen = f"{RECORDED if row.ordinal in self.recorded else ' '} " if self.recorded else ""
        when = day(row.time) if roomy else short_day(row.time)
        # The last cell is left to the border.
        room = width - digits - 5 - (_WHOLE if roomy else _SHORT) - len(author) - len(seen)
        subject = fit(one_line(row.subject) or "(no subject)", max(4, room))
        text = "" if known else "$muted"
        return Content.assemble(
            (f"{sign} ", style),
            (f"{row.ordinal:>{digits},} ", "$soft" if known else "$muted"),
            (f"{when:<{_WHOLE if roomy else _SHORT}} ", "$secondary" if known else "$muted"),
            (seen, "bold $accent"),
            self._found(elide_end(subject, max(4, room)), text),
            (author, "$muted"),
        )

    def _sign(self, row: CommitPoint) -> tuple[str, str]:
        if _stands_for(row, self.shown):
            return "◀", "bold $warning"
        if _stands_for(row, self.mark):
            return "◆", "bold $accent"
        if self._between(row.ordinal):
            return "│", "$accent"
        if row.ordinal == self.head:
            return "●", "$success"
        return ("·", "$muted") if row.ordinal in self.known else ("╌", "$muted")

    def _between(self, ordinal: int) -> bool:
        here = self.current
        if self.mark is None or here is None:
            return False
        low, high = sorted((self.mark.ordinal, here.ordinal))
        return low < ordinal <= high

    def _found(self, subject: str, style: str) -> Content:
        content = Content.styled(subject, style) if style else Content(subject)
        lowered = subject.lower()
        if len(lowered) != len(subject):
            return content
        for word in self.filter_words.lower().split():
            start = lowered.find(word)
            if start >= 0:
                content = content.stylize("bold $accent", start, start + len(word))
        return content


def short_day(seconds: float) -> str:
    """Return a day of the last eleven months as `05-01`, of an older one its month, `2024-05`; in UTC."""
    whole = day(seconds)
    return whole[5:] if abs(time.time() - seconds) < _ELEVEN_MONTHS else whole[:_SHORT]


def _stands_for(row: CommitPoint, moment: CommitPoint | None) -> bool:
    """True for the row of a commit, or of the nearest ancestor of one off the mainline."""
    if moment is None:
        return False
    return row.ordinal == max(1, moment.ordinal) if moment.ahead else row.sha == moment.sha


def coverage_text(status: HistoryStatus | None, reading: Progress | None, error: CmError | None, width: int) -> Content:
    """How much of the history is known, in honest words."""
    if reading is not None:
        return Content("\n").join(_reading(reading.done, reading.total, width, "x stops"))
    lines = [Content.styled(error.one_line, "$error")] if error is not None else []
    if status is not None:
        lines += _reading(status.known, status.wanted, width) if status.wanted else _known(status)
    return Content("\n").join(lines)


def _reading(known: int, total: int, width: int, key: str = "") -> list[Content]:
    """Show the progress of reading history, in the same numbers as Health."""
    share = known / total if total else 0.0
    bar = share_bar(share, max(6, width - 16))
    return [
        Content.assemble(bar, (f" {100 * share:3.0f}%  ", "$soft"), (key, "$accent")),
        Content.styled(reading_text(known, total), "$soft"),
    ]


def _known(status: HistoryStatus) -> list[Content]:
    lines = []
    if status.text:
        whole = f"whole history, since {day(status.known_from.time)}" if status.complete and status.known_from else ""
        lines.append(Content.styled(whole or status.text, "$soft" if status.complete else "$warning"))
    if status.vacuumed:
        lines.append(Content.styled(status.vacuumed, "$muted"))
    if status.running:
        lines.append(Content.styled("It is being read now.", "$accent"))
    elif status.known < status.length and not status.complete:
        lines.append(Content.assemble(("b", "bold $accent"), (" reads the rest", "$soft")))
    return lines + [Content.styled(words, "$muted") for words in status.notes]


class CommitPanel(ModePanel):
    """Asks for the pages that are looked at; tells what stands under the cursor."""

    @dataclass
    class PointChanged(Message):
        """The cursor moved to another revision, or the list is empty."""

        moment: CommitPoint | None

    _pages: PagedRows[CommitPoint] | None = None
    _notified: CommitPoint | None = None
    has_failed = False
    """The line could not be read when it was asked for last."""
    _requested_ordinal = 0
    """The ordinal that the line is being read for; 0: none."""
    _known_words = Content("")

    def compose(self) -> ComposeResult:
        """Input, commits, what is known."""
        ask, drop = self.mode.ask, self.mode.drop_question
        self._matches = GrowingRows[CommitPoint](
            "found", ask, drop, lambda row: str(row.ordinal), self._show_matches, self._failed
        )
        yield Input(placeholder="/ find a commit", id="commit-find", compact=True)
        yield CommitList(id="commits", empty="Opening the project…")
        yield Words(id="commit-note")

    commits = getters.query_one("#commits", CommitList)
    filter_input = getters.query_one("#commit-find", Input)

    # --- the whole line ---

    def refill(self, ordinal: int = 0) -> None:
        """Read the line again, with the cursor on an ordinal; 0: where it is, at first the newest."""
        self._requested_ordinal = ordinal or self._requested_ordinal
        if self.filter_input.value and not ordinal:
            self._find_matches()
            return
        if self.filter_input.value:
            with self.prevent(Input.Changed):
                self.filter_input.value = ""
        self.commits.filter_words = ""
        self.mode.drop_question("line")
        self.mode.ask("line", lambda engine: engine.mainline(limit=PAGE), self._got_first, self._failed)

    def _got_first(self, page: Page[CommitPoint]) -> None:
        self.has_failed = False
        commits, total = self.commits, page.total
        commits.length = total
        if not page.rows:
            self._no_line(page.note or "No commits yet.")
            return
        # Where the cursor is by now, not where it was when this was asked: the person may have moved on.
        target, self._requested_ordinal = self._requested_ordinal or self._here, 0
        commits.head = page.rows[0].ordinal
        self._pages = PagedRows(total, self._read_page)
        self._pages.put(0, page.rows)
        commits.author_width = max(cell_len(one_line(moment.author)) for moment in page.rows)
        self.label(subtitle=count(total, "commit"))
        cursor = commits.head - target if target else 0
        commits.set_rows(self._pages, cursor=max(0, min(cursor, total - 1)))

    def _read_page(self, number: int) -> None:
        pages, head = self._pages, self.commits.head
        assert pages is not None

        def call(engine: Engine) -> Page[CommitPoint]:
            return engine.mainline(before=head - number * PAGE + 1, limit=PAGE)

        def got(page: Page[CommitPoint]) -> None:
            pages.put(number, page.rows)
            widest = max((cell_len(one_line(moment.author)) for moment in page.rows), default=0)
            self.commits.author_width = max(self.commits.author_width, widest)
            if pages is self._pages and self.commits.rows is pages:
                self.commits.redraw()
                self._tell(self.commits.current)

        def failed(error: CmError) -> None:
            pages.give_up(number)
            self.query_one("#commit-note", Words).update(Content.styled(error.message, "$error"))

        self.mode.ask(f"line:{number}", call, got, failed)

    def _failed(self, error: CmError) -> None:
        self.has_failed = True
        self._no_line(error.one_line)

    def _no_line(self, words: str) -> None:
        """Show why no commits can be listed; once they can, the cursor returns to where it is."""
        self._requested_ordinal = self._requested_ordinal or self._here
        self._pages = None
        self.commits.set_rows((), empty=words)
        self.label(subtitle="")
        self._tell(None)

    @property
    def _here(self) -> int:
        """The ordinal under the cursor, whether or not its commit was read yet; 0: none."""
        commits = self.commits
        if self._pages is not None and commits.rows is self._pages:
            # Row 0 is the newest: on a whole line ordinals go down by one with each row.
            return commits.head - commits.cursor
        return commits.current.ordinal if commits.current else 0

    def look_for_episodes(self) -> None:
        """Ask at which commits episodes were recorded, and mark them."""

        def got(ordinals: tuple[int, ...]) -> None:
            self.commits.recorded = frozenset(ordinals)
            self.commits.redraw()

        self.mode.ask("episode-marks", lambda engine: engine.episode_moments(), got)

    # --- letters ---

    def clear(self) -> None:
        """The whole line again, with the cursor where it is."""
        self.filter_input.value = ""
        self.commits.focus()

    @on(Input.Changed, "#commit-find")
    def _typed(self, event: Input.Changed) -> None:
        if event.value.strip():
            self._find_matches(delay=TYPING)
        else:
            self._matches.clear()
            self.refill()

    def _find_matches(self, *, delay: float = 0.0) -> None:
        text = self.filter_input.value.strip()
        self.mode.drop_question("line")

        def read(engine: Engine, before: str | None, limit: int) -> Page[CommitPoint]:
            return engine.mainline(match=text, before=int(before) if before else None, limit=limit)

        self._matches.read(read, delay=delay)

    def _show_matches(self, is_new: bool) -> None:
        """Where the cursor was stays as near as can be, unless more of the same was read."""
        found, commits, text = self._matches, self.commits, self.filter_input.value.strip()
        cursor, here = commits.cursor, self._here
        if is_new:
            commits.filter_words = text
            cursor = next((place for place, moment in enumerate(found.rows) if moment.ordinal <= here), 0)
        self.label(subtitle=number_of(len(found.rows), found.total, "commit"))
        commits.set_rows(tuple(found.rows), cursor=cursor, empty=found.note or f"No commits match {text}.")
        if not found.rows:
            self._tell(None)

    # --- the cursor ---

    @on(CommitList.Highlighted, "#commits")
    def _loaded(self, event: CommitList.Highlighted) -> None:
        if self.commits.filter_words:
            self._matches.look(self.commits.cursor)
        self._tell(event.row)

    def _tell(self, moment: CommitPoint | None) -> None:
        """Post the new revision; for a row whose page is loading, once it is loaded."""
        waiting = moment is None and bool(self.commits.rows)
        if not waiting and moment != self._notified:
            self._notified = moment
            self.post_message(self.PointChanged(moment))

    def go(self, moment: CommitPoint) -> None:
        """Put the cursor on a revision of the whole line."""
        whole = self._pages is not None and self.commits.rows is self._pages
        if whole and self.commits.head - moment.ordinal < len(self.commits.rows):
            self.commits.cursor = self.commits.head - moment.ordinal
            self._tell(self.commits.current)
        else:
            self.refill(moment.ordinal)

    # --- what is known ---

    def show_known(self, status: HistoryStatus | None, reading: Progress | None, error: CmError | None) -> None:
        """Show how far history is known, or how far it is being read."""
        commits, note = self.commits, self.query_one("#commit-note", Words)
        if status is not None:
            first, last = status.known_from, status.known_to
            known = range(first.ordinal, last.ordinal + 1) if first and last else range(0)
            if known != commits.known:
                commits.known = known
                commits.redraw()
        words = coverage_text(status, reading, error, max(20, self.size.width - 4))
        if words != self._known_words:
            self._known_words = words
            note.update(words)
