"""Keeps in step with the daemon: what other clients do comes on screen, and a lost daemon is found again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cm_tui import model
from cm_tui.errors import CmError
from cm_tui.tui.tasks.background_runs import ProjectWork
from cm_tui.tui.tasks.long_tasks import RunEnded
from cm_tui.tui.tasks.project_lifecycle import ProjectLifecycle

if TYPE_CHECKING:
    from cm_tui.daemon.jobs import JobRecord

AFTER_END = 1.0
"""Seconds before a stopped daemon is restarted; by then it has released everything."""
AFTER_HANDOVER = 10.0
"""Seconds to wait for the daemon of a newer version before this one is restarted."""
RUNS = frozenset({"index", "rebuild", "refresh"})
"""Jobs that change what the index answers."""


class Application(Protocol):
    """What is used of the application."""

    def tell(self, text: str, *, timeout: float = 4) -> None:
        """Show a short message."""

    def tell_error(self, error: CmError) -> None:
        """Show what went wrong."""

    def set_timer(self, delay: float, callback: Callable[[], None]) -> object:
        """Call a function after some seconds."""


@dataclass
class DaemonSync(ProjectWork):
    """Hears what happens in the daemon, and writes it into the project's view.

    Args:
        lifecycle: refreshes the project's state.
        app: has words for the user, and timers.
    """

    lifecycle: ProjectLifecycle
    app: Application
    _listening: bool = False
    _wait: float = 0.0
    """Seconds to leave a daemon that is ending before the next question starts another one; 0.0: it did not say so."""
    _undecided: list[RunEnded] = field(default_factory=list)
    """Ends that came while a run of this application was under way, whose number is known only when it ends."""

    def begin(self) -> None:
        """Listen, once the engine is open."""
        if not self._listening:
            self._listening = True
            self.tasks.listen(self.on_event)

    # --- events ---

    def on_event(self, record: dict[str, Any]) -> None:
        """Something happened in the daemon; what concerns other projects is left alone."""
        event = str(record.get("event"))
        if event in {"index", "config", "job-started", "gone"} and record.get("project") != self._root:
            return
        if handle := getattr(self, f"_on_{event.replace('-', '_')}", None):
            handle(record)
            self.changed()

    @property
    def _root(self) -> str:
        engine = self.tasks.engine
        return str(engine.root) if engine is not None else ""

    def _on_connected(self, _: dict[str, Any]) -> None:
        if self.view.daemon == "lost":
            self.log.add("Connected to the daemon again.", "ok")
            self.app.tell("Connected again.", timeout=2)
        self.view.daemon, self._wait = "connected", 0.0
        self._catch_up()

    def _on_lost(self, _: dict[str, Any]) -> None:
        self._catch_up()

    def _catch_up(self) -> None:
        """Refresh everything that may have changed while disconnected."""
        self.view.index_news += 1
        self.view.config_news += 1
        self.lifecycle.refresh_status()
        self._look_for_a_job()

    def _on_ending(self, record: dict[str, Any]) -> None:
        self._wait = AFTER_HANDOVER if record.get("handover") else AFTER_END

    def _on_disconnected(self, _: dict[str, Any]) -> None:
        words = "The daemon stopped" if self._wait else "The daemon was lost"
        self.view.daemon, self.view.job = "lost", ""
        if not self.tasks.indexing:
            self.view.progress = None
        self.log.add(f"{words}; waiting for the next one.", "warning")
        self.app.tell(f"{words}. Reconnecting…", timeout=3)
        if self._wait:
            self.app.set_timer(self._wait, self._reconnect)
        else:
            self._reconnect()

    def _reconnect(self) -> None:
        """Any question starts the next daemon; what is heard of it then says that it is there."""
        if self.view.daemon == "lost":
            self.tasks.ask("app.reconnect", lambda engine: engine.status(), lambda _: None, self.app.tell_error)

    def _on_index(self, _: dict[str, Any]) -> None:
        self.view.index_news += 1
        self.lifecycle.refresh_status()

    def _on_config(self, _: dict[str, Any]) -> None:
        self.view.config_news += 1

    def _on_gone(self, _: dict[str, Any]) -> None:
        self.log.add("The project's folder is gone.", "error")
        self.lifecycle.refresh_status()

    # --- jobs ---

    def _on_job_started(self, record: dict[str, Any]) -> None:
        if record.get("name") in RUNS:
            self._follow(str(record.get("job")))

    def _look_for_a_job(self) -> None:
        def call(_: object) -> list[JobRecord]:
            from cm_tui.daemon import subscribe

            return subscribe.jobs()

        def got(jobs: list[JobRecord]) -> None:
            for job in jobs:
                if job.state == "running" and job.project == self._root and job.name in RUNS:
                    self._follow(job.id)

        self.tasks.ask("app.jobs", call, got, lambda _: None)

    def _follow(self, job: str) -> None:
        if job not in self._own and job != self.view.job:
            self.view.job = job
            self.tasks.follow(job, self.stepped, self.ended)

    @property
    def _own(self) -> set[str]:
        """Jobs that this engine started: their steps come another way."""
        engine = self.tasks.engine
        return engine.own_jobs if engine is not None else set()

    def stepped(self, job: str, progress: model.Progress) -> None:
        """Show the progress of a job."""
        if job == self.view.job and job not in self._own:
            self.lifecycle.stepped(progress)

    def ended(self, message: RunEnded) -> None:
        """Report the end of another client's job; this engine's own run reports itself."""
        if message.job == self.view.job:
            self.view.job = ""
            if not self.tasks.indexing:
                self.view.progress = None
        if self.tasks.indexing and message.job not in self._own:
            # It may be ours, if its end is heard of sooner than its number.
            self._undecided.append(message)
        elif message.job not in self._own:
            self._note(message)
        self.changed()

    def own_run_ended(self) -> None:
        """Every number of our own is known now."""
        undecided, self._undecided = self._undecided, []
        for message in undecided:
            if message.job not in self._own:
                self._note(message)

    def _note(self, message: RunEnded) -> None:
        if message.summary is not None:
            self.view.summary = message.summary
            if message.summary.changed:
                self.log.add_summary(message.summary, who="Another client's index run")
        elif message.error is not None and self.view.daemon == "connected":
            words = f"Index run of another client: {message.error.message}"
            self.log.add(words, "warning" if message.cancelled else "error")

    # --- stopping ---

    def cancel(self, job: str) -> None:
        """Ask a job to stop, even one of another client."""

        def call(_: object) -> None:
            from cm_tui.daemon import subscribe

            subscribe.cancel(job)

        self.tasks.ask(
            "app.cancel",
            call,
            lambda _: self.app.tell(f"Job {job} was asked to stop.", timeout=2),
            self.app.tell_error,
        )
