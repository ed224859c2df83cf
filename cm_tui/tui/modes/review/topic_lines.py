"""What the panel says of a topic: size, tags, freshness, overlaps, what its lifecycle suggests, and its text."""

from __future__ import annotations

import time
from collections.abc import Iterator

from textual.content import Content

from cm_tui.model import Topic, TopicOverlap
from cm_tui.model.dates import age, local_day
from cm_tui.tui.modes.review.detail_lines import BLANK, DetailLine, text_lines, title
from cm_tui.tui.modes.review.others import flat
from cm_tui.tui.modes.review.topic_list import kilobytes, share_of, size_bar
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.text import count, elide_path, fit, one_line

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
    state = (
        ("✗ retired: kept, and no longer recalled; D brings it back", "$warning") if topic.retired else (whose, "$soft")
    )
    yield DetailLine(Content.styled(*state))
    yield DetailLine(Content.styled(elide_path(one_line(topic.id), width), "$muted"), f"note:{topic.id}")
    yield BLANK
    much = f" {kilobytes(topic)} ({share_of(topic):.0%}), {count(topic.lines, 'line')}"
    yield DetailLine(Content.assemble((fit("Size", _NAME), "bold $primary"), size_bar(topic, _BAR), (much, "$soft")))
    yield _fact("Changed", f"{local_day(topic.modified)}, {age(time.time() - topic.modified)}")
    used = f"{local_day(topic.used)}, {age(time.time() - topic.used)}" if topic.used else "never, as far as is known"
    yield _fact("Recalled", used)
    tags = " ".join(f"#{flat(tag, 60)}" for tag in topic.tags) or "none"
    derived = ", from its headings and words" if topic.tags_derived else ""
    for place, line in enumerate(text_lines(f"{tags}{derived}", max(8, width - _NAME))):
        yield _fact("Tags" if place == 0 else "", line.content.plain)


def _fact(name: str, words: str) -> DetailLine:
    return DetailLine(Content.assemble((fit(name, _NAME), "bold $primary"), (words, "$soft")))


def _overlaps(topic: Topic, width: int) -> Iterator[DetailLine]:
    if not topic.overlaps:
        return
    yield BLANK
    yield title("Overlaps", "tags that both have, of those that either has")
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
