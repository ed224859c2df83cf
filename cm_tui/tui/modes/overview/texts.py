"""The texts of the overview, from records to styled lines."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.cells import cell_len
from textual.content import Content

from cm_tui import model
from cm_tui.counts import noun
from cm_tui.errors import StoreBusyError
from cm_tui.model.dates import age
from cm_tui.tui.state.project import ProjectView, when_indexed
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.split import facts_table, numbers_table
from cm_tui.tui.widgets.text import at_home, count, duration, elide_end, fit, one_line, size, wrapped

STAGES = (
    ("scan", "find files"), ("parse", "parse"), ("store", "store"), ("keywords", "keywords"), ("vectors", "vectors"),
    ("graph", "graph"),
)  # fmt: skip
LANGUAGES_SHOWN = 12
_LABEL = 12


def _commit_of(view: ProjectView) -> str:
    status = view.status
    sha = (view.head.sha if view.head else None) or (status.head if status else None)
    if not sha:
        return ", no commit yet"
    behind = status.indexed_head if status and view.is_behind_head else None
    return f" at {sha[:10]}{f', the index is of {behind[:10]}' if behind else ''}"


def project_text(view: ProjectView, root: Path, width: int) -> Content:
    """Where it is, what git says, what is in the index."""
    status = view.status
    if status is None:
        return facts_table([("folder", at_home(str(root))), ("", "opening…")], width, _LABEL)
    git = f"{view.branch or 'detached'}{_commit_of(view)}" if status.git else "not a git repository"
    partly = status.has_vectors and status.embedded < status.passages
    vectors = f", {status.embedded:,} with a vector" if partly else ""
    rows = [("folder", at_home(status.root)), ("git", git), ("identity", status.identity)]
    if status.indexed:
        rows += [
            ("files", f"{status.files:,}" + (f", {status.errors:,} not read in full" if status.errors else "")),
            ("symbols", f"{status.symbols:,}"),
            ("references", f"{status.references:,}"),
            ("passages", f"{status.passages:,}{vectors}"),
        ]
    store = at_home(f"{size(status.disk_bytes)} in {status.store}")
    rows += [("model", status.model), ("search", _mode_words(status)), ("store", store)]
    return facts_table(rows, width, _LABEL)


_OFF = "vectors are disabled"


def _mode_words(status: model.ProjectStatus) -> str:
    how = {"graph": "approximate vector search", "exact": "exact vector search", "none": "no vectors"}
    return f"{status.mode}, {how.get(status.vectors, status.vectors) if status.has_vectors else _OFF}"


def index_text(view: ProjectView, width: int) -> Content:
    """What an index run does, or what came of the last one."""
    if view.progress:
        return _running(view, width)
    problem, status = _problem(view), view.status
    if status and status.indexed and not status.files and not problem:
        return Content.assemble(("○ No files to index here.\n", "$warning"), ("Add some, then press i.", "$soft"))
    lines = [*problem, *_state(status, after_problem=bool(problem))]
    if view.summary:
        lines.append(_summary(view.summary))
    lines += [Content.styled(f"▲ {note}", "$warning") for note in (status.notes if status else ())]
    return Content("\n").join(lines)


def _problem(view: ProjectView) -> list[Content]:
    """Why the last run did not come to its end; empty when it did."""
    if view.index_error:
        lines = [Content.styled(f"✖ {view.index_error.message}", "$error")]
        return [*lines, Content.styled(view.index_error.hint, "$soft")] if view.index_error.hint else lines
    if view.cancelled:
        return [Content.styled("■ Stopped. Completed work is kept; i continues.", "$warning")]
    return []


def _state(status: model.ProjectStatus | None, *, after_problem: bool) -> list[Content]:
    """How far the index is; below a problem only when the last complete run was."""
    if status and status.indexed:
        when = when_indexed(status)
        if after_problem:
            return [Content(f"Last complete run {when}")]
        return [Content.assemble(("● ", "$success"), ("Up to date ", "bold"), (when, "$muted"))]
    if after_problem:
        return []
    return [Content.styled("○ No index yet.", "$warning") if status else Content.styled("Opening…", "$muted")]


def _summary(summary: model.IndexSummary) -> Content:
    total = sum(summary.seconds.values())
    if not summary.changed and not summary.blobs:
        return Content.styled(f"No changes; checked in {duration(total)}.", "$soft")
    text = (
        f"{count(summary.changed, 'path')} changed, {count(summary.blobs, 'file')} parsed, "
        f"{count(summary.embedded, 'passage')} embedded in {duration(total)}."
    )
    return Content.styled(text, "$soft")


def _running(view: ProjectView, width: int) -> Content:
    step = view.progress
    assert step is not None
    lines: list[Content] = []
    if view.plan and not (view.status and view.status.indexed):
        plan = view.plan
        found = f"{count(plan.files, 'file')}, {size(plan.bytes)}; about {duration(plan.estimated_seconds)} to index"
        lines += [Content.styled(found, "bold"), Content("")]
    lines += [*_stages(step, width), Content("")]
    if step.message:
        lines.append(Content.styled(step.message, "$muted"))
    if view.job:
        lines.append(Content.styled("Runs in the daemon.", "$muted"))
    can = "Keyword and symbol queries work now." if view.searchable else "Search works once the files are parsed."
    lines.append(Content.styled(can, "$success" if view.searchable else "$muted"))
    return Content("\n").join(lines)


def _stages(step: model.Progress, width: int) -> Iterator[Content]:
    """Every stage of a run: done, at work, or still to come."""
    names = [name for name, _ in STAGES]
    now = names.index(step.stage) if step.stage in names else len(names)
    for place, (name, label) in enumerate(STAGES):
        if place < now:
            yield Content.assemble(("✓ ", "$success"), (fit(label, 12), "$muted"))
        elif name == step.stage:
            yield _stage_at_work(step, label, width)
        else:
            yield Content.assemble("· ", (label, "$muted"))


def _stage_at_work(step: model.Progress, label: str, width: int) -> Content:
    share = step.done / step.total if step.total else 0.0
    numbers = f" {step.done:,} of {step.total:,}" if step.total else f" {step.done:,}" if step.done else ""
    bar = share_bar(share, max(8, width - 15 - cell_len(numbers)), "$accent")
    return Content.assemble(("◐ ", "$accent"), (fit(label, 12), "bold"), bar, (numbers, "$soft"))


def languages_text(languages: Mapping[str, int], width: int) -> Content:
    """Files by language, as bars."""
    if not languages:
        return Content("")
    ordered = sorted(languages.items(), key=lambda item: (-item[1], item[0]))
    most = ordered[0][1]
    lines = []
    for name, number in ordered[:LANGUAGES_SHOWN]:
        bar = share_bar(number / most, max(6, width - 22))
        lines.append(Content.assemble((fit(name, 14), "$foreground"), bar, (f"{number:>7,}", "$soft")))
    if rest := ordered[LANGUAGES_SHOWN:]:
        files = sum(number for _, number in rest)
        lines.append(Content.styled(f"and {count(len(rest), 'language')} more with {count(files, 'file')}", "$muted"))
    return Content("\n").join(lines)


def skipped_text(skipped: Mapping[str, int], status: model.ProjectStatus | None) -> Content:
    """List the number of skipped files by reason."""
    lines = numbers_table(skipped)
    if status and status.errors:
        words = "not read in full: see Health"
        lines.append(Content.assemble((f"{status.errors:>7,}  ", "bold $warning"), (words, "$soft")))
    if skipped:
        lines.append(Content.assemble(("s", "bold $accent"), (" lists them", "$muted")))
    return Content("\n").join(lines)


def _agents(view: ProjectView) -> str:
    """The agents whose sessions can be imported, in words."""
    names = [
        model.AGENT_TITLES.get(source.agent, source.agent)
        for source in (view.imports.sources if view.imports else ())
        if source.new
    ]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _how_far(step: model.Progress) -> str:
    if step.stage == model.WAIT:
        return f": {one_line(step.message)}"
    return f": {step.done:,} of {step.total:,}, {step.message}" if step.total else ""


def _memory(view: ProjectView) -> str:
    if view.waiting and (rules := view.waiting.rules):
        return f"{count(rules, 'Rule')} of agents {noun(rules, 'waits', 'wait')} for your approval; agents do not follow {noun(rules, 'it', 'them')} until then"
    return "Memory: entries and notes"


def _review(view: ProjectView) -> str:
    if view.waiting and (items := view.waiting.items):
        return f"{count(items, 'item')} {noun(items, 'waits', 'wait')} for your decision"
    return "Review: proposals, agents' requests, stale memories"


def _sessions(view: ProjectView) -> Iterator[tuple[str, str]]:
    """What can be done with past sessions, before their agents delete them."""
    if view.importing:
        what = "copying transcripts" if view.importing.stage == "rescue" else "importing past sessions"
        yield "M", f"Stop {what}{_how_far(view.importing)}"
        return
    if view.sessions_to_import:
        yield "m", f"Import {count(view.sessions_to_import, 'past session')} of {_agents(view)}"
    if view.expiring:
        yield (
            "R",
            f"Keep copies: {count(view.expiring, 'session')} {noun(view.expiring, 'is', 'are')} deleted within 5 days",
        )


def next_text(view: ProjectView, width: int) -> Content:
    """What one can do now; a line that is too long is continued below its words."""
    rows = []
    empty = view.status is not None and view.status.indexed and not view.status.files
    if empty and view.progress is None:
        rows.append(("i", "Look for files again"))
    elif view.searchable:
        rows += [
            ("2", "Search: find code by words or names"),
            ("3", "Symbols: see who calls what"),
            ("4", "History: changes by commit, history of a symbol"),
            ("5", "Episodes: sessions of agents and users"),
            ("6", _memory(view)),
            ("7", _review(view)),
            ("8", "Context: what agents receive; P: a pack for a chat"),
        ]
    elif view.progress is None and view.status:
        rows.append(("i", "Start indexing"))
    if view.progress:
        rows.append(("x", "Stop the index run; the next one continues from there"))
    rows += _sessions(view)
    if view.status and view.status.conflicts:
        rows.append(
            ("", f"Overwritten lines of {count(view.status.conflicts, 'note')} were kept: `cm notes conflicts`")
        )
    if view.status and view.status.stale:
        stale = view.status.stale
        words = f"{count(stale, 'memory', 'memories')} {noun(stale, 'names', 'name')} missing or renamed code"
        rows.append(("t", words))
    return Content("\n").join(
        Content.assemble((f"{key}  ", "bold $accent"), ("\n   ".join(wrapped(words, width - 3)), "$soft"))
        for key, words in rows
    )


def work_text(state: model.WorkState, width: int, *, can_resume: bool) -> Content:
    """Show where the last session stopped; empty without a session."""
    if not state.session:
        return Content("")
    who = f"{state.agent or 'no agent'}, {age(max(0.0, time.time() - state.ended))}"
    files, steps = len(state.files), len(state.steps)
    rows = [
        ("", "$muted", f"{who} · {state.title}" if state.title else who),
        ("› ", "$foreground", state.request),
        ("✓ ", "$soft", next((one for one in state.decisions if _words_of(one) not in _words_of(state.request)), "")),
        ("✖ ", "$error", f"{state.command}: {state.error}" if state.error else state.command),
        ("± ", "$soft", f"{count(files, 'uncommitted file')}: {', '.join(state.files)}" if files else ""),
        ("○ ", "$soft", f"{count(steps, 'open step')}: {'; '.join(state.steps)}" if steps else ""),
    ]
    lines = [
        Content.assemble((sign, style), (elide_end(one_line(" ".join(words.split())), width - len(sign)), style))
        for sign, style, words in rows
        if words
    ]
    resume = ", R there resumes it" if can_resume else ""
    key = Content.assemble(("w", "bold $accent"), (f" reads it in Episodes{resume}", "$muted"))
    return Content("\n").join([*lines, *([key] if state.episode else [])])


def _words_of(text: str) -> str:
    """Return words without their punctuation: a decision that the request holds is shown once."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def error_text(view: ProjectView, *, can_repair: bool) -> Content:
    """Why the project cannot be opened, and what helps."""
    error = view.error
    assert error is not None
    lines = [Content.styled(f"✖ {error.message}", "bold $error")]
    if error.hint:
        lines.append(Content.styled(error.hint, "$foreground"))
    keys = {
        "b": "Rebuild the index: it contains only data from your files" if can_repair else "",
        "r": "Try again, once the other process is done" if isinstance(error, StoreBusyError) else "Try again",
        "9": "Health: check the installation",
        "q": "Leave",
    }
    helps = [Content.assemble((f"{key}  ", "bold $accent"), words) for key, words in keys.items() if words]
    return Content("\n").join([*lines, Content(""), *helps])
