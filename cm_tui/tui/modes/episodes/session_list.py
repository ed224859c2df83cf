"""How much is recorded, and sessions by day, the newest first; those of sub-agents below the one that started them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from cm_tui.counts import noun
from cm_tui.model import Episode, EpisodeStats, Session
from cm_tui.model.dates import local_day
from cm_tui.tui.modes.episodes.query import BY_HAND, EVERY
from cm_tui.tui.modes.episodes.story import OUTCOMES, PINNED, TYPES, clock, day_name, fitting, signs, weight
from cm_tui.tui.state.revision import headline
from cm_tui.tui.widgets.bars import sparkline
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import count, elide_end, fit, flat, one_line, short_count


@dataclass(frozen=True)
class Totals:
    """What there is of the episodes that fit."""

    stats: EpisodeStats
    by_hand: int
    """How many were recorded by hand, or in no session."""


DAYS = 90
"""Days that are asked for; as many are drawn as there is room for."""
_NARROW, _WIDE = 100, 160
_SIGN = len("  +99 more")


def activity_text(stats: EpisodeStats, width: int) -> Content:
    """Return two lines: a column a day with the totals, then outcomes and agents."""
    days = min(len(stats.per_day), 30 if width < _NARROW else 60 if width < _WIDE else DAYS)
    line = sparkline(stats.per_day[len(stats.per_day) - days :])
    totals = [
        f"{short_count(stats.sessions)} {noun(stats.sessions, 'session')}",
        f"{short_count(stats.episodes)} {noun(stats.episodes, 'episode')}",
        f"{short_count(stats.tokens)} {noun(stats.tokens, 'token')}",
        f"{short_count(stats.files)} {noun(stats.files, 'file')}",
    ]
    room = width - days - 4
    while len(" · ".join(totals)) > room and len(totals) > 1:
        totals.pop()
    first = Content.assemble(" ", line, "  ", Content.styled(" · ", "$faint").join(Content(one) for one in totals))
    return Content("\n").join((first, _second(stats, days, width)))


def _second(stats: EpisodeStats, days: int, width: int) -> Content:
    """Return what the columns are, what came of all, and who it was; first what the totals leave out."""
    if stats.note:
        return Content.styled(f" {one_line(stats.note)}", "$warning").truncate(width, ellipsis=True)
    today = stats.per_day[-1] if stats.per_day else 0
    words = f" {count(days, 'day')}, {today:,} today" if stats.per_day else ""
    line = Content.styled(words.ljust(days + 1), "$muted")
    counts = {facet.value: facet.count for facet in stats.outcomes}
    for name, (mark, style, label) in OUTCOMES.items():
        if counts.get(name):
            sign = f"  {mark} " if name else "  "
            piece = Content.assemble((sign, style), f"{short_count(counts[name])} ", (label, "$muted"))
            # The number of agents is shown at every width.
            line = _added(line, piece, width - _SIGN)
    return Content.assemble(line, (_agents(stats, width - cell_len(line.plain) - 1), "$secondary"))


def _agents(stats: EpisodeStats, room: int) -> str:
    """Return as many agents as fit, whole, and how many more there are."""
    names = [f"  {one_line(one.value) or 'unknown'} {short_count(one.count)}" for one in stats.agents]
    for shown in range(len(names), -1, -1):
        left = len(names) - shown
        words = "".join(names[:shown]) + (f"  +{left:,} more" if left else "")
        if cell_len(words) <= room:
            return words
    return ""


def _added(line: Content, piece: Content, width: int) -> Content:
    """Return a line with a piece behind it, where there is room for all of it."""
    return Content.assemble(line, piece) if cell_len(line.plain) + cell_len(piece.plain) < width else line


ROOMY = 30
"""Lines of the screen from which on a session has two."""
_DEEPEST = 4
"""Levels that are shown of agents that start agents."""


@dataclass(frozen=True)
class SessionRow:
    """A row: a day, a session, or all of them."""

    day: str = ""
    """A heading; the other fields are empty."""
    session: Session | None = None
    """None, and no day: every session."""
    depth: int = 0
    total: int = 0
    """How many episodes all of them have."""
    by_hand: bool = False
    """What was recorded by hand, or in no session."""

    @property
    def key(self) -> str | None:
        """Return what `scope` says of it: the id of the session, or the name of a group; None: a heading."""
        if self.by_hand:
            return BY_HAND
        return None if self.day else self.session.id if self.session else EVERY


def by_day(sessions: Sequence[Session], total: int, by_hand: int = 0) -> list[SessionRow]:
    """Return rows of sessions that come newest first.

    Args:
        sessions: those that are known by now.
        total: how many episodes all sessions have.
        by_hand: how many of these were recorded by hand, or in no session.
    """
    rows, day = [SessionRow(total=total)], ""
    if by_hand:
        rows.append(SessionRow(total=by_hand, by_hand=True))
    for session, depth in _nested([session for session in sessions if session.id]):
        if depth == 0 and (name := day_name(session.ended)) != day:
            day = name
            rows.append(SessionRow(day))
        rows.append(SessionRow(session=session, depth=depth))
    return rows


def _nested(sessions: Sequence[Session]) -> Iterable[tuple[Session, int]]:
    """Put each session below its parent, where that is known; a circle is taken for no relation."""
    known = {session.id: session for session in sessions}
    children: dict[str, list[Session]] = {}
    tops = []
    for session in sessions:
        if session.parent in known and not _circles(session, known):
            children.setdefault(session.parent, []).append(session)
        else:
            tops.append(session)
    waiting = [(session, 0) for session in reversed(tops)]
    while waiting:
        session, depth = waiting.pop()
        yield session, min(depth, _DEEPEST)
        # Children of one parent in the order in which they began.
        later = sorted(children.get(session.id, ()), key=lambda child: child.began, reverse=True)
        waiting += [(child, depth + 1) for child in later]


def _circles(session: Session, known: dict[str, Session]) -> bool:
    seen: set[str] = set()
    at: Session | None = session
    while at is not None and at.id not in seen:
        seen.add(at.id)
        at = known.get(at.parent)
    return at is not None


class SessionList(RowList[SessionRow]):
    """Sessions below their days."""

    selected: frozenset[str] = frozenset()
    """Ids of sessions of which every episode is selected."""

    def is_heading(self, row: SessionRow) -> bool:
        """Return whether a row is a day."""
        return bool(row.day)

    def key_of(self, row: SessionRow) -> str | None:
        """Return the key of a session, or of a group of them."""
        return row.key

    def draw_line(self, row: SessionRow, line: int, width: int) -> Content:
        """Title and time, then who it was and how much."""
        if row.day:
            # Where a row has two lines, the first one sets days apart.
            return Content.styled(f" {row.day}", "bold $primary") if line == self.row_height - 1 else Content("")
        if row.session is None:
            return self._everything(row, line, width)
        return self._title(row, row.session, width) if line == 0 else self._facts(row, row.session, width)

    def _everything(self, row: SessionRow, line: int, width: int) -> Content:
        if line:
            words = "notes, and anything outside a session" if row.by_hand else "newest first"
            return Content.styled(f"   {elide_end(words, width - 4)}", "$muted")
        number = short_count(row.total)
        mark, title = (f" {TYPES['note'][0]} ", "By hand") if row.by_hand else (" ∗ ", "All sessions")
        return Content.assemble((mark, "$accent"), fit(title, width - 5 - len(number)), (number, "$muted"))

    def _title(self, row: SessionRow, session: Session, width: int) -> Content:
        single = self.row_height == 1
        lead = f"{'  ' * row.depth}{'↳ ' if row.depth else ''}"
        mark = "▪" if session.id in self.selected else " "
        facts = Content.assemble(
            (PINNED if session.pinned else "", "$accent"), ("✗" if session.failed else "", "$error"),
            (f" {short_count(session.episodes)}" if single else "", "$muted"),
        )  # fmt: skip
        room = width - 8 - cell_len(lead) - cell_len(facts.plain)
        title = flat(session.title) or one_line(session.id) or "without a session"
        return Content.assemble(
            (mark, "$accent"), (clock(session.ended), "$soft"), " ", (lead, "$secondary"), fit(elide_end(title, room), room),
            facts,
        )  # fmt: skip

    def _facts(self, row: SessionRow, session: Session, width: int) -> Content:
        facts = [one_line(session.agent) or "by hand", count(session.episodes, "turn")]
        if session.failed:
            facts.append(f"{session.failed:,} failed")
        if session.tokens:
            facts.append(f"{short_count(session.tokens)} tokens")
        if session.files:
            facts.append(count(session.files, "file"))
        lead = 7 + 2 * row.depth
        return Content.styled(" " * lead + fitting(facts, width - 1 - lead), "$muted")


_ROOMY = 44
"""Cells from which on tags and the weight of an episode are shown."""


class TurnList(RowList[Episode]):
    """Episodes with a cursor and a selection."""

    selected: frozenset[str] = frozenset()
    """Ids of those that are selected."""
    dated = False
    """Write the day instead of the time, and who it was: rows of several sessions."""

    def key_of(self, row: Episode) -> str:
        """Return its id."""
        return row.id

    def draw(self, row: Episode, width: int) -> Content:
        """Selection, time, outcome, what it was about, signs, tags, weight: what it was about gives way last."""
        mark, style, _ = OUTCOMES[row.outcome]
        when = local_day(row.time)[5:] if self.dated else clock(row.time)
        kind = "" if row.type == "task" else f"{TYPES[row.type][0]} "
        who = f"{one_line(row.agent) or 'unknown'}: " if self.dated and width >= _ROOMY else ""
        facts = self._facts(row, width)
        room = width - 11 - cell_len(kind) - cell_len(facts.plain)
        gone = row.state != "shown"
        about = elide_end(f"{who}{headline(row)}", max(8, room))
        gap = " " * max(1, room - cell_len(about) + 1)
        return Content.assemble(
            ("▪" if row.id in self.selected else " ", "$accent"), (when, "$muted" if gone else "$soft"), " ", (mark, style),
            " ", (kind, "$secondary"), (about, "$muted" if gone else "$foreground"), gap, facts,
        )  # fmt: skip

    def _facts(self, row: Episode, width: int) -> Content:
        tags = " ".join(f"#{one_line(tag)}" for tag in row.tags) if width >= _ROOMY else ""
        pieces = [signs(row)] if signs(row).plain else []
        if tags:
            pieces.append(Content.styled(elide_end(tags, width // 4), "$secondary"))
        if width >= _ROOMY and (heavy := weight(row)):
            pieces.append(Content.styled(heavy, "$muted"))
        return Content(" ").join(pieces)
