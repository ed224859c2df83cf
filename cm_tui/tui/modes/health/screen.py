"""Health: daemon, jobs, freshness, checks, index contents, log, and repairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Literal

from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget

from cm_tui.engine.api.projects import examine_closed
from cm_tui.errors import CmError
from cm_tui.model import Check, FileEntry
from cm_tui.model.freshness import GitHooks
from cm_tui.tui.modes.health import daemon_texts as daemon_text
from cm_tui.tui.modes.health import texts as text
from cm_tui.tui.modes.health.daemon_texts import DaemonFacts, gather, job_line
from cm_tui.tui.screens.app_commands import cannot_index, start_index
from cm_tui.tui.screens.commands import Command, unless
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import ListDialog, Option, ask, confirm
from cm_tui.tui.screens.small_lists import list_skipped
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.split import FittedText, Page, Words
from cm_tui.tui.widgets.text import count

if TYPE_CHECKING:
    from cm_tui.daemon.jobs import JobRecord


_LEFT = (
    ("daemon", "Daemon"), ("freshness", "Freshness"), ("jobs", "Jobs"), ("log", "This session"), ("daemon-log", "Daemon's log"),
)  # fmt: skip
_RIGHT = (("checks", "Checks"), ("index", "Index"), ("files", "Not read in full"), ("skipped", "Skipped"))
EVERY = 1.0
"""Seconds between looks at the daemon while the mode is on screen."""


def change_hooks(screen: ModeScreen, what: Literal["install", "uninstall"]) -> None:
    """Change git's hooks on a worker thread, and say what became of it."""

    def call(engine: Engine) -> GitHooks:
        from cm_tui.integrations import git_hooks

        return git_hooks.install(engine.root) if what == "install" else git_hooks.uninstall(engine.root)

    def done(hooks: GitHooks) -> None:
        words = "were installed" if what == "install" else "were removed"
        screen.cm.activity_log.add(f"Git hooks {words} in {hooks.folder}.", "ok")
        for note in hooks.notes:
            screen.cm.activity_log.add(note, "warning")
        screen.cm.tell(f"Git hooks {words}.", timeout=2)
        screen.project_changed()

    screen.ask("hooks", call, done)


Reason = Callable[["HealthScreen"], str | None]
_no_job: Reason = unless(lambda screen: screen.active_jobs, "no job is running or waiting")
_no_git: Reason = unless(lambda screen: screen.hooks_state, "no git repository, or not known yet")
_installed: Reason = unless(lambda screen: screen.hooks_state != "on", "the hooks are already installed")
_not_installed: Reason = unless(lambda screen: screen.hooks_state != "off", "no hooks are installed")


def cancel_job(screen: HealthScreen) -> None:
    """Choose a job and ask it to stop."""
    title, hint = f" {count(len(screen.active_jobs), 'job')} ", " ⏎ cancels it; what is done is kept · esc closes "
    ask(screen, ListDialog(
        title, hint, screen.active_jobs, job_line, lambda job: screen.cm.daemon_sync.cancel(job.id), close="q,n",
        choose="c,y", look="jobs",
    ))  # fmt: skip


def install_hooks(screen: HealthScreen) -> None:
    """Ask, then add our block to git's hooks."""
    question = (
        "Add cm's block to git's post-checkout, -merge, -rewrite, -commit and -applypatch hooks? Existing hooks "
        "keep working; git never waits or fails."
    )
    confirm(screen, question, "Install", lambda: change_hooks(screen, "install"))


def remove_hooks(screen: HealthScreen) -> None:
    """Ask, then take our block out again."""
    question = "Remove cm's block from git's hooks? The previous hooks are restored byte for byte."
    confirm(screen, question, "Remove", lambda: change_hooks(screen, "uninstall"))


def rebuild(screen: HealthScreen) -> None:
    """Rebuild the index after a confirmation."""
    question = "Delete the index and rebuild it? It contains no data of your own; it takes as long as the first run."
    confirm(screen, question, "Rebuild", screen.cm.lifecycle.start_rebuild)


def reset(screen: HealthScreen) -> None:
    """Ask, also whether what agents' sessions recorded stays, then remove the index."""
    # Where the episodes cannot be counted, they are not offered.
    screen.ask(
        "reset", lambda engine: engine.episodes(limit=1).total, partial(_ask_reset, screen), lambda _: _ask_reset(screen, 0)
    )  # fmt: skip


