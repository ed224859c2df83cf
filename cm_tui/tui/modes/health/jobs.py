"""The daemon's jobs that are not over: choose one to cancel it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from cm_tui.tui.modes.health.daemon_texts import job_line
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import count

if TYPE_CHECKING:
    from cm_tui.daemon.jobs import JobRecord


class JobList(RowList["JobRecord"]):
    """One line a job."""

    def draw(self, row: JobRecord, width: int) -> Content:
        """Number, name, project, how far it is."""
        return job_line(row, width)


class JobsScreen(ModalScreen[str]):
    """Gives the number of the job that is to be cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,n", "close", "Close"),
        Binding("c,y", "take", "Cancel it"),
    ]

    def __init__(self, jobs: Sequence[JobRecord]) -> None:
        super().__init__()
        self._jobs = jobs

    def compose(self) -> ComposeResult:
        """A box with the list."""
        with Vertical(id="jobs-box") as box:
            box.border_title = Content(f" {count(len(self._jobs), 'job')} ")
            box.border_subtitle = Content(" ⏎ cancels it; what is done is kept · esc closes ")
            yield JobList()

    def on_mount(self) -> None:
        """Fill the list."""
        self.query_one(JobList).set_rows(self._jobs)
        self.query_one(JobList).focus()

    @on(JobList.Chosen)
    def action_take(self) -> None:
        """Cancel the job under the cursor."""
        job = self.query_one(JobList).current
        self.dismiss(job.id if job is not None else "")

    def action_close(self) -> None:
        """Leave them alone."""
        self.dismiss("")
