"""The list of proposals: what each says, how sure it is, how often it was seen, and where it would be written."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from cm_tui.model import NarratedProposal
from cm_tui.model.dates import age
from cm_tui.tui.modes.review.inbox import Item, Key, key_of
from cm_tui.tui.modes.review.signs import OF_USER, kind_of, place_of, sign_of, title_of
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, elide_path, fit

_KIND, _BAR = 10, 5
_LEAST_TITLE = 20
SURE, HALF_SURE = 0.8, 0.6


@dataclass(frozen=True)
class UnreadRow:
    """A row that was not read yet."""


Row = Item | UnreadRow


def sure_bar(share: float, width: int) -> Content:
    """Return how sure something is as a bar, in a colour that says the same."""
    return share_bar(share, width, "$success" if share >= SURE else "$primary" if share >= HALF_SURE else "$warning")


class ProposalList(RowList[Row]):
    """Rows of one line or two, as there is room; asks for rows that come on screen and are not read yet."""

    refused: Collection[Key] = ()
    """Items that could not be decided as they were shown."""

    @property
    def item(self) -> Item | None:
        """What the row under the cursor is about."""
        row = self.current
        return None if isinstance(row, UnreadRow) else row

    def key_of(self, row: Row) -> Key | None:
        """Return the name of an item."""
        return None if isinstance(row, UnreadRow) else key_of(row)

    # --- drawing ---

    def draw_line(self, row: Row, line: int, width: int) -> Content:
        """One line of a row."""
        if isinstance(row, UnreadRow):
            return self.want() if line == 0 else Content("")
        if self.row_height == 1:
            return self._whole(row, width)
        return self._said(row, width) if line == 0 else self._facts(row, width)

    def _sign(self, row: Item) -> Content:
        whose = OF_USER if isinstance(row, NarratedProposal) and row.scope == "user" else (" ", "")
        return Content.assemble(" ", sign_of(row, refused=key_of(row) in self.refused), whose, " ")

    def _said(self, row: Item, width: int) -> Content:
        return Content.assemble(self._sign(row), (elide_end(title_of(row), max(8, width - 5)), _style(row)))

    def _facts(self, row: Item, width: int) -> Content:
        if not isinstance(row, NarratedProposal):
            facts = elide_end(row.facts, width - 7 - _KIND)
            return Content.assemble("    ", (fit(row.kind, _KIND), "$secondary"), " ", (facts, "$muted"))
        seen = f"{row.confidence:4.0%}  {_seen(row)}"
        room = width - 7 - _KIND - _BAR - cell_len(seen)
        where = elide_path(_where(row), room - 3) if room > 10 else ""
        return Content.assemble(
            "    ", (fit(row.kind, _KIND), "$secondary"), " ", sure_bar(row.confidence, _BAR), (f" {seen}", "$soft"),
            (f" · {where}" if where else "", "$muted"),
        )  # fmt: skip

    def _whole(self, row: Item, width: int) -> Content:
        """Everything in one line: the title gives way."""
        if not isinstance(row, NarratedProposal):
            tail = Content.styled(f" {elide_end(row.facts.partition(', ')[0], 12)}", "$muted")
        else:
            tail = Content.assemble(" ", sure_bar(row.confidence, _BAR), (f" {_seen(row, short=True):>5}", "$soft"))
        room = width - 5 - cell_len(tail.plain)
        kind = f"{fit(kind_of(row), _KIND)} " if room >= _KIND + 1 + _LEAST_TITLE else ""
        title = fit(title_of(row), max(4, room - len(kind)))
        return Content.assemble(self._sign(row), (kind, "$secondary"), (title, _style(row)), tail)


def _style(row: Item) -> str:
    if isinstance(row, NarratedProposal) and (row.state != "waiting" or row.relation == "redundant"):
        return "$muted"
    return "$foreground"


def _seen(row: NarratedProposal, *, short: bool = False) -> str:
    """Return how often it was seen: `4× in 3 sessions`."""
    if not row.support:
        # What the state of the notes says is seen in no episode.
        return "" if short else "from the notes"
    if short:
        return f"{row.support:,}×"
    return f"{row.support:,}× in {row.sessions:,} {'session' if row.sessions == 1 else 'sessions'}"


def _where(row: NarratedProposal) -> str:
    return f"decided {age(time.time() - row.decided)}" if row.decided is not None else place_of(row.target)
