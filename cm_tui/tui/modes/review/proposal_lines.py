"""Lines of the panel for a proposal: what it would write and where, why, how often, how sure, next to what, and its evidence."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from difflib import unified_diff

from rich.cells import cell_len
from textual.content import Content

from cm_tui.model import ConfidencePart, Entry, Evidence, NarratedProposal, Proposal, StaleItem
from cm_tui.model.dates import age, local_day, local_minute
from cm_tui.tui.modes.review import inbox
from cm_tui.tui.modes.review.detail_panel import BLANK, DetailLine, diff_lines, side_by_side, text_lines, title
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import count, elide_end, elide_path, fit, flat, one_line

_KIND, _LIST_BAR = 10, 5
_LEAST_TITLE = 20
SURE, HALF_SURE = 0.8, 0.6


Row = inbox.Item | None
"""None: it was not read yet."""


def sure_bar(share: float, width: int) -> Content:
    """Return how sure something is as a bar, in a colour that says the same."""
    return share_bar(share, width, "$success" if share >= SURE else "$primary" if share >= HALF_SURE else "$warning")


class ProposalList(RowList[Row]):
    """Rows of one line or two, as there is room; asks for rows that come on screen and are not read yet."""

    refused: Collection[inbox.Key] = ()
    """Items that could not be decided as they were shown."""
    selected: tuple[inbox.Key, ...] = ()
    """Items that are decided together."""

    def key_of(self, row: Row) -> inbox.Key | None:
        """Return the name of an item."""
        return inbox.key_of(row) if row is not None else None

    # --- drawing ---

    def draw_line(self, row: Row, line: int, width: int) -> Content:
        """One line of a row."""
        if row is None:
            return self.placeholder() if line == 0 else Content("")
        if self.row_height == 1:
            return self._one_line(row, width)
        return self._summary(row, width) if line == 0 else self._facts(row, width)

    def _sign(self, row: inbox.Item) -> Content:
        whose = inbox.OF_USER if isinstance(row, NarratedProposal) and row.scope == "user" else (" ", "")
        sign = inbox.sign_of(row, refused=inbox.key_of(row) in self.refused)
        return Content.assemble(" ", inbox.SELECTED if inbox.key_of(row) in self.selected else sign, whose, " ")

    def _summary(self, row: inbox.Item, width: int) -> Content:
        return Content.assemble(self._sign(row), (elide_end(inbox.title_of(row), max(8, width - 5)), _style(row)))

    def _facts(self, row: inbox.Item, width: int) -> Content:
        if not isinstance(row, NarratedProposal):
            facts = elide_end(row.facts, width - 7 - _KIND)
            return Content.assemble("    ", (fit(row.kind, _KIND), "$secondary"), " ", (facts, "$muted"))
        seen = f"{row.confidence:4.0%}  {_support_text(row)}"
        room = width - 7 - _KIND - _LIST_BAR - cell_len(seen)
        where = elide_path(_where(row), room - 3) if room > 10 else ""
        return Content.assemble(
            "    ", (fit(row.kind, _KIND), "$secondary"), " ", sure_bar(row.confidence, _LIST_BAR), (f" {seen}", "$soft"),
            (f" · {where}" if where else "", "$muted"),
        )  # fmt: skip

    def _one_line(self, row: inbox.Item, width: int) -> Content:
        """Everything in one line: the title gives way."""
        if not isinstance(row, NarratedProposal):
            free = width - 7 - _KIND - cell_len(inbox.title_of(row))
            tail = Content.styled(f" {elide_end(row.facts.partition(', ')[0], max(12, free))}", "$muted")
        else:
            tail = Content.assemble(
                " ", sure_bar(row.confidence, _LIST_BAR), (f" {_support_text(row, short=True):>5}", "$soft")
            )
        room = width - 5 - cell_len(tail.plain)
        kind = f"{fit(row.kind, _KIND)} " if room >= _KIND + 1 + _LEAST_TITLE else ""
        title = fit(inbox.title_of(row), max(4, room - len(kind)))
        return Content.assemble(self._sign(row), (kind, "$secondary"), (title, _style(row)), tail)


def _style(row: inbox.Item) -> str:
    if isinstance(row, NarratedProposal) and (row.state != "waiting" or row.relation == "redundant"):
        return "$muted"
    return "$foreground"


def _support_text(row: NarratedProposal, *, short: bool = False) -> str:
    """Return how often it was seen: `4× in 3 sessions`."""
    if not row.support:
        # What the state of the notes says is seen in no episode.
        return "" if short else "from the notes"
    if short:
        return f"{row.support:,}×"
    return f"{row.support:,}× in {row.sessions:,} {'session' if row.sessions == 1 else 'sessions'}"


def _where(row: NarratedProposal) -> str:
    return f"decided {age(time.time() - row.decided)}" if row.decided is not None else inbox.place_of(row.target)


TWO_COLUMNS = 88
"""Cells from which on two texts stand side by side."""
_BAR, _NAME = 10, 12
_QUOTE = 600
"""Most characters of a quote from an episode."""
_MOST_NAMED = 6


def proposal_lines(one: NarratedProposal, width: int, *, is_whole: bool, refused: str = "") -> list[DetailLine]:
    """Return the lines of a proposal.

    Args:
        one: what is proposed.
        width: in cells.
        is_whole: diff and evidence are there.
        refused: why the last decision on it was not done.
    """
    return [
        *_head(one, width, refused),
        *_writes(one, width, is_whole=is_whole),
        *_related_lines(one, width),
        BLANK,
        *text_lines(one.why, width, lead="Why  "),
        *_support_lines(one, width),
        BLANK,
        *_sure(one, width),
        *_evidence(one, width, is_whole=is_whole),
        *_more(one, width),
    ]


def _head(one: NarratedProposal, width: int, refused: str) -> Iterator[DetailLine]:
    """Yield its kind, its state and what blocks it."""
    sign, words = inbox.RELATIONS[one.relation]
    yield DetailLine(Content.assemble(sign, " ", (words, sign[1]), (f"  ·  {inbox.kind_words(one.kind)}", "$soft")))
    if one.state != "waiting":
        sign, words = inbox.STATES[one.state]
        by = {"person": " by the user", "": ""}.get(one.decided_by, f" by the {one_line(one.decided_by)}")
        when = f", {local_minute(one.decided)}, {age(time.time() - one.decided)}" if one.decided is not None else ""
        yield from text_lines(f"{words}{by}{when}; u undoes it", width, sign[1], lead=f"{sign[0]} ")
        if one.reason:
            yield from text_lines(f"“{flat(one.reason)}”", width, "$soft", lead="  ")
    if one.proposed_by:
        yield DetailLine(Content.styled(f"? proposed by {one_line(one.proposed_by)}", "$warning"))
    for words in filter(None, (refused, one.problem)):
        yield from text_lines(flat(words), width, "$warning", lead=f"{inbox.REFUSED[0]} ")


def _writes(one: NarratedProposal, width: int, *, is_whole: bool) -> Iterator[DetailLine]:
    """Yield what approving would write, as a diff; before that is known, the line alone."""
    below = f"below “{flat(one.heading)}”" if one.heading and one.is_line else ""
    yield from _place(one, below, width)
    if is_whole and one.diff:
        yield from (DetailLine(line) for line in diff_lines(one.diff, width, alone=one.target))
        return
    if one.old and one.action in ("replace", "remove"):
        yield from text_lines(one.old, width, "$error", lead="- ")
    if one.action != "remove":
        lead, style = ("+ ", "$success") if one.action in ("add", "replace") else ("", "")
        yield from text_lines(one.text, width, style, lead=lead)


def _place(one: NarratedProposal, below: str, width: int) -> Iterator[DetailLine]:
    place = f"{one_line(one.target)}  {below}".rstrip()
    yield from (
        DetailLine(Content.styled(line.content.plain, "bold $secondary"), f"note:{one.target}")
        for line in text_lines(place, width)
    )
    if one.diff and not one.is_line:
        yield from text_lines(one.text, width)


def _support_lines(one: NarratedProposal, width: int) -> Iterator[DetailLine]:
    """Yield how often, and over which time."""
    if not one.support:
        return
    first, last = local_day(one.first), local_day(one.last)
    days = int((one.last - one.first) / 86_400)
    over = f"on {last}" if first == last else f"from {first} to {last} ({count(max(1, days), 'day')})"
    words = f"{one.support:,}× in {count(one.sessions, 'session')}, {over}; last {age(time.time() - one.last)}"
    yield from text_lines(words, width, "$soft", lead="     ")


def _sure(one: NarratedProposal, width: int) -> Iterator[DetailLine]:
    """Yield the confidence, and the parts that it is the product of."""
    head = Content.assemble(
        (fit("Confidence", _NAME), "bold $primary"), (f"{one.confidence:5.2f} ", "bold"), sure_bar(one.confidence, _BAR),
        ("  the product of these" if len(one.parts) > 1 else "", "$muted"),
    )  # fmt: skip
    yield DetailLine(head)
    for part in one.parts:
        yield from _part(part, width)


def _part(part: ConfidencePart, width: int) -> Iterator[DetailLine]:
    name = (fit(one_line(part.name), _NAME - 2), "$soft")
    start = Content.assemble("  ", name, f"{part.value:5.2f} ", share_bar(part.value, _BAR), "  ")
    lines = [line.content for line in text_lines(part.words, max(12, width - len(start.plain)), "$muted")]
    for place, line in enumerate(lines or [Content("")]):
        lead = start if place == 0 else Content(" " * len(start.plain))
        yield DetailLine(Content.assemble(lead, line))


def _related_lines(one: NarratedProposal, width: int) -> Iterator[DetailLine]:
    """Yield what is known already, beside what is proposed."""
    if not one.other:
        return
    yield BLANK
    place = one_line(one.other_place)
    goal = f"note:{place.rpartition(':')[0] if place.rpartition(':')[2].isdigit() else place}"
    if width >= TWO_COLUMNS:
        yield title("Next to it")
        yield from side_by_side(("proposed", one.text), (f"known: {place}", one.other), width)
        return
    yield DetailLine(title("Already known", place).content, goal)
    yield from text_lines(one.other, width, lead="= ")


def _evidence(one: NarratedProposal, width: int, *, is_whole: bool) -> Iterator[DetailLine]:
    """Yield the episodes that it stands on; Enter on one of them leads to it."""
    total = max(len(one.evidence_ids), len(one.evidence))
    if not total:
        return
    yield BLANK
    shown = f"{len(one.evidence):,} of {count(total, 'episode')}" if is_whole else count(total, "episode")
    yield title("Evidence", f"{shown}; ⏎ shows one, o the newest" if is_whole else shown)
    sessions = list(dict.fromkeys(each.session for each in one.evidence if each.session))
    for each in one.evidence:
        named = f"session {sessions.index(each.session) + 1} of {len(sessions)}" if each.session else ""
        yield from _episode(each, named if len(sessions) > 1 else "", width)


def _episode(each: Evidence, session: str, width: int) -> Iterator[DetailLine]:
    goal = f"episode:{each.episode} {each.session}"
    who = {"person": "the user", "narrator": "the narrator"}.get(each.actor, "")
    facts = [age(time.time() - each.time), who, session]
    line = " · ".join(filter(None, [*facts, local_minute(each.time)]))
    yield DetailLine(Content.assemble(("▸ ", "$accent"), (line, "$soft")), goal)
    if each.quote:
        quote = f"{each.quote[:_QUOTE].rstrip()}…" if len(each.quote) > _QUOTE else each.quote
        yield from text_lines(f"“{quote.strip()}”", width, lead="  ", goal=goal)
    else:
        yield from text_lines("its text is gone: it was forgotten or archived", width, "$muted", lead="  ", goal=goal)


def _more(one: NarratedProposal, width: int) -> Iterator[DetailLine]:
    """Yield what names it, and what it is about."""
    # In a diff its id is part of what would be written.
    about = [*([] if one.id in one.diff else [one.id]), *(one_line(topic) for topic in one.topics[:_MOST_NAMED])]
    about += [f"#{one_line(tag)}" for tag in one.tags[:_MOST_NAMED]]
    about += [f"phrased by {one_line(one.phrased_by)}"] if one.phrased_by else []
    if about:
        yield BLANK
        yield from text_lines(" · ".join(about), width, "$muted")


_WISHES = {"write": "would write for all projects", "change": "would change", "forget": "would forget"}


def other_lines(item: inbox.Other, width: int, *, refused: str = "") -> list[DetailLine]:
    """Return the lines about an item.

    Args:
        item: the item.
        width: in cells.
        refused: why the last decision on it failed.
    """
    record = item.record
    if isinstance(record, Proposal):
        return [*_agent_proposal_head(record, width, refused), BLANK, *_texts(record, width)]
    lines = _outdated(record, width) if isinstance(record, StaleItem) else _included(record, width)
    wrong = text_lines(flat(refused), width, "$warning", lead="▲ ") if refused else ()
    return [*wrong, *lines]


def _outdated(item: StaleItem, width: int) -> Iterator[DetailLine]:
    name = item.path.removeprefix("entry/").removeprefix("note/")
    goal = f"note:{name}" if item.kind != "episode" else f"episode:{item.id} "
    yield from text_lines(flat(item.title), width, "bold", goal=goal)
    yield from text_lines(f"{item.kind} {one_line(item.id)}", width, "$soft")
    for one in item.flagged:
        yield BLANK
        yield from text_lines(f"line {one.line:,} {one_line(one.words)}", width, lead="† ", goal=goal)
    yield BLANK
    fix = "a writes the new name, " if any(one.became for one in item.flagged) else ""
    yield from text_lines(f"{fix}d keeps it as still true, x archives it, e opens it in Memory.", width, "$muted")


def _included(entry: Entry, width: int) -> Iterator[DetailLine]:
    yield from text_lines(f"[{entry.category}] {flat(entry.title)}", width, "bold")
    who = one_line(entry.agent) or entry.actor
    yield from text_lines(f"{local_minute(entry.timestamp / 1000)} · {who} · included in the clone", width, "$soft")
    yield BLANK
    yield from text_lines(entry.content, width)
    yield BLANK
    words = "Not used in answers. a trusts it: agents may then treat it as your own words. x excludes it."
    yield from text_lines(words, width, "$muted")


def _agent_proposal_head(wish: Proposal, width: int, refused: str) -> Iterator[DetailLine]:
    agent = one_line(wish.agent) or "an agent"
    what = f"{agent} {_WISHES[wish.kind]} the {wish.of} {one_line(wish.target)}"
    yield from text_lines(what, width, "bold $warning", lead="? ")
    session = f" · session {flat(wish.session, 8)}" if wish.session else ""
    yield from text_lines(
        f"{local_minute(wish.time)}, {age(time.time() - wish.time)}{session}", width, "$soft", lead="  "
    )
    if refused:
        yield from text_lines(flat(refused), width, "$warning", lead="▲ ")
    if wish.reason:
        yield BLANK
        yield from text_lines(flat(wish.reason), width, lead="Why  ")


def _texts(wish: Proposal, width: int) -> Iterator[DetailLine]:
    before, after = _text(wish.before), _text(wish.after)
    if wish.of != "entry":
        yield from text_lines(wish.words, width)
        return
    diff = "\n".join(unified_diff(before, after, n=3, lineterm=""))
    yield from (DetailLine(line) for line in diff_lines("\n".join(diff.split("\n")[2:]), width))
    if wish.after is None:
        yield DetailLine(Content.styled("It would be forgotten; d in Memory restores it.", "$muted"))


def whole_text(item: inbox.Item) -> str:
    """Return what approving an item writes or trusts, uncut, for a question about several."""
    if isinstance(item, NarratedProposal):
        gone = f"- {item.old}" if item.old and item.action in ("replace", "remove") else ""
        come = "" if item.action == "remove" else f"+ {item.text}"
        return "\n".join(filter(None, (item.target, gone, come)))
    record = item.record
    if isinstance(record, StaleItem):
        return "\n".join((item.title, *(f"line {one.line:,} {one.words}" for one in record.flagged)))
    if isinstance(record, Entry):
        return "\n".join(_text(record))
    lines = [f"{record.agent or 'an agent'} {_WISHES[record.kind]} the {record.of} {record.target}"]
    sides = (("- ", record.before), ("+ ", record.after)) if record.of == "entry" else ()
    lines += [f"{sign}{line}" for sign, entry in sides for line in _text(entry)] or [record.words]
    return "\n".join(lines)


def _text(entry: Entry | None) -> list[str]:
    if entry is None:
        return []
    return [f"[{entry.category}] {entry.title}", "", *entry.content.splitlines()]