def _ask_reset(screen: HealthScreen, episodes: int) -> None:
    def drop_all() -> None:
        question = f"Delete {recorded} permanently? An index can be rebuilt; recorded sessions cannot."
        confirm(screen, question, "Remove both", lambda: _remove(screen, drop_episodes=True))

    question, recorded = f"Remove the index of {screen.cm.root}? The project's files are not changed.", ""
    if episodes:
        recorded = count(episodes, "episode")
        question += f"\n\nAgents' sessions recorded {recorded}: they remain, and the next index includes them again."
    others = [Option("Episodes too", "d", drop_all)] if episodes else []
    confirm(screen, question, "Remove it", lambda: _remove(screen, drop_episodes=False), others=others)


def _remove(screen: HealthScreen, *, drop_episodes: bool) -> None:
    message = "The index and the episodes were removed" if drop_episodes else "The index was removed"

    def removed(_: None) -> None:
        screen.cm.activity_log.add(f"{message}.", "ok")
        screen.cm.tell(f"{message}; i builds a new one.")
        screen.cm.lifecycle.refresh_status()

    screen.ask("reset", lambda engine: engine.reset(drop_episodes=drop_episodes), removed)


HEALTH_COMMANDS: tuple[Command[HealthScreen], ...] = (
    Command("health.check", "r", "Check again", "Run all checks again", lambda screen: screen.check()),
    Command("health.index", "i", "Update", "Index changes", start_index, blocked=cannot_index),
    Command("health.cancel", "c", "Cancel job", "Choose a job of any project and stop it", cancel_job, blocked=_no_job),
    Command("health.hooks", "g", "Git hooks", "Add cm's block to git's hooks; asks first", install_hooks,
            blocked=(_no_git, _installed)),
    Command("health.no-hooks", "G", "Remove hooks", "Remove cm's block from git's hooks; asks first",
            remove_hooks, bar=False, blocked=(_no_git, _not_installed)),
    Command("health.full", "f", "Full", "Read every file again", lambda screen: screen.cm.lifecycle.start_full_index(),
            blocked=cannot_index),
    Command("health.rebuild", "b", "Rebuild", "Delete the index and rebuild it", rebuild, blocked=cannot_index),
    Command("health.skipped", "s", "Skipped", "List the files that are not indexed", list_skipped,
            blocked=cannot_index),
    Command("health.reset", "X", "Reset", "Remove the index of this project", reset, blocked=cannot_index),
)  # fmt: skip


