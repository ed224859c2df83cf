"""The head of the history mode: the revision under the cursor, the one it is compared with, and what must be said of them."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from cm_tui.model import CommitPoint
from cm_tui.model.dates import minute
from cm_tui.tui.state.revision import SHORT_SHA, name_of
from cm_tui.tui.widgets.text import one_line


class RevisionHeading(Vertical):
    """Two lines, a third while a revision is marked, and a note as long as the cursor is where it belongs."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self.note = ""
        """Why the revision is not exactly what was asked for."""
        self.asked = ""
        """The commit that was asked for; empty: that of the revision."""
        self._noted = ""
        """The commit that the note is about."""

    def compose(self) -> ComposeResult:
        """The revisions, the note."""
        yield Static(id="history-head", markup=False)
        yield Static(id="history-where", markup=False)

    def say(self, note: str, about: CommitPoint, asked: str = "") -> None:
        """Note something about a revision, and the commit that it stands for."""
        self.note, self._noted, self.asked = note, about.sha, asked

    def show(self, point: CommitPoint | None, mark: CommitPoint | None) -> None:
        """Show the revision under the cursor and the marked one."""
        if point is not None and point.sha != self._noted:
            self.note = self.asked = ""
        marked = mark is not None
        head = self.query_one("#history-head", Static)
        # A layout of the whole screen with each step along the line would be felt.
        head.update(head_text(point, mark), layout=marked != head.has_class("-marked"))
        head.set_class(marked, "-marked")
        where = self.query_one("#history-where", Static)
        words = "; ".join(filter(None, (point.place if point and point.ahead else "", self.note)))
        if where.display or words:
            where.update(Content(one_line(words)))
            where.display = bool(words)


def head_text(point: CommitPoint | None, mark: CommitPoint | None) -> Content:
    """The revision under the cursor, and the other one that it is compared with."""
    if point is None:
        return Content("")
    rows = [
        Content.assemble(
            *_name(point), (f"  {minute(point.time)}", "$foreground"), (f"  {one_line(point.author)}", "$muted"),
        ),
        Content.styled(one_line(point.subject) or "(no subject)", "bold"),
    ]  # fmt: skip
    if mark is not None:
        rows.append(
            Content.assemble(("◆ compared with ", "$accent"), name_of(mark), (f"  {one_line(mark.subject)}", "$muted"))
        )
    return Content("\n").join(rows)


def _name(point: CommitPoint) -> list[tuple[str, str]]:
    if point.ahead:
        return [(point.sha[:SHORT_SHA], "bold $accent")]
    return [(f"#{point.ordinal:,}", "bold $accent"), (f"  {point.sha[:SHORT_SHA]}", "$secondary")]
