"""The panel on the right, laid out for the width that there is; the list of topics, and what the panel shows of one."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, zip_longest

from rich.cells import cell_len
from textual import getters
from textual.app import ComposeResult
from textual.content import Content

from cm_tui.model import Progress, Topic, TopicOverlap
from cm_tui.model.dates import age, local_day, short_age
from cm_tui.tui.modes.review.inbox import OF_USER, REFUSED, SELECTED, place_of
from cm_tui.tui.screens.mode_screen import ModePanel
from cm_tui.tui.theme.highlight import plain_lines
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.sourcelist import MARGIN, prose_lines
from cm_tui.tui.widgets.text import count, elide_end, elide_path, fit, flat, one_line, wrapped

MOST_LINES = 400
"""Lines of a text that are shown."""
_APART = 3


@dataclass(frozen=True)
class DetailLine:
    """A line, and where Enter leads from it."""

    content: Content
    goal: str = ""
    """`episode:ID SESSION`, `note:ID`; empty: nowhere."""


BLANK = DetailLine(Content(""))


def title(words: str, more: str = "") -> DetailLine:
    """Return the heading of a part."""
    return DetailLine(Content.assemble((words, "bold $primary"), (f"  {more}" if more else "", "$muted")))


def text_lines(text: str, width: int, style: str = "", *, lead: str = "", goal: str = "") -> Iterator[DetailLine]:
    """Yield wrapped prose.

    Args:
        text: untrusted.
        width: in cells.
        style: of all of it.
        lead: stands before the first line; the others are as far from the edge.
        goal: where Enter leads.
    """
    room = max(8, width - cell_len(lead))
    before = lead
    for line in prose_lines(text, room + MARGIN, most=MOST_LINES):
        yield DetailLine(Content.assemble((before, "$muted"), (line.text, style)), goal)
        before = " " * cell_len(lead)


def side_by_side(left: tuple[str, str], right: tuple[str, str], width: int) -> Iterator[DetailLine]:
    """Yield two texts below their headings in two columns.

    Args:
        left: heading and text.
        right: the same of the other.
        width: in cells.
    """
    room = (width - _APART) // 2
    columns = [
        [Content.styled(fit(name, room), "$muted"), *(line.content for line in text_lines(text, room))]
        for name, text in (left, right)
    ]
    for one, other in zip_longest(*columns, fillvalue=Content("")):
        gap = " " * (room - cell_len(one.plain) + 1)
        yield DetailLine(Content.assemble(one, gap, ("│", "$faint"), " ", other))


MOST = 600
"""Lines of a diff that are shown."""
_MARK = "<!-- cm:narrator"
_NOWHERE = "/dev/null"
_STYLES = {"+": "$success", "-": "$error"}


def diff_lines(diff: str, width: int, *, alone: str = "") -> Iterator[Content]:
    """Yield a diff as lines.

    Args:
        diff: unified.
        width: in cells.
        alone: a file named elsewhere; its name is omitted unless the file is new.
    """
    lines = [line.plain for line in plain_lines(diff.rstrip("\n"))] if diff else []
    skipped = False
    for number, (line, following) in enumerate(pairwise([*lines, ""])):
        if number >= MOST:
            yield Content.styled(f"… and {count(len(lines) - MOST, 'more line')}", "$muted")
            return
        if line.startswith("--- ") and following.startswith("+++ "):
            yield from _file(line[4:].strip(), following[4:].strip(), width, alone)
            skipped = False
        elif line.startswith("+++ ") and number and lines[number - 1].startswith("--- "):
            continue
        elif line.startswith("@@"):
            # No gap mark before a file's first hunk.
            if skipped:
                yield Content.styled("⋯", "$faint")
            skipped = True
        else:
            yield from _line(line, width)


def _file(old: str, new: str, width: int, alone: str) -> Iterator[Content]:
    name = old if new == _NOWHERE else new
    became = "new" if old == _NOWHERE else "deleted" if new == _NOWHERE else ""
    if became or name != alone:
        state = f"  {became}" if became else ""
        yield Content.assemble((elide_path(name, max(8, width - len(state))), "bold $secondary"), (state, "$warning"))


def _line(line: str, width: int) -> Iterator[Content]:
    sign, text = line[:1] or " ", line[1:]
    if sign == "\\":
        yield Content.styled(f"  {text.strip()}", "$faint")
        return
    style = _STYLES.get(sign, "$soft")
    # Where a line came from stands at its end, and is nothing that anybody reads.
    left = _inked(text.partition(_MARK)[0]) if _MARK in text else len(text)
    for place, piece in enumerate(wrapped(text, max(8, width - 2))):
        text_ = _first(piece, left)
        left -= _inked(text_)
        yield Content.assemble((f"{sign if place == 0 else ' '} {text_}", style), (piece[len(text_) :], "$muted"))


def _inked(text: str) -> int:
    """Return how many characters are no blanks: where a line is broken, those go."""
    return sum(not one.isspace() for one in text)


def _first(piece: str, many: int) -> str:
    """Return a piece up to so many characters that are no blanks."""
    for place, one in enumerate(piece):
        many -= not one.isspace()
        if many < 0:
            return piece[:place]
    return piece


Lay = Callable[[int], list[DetailLine]]
"""Lays something out for a width in cells."""
NOTHING = "Details of the selected row are shown here."


class DetailList(RowList[DetailLine]):
    """Lines with a cursor, as long as the list has the focus."""

    is_text = True

    def draw(self, row: DetailLine, width: int) -> Content:  # noqa: ARG002 - lines were laid out for this width
        """One line."""
        return Content.assemble(" ", row.content)

    def to_goal(self) -> None:
        """Put the cursor on the first line that leads to an episode."""
        self.cursor = next(
            (place for place, row in enumerate(self.rows) if row.goal.startswith("episode:")), self.cursor
        )


class DetailPanel(ModePanel):
    """Shows lines that are laid out on a worker thread."""

    _lay: Lay | None = None
    _about: Hashable = None
    _width = 0

    def compose(self) -> ComposeResult:
        """The lines."""
        yield DetailList(id="detail-lines", empty=NOTHING)

    lines = getters.query_one(DetailList)

    def show(self, about: Hashable, lay: Lay) -> None:
        """Show a record; the same record keeps its scroll position.

        Args:
            about: names it.
            lay: lays it out.
        """
        keep, self._about, self._lay = about == self._about, about, lay
        self._draw(keep=keep)

    def clear(self, words: str = NOTHING) -> None:
        """Show nothing."""
        self._about = self._lay = None
        self.label("", "")
        self.lines.set_rows((), empty=words)

    def _draw(self, *, keep: bool) -> None:
        lay, about = self._lay, self._about
        self._width = self.lines.scrollable_content_region.width - 1
        if lay is None or self._width <= 0:
            return

        def got(lines: list[DetailLine]) -> None:
            if about != self._about:
                return
            above = self.lines.scroll_offset.y
            self.lines.set_rows(lines, cursor=self.lines.cursor if keep else 0, empty="")
            self.call_after_refresh(
                self.lines.scroll_to, 0, above if keep else 0, animate=False, force=True, immediate=True
            )

        self.mode.cm.tasks.work(partial(lay, self._width), got, topic="review.lines")

    def on_resize(self) -> None:
        """The same at the new width."""
        self.call_after_refresh(self._redraw)

    def on_show(self) -> None:
        """What came while there was no room."""
        self.call_after_refresh(self._redraw)

    def _redraw(self) -> None:
        if self._width != self.lines.scrollable_content_region.width - 1:
            self._draw(keep=True)


_LIST_BAR, _SIZE, _WHEN = 10, 14, 7
_LEAST_TITLE = 10
_NEARLY_FULL = 0.9
_RETIRED = ("✗", "$muted")


def share_of(topic: Topic) -> float:
    """Return how much of its size cap a note has."""
    return topic.bytes / topic.cap_bytes if topic.cap_bytes else 0.0


def size_bar(topic: Topic, width: int) -> Content:
    """Return size against cap as a bar."""
    share = share_of(topic)
    return share_bar(share, width, "$error" if share > 1 else "$warning" if share > _NEARLY_FULL else "$primary")


class TopicList(RowList[Topic]):
    """Topics, then the notes that have a size cap besides; some of them selected."""

    selected: tuple[str, ...] = ()
    """Ids, in the order in which they were selected."""
    notes: Collection[str] = ()
    """Ids of those that are no topics."""

    def key_of(self, row: Topic) -> str:
        """Return its id."""
        return row.id

    def list_topics(self, topics: Sequence[Topic], notes: Sequence[Topic], empty: str, *, at: str = "") -> None:
        """Show other rows, with the cursor on the one that it was on, or on a topic by its id."""
        self.notes = {one.id for one in notes}
        self.selected = tuple(name for name in self.selected if any(one.id == name for one in topics))
        self.refill([*topics, *notes], empty=empty, at=at or None)

    def draw_line(self, row: Topic, line: int, width: int) -> Content:
        """One line of a row."""
        return self._named(row, width) if line == 0 else self._about(row, width)

    def _named(self, row: Topic, width: int) -> Content:
        sign = SELECTED if row.id in self.selected else _RETIRED if row.retired else (" ", "")
        sign = REFUSED if row.advice and not sign[0].strip() else sign
        much, when = f"{row.size:>{_SIZE}}", f"{short_age(time.time() - row.modified):>{_WHEN}}"
        room = width - 6 - _LIST_BAR - len(much) - len(when)
        if room < _LEAST_TITLE:
            much, room = "", width - 6 - _LIST_BAR
        name = fit(flat(row.title) or one_line(row.id), max(6, room))
        style = "$muted" if row.retired else "$secondary" if row.id in self.notes else "$foreground"
        whose = OF_USER if row.scope == "user" else (" ", "")
        return Content.assemble(
            " ", sign, whose, " ", (name, style), " ", size_bar(row, _LIST_BAR), (much, "$soft"), (when, "$muted")
        )

    def _about(self, row: Topic, width: int) -> Content:
        facts = [f"≈ {one.share:.0%} {place_of(one.id)}" for one in row.overlaps[:1] if not row.advice]
        facts += [" ".join(f"#{flat(tag, 40)}" for tag in row.tags)] if row.tags else []
        advice, facts_text = flat(row.advice[0]) if row.advice else "", " · ".join(facts)
        both = Content.assemble(
            (advice, "$warning"), (" · " if advice and facts_text else "", "$muted"), (facts_text, "$muted")
        )
        if row.retired:
            both = Content.styled("retired: D restores it", "$muted")
        return Content.assemble("    ", both.truncate(max(1, width - 5), ellipsis=True))


def short(topic: Topic, width: int = 40) -> str:
    """Return what a topic is called, in a sentence."""
    return elide_end(flat(topic.title) or one_line(topic.id), width)


_BAR, _NAME = 20, 10


def topic_lines(topic: Topic, width: int, text: str) -> list[DetailLine]:
    """Return the lines of a topic.

    Args:
        topic: what it is.
        width: in cells.
        text: of the note, as far as it was read.
    """
    lines = [*_facts(topic, width), *_overlaps(topic, width), *_advice(topic, width)]
    if text:
        lines += [BLANK, title("Text", "⏎ opens it in Memory" if not topic.retired else ""), *text_lines(text, width)]
    return lines


def _facts(topic: Topic, width: int) -> Iterator[DetailLine]:
    whose = "for all projects" if topic.scope == "user" else "of this project"
    yield from text_lines(flat(topic.title) or one_line(topic.id), width, "bold")
    state = ("✗ retired: kept, no longer recalled; D restores it", "$warning") if topic.retired else (whose, "$soft")
    yield DetailLine(Content.styled(*state))
    yield DetailLine(Content.styled(elide_path(one_line(topic.id), width), "$muted"), f"note:{topic.id}")
    yield BLANK
    much = f" {topic.size} ({share_of(topic):.0%}), {count(topic.lines, 'line')}"
    yield DetailLine(Content.assemble((fit("Size", _NAME), "bold $primary"), size_bar(topic, _BAR), (much, "$soft")))
    yield _fact("Changed", f"{local_day(topic.modified)}, {age(time.time() - topic.modified)}")
    used = f"{local_day(topic.used)}, {age(time.time() - topic.used)}" if topic.used else "never, as far as known"
    yield _fact("Recalled", used)
    tags = " ".join(f"#{flat(tag, 60)}" for tag in topic.tags) or "none"
    derived = ", derived from headings and words" if topic.tags_derived else ""
    for place, line in enumerate(text_lines(f"{tags}{derived}", max(8, width - _NAME))):
        yield _fact("Tags" if place == 0 else "", line.content.plain)


def _fact(name: str, words: str) -> DetailLine:
    return DetailLine(Content.assemble((fit(name, _NAME), "bold $primary"), (words, "$soft")))


def _overlaps(topic: Topic, width: int) -> Iterator[DetailLine]:
    if not topic.overlaps:
        return
    yield BLANK
    yield title("Overlaps", "shared tags, of all tags of both")
    for one in topic.overlaps:
        yield _overlap(one, width)


def _overlap(one: TopicOverlap, width: int) -> DetailLine:
    name = elide_path(one_line(one.id), max(8, width - _BAR - 7))
    return DetailLine(
        Content.assemble(share_bar(one.share, _BAR), f" {one.share:4.0%}  ", (name, "$foreground")), f"topic:{one.id}"
    )


def _advice(topic: Topic, width: int) -> Iterator[DetailLine]:
    if topic.advice:
        yield BLANK
    for words in topic.advice:
        yield from text_lines(flat(words), width, "$warning", lead="▲ ")


_STAGES = {
    "read": "reading episodes", "weigh": "weighing evidence", "propose": "making proposals",
    "model": "asking the model", "done": "done",
}  # fmt: skip
_PROGRESS_BAR = 24


def progress_text(step: Progress | None, width: int) -> Content:
    """Return how far it is; nothing, where none is on its way."""
    if step is None:
        return Content("")
    share = step.done / step.total if step.total else 0.0
    numbers = f" {step.done:,} of {step.total:,}" if step.total > 1 else ""
    words = f" ◐ The narrator is {_STAGES.get(step.stage, step.stage)} "
    bar = share_bar(share, max(4, min(_PROGRESS_BAR, width - len(words) - len(numbers) - 12)), "$accent")
    return Content.assemble((words, "$accent"), bar, (f"{numbers}  N stops it", "$soft"))
