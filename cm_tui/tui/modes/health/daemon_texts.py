"""The texts of Health about daemon, jobs, freshness and log, from records to styled lines."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from cm_tui import paths
from cm_tui.errors import CmError
from cm_tui.model import Check
from cm_tui.model.dates import age, local_clock, local_moment
from cm_tui.model.freshness import Freshness, LayerState
from cm_tui.tui.modes.health.texts import hang
from cm_tui.tui.screens.frame import STAGES
from cm_tui.tui.tasks.ask import Engine, as_cm_error
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.split import facts_table
from cm_tui.tui.widgets.text import at_home, count, duration, elide_middle, fit, one_line, size

if TYPE_CHECKING:
    from cm_tui.daemon.jobs import JobRecord


LOG_LINES = 12
_LOG_BYTES = 8_000


@dataclass(frozen=True)
class DaemonReport:
    """What the daemon says about itself."""

    pid: int
    version: str
    started: float
    memory_bytes: int
    projects: tuple[str, ...]
    listeners: int
    other_settings: bool
    """It was started with other `CM_*` settings than this terminal has."""
    checks: tuple[Check, ...] = ()
    """What it has to complain of: what it cannot do although the settings ask for it, what went wrong in it."""


@dataclass(frozen=True)
class DaemonFacts:
    """What could be found out; what could not says why in `problems`."""

    used: bool
    """False: this user's engines go straight to the store."""
    daemon: DaemonReport | None = None
    jobs: tuple[JobRecord, ...] = ()
    freshness: Freshness | None = None
    log: tuple[str, ...] = ()
    problems: dict[str, str] = field(default_factory=dict)
    """By what is missing: `daemon`, `freshness`, `log`."""


def gather(engine: Engine | None) -> DaemonFacts:
    """Ask for all of it.

    Args:
        engine: the project; None when it does not open.
    """
    from cm_tui.daemon.daemon_use import uses_daemon

    problems: dict[str, str] = {}
    used = False
    daemon: DaemonReport | None = None
    jobs: tuple[JobRecord, ...] = ()
    try:
        used = uses_daemon()
        if used and (engine is None or engine.uses_daemon):
            daemon, jobs = _daemon()
        elif used:
            problems["daemon"] = "The daemon could not be started; this application uses the store directly."
    except (CmError, OSError) as error:
        problems["daemon"] = str(error)
    freshness = None
    if engine is not None:
        try:
            freshness = engine.freshness()
        except Exception as error:  # noqa: BLE001 - shown where the layers would be
            problems["freshness"] = as_cm_error(error).message
    try:
        log = _last_lines(paths.state_dir() / "daemon.log") if used else ()
    except OSError as error:
        log, problems["log"] = (), f"The log cannot be read: {error.strerror or error}"
    return DaemonFacts(used, daemon, jobs, freshness, log, problems)


def _daemon() -> tuple[DaemonReport | None, tuple[JobRecord, ...]]:
    from cm_tui.daemon import bootstrap, checkup, runtime_dir, subscribe

    record = bootstrap.health()
    if record is None:
        return None, ()
    report = DaemonReport(
        int(record["pid"]), str(record["version"]), float(record["started"]), int(record["memory_bytes"]),
        tuple(str(project["root"]) for project in record["projects"]), int(record["listeners"]),
        record.get("settings") != runtime_dir.settings_digest(), checkup.checks_of(record),
    )  # fmt: skip
    return report, tuple(subscribe.jobs())


def _last_lines(file: Path) -> tuple[str, ...]:
    """Return the last lines of a log; empty when it does not exist."""
    try:
        with file.open("rb") as stream:
            stream.seek(0, 2)
            length = stream.tell()
            stream.seek(max(0, length - _LOG_BYTES))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return ()
    # The first one may have been cut.
    return tuple((lines[1:] if length > _LOG_BYTES else lines)[-LOG_LINES:])


ENDED_SHOWN = 4
_JOBS = {
    "queued": ("·", "$muted"), "running": ("◐", "$accent"), "done": ("✔", "$success"), "failed": ("✖", "$error"),
    "cancelled": ("■", "$warning"),
}  # fmt: skip
_LAYERS = {"on": ("●", "$success"), "off": ("○", "$muted"), "failed": ("✖", "$error")}
_LABEL = 10


def is_over(job: JobRecord) -> bool:
    """True once nothing more will come of it."""
    return job.ended is not None


def daemon_text(facts: DaemonFacts, width: int) -> Content:
    """Describe the daemon, or why none runs."""
    if "daemon" in facts.problems:
        return hang(Content.styled("✖ ", "$error"), 2, facts.problems["daemon"], "$error", width)
    if not facts.used:
        words = "None: daemon.use is never, so this application uses the store directly while it is open."
        return hang(Content.styled("○ ", "$muted"), 2, words, "$soft", width)
    daemon = facts.daemon
    if daemon is None:
        words = "Not running; the next request starts it."
        return hang(Content.styled("◌ ", "$warning"), 2, words, "$warning", width)
    since = local_moment(daemon.started, time.time())
    rows = [
        ("process", f"{daemon.pid}, cm {daemon.version}"),
        ("running", f"since {since}, {age(time.time() - daemon.started)}"),
        ("memory", f"{size(daemon.memory_bytes)}; {count(daemon.listeners, 'application')} listening"),
        *(("projects" if not place else "", at_home(root)) for place, root in enumerate(daemon.projects)),
    ]
    lines = [facts_table(rows, width, _LABEL)]
    if daemon.other_settings:
        words = "It runs with other CM_* settings than this terminal; `cm serve --stop` lets the next start with these."
        lines.append(hang(Content.styled("! ", "$warning"), 2, words, "$foreground", width))
    for check in daemon.checks:
        style = "$error" if check.state == "failed" else "$warning"
        lines.append(hang(Content.styled("! ", style), 2, one_line(check.message), "$foreground", width))
    return Content("\n").join(lines)


