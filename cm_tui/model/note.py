"""Records of notes: Markdown files that people and agents write, and that people edit with any program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from cm_tui.model.entry import Scope

NoteKind = Literal["long-term", "day", "project", "user", "topic", "extra", "instructions"]
"""`long-term`: a `MEMORY.md`; `day`: the log of a day; `project`, `user`: notes of either; `topic`: what is known of one
subject; `extra`: from a folder that the settings name; `instructions`: what agents read by themselves, such as `AGENTS.md`."""
NOTES = "note"
"""The source of passages of notes; their paths begin with it."""
Decision = Literal["", "mine", "theirs", "both"]
"""What becomes of lines that two have changed: nothing is written; one side counts; both stand there, one behind the other."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note, without its text.

    Texts are those of people and agents: they may hold control characters.
    """

    id: str
    """Its path in the project; a note that lies elsewhere has where it lies before it: `user:topics/router.md`."""
    kind: NoteKind
    scope: Scope
    file: str
    """Absolute path."""
    title: str
    time: float | None
    """The day that it is about, seconds since the epoch; None: undated, its score does not decay."""
    modified: float
    """When the file was changed last: seconds since the epoch."""
    bytes: int
    lines: int
    digest: str
    """Names its content; empty: it was not read."""
    tags: tuple[str, ...] = ()
    came_along: bool = False
    """git keeps it, so it may have come with the repository: it is found, and never given to an agent unasked."""
    writable: bool = True
    """cm changes it where it is asked to; otherwise only people do, with other programs."""
    problem: str = ""
    """Why it is not searched, or what could not be understood of it; empty: all is well."""


@dataclass(frozen=True, slots=True)
class NoteText:
    """Lines of a note, as its file has them now, without what looks like a secret."""

    note: Note
    text: str
    start_line: int
    end_line: int
    next_line: int | None = None
    """Where it goes on; None: that was all."""


def whole_text(read: Callable[[int], NoteText]) -> str:
    """Return all of a note's text. `read`: its lines from a number on, as many as are read at once."""
    found = read(1)
    parts = [found.text]
    while found.next_line is not None:
        found = read(found.next_line)
        parts.append(found.text)
    return "\n".join(parts) + "\n"


@dataclass(frozen=True, slots=True)
class NoteConflict:
    """Lines of a note that two have changed differently: nothing was written, and nothing is lost."""

    base: str
    """What both began with."""
    mine: str
    theirs: str
    """What is in the file."""
    both: str
    """All of it, with marks around the lines of either side."""
    id: str = ""
    """Of the note."""
    file: str = ""
    """That keeps both sides; empty: they are in this record alone."""


@dataclass(frozen=True, slots=True)
class NoteChange:
    """A change of a note that was made, or that waits for a decision."""

    id: str
    words: str
    """What was done, for people."""
    change: str = ""
    """Id of the change, for undo; empty: nothing was changed."""
    note: Note | None = None
    """The note as it is now; None: it is gone."""
    line: int | None = None
    """Where what was written begins."""
    redacted: int = 0
    """Number of secrets redacted from the new text."""
    conflict: NoteConflict | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Warnings."""


@dataclass(frozen=True, slots=True)
class RuleBlock:
    """What writing the approved rules into a file of instructions changes, or has changed."""

    id: str
    """Of the file, as a note."""
    file: str
    """Absolute path."""
    diff: str
    """Unified; empty: nothing changes."""
    rules: int
    """That stand in the block afterwards."""
    left_out: int
    """Number of rules from agents that await the user's approval."""
    change: str = ""
    """Id of the change, for undo; empty: nothing was changed."""
