"""What is done with topics: made, merged, split, retired, brought back."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.errors import CmError
from cm_tui.model import NarratedChange, Topic, TopicAction
from cm_tui.tui.modes.review.dialogs import SplitChoice, SplitDialog, sections_of
from cm_tui.tui.modes.review.inbox import flat
from cm_tui.tui.modes.review.parts import short
from cm_tui.tui.modes.review.view import AFTER, ReviewView
from cm_tui.tui.screens.messages import OpenMemory
from cm_tui.tui.screens.question import Line, ask, ask_line, confirm
from cm_tui.tui.screens.undo import do_undoable
from cm_tui.tui.widgets.text import one_line


def select(screen: ReviewView, topic: Topic) -> None:
    """Select a topic, or not any more, and go to the next."""
    rows = screen.topic_list
    there = topic.id in rows.selected
    rows.selected = tuple(name for name in rows.selected if name != topic.id) if there else (*rows.selected, topic.id)
    screen.retitle()
    rows.cursor += 1
    rows.redraw()
    screen.refresh_keys()


def create(screen: ReviewView) -> None:
    """Ask for a title and tags, and make a topic."""

    def named(line: str) -> None:
        title, tags = title_and_tags(line)
        _change(screen, "create", [], title=title, tags=tags)

    hint = "Its title, then tags, each with a #. The file is made below .cm/notes/topics."
    ask_line(screen, "A new topic, such as: Router #net #dns", Line(named, hint=hint, check=_no_title))


def title_and_tags(line: str) -> tuple[str, tuple[str, ...]]:
    """Return what a line names: words that begin with `#` are tags."""
    words = line.split()
    tags = tuple(dict.fromkeys(word.lstrip("#") for word in words if word.startswith("#") and word.strip("#")))
    return " ".join(word for word in words if not word.startswith("#")), tags


def _no_title(line: str) -> str | None:
    return None if title_and_tags(line)[0] else "Give it a title."


def merge(screen: ReviewView, topic: Topic) -> None:
    """Make one topic of those that are selected, or of this one and the one that is most like it."""
    ids: Sequence[str] = screen.topic_list.selected
    if len(ids) < 2:
        ids = (topic.id, topic.overlaps[0].id)

    def merge_all() -> None:
        screen.topic_list.selected = ()
        _change(screen, "merge", ids)

    named = [short(found) if (found := screen.topics.by_id(name)) is not None else one_line(name) for name in ids]
    goes = "\n".join(f"· {name}" for name in named[1:])
    words = f"Merge into “{named[0]}”?\n\n{goes}\n\nTheir lines move there, and their files are removed. u undoes it."
    confirm(screen, words, "Merge", merge_all)


def split(screen: ReviewView, topic: Topic) -> None:
    """Ask which sections make a topic of their own."""

    def answered(wanted: SplitChoice) -> None:
        _change(screen, "split", [topic.id, *wanted.headings], title=wanted.title)

    def read(text: str) -> None:
        rows = sections_of(text)
        if rows:
            ask(screen, SplitDialog(short(topic), rows, answered))
        else:
            screen.cm.refuse("Split: it has no sections; headings begin them")

    screen.ask("split", lambda engine: engine.note(topic.id).text, read)


def retire_or_restore(screen: ReviewView, topic: Topic) -> None:
    """Retire a topic after a question, or bring it back."""
    if topic.retired:
        _change(screen, "restore", [topic.id])
        return
    words = f"Retire “{short(topic)}”?\n\nIt is kept, listed here, and no longer recalled. D brings it back."
    confirm(screen, words, "Retire", lambda: _change(screen, "retire", [topic.id]))


def read_in_memory(screen: ReviewView) -> None:
    """Show the note in Memory, where it can be changed."""
    row = screen.topics.row
    if row is not None and not row.retired:
        screen.post_message(OpenMemory("note", row.id))


def _change(
    screen: ReviewView, action: TopicAction, names: Sequence[str], *, title: str = "", tags: tuple[str, ...] = ()
) -> None:
    def done(change: NarratedChange) -> None:
        if change.done:
            screen.topics.pending = change.id
            screen.show_done(f" ✓ u undoes it: {flat(change.words)} ")
            screen.cm.tell(f"{one_line(change.words)}; u undoes it.")
        else:
            screen.cm.tell(one_line(change.problem), severity="warning")
        screen.reload()

    def failed(error: CmError) -> None:
        screen.cm.tell_error(error)
        screen.reload(delay=AFTER)

    do_undoable(screen, lambda engine: engine.change_topics(action, list(names), title=title, tags=tags), done, failed)
