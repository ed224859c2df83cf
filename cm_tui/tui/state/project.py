"""What the application knows of the project, and the log of what happened."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from cm_tui import model
from cm_tui.errors import CmError
from cm_tui.model.dates import age
from cm_tui.tui.widgets.text import count, duration

State = Literal["", "ok", "warning", "error"]

_KEPT = 500


@dataclass(frozen=True)
class LogLine:
    """One thing that happened; `at` in seconds since the epoch."""

    at: float
    text: str
    state: State = ""


def when_indexed(status: model.ProjectStatus) -> str:
    """Return how long ago the project was indexed."""
    if not status.indexed:
        return "never"
    return age(max(0.0, time.time() - status.indexed_at)) if status.indexed_at else "some time ago"


class ActivityLog:
    """The last few hundred things that happened, oldest first."""

    def __init__(self) -> None:
        self.lines: deque[LogLine] = deque(maxlen=_KEPT)

    def add(self, text: str, state: State = "") -> None:
        """Note something."""
        self.lines.append(LogLine(time.time(), text, state))

    def add_summary(self, summary: model.IndexSummary, *, who: str = "Index run") -> None:
        """Note what an index run did."""
        steps = summary.seconds
        took = duration(steps["total"] if "total" in steps else sum(steps.values()))
        changed = f"{count(summary.changed, 'change')}, " if summary.changed else "nothing changed, "
        done = f"{summary.blobs:,} parsed, {summary.embedded:,} embedded, {took}"
        self.add(f"{who}: {changed}{count(summary.files, 'file')}, {done}", "ok")
        for note in summary.notes:
            self.add(note, "warning")


class Waiting(NamedTuple):
    """How much waits for a person to decide on it."""

    items: int
    """Of the review queue."""
    rules: int
    """Rules of agents that no person approved."""


@dataclass
class ProjectView:
    """The latest word on engine, status, plan and index run."""

    engine: Literal["opening", "open", "failed"] = "opening"
    error: CmError | None = None
    """Why the engine could not be opened."""
    status: model.ProjectStatus | None = None
    status_error: CmError | None = None
    plan: model.IndexPlan | None = None
    progress: model.Progress | None = None
    """The step an index run is at; None when none runs."""
    summary: model.IndexSummary | None = None
    """Of the last run in this session."""
    index_error: CmError | None = None
    """Why the last run stopped."""
    cancelled: bool = False
    """The last run was cancelled by the user."""
    history: model.HistoryStatus | None = None
    """How much history is indexed; None before the first request."""
    history_error: CmError | None = None
    """Why that is not known."""
    reading_error: CmError | None = None
    """Why the last reading of history stopped."""
    reading: model.Progress | None = None
    """The step at which history is being read; None when it is not."""
    imports: model.ImportPlan | None = None
    """Past sessions of agents that can be imported, once that was looked at; None: not known, or done."""
    importing: model.Progress | None = None
    """The step an import, or the copying of transcripts, is at; None when none runs."""
    expiring: int = 0
    """Sessions on this machine that their agents delete within five days, and that were not copied."""
    narrating: model.Progress | None = None
    """The step a pass of the narrator is at; None when none runs."""
    waiting: Waiting | None = None
    """What waits for a person, once that was asked."""
    daemon: Literal["none", "connected", "lost"] = "none"
    """Whether the daemon is heard; `none`: this engine goes straight to the store, or did not hear it yet."""
    job: str = ""
    """A running job of the daemon for this project, started by another client."""
    index_news: int = 0
    """Counter that increases with every change to the index, by any client."""
    edits: str = ""
    """What the index does not reflect of the files on disk, in words; looked for only where no daemon does that."""
    config_news: int = 0
    """Counter that increases when another client changes a setting of the project."""

    saved_here: set[str] = field(default_factory=set)
    """Settings that were saved from here, so that the change of their file is no news."""

    head: model.CheckoutHead | None = None
    """What is checked out at this moment, once that was looked at; `status` may be older."""

    recording: model.RecordingState | None = None
    """Whether what sessions do is recorded, once that was looked at."""
    recording_error: CmError | None = None
    """Why the state of recording is unknown; nothing is recorded then."""

    @property
    def sessions_to_import(self) -> int:
        """How many past sessions a project has into which none was imported yet."""
        return self.imports.new if self.imports and not self.imports.imported else 0

    @property
    def content(self) -> tuple[object, int]:
        """Something else after every change that an answer may depend on."""
        return self.status, self.index_news

    @property
    def branch(self) -> str | None:
        """The branch that is checked out."""
        if self.head is not None:
            return self.head.branch
        return self.status.branch if self.status else None

    @property
    def is_behind_head(self) -> bool:
        """True while the index is of another commit than the one that is checked out."""
        status = self.status
        if status is None or not status.indexed or not status.git:
            return False
        now = self.head.sha if self.head is not None and self.head.sha else status.head
        return now != status.indexed_head

    @property
    def searchable(self) -> bool:
        """True once keyword and symbol queries answer."""
        return bool(self.status and self.status.indexed) or bool(self.progress and self.progress.searchable)

    @property
    def why_not_searchable(self) -> str | None:
        """What a mode that needs the index says instead of its content; None when there is one."""
        if self.engine == "failed":
            return "The project could not be opened; see the Overview."
        if self.engine == "opening":
            return "Opening the project…"
        if self.searchable:
            return None
        if self.progress:
            return "Indexing; search works as soon as the files are parsed."
        if self.status is None and self.status_error is None:
            return "Opening the project…"
        return "No index yet. Start one from the Overview."
