"""Dialogs of Review, and the commands on topics that ask by them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.errors import CmError
from cm_tui.model import NarratedChange, NarratedProposal, Topic, TopicAction
from cm_tui.model.text import fence_after
from cm_tui.tui.modes.review.detail_panel import short
from cm_tui.tui.modes.review.view import AFTER, ReviewView
from cm_tui.tui.screens.messages import OpenMemory
from cm_tui.tui.screens.question import Line, ListDialog, ask, ask_line, confirm
from cm_tui.tui.screens.undo import do_undoable
from cm_tui.tui.screens.writing import Submit, WritingScreen
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.split import Words
from cm_tui.tui.widgets.text import elide_end, flat, one_line


class LineDialog(WritingScreen[str]):
    """Asks for the line.

    Args:
        proposal: what is proposed.
        submit: approves it so.
    """

    def __init__(self, proposal: NarratedProposal, submit: Submit[str]) -> None:
        super().__init__(
            "Edit, then approve",
            proposal.text,
            submit,
            "One line of Markdown, without a list marker. u undoes it.",
        )
        self._proposal = proposal

    def fields(self) -> Iterable[Widget]:
        """Where it is written."""
        one = self._proposal
        below = f", below “{one_line(one.heading)}”" if one.heading else ""
        yield Words(Content.styled(f"into {one_line(one.target)}{below}", "$soft"), id="line-target")

    def value(self) -> str:
        """Return the line."""
        return self.area.text.strip()

    def wrong(self, value: str) -> str:
        """Return what is wrong with it."""
        if not value:
            return "Nothing to write: esc cancels, x rejects the proposal."
        return "Only one line is possible: join the lines." if "\n" in value else ""


MOST = 8
"""Reasons that are remembered."""
FIRST = ("not true", "no longer true", "one-time only", "already known", "too vague", "not useful")
"""Reasons that are offered before any was given."""
_TITLE = 56


@dataclass(frozen=True)
class ReasonRow:
    """A reason, and the key that gives it."""

    key: str
    reason: str


class ReasonList(RowList[ReasonRow], inherit_bindings=False):
    """List of reasons without letter keys, which go to the input for another reason."""

    BINDINGS: ClassVar[list[BindingType]] = [("up", "move(-1)"), ("down", "move(1)"), ("enter", "choose")]

    def draw(self, row: ReasonRow, width: int) -> Content:
        """Key and reason."""
        words = elide_end(one_line(row.reason), max(8, width - 5)) or "without a reason"
        return Content.assemble((f" {row.key:<2} ", "bold $accent"), (words, "$foreground" if row.reason else "$soft"))


class RejectDialog(ListDialog[ReasonRow]):
    """Asks for a reason.

    Args:
        what: is rejected.
        reasons: those that were given before, the last first.
        rejected: gets the reason; empty: none.
    """

    def __init__(self, what: str, reasons: Sequence[str], rejected: Callable[[str], object]) -> None:
        rows = [ReasonRow("⏎", ""), *(ReasonRow(str(n), one) for n, one in enumerate(reasons[:MOST], start=1))]
        hint = " ⏎ or a number rejects · letters: another reason · esc cancels "
        reason_list = ReasonList(id="reject-reasons")
        reason_list.styles.height = len(rows)
        super().__init__(
            " Reject: not proposed again ",
            hint,
            rows,
            reason_list,
            lambda row: rejected(row.reason),
            look="small",
        )
        self._what = what

    def above(self) -> Iterable[Widget]:
        """What is rejected."""
        yield Words(Content.styled(elide_end(one_line(self._what), _TITLE), "$soft"), id="reject-what")

    def below(self) -> Iterable[Widget]:
        """A line for another reason."""
        yield Input(placeholder="another reason", id="reject-other", compact=True, select_on_focus=False)

    def on_key(self, event: events.Key) -> None:
        """Give the reason of a number; a letter begins another one."""
        other = self.query_one(Input)
        if self.focused is other:
            if event.key == "up":
                event.stop()
                self.list.focus()
            return
        row = next((row for row in self.list.rows if row.key == event.character), None)
        if row is not None:
            event.stop()
            self.choose(row)
        elif event.character and event.is_printable:
            event.stop()
            event.prevent_default()
            other.focus()
            other.insert_text_at_cursor(event.character)

    @on(Input.Submitted)
    def _submitted_reason(self, event: Input.Submitted) -> None:
        self.choose(ReasonRow("", event.value.strip()))


def with_reason(reasons: Sequence[str], given: str) -> list[str]:
    """Return the reasons with one that was given in front."""
    return list(dict.fromkeys([given, *reasons]))[:MOST] if given else list(reasons)


_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*$")


@dataclass(frozen=True)
class SectionRow:
    """A section."""

    name: str
    level: int
    lines: int
    """Up to the next heading."""


def sections_of(text: str) -> list[SectionRow]:
    """Return the sections of a note, without its title."""
    found = list(_headings(text.splitlines()))
    ends = [*(at for at, _, _ in found[1:]), text.count("\n") + 1]
    rows = [SectionRow(name, level, end - at) for (at, level, name), end in zip(found, ends, strict=False)]
    return rows[1:] if rows and rows[0].level == 1 else rows


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    fence = ""
    for number, line in enumerate(lines):
        fence = fence_after(fence, line)
        if not fence and (heading := _HEADING.match(line)) and heading.group(2):
            yield number, len(heading.group(1)), heading.group(2)


class SectionList(RowList[SectionRow]):
    """Sections, some of them marked."""

    BINDINGS: ClassVar[list[BindingType]] = [("space", "choose")]
    marked: frozenset[int] = frozenset()

    def draw(self, row: SectionRow, width: int) -> Content:
        """Mark, heading, lines."""
        is_marked = any(self.rows[place] is row for place in self.marked)
        name = elide_end(one_line(row.name), max(6, width - 16 - 2 * row.level))
        lead = "  " * max(0, row.level - 2)
        return Content.assemble(
            (" ▪ " if is_marked else " · ", "$accent" if is_marked else "$faint"), lead,
            (name, "bold $foreground" if is_marked else "$foreground"), (f"  {row.lines} lines", "$muted"),
        )  # fmt: skip


class SplitDialog(ListDialog[SectionRow]):
    """Asks which sections move, and for a title.

    Args:
        name: of the topic.
        rows: its sections.
        split: gets the headings of the sections that move, and the title of the new topic; empty: the first heading.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", show=False, priority=True)]

    def __init__(self, name: str, rows: Sequence[SectionRow], split: Callable[[tuple[str, ...], str], object]) -> None:
        self._sections, self._split = SectionList(id="split-list"), split
        title, hint = (
            f" Split {elide_end(one_line(name), 50)} ",
            " space marks what moves · ctrl+s splits · esc cancels ",
        )
        super().__init__(title, hint, rows, self._sections, look="small")

    def below(self) -> Iterable[Widget]:
        """The title."""
        yield Input(placeholder="title of the new topic; empty: the first heading", id="split-title", compact=True)

    def choose(self, row: SectionRow) -> None:  # noqa: ARG002 - the one under the cursor
        """Mark a section, or not any more."""
        self._sections.marked ^= {self._sections.cursor}
        self._sections.redraw()

    @on(Input.Submitted)
    def _submitted_title(self) -> None:
        self.action_save()

    def action_save(self) -> None:
        """Hand over what is marked."""
        names = tuple(row.name for place, row in enumerate(self._sections.rows) if place in self._sections.marked)
        if names:
            self.dismiss(partial(self._split, names, self.query_one(Input).value.strip()))
        else:
            self.note(Content.styled("Mark what to move first: space.", "$error"))


# --- what is done with topics: made, merged, split, retired, brought back ---


def create(screen: ReviewView) -> None:
    """Ask for a title and tags, and make a topic."""

    def named(line: str) -> None:
        title, tags = title_and_tags(line)
        _change(screen, "create", [], title=title, tags=tags)

    hint = "Title, then tags, each with a #. The file is created below .cm/notes/topics."
    ask_line(screen, "New topic, such as: Router #net #dns", Line(named, hint=hint, check=_no_title))


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

    def answered(headings: tuple[str, ...], title: str) -> None:
        _change(screen, "split", [topic.id, *headings], title=title)

    def read(text: str) -> None:
        rows = sections_of(text)
        if rows:
            ask(screen, SplitDialog(short(topic), rows, answered))
        else:
            screen.cm.refuse("Split: it has no sections (headings)")

    screen.ask("split", lambda engine: engine.note(topic.id).text, read)


def retire_or_restore(screen: ReviewView, topic: Topic) -> None:
    """Retire a topic after a question, or bring it back."""
    if topic.retired:
        _change(screen, "restore", [topic.id])
        return
    words = f"Retire “{short(topic)}”?\n\nIt is kept, listed here and no longer recalled. D restores it."
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
