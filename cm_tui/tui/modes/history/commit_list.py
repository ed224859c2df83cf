"""The mainline as a list: one commit a row, newest first, drawn only where it is on screen."""

from __future__ import annotations

import time
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from cm_tui.errors import CmError
from cm_tui.model import CommitPoint, HistoryStatus, Progress
from cm_tui.model.dates import day
from cm_tui.model.history import reading_text
from cm_tui.tui.modes.history.rows import RECORDED
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, fit, one_line

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

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "mark", show=False)]

    class Marked(Message):
        """The person wants this revision as the other one."""

        def __init__(self, moment: CommitPoint) -> None:
            super().__init__()
            self.moment = moment

    def __init__(self, *, empty: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(empty=empty, id=id)
        self.length = 0
        self.author_width = AUTHOR
        """Cells of the longest author that is known of."""
        self.head: int = 0
        self.known = range(0)
        """Ordinals whose symbols are known."""
        self.mark: CommitPoint | None = None
        self.shown: CommitPoint | None = None
        """Where the whole application stands; None: now."""
        self.filter_words = ""
        self.recorded: frozenset[int] = frozenset()
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


def known_text(status: HistoryStatus | None, reading: Progress | None, error: CmError | None, width: int) -> Content:
    """How much of the history is known, in honest words."""
    if reading is not None:
        return Content("\n").join(_reading(reading.done, reading.total, width, "x stops"))
    lines = [Content.styled(f"{error.message} {error.hint}".strip(), "$error")] if error is not None else []
    if status is not None:
        lines += _reading(status.known, status.wanted, width) if status.wanted else _known(status)
    return Content("\n").join(lines)


def _reading(known: int, wanted: int, width: int, key: str = "") -> list[Content]:
    """Show the progress of reading history, in the same numbers as Health."""
    share = known / wanted if wanted else 0.0
    bar = share_bar(share, max(6, width - 16))
    return [
        Content.assemble(bar, (f" {100 * share:3.0f}%  ", "$soft"), (key, "$accent")),
        Content.styled(reading_text(known, wanted), "$soft"),
    ]


def _known(status: HistoryStatus) -> list[Content]:
    lines = []
    if status.text:
        lines.append(Content.styled(status.text, "$soft" if status.complete else "$warning"))
    if status.vacuumed:
        lines.append(Content.styled(status.vacuumed, "$muted"))
    if status.running:
        lines.append(Content.styled("It is being read now.", "$accent"))
    elif status.known < status.length and not status.complete:
        lines.append(Content.assemble(("b", "bold $accent"), (" reads the rest", "$soft")))
    return lines + [Content.styled(words, "$muted") for words in status.notes]
