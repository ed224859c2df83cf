"""What is found of agents' own transcripts, and what came of importing them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

AGENT_TITLES = {
    "claude-code": "Claude Code", "codex": "Codex", "opencode": "OpenCode", "gemini": "Gemini CLI", "cursor": "Cursor",
    "copilot": "Copilot CLI",
}  # fmt: skip
"""Agents whose sessions are imported: how each is called in words."""


@dataclass(frozen=True, slots=True)
class ImportSource:
    """The transcripts of one agent that are of this project."""

    agent: str
    sessions: int
    """Those of sub-agents included."""
    new: int
    """How many have a turn that an import would record."""
    bytes: int
    """How much of these there is to read; 0 where a database does not say."""
    folders: tuple[str, ...]
    """Where they worked."""
    moved: tuple[str, ...] = ()
    """Which of these have gone: the project lay there, or a worktree of it."""
    first: float | None = None
    """When the first of them began: seconds since the epoch."""
    last: float | None = None
    """When one of them was changed last."""


@dataclass(frozen=True, slots=True)
class TranscriptCounts:
    """The transcripts that were looked at on this machine, each counted in one of the parts."""

    total: int = 0
    """How many there are; of a database each session is one."""
    here: int = 0
    """Those of this project; in a look at all projects, of any."""
    others: int = 0
    """Those of other projects, or of folders that have gone."""
    silent: int = 0
    """Those without a session: they are empty, or hold nothing but titles and the like."""
    unread: int = 0
    """Those that could not be read: notes have the reasons."""


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import would add to this project."""

    sources: tuple[ImportSource, ...]
    others: int
    """Sessions on this machine that are another project's."""
    imported: bool
    """Something was imported before."""
    notes: tuple[str, ...] = ()
    unheld: tuple[str, ...] = ()
    """Folders that were named as where the project lay before, and in which no session was held."""
    elsewhere: tuple[str, ...] = ()
    """Where the sessions of other projects were held, most of them first; not more than a hundred folders."""
    looked_at: TranscriptCounts = TranscriptCounts()
    expiring: int = 0
    """Sessions on this machine that agents delete within five days, and that `cm rescue` has not copied."""

    @property
    def sessions(self) -> int:
        """Return how many sessions there are."""
        return sum(source.sessions for source in self.sources)

    @property
    def new(self) -> int:
        """Return how many of them have a turn that an import would record."""
        return sum(source.new for source in self.sources)


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import did."""

    transcripts: int
    """How many had something new."""
    sessions: int
    """How many sessions got episodes."""
    episodes: int
    """How many episodes were recorded."""
    known: int
    """Turns that were there already: recorded by hooks, or repeated in another transcript."""
    waiting: int
    """Turns that are under way, and are taken when they have ended; prompts that wait for an answer too."""
    withheld: int
    """Turns that are not to be recorded."""
    redacted: int
    """Secrets that were taken out."""
    bytes: int
    """How much was read."""
    seconds: float
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Kinds of records that are not known, with how many."""
    broken: Mapping[str, int] = field(default_factory=dict)
    """Lines that could not be read, by reason."""
    notes: tuple[str, ...] = ()
    kept: int = 0
    """How many of the records that are not known were kept as they are."""
    unanswered: int = 0
    """How many of the episodes are prompts without an answer."""
    looked_at: TranscriptCounts = TranscriptCounts()


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """A record of a transcript that is not understood, kept as it was but for secrets."""

    id: str
    """Of the event that holds it: erased by it."""
    time: float | None
    """When it was written: seconds since the epoch."""
    agent: str
    session: str
    transcript: str
    """Path of the file."""
    kind: str
    """What it is called there."""
    raw: str
    """As JSON."""
    cut: int
    """Number of characters cut off at its end."""


@dataclass(frozen=True, slots=True)
class ProjectSessions:
    """The sessions of one project on this machine."""

    root: str
    """Folder of its checkout."""
    agents: tuple[str, ...]
    sessions: int
    new: int
    """How many have a turn that an import would record."""
    bytes: int
    """How much there is to read."""


@dataclass(frozen=True, slots=True)
class AllImports:
    """What an import of all projects would add."""

    projects: tuple[ProjectSessions, ...]
    gone: int
    """Transcripts of folders that have gone, or have no repository."""
    never: int
    """Transcripts of folders that are never recorded."""
    silent: int
    """Transcripts that do not say whose they are."""
    notes: tuple[str, ...] = ()
    """Transcripts that could not be read, with the reasons."""
    looked_at: TranscriptCounts = TranscriptCounts()


# --- transcripts that agents delete: how many there are, how long they stay, and what was copied of them ---


@dataclass(frozen=True, slots=True)
class RescueSource:
    """The transcripts of one agent."""

    agent: str
    sessions: int
    """Those of sub-agents are not counted."""
    files: int
    """0: it keeps them in a database, which is not copied."""
    bytes: int
    days: int | None
    """Days without a change after which the agent deletes a transcript; None: it deletes none."""
    expiring: int
    """Sessions that the agent deletes within five days."""
    unsaved: int
    """How many of these have no up-to-date copy."""
    new: int
    """Files that are new, or were changed since they were copied."""
    new_bytes: int


@dataclass(frozen=True, slots=True)
class RescuePlan:
    """What a rescue would copy."""

    sources: tuple[RescueSource, ...]
    folder: str
    """Where the copies are kept."""

    @property
    def unsaved(self) -> int:
        """Return how many sessions are deleted within five days and have no up-to-date copy."""
        return sum(source.unsaved for source in self.sources)


@dataclass(frozen=True, slots=True)
class RescueSummary:
    """What a rescue copied."""

    copied: int
    """Files."""
    kept: int
    """Files whose copies were up to date."""
    prompts: int
    """Sessions without a transcript whose prompts were copied."""
    bytes: int
    """Read."""
    stored: int
    """Bytes written."""
    seconds: float
    folder: str
    withheld: Mapping[str, int] = field(default_factory=dict)
    """Transcripts that were not copied, by reason."""
    notes: tuple[str, ...] = ()
