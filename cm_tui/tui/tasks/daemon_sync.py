"""Keeps in step with the daemon: what other clients do comes on screen, and a lost daemon is found again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from cm_tui.errors import CmError
from cm_tui.tui.state.activity_log import ActivityLog
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.tasks.daemon_listener import JobEnded, JobStep
from cm_tui.tui.tasks.engine_tasks import EngineTasks
from cm_tui.tui.tasks.project_lifecycle import ProjectLifecycle

if TYPE_CHECKING:
    from cm_tui.daemon.jobs import JobRecord

AFTER_END = 1.0
"""Seconds after which a daemon that was told to end is started again; by then it has let go of everything."""
AFTER_HANDOVER = 10.0
"""Seconds that the daemon of a newer version may take until this one is started again in its place."""
RUNS = frozenset({"index", "rebuild", "refresh"})
"""Jobs that change what the index answers."""


class Tell(Protocol):
    """How a short word reaches the user: `CmApp.tell`."""

    def __call__(self, text: str, *, timeout: float = 4) -> None:
        """Show it."""


class DaemonSync:
    """Hears what happens in the daemon, and writes it into the project's view.

    Args:
        tasks: asks and follows.
        lifecycle: refreshes the project's state.
        view: what is known of the project.
        log: what happened, for people.
        changed: called after every change of the view.
        tell: a short word for the user.
        on_error: what went wrong, for the user.
        set_timer: calls a function after some seconds.
    """

    def __init__(
        self,
        tasks: EngineTasks,
        lifecycle: ProjectLifecycle,
        view: ProjectView,
        log: ActivityLog,
        *,
        changed: Callable[[], None],
        tell: Tell,
        on_error: Callable[[CmError], None],
        set_timer: Callable[[float, Callable[[], None]], object],
    ) -> None:
        self._tasks = tasks
        self._lifecycle = lifecycle
        self._view = view
        self._log = log
        self._changed = changed
        self._tell = tell
        self._report_error = on_error
        self._set_timer = set_timer
        self._listening = False
        self._wait = 0.0
        self._undecided: list[JobEnded] = []

    def begin(self) -> None:
        """Listen, once the engine is open."""
        if not self._listening:
            self._listening = True
            self._tasks.listen()

    # --- events ---

    def on_event(self, record: dict[str, Any]) -> None:
        """Something happened in the daemon; what concerns other projects is left alone."""
        event = str(record.get("event"))
        if event in {"index", "config", "job-started", "gone"} and record.get("project") != self._root:
            return
        handle = getattr(self, f"_on_{event.replace('-', '_')}", None)
        if handle is not None:
            handle(record)
            self._changed()

    @property
    def _root(self) -> str:
        engine = self._tasks.engine
        return str(engine.root) if engine is not None else ""

    def _on_connected(self, _: dict[str, Any]) -> None:
        if self._view.daemon == "lost":
            self._log.add("Connected to the daemon again.", "ok")
            self._tell("Connected again.", timeout=2)
        self._view.daemon, self._wait = "connected", 0.0
        self._catch_up()

    def _on_lost(self, _: dict[str, Any]) -> None:
        self._catch_up()

    def _catch_up(self) -> None:
        """Whatever happened while nobody listened."""
        self._view.index_news += 1
        self._view.config_news += 1
        self._lifecycle.refresh_status()
        self._look_for_a_job()

    def _on_ending(self, record: dict[str, Any]) -> None:
        self._wait = AFTER_HANDOVER if record.get("handover") else AFTER_END

    def _on_disconnected(self, _: dict[str, Any]) -> None:
        words = "The daemon ended" if self._wait else "The daemon was lost"
        self._view.daemon, self._view.job = "lost", ""
        if not self._tasks.indexing:
            self._view.progress = None
        self._log.add(f"{words}; looking for the next.", "warning")
        self._tell(f"{words}. Reconnecting…", timeout=3)
        if self._wait:
            self._set_timer(self._wait, self._reconnect)
        else:
            self._reconnect()

    def _reconnect(self) -> None:
        """Any question starts the next daemon; what is heard of it then says that it is there."""
        if self._view.daemon == "lost":
            self._tasks.ask("app.reconnect", lambda engine: engine.status(), lambda _: None, self._report_error)

    def _on_index(self, _: dict[str, Any]) -> None:
        self._view.index_news += 1
        self._lifecycle.refresh_status()

    def _on_config(self, _: dict[str, Any]) -> None:
        self._view.config_news += 1

    def _on_gone(self, _: dict[str, Any]) -> None:
        self._log.add("The project's folder is gone.", "error")
        self._lifecycle.refresh_status()

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

        self._tasks.ask("app.jobs", call, got, lambda _: None)

    def _follow(self, job: str) -> None:
        if job not in self._own and job != self._view.job:
            self._view.job = job
            self._tasks.follow(job)

    @property
    def _own(self) -> set[str]:
        """Jobs that this engine started: their steps come another way."""
        engine = self._tasks.engine
        return engine.own_jobs if engine is not None else set()

    def stepped(self, message: JobStep) -> None:
        """A job got on."""
        if message.job == self._view.job and message.job not in self._own:
            self._lifecycle.stepped(message.progress)

    def ended(self, message: JobEnded) -> None:
        """A job is over: somebody else's is told of, this engine's own run speaks for itself."""
        if message.job == self._view.job:
            self._view.job = ""
            if not self._tasks.indexing:
                self._view.progress = None
        if self._tasks.indexing and message.job not in self._own:
            # It may be ours, if its end is heard of sooner than its number.
            self._undecided.append(message)
        elif message.job not in self._own:
            self._note(message)
        self._changed()

    def own_run_ended(self) -> None:
        """Every number of our own is known now."""
        undecided, self._undecided = self._undecided, []
        for message in undecided:
            if message.job not in self._own:
                self._note(message)

    def _note(self, message: JobEnded) -> None:
        if message.summary is not None:
            self._view.summary = message.summary
            if message.summary.changed:
                self._log.add_summary(message.summary, who="Another client's index run")
        elif message.error is not None and self._view.daemon == "connected":
            words = f"An index run of another client: {message.error.message}"
            self._log.add(words, "warning" if message.cancelled else "error")

    # --- stopping ---

    def cancel(self, job: str) -> None:
        """Ask a job to stop, whoever started it."""

        def call(_: object) -> None:
            from cm_tui.daemon import subscribe

            subscribe.cancel(job)

        self._tasks.ask(
            "app.cancel", call, lambda _: self._tell(f"Job {job} was asked to stop.", timeout=2), self._report_error
        )