class HealthScreen(ModeScreen, commands=HEALTH_COMMANDS):
    """Check the installation and the index."""

    INTRO = (
        "The daemon, its jobs and its log; each layer that keeps the index fresh, and what is behind; checks of the "
        "installation, with fixes; what the index contains; files that were not read in full; and what this session did."
    )

    _seen_status: object = None
    _checked = False
    _checks: tuple[Check, ...] = ()
    facts: DaemonFacts | None = None
    _looking = False

    def compose_body(self) -> Iterable[Widget]:
        """Panels in two columns, or in one where it is narrow."""
        yield Words(id="health-verdict")
        with Page(id="health"), Horizontal(id="health-columns"):
            for side, panels in (("left", _LEFT), ("right", _RIGHT)):
                with Vertical(id=f"health-{side}"):
                    for name, title in panels:
                        yield FittedText(f"health-{name}", title)

    def on_mount(self) -> None:
        """Scrolls with the keys at once."""
        self.query_one("#health").focus()
        self._put("checks", Content.styled("Checking…", "$muted"))
        for name in ("jobs", "daemon-log"):
            self._put(name, Content(""))
        for name in ("daemon", "freshness"):
            self._put(name, Content.styled("Asking…", "$muted"))
        self.set_interval(EVERY, self.look)
        self.set_interval(EVERY, self._tick)

    def _put(self, name: str, content: Content | Callable[[int], Content], subtitle: str | None = None) -> None:
        self.query_one(f"#health-{name}", FittedText).show(content, subtitle)

    # --- news ---

    def project_changed(self) -> None:
        """Show the latest state; ask for what it does not hold."""
        view = self.cm.project
        self.look()
        self._put("log", lambda width: text.log_text(self.cm.activity_log.lines, width))
        if view.engine != "opening" and not self._checked:
            self._checked = True
            self.check()
        if view.engine == "failed" or (view.status is None and view.status_error):
            error = view.error or view.status_error
            self._put("index", Content.styled(str(error), "$error"))
            self._put("files", Content(""))
            self._put("skipped", Content(""))
        elif view.status is None:
            self._put("index", Content.styled("Opening the project…", "$muted"))
        elif view.status != self._seen_status:
            self._seen_status = view.status
            self._show_status()

    def _show_status(self) -> None:
        status = self.cm.project.status
        assert status is not None
        if not status.indexed:
            words = "No index yet; i builds one." if not self.cm.tasks.indexing else "Indexing…"
            self._put("index", Content.styled(words, "$warning"))
            self._put("files", Content(""))
            self._put("skipped", Content(""))
            return
        self._put("index", lambda width: text.index_text(status, width))
        self._put("skipped", text.skipped_text(status), "s lists them" if status.skipped else "")
        if status.errors:
            self.ask("files", lambda engine: [entry for entry in engine.files().rows if entry.error], self._got_files)
        else:
            self._got_files([])

    def _tick(self) -> None:
        """Show how old the index is by now."""
        if self.is_current:
            self.query_one("#health-index", FittedText).redraw()

    def _got_files(self, files: list[FileEntry]) -> None:
        self._put("files", text.files_text(files), f"{len(files):,}" if files else "")

    # --- the daemon ---

    def look(self) -> None:
        """Request daemon, jobs and freshness while the mode is visible and no request is pending."""
        view = self.cm.project
        seen = self.is_current or self.facts is None
        # The request would restart a lost daemon; `daemon_sync` decides that, because another one may follow.
        # An engine without a daemon has no status while it indexes or rebuilds.
        away = view.engine == "opening" or view.daemon == "lost" or (view.daemon == "none" and self.cm.tasks.indexing)
        if self._looking or not seen or away:
            self._show_verdict()
            return
        self._looking = True
        engine = self.cm.tasks.engine if view.engine == "open" else None
        self.cm.tasks.work(lambda: gather(engine), self._got_facts, topic="health.daemon")

    def _got_facts(self, facts: DaemonFacts) -> None:
        self._looking = False
        self.facts = facts
        hooks = {"": "", "on": "G removes the git hooks"}.get(self.hooks_state, "g installs git hooks")
        self._put("daemon", partial(daemon_text.daemon_text, facts))
        self._put("freshness", partial(daemon_text.freshness_text, facts), hooks)
        self._put("jobs", partial(daemon_text.jobs_text, facts), "c cancels one" if self.active_jobs else "")
        self._put("daemon-log", partial(daemon_text.daemon_log_text, facts))
        if self._checks:
            self._show_checks()
        self._show_verdict()
        self.refresh_keys()

    def _show_verdict(self) -> None:
        """The whole mode in a line, above what can be scrolled."""
        pieces = [text.checks_verdict(self.all_checks)] if self._checks else []
        if self.cm.project.daemon == "lost":
            pieces.append(("◌ daemon lost, reconnecting", "$warning"))
        elif self.facts is not None:
            pieces.append(("● daemon", "$success") if self.facts.daemon else ("○ no daemon", "$muted"))
            pieces.append(daemon_text.verdict_of(self.facts.freshness))
            running = sum(not daemon_text.is_over(job) for job in self.facts.jobs)
            pieces.append((f"◐ {count(running, 'job')}" if running else "", "$accent"))
        shown = [Content.styled(words, style) for words, style in pieces if words]
        self.query_one("#health-verdict", Words).update(Content.styled(" · ", "$faint").join(shown))

    @property
    def active_jobs(self) -> list[JobRecord]:
        """Jobs that are not over, of any project."""
        return [job for job in self.facts.jobs if not daemon_text.is_over(job)] if self.facts else []

    @property
    def hooks_state(self) -> str:
        """How git hooks are set up: `on`, `off`, `failed`; empty while that is not known, or where there is no git."""
        state = self.facts.freshness if self.facts else None
        if state is None or not (self.cm.project.status and self.cm.project.status.git):
            return ""
        return next((layer.state for layer in state.layers if layer.name == "git hooks"), "")

    # --- checks ---

    def check(self) -> None:
        """Run all checks; without the project when that is not open."""
        self.query_one("#health-checks").border_subtitle = Content("checking…")
        if self.cm.project.engine == "open":
            self.ask("checks", lambda engine: engine.doctor(), self._got_checks, self._no_checks)
        else:
            self.cm.tasks.work(partial(examine_closed, self.cm.root), self._got_checks, topic="health.checks")

    @property
    def all_checks(self) -> tuple[Check, ...]:
        """The checks of the project, and those of the daemon."""
        daemon = self.facts.daemon if self.facts else None
        return (*self._checks, *(daemon.checks if daemon else ()))

    def _got_checks(self, checks: tuple[Check, ...]) -> None:
        self._checks = checks
        self._show_checks()
        self._show_verdict()

    def _show_checks(self) -> None:
        checks = self.all_checks
        self._put("checks", lambda width: text.checks_text(checks, width), text.verdict(checks))

    def _no_checks(self, error: CmError) -> None:
        self._put("checks", Content.styled(str(error), "$error"), "")
