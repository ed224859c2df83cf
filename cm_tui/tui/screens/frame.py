"""The frame of every mode: tabs and facts of the top line, and the text about a past revision."""

from __future__ import annotations

import time

from cm_tui.counts import noun
from cm_tui.model.dates import local_moment
from cm_tui.tui.screens.mode_app import ModeApp
from cm_tui.tui.screens.mode_list import MODES, mode_of
from cm_tui.tui.state.revision import ShownRevision, agent_of, name_of, query_text
from cm_tui.tui.widgets.header import Fact, ModeTab
from cm_tui.tui.widgets.text import elide_middle, short_count

STAGES = {
    "scan": "scanning", "parse": "parsing", "store": "storing", "keywords": "keywords", "vectors": "vectors",
    "graph": "graph", "done": "done",
}  # fmt: skip


def mode_tabs(cm: ModeApp) -> list[ModeTab]:
    """Return every mode: the pack with how much was chosen for it, others with how much waits for the person there."""
    waiting, rules = cm.project.waiting or (0, 0)
    counts = {"context": len(cm.pack_selection), "memory": rules, "review": waiting}
    return [
        ModeTab(
            mode.name,
            f"{mode.title} {counts[mode.name]}" if counts.get(mode.name) else mode.title,
            mode.name == mode_of(cm.current_mode),
        )
        for mode in MODES
    ]


def project_facts(cm: ModeApp) -> list[Fact]:
    """Return what the top line says of the project, the most important first."""
    status = cm.project.status
    name = cm.root.name or str(cm.root)
    facts = [recording_fact(cm), index_state(cm)]
    branch, is_behind = cm.project.branch, cm.project.is_behind_head
    if branch:
        style, most = ("$warning", 12) if is_behind else ("$secondary", 20)
        # What is shown is not what is checked out: nothing is more important.
        place = 0 if is_behind else len(facts)
        facts.insert(place, Fact(1, f"⎇ {branch}", style, f"⎇ {elide_middle(branch, most)}", cut=True))
    if is_behind:
        facts.insert(0, Fact(2, "index behind", "$warning", "behind"))
    elif cm.project.edits:
        changed = cm.project.edits.partition(" since ")[0]
        facts.insert(0, Fact(2, f"{changed}, not indexed", "$warning", changed))
    facts.append(Fact(0, name, "bold $foreground", elide_middle(name, 24), cut=True))
    if status and status.indexed:
        if not status.has_vectors:
            facts.append(Fact(4, "vectors off", "$muted"))
        elif status.embedded < status.passages and not cm.project.progress:
            facts.append(Fact(4, f"vectors {100 * status.embedded // status.passages}%", "$warning"))
        facts.append(Fact(2, f"{short_count(status.files)} {noun(status.files, 'file')}", "$muted"))
        facts.append(Fact(3, f"{short_count(status.symbols)} {noun(status.symbols, 'symbol')}", "$muted"))
    return facts


def recording_fact(cm: ModeApp) -> Fact:
    """Return whether what agents do is recorded: always the last thing to give way."""
    state = cm.project.recording
    if cm.project.recording_error is not None:
        return Fact(10, "‖ not recorded", "$error")
    if state is None:
        return Fact(10, "◌", "$muted")
    if state.state == "paused":
        if state.until is None:
            return Fact(10, "‖ paused", "$warning")
        end = local_moment(state.until, time.time())
        return Fact(10, f"‖ paused until {end}", "$warning", f"‖ until {end}")
    if state.state == "on":
        return Fact(10, "◉ rec", "$muted", "◉")
    return Fact(10, "○ never recorded" if state.state == "never" else "○ not recorded", "$muted")


def index_state(cm: ModeApp) -> Fact:  # noqa: PLR0911 - one line for each state, the most pressing first
    """Return how the index is: progress, or what a search would use now."""
    view, status = cm.project, cm.project.status
    if (reading := view.reading) and not view.progress and reading.total:
        share = f"{100 * reading.done // reading.total}%"
        return Fact(9, f"◔ history {share}", "$accent", f"◔ {share}")
    if step := view.progress:
        share = f"{100 * step.done // step.total}%" if step.total else ""
        return Fact(9, f"◐ {STAGES.get(step.stage, step.stage)} {share}".rstrip(), "$accent", f"◐ {share or '…'}")
    if view.daemon == "lost":
        return Fact(9, "◌ reconnecting", "$warning", "◌ lost")
    if view.engine == "failed":
        return Fact(9, "✖ not open", "$error")
    if view.engine == "opening" or status is None:
        return Fact(9, "◌ opening", "$muted")
    if cm.tasks.indexing:
        return Fact(9, "◐ updating", "$accent")
    if not status.indexed:
        return Fact(9, "○ not indexed", "$warning")
    return Fact(9, f"● {status.mode}", "$success" if status.mode == "hybrid" else "$warning")


def revision_text(revision: ShownRevision, *, shown_here: bool) -> str | None:
    """Return what is said of the past revision that is shown; None while that is now.

    Args:
        revision: what the application shows.
        shown_here: False for a mode that always shows now.
    """
    moment, episode = revision.moment, revision.episode
    if moment is None:
        return None
    what = f"seen by {agent_of(episode)}: {query_text(episode)}" if episode else moment.subject
    words = [name_of(moment), *([revision.note] if revision.note else []), what]
    if not shown_here:
        # Where the name is long, these words must not be what is cut.
        words.insert(0 if moment.ahead else 1, "here you see now")
    return " · ".join(word for word in words if word)
