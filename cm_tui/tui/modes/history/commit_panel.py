"""The list of commits with a filter, and how much of it is known."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from cm_tui.errors import CmError
from cm_tui.model import CommitPoint, HistoryStatus, Page, Progress
from cm_tui.tui.modes.history.commit_list import CommitList, known_text
from cm_tui.tui.screens.mode_screen import ModePanel
from cm_tui.tui.widgets.paged import PAGE, PagedRows
from cm_tui.tui.widgets.text import count, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

TYPING = 0.15
"""Seconds without a key after which letters are looked for."""


class CommitPanel(ModePanel):
    """Asks for the pages that are looked at; tells what stands under the cursor."""

    class PointChanged(Message):
        """The cursor moved to another revision, or the list is empty."""

        def __init__(self, moment: CommitPoint | None) -> None:
            super().__init__()
            self.moment = moment

    def __init__(self) -> None:
        super().__init__(id="commit-panel", classes="panel")
        self._pages: PagedRows[CommitPoint] | None = None
        self._found: list[CommitPoint] = []
        self._found_total = 0
        self._notified: CommitPoint | None = None
        self.has_failed = False
        """The line could not be read when it was asked for last."""
        self._requested_ordinal = 0
        """The ordinal that the line is being read for; 0: none."""
        self._known_words = Content("")
        self.border_title = Content("Mainline")

    def compose(self) -> ComposeResult:
        """Input, commits, what is known."""
        yield Input(placeholder="/ find a commit", id="commit-find", compact=True)
        yield CommitList(id="commits", empty="Opening the project…")
        yield Static(id="commit-note", markup=False)

    @property
    def commits(self) -> CommitList:
        """The commits."""
        return self.query_one("#commits", CommitList)

    @property
    def filter_input(self) -> Input:
        """Where letters are typed."""
        return self.query_one("#commit-find", Input)

    def say(self, words: str) -> None:
        """Say why there is nothing, while there is nothing."""
        if not self.commits.rows:
            self.commits.set_rows((), empty=words)

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
            self._no_line(page.note or "There are no commits yet.")
            return
        # Where the cursor is by now, not where it was when this was asked: the person may have moved on.
        target, self._requested_ordinal = self._requested_ordinal or self._here, 0
        commits.head = page.rows[0].ordinal
        self._pages = PagedRows(total, self._read_page)
        self._pages.put(0, page.rows)
        commits.author_width = max(cell_len(one_line(moment.author)) for moment in page.rows)
        self.border_subtitle = Content(count(total, "commit"))
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
            self.query_one("#commit-note", Static).update(Content.styled(error.message, "$error"))

        self.mode.ask(f"line:{number}", call, got, failed)

    def _failed(self, error: CmError) -> None:
        self.has_failed = True
        self._no_line(f"{error.message} {error.hint}".strip())

    def _no_line(self, words: str) -> None:
        """Say why there is no line now; once there is one again, the cursor comes back to where it is."""
        self._requested_ordinal = self._requested_ordinal or self._here
        self._pages = None
        self.commits.set_rows((), empty=words)
        self.border_subtitle = Content("")
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
            self.mode.drop_question("found")
            self.refill()

    def _find_matches(self, *, delay: float = 0.0) -> None:
        text = self.filter_input.value.strip()
        self.mode.drop_question("line")
        self.mode.ask(
            "found", lambda engine: engine.mainline(match=text, limit=PAGE), partial(self._got_found, text), self._failed,
            delay=delay,
        )  # fmt: skip

    def _got_found(self, text: str, page: Page[CommitPoint]) -> None:
        here = self._here
        self._found, self._found_total = list(page.rows), page.total
        self.commits.filter_words = text
        cursor = next((i for i, moment in enumerate(self._found) if moment.ordinal <= here), 0)
        self._show_found(cursor)
        if not page.rows:
            self.commits.set_rows((), empty=page.note or f"No commit matches {text}.")
            self._tell(None)

    def _show_found(self, cursor: int) -> None:
        some = f"{len(self._found):,} of " if self._found_total > len(self._found) else ""
        self.border_subtitle = Content(some + count(self._found_total, "commit"))
        self.commits.set_rows(tuple(self._found), cursor=cursor)

    def _more_found(self) -> None:
        """Ask for the next page of what was found, when the cursor comes near its end."""
        near = self.commits.cursor >= len(self._found) - PAGE // 4
        if not self.commits.filter_words or len(self._found) >= self._found_total or not near:
            return
        text, before, known = self.commits.filter_words, self._found[-1].ordinal, len(self._found)

        def got(page: Page[CommitPoint]) -> None:
            if text == self.commits.filter_words and len(self._found) == known:
                self._found += page.rows
                self._show_found(self.commits.cursor)

        self.mode.ask("more", lambda engine: engine.mainline(match=text, before=before, limit=PAGE), got)

    @on(Input.Submitted, "#commit-find")
    def _take_first(self) -> None:
        self.commits.focus()

    # --- the cursor ---

    @on(CommitList.Highlighted, "#commits")
    def _came(self, event: CommitList.Highlighted) -> None:
        self._more_found()
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
        """Say how far history is known, or how far it is being read."""
        commits, note = self.commits, self.query_one("#commit-note", Static)
        if status is not None:
            first, last = status.known_from, status.known_to
            known = range(first.ordinal, last.ordinal + 1) if first and last else range(0)
            if known != commits.known:
                commits.known = known
                commits.redraw()
        words = known_text(status, reading, error, max(20, self.size.width - 4))
        if words != self._known_words:
            self._known_words = words
            note.update(words)