def freshness_text(facts: DaemonFacts, width: int) -> Content:
    """What is behind, what was done last, and each layer that notices changes."""
    state = facts.freshness
    if state is None:
        return hang(Content(""), 0, facts.problems.get("freshness", "The project is not open."), "$muted", width)
    lines = [_verdict(state, width)]
    if state.ran_at:
        label = Content.styled(f"{local_clock(state.ran_at)} ", "$muted")
        lines.append(hang(label, 9, one_line(state.did), "$soft", width))
    if state.runs:
        words = (
            f"{count(state.signals, 'report')} of changes, {count(state.runs, 'index run')} since the daemon opened it"
        )
        lines.append(hang(Content(""), 0, words, "$muted", width))
    longest = max((cell_len(layer.label) for layer in state.layers), default=0)
    lines += [_layer(layer, longest, width) for layer in state.layers]
    return Content("\n").join(lines)


def verdict_of(state: Freshness | None) -> tuple[str, str]:
    """Freshness in two words, with their colour."""
    if state is None:
        return "", ""
    if state.running:
        return "◐ run in progress", "$accent"
    return ("▲ behind", "$warning") if state.behind else ("● fresh", "$success")


def _verdict(state: Freshness, width: int) -> Content:
    mark, style = verdict_of(state)
    if state.running:
        return Content.styled(mark, style)
    if not state.behind:
        return Content.assemble(("● ", style), "Up to date.")
    when = ""
    if state.due_at is not None:
        when = f"; next run in {duration(max(0.0, state.due_at - time.time()))}"
    return hang(Content.styled("▲ ", style), 2, f"Behind: {state.why}{when}", style, width)


def _layer(layer: LayerState, longest: int, width: int) -> Content:
    mark, style = _LAYERS[layer.state]
    label = Content.assemble((f"{mark} ", style), (fit(layer.label, longest + 2), "$soft"))
    pieces = [layer.state + (f", {layer.mode}" if layer.mode else "")]
    if layer.fired_at:
        pieces.append(f"{age(time.time() - layer.fired_at)}: {layer.did}" if layer.did else local_clock(layer.fired_at))
    if layer.note:
        pieces.append(layer.note)
    words_style = "$muted" if layer.state == "off" else "$error" if layer.state == "failed" else "$foreground"
    return hang(label, longest + 4, one_line("; ".join(pieces)), words_style, width)


def jobs_text(facts: DaemonFacts, width: int) -> Content:
    """Running and queued jobs with how far they are, then the last ones; empty without a daemon."""
    if facts.daemon is None:
        return Content("")
    active = [job for job in facts.jobs if not is_over(job)]
    ended = [job for job in facts.jobs if is_over(job)][-ENDED_SHOWN:]
    lines: list[Content] = []
    for job in [*sorted(active, key=lambda job: job.state != "running"), *reversed(ended)]:
        lines.append(job_line(job, width))
        if job.state == "running" and job.step is not None and job.step.total:
            numbers = f" {job.step.done:,} of {job.step.total:,}"
            bar = share_bar(job.step.done / job.step.total, max(8, width - 4 - cell_len(numbers)), "$accent")
            lines.append(Content.assemble("    ", bar, (numbers, "$soft")))
        if job.error and job.state == "failed":
            lines.append(hang(Content("    "), 4, job.error, "$error", width))
    return Content("\n").join(lines) if lines else Content.styled("No jobs since the daemon started.", "$muted")


def job_line(job: JobRecord, width: int) -> Content:
    """One job on one line."""
    mark, style = _JOBS[job.state]
    head = f"{job.id:>3} {job.name} "
    if job.ended is not None:
        tail = f" {job.state} {local_clock(job.ended)}, {duration(max(0.0, job.ended - job.started))}"
    elif job.state == "running" and job.step is not None:
        tail = f" {STAGES.get(job.step.stage, job.step.stage)}"
    else:
        tail = f" {job.state}"
    room = max(0, width - 2 - cell_len(head) - cell_len(tail))
    folder = elide_middle(at_home(one_line(job.project)), room)
    return Content.assemble((f"{mark} ", style), (head, "$foreground"), (folder, "$muted"), (tail, "$soft"))


def daemon_log_text(facts: DaemonFacts, width: int) -> Content:
    """The end of the daemon's log, newest first; empty where no daemon is used."""
    if "log" in facts.problems:
        return Content.styled(facts.problems["log"], "$error")
    lines = []
    for line in reversed(facts.log):
        stamp, _, words = line.partition(" INFO ")
        clock = stamp[11:19]
        shown = (clock, words) if words and clock.count(":") == 2 else ("", line)
        style = "$warning" if " WARNING " in line else "$error" if " ERROR " in line else "$foreground"
        label = Content.styled(f"{shown[0]} " if shown[0] else "", "$muted")
        lines.append(hang(label, len(label), shown[1], style, width))
    return Content("\n").join(lines)
