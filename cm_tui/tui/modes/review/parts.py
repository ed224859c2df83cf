"""The list of topics, the panel of a topic, and the progress of a narrator pass."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence

from textual.content import Content

from cm_tui.model import Progress, Topic, TopicOverlap
from cm_tui.model.dates import age, local_day, short_age
from cm_tui.tui.modes.review.detail_panel import BLANK, DetailLine, text_lines, title
from cm_tui.tui.modes.review.inbox import OF_USER, REFUSED, SELECTED, flat, place_of
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import count, elide_end, elide_path, fit, one_line

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
