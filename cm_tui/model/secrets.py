"""Records of possible secrets in stored data, and of erased data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """A place that holds what looks like secrets of one kind; the secrets themselves are never told."""

    place: Literal["journal", "index", "file"]
    where: str
    """The file; of the index the path of a passage, such as `episode/ID`."""
    kind: str
    """What it looks like: `Slack token`."""
    count: int
    id: str = ""
    """Of the journal: the event's id, or SEGMENT:OFFSET of a line that is no event. It can be erased by that."""
    event: str = ""
    """Kind of the event."""
    agent: str = ""
    time: float | None = None
    """Of the event: seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class SecretsReport:
    """What a scan found."""

    findings: tuple[SecretFinding, ...]
    in_source: int
    """Secrets in passages of source files, as the files have them: no findings."""
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    """An erasure was killed before its end: the next one finishes it."""

    @property
    def secrets(self) -> int:
        """Return how many there are, without those of source files."""
        return sum(one.count for one in self.findings)


@dataclass(frozen=True, slots=True)
class ErasedEvent:
    """An event whose content is erased, or would be."""

    id: str
    kind: str
    time: float
    agent: str
    words: str = ""
    """How it begins, in one line without secrets; only of what would go."""


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """What was erased, or would be."""

    dry_run: bool
    events: tuple[ErasedEvent, ...]
    """In the order of the journal: a turn's prompts, edits and stop go with its episode."""
    lines: int
    """Lines of the journal that were no events."""
    files: tuple[str, ...]
    """Logs and remembered choices that secrets were taken out of."""
    notes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why more goes than what was named."""
    neighbours: tuple[str, ...] = ()
    """Ids of episodes that stay and hold lines of one that goes."""


def neighbours_note(ids: Sequence[str], named: int = 5) -> str:
    """Return in one sentence which other episodes hold lines of one that goes, and what takes them along.

    `ids`: theirs; `named`: how many of them are written out.
    """
    who = "1 other episode holds" if len(ids) == 1 else f"{len(ids):,} other episodes hold"
    more = f" and {len(ids) - named:,} more" if len(ids) > named else ""
    them = "it" if len(ids) == 1 else "them"
    return (
        f"{who} lines of the same patch or words: {', '.join(ids[:named])}{more}; "
        f"`cm forget --erase ID --with-patches` erases {them} too"
    )
