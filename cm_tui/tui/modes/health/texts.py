"""The texts of the health mode, from records to styled lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from textual.content import Content

from cm_tui.model import Check, FileEntry, ProjectStatus
from cm_tui.model.dates import local_clock
from cm_tui.tui.state.project import LogLine, when_indexed
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.split import numbers_table
from cm_tui.tui.widgets.text import at_home, count, fit, one_line, size

FILES_SHOWN = 100
_PARTS = re.compile(r"[^/]*/|[^/]+")

_MARKS = {"ok": ("✔", "$success"), "warning": ("!", "$warning"), "failed": ("✖", "$error"), "error": ("✖", "$error")}


def hang(label: Content, indent: int, words: str, style: str, width: int) -> Content:
    """A label of `indent` cells and words that wrap beside it, never below it."""
    pieces = wrapped(one_line(words), max(12, width - indent))
    lines = [Content.assemble(label, (pieces[0], style))]
    lines += [Content.assemble(" " * indent, (piece, style)) for piece in pieces[1:]]
    return Content("\n").join(lines)


def wrapped(words: str, width: int) -> list[str]:
    """Words in lines; a path that is longer than a line is broken behind a slash."""
    lines, line = [], ""
    for word in words.split():
        between = " " if line else ""
        for part in _PARTS.findall(word) if len(word) > width else [word]:
            piece = part
            if len(line) + len(between) + len(piece) > width:
                if line:
                    lines.append(line)
                line, between = "", ""
            while len(piece) > width:
                lines.append(piece[:width])
                piece = piece[width:]
            line, between = f"{line}{between}{piece}", ""
    return [*lines, line]


def checks_text(checks: Sequence[Check], width: int) -> Content:
    """One line a check, and below those that failed how to fix them; the worst first."""
    order = {"failed": 0, "warning": 1, "ok": 2}
    longest = max((cell_len(check.name) for check in checks), default=0)
    lines: list[Content] = []
    for check in sorted(checks, key=lambda check: order[check.state]):
        mark, style = _MARKS[check.state]
        label = Content.assemble((f"{mark} ", style), (f"{fit(check.name, longest)}  ", "$soft"))
        words = at_home(check.message if check.state == "ok" else f"{check.state}: {check.message}")
        lines.append(hang(label, longest + 4, words, "$muted" if check.state == "ok" else style, width))
        if check.mend and check.state != "ok":
            lines.append(hang(Content.styled("  → ", "$accent"), 4, check.mend, "$foreground", width))
    return Content("\n").join(lines)


def verdict(checks: Sequence[Check]) -> str:
    """All checks in a few words."""
    failed = sum(check.state == "failed" for check in checks)
    warned = sum(check.state == "warning" for check in checks)
    parts = [f"{failed} failed"] if failed else []
    parts += [count(warned, "warning")] if warned else []
    return ", ".join(parts) or f"all {len(checks)} fine"


def checks_verdict(checks: Sequence[Check]) -> tuple[str, str]:
    """All checks in a few words with their mark, and the colour of the worst."""
    for state in ("failed", "warning"):
        if any(check.state == state for check in checks):
            mark, style = _MARKS[state]
            return f"{mark} checks: {verdict(checks)}", style
    return f"✔ checks: {verdict(checks)}", "$success"


def index_text(status: ProjectStatus, width: int) -> Content:
    """Store, disk, model, how far vectors are."""
    covered = status.embedded / status.passages if status.passages else 0.0
    vectors = f"{status.embedded:,} of {count(status.passages, 'passage')}"
    counts = (count(status.files, "file"), count(status.symbols, "symbol"), count(status.references, "reference"))
    rows = [
        ("store", at_home(status.store), ""),
        ("on disk", size(status.disk_bytes), ""),
        ("indexed", when_indexed(status), ""),
        ("at commit", _commit(status), "$warning" if status.is_behind_head else ""),
        ("content", ", ".join(counts), ""),
        ("search", status.mode, "" if status.mode == "hybrid" else "$warning"),
        (
            "model",
            f"{status.model or 'none'}{', as a fallback' if status.fallback else ''}",
            "$warning" if status.fallback else "",
        ),
        ("vectors", f"{vectors}, {_kind(status.vectors)}", "" if covered >= 1 or not status.passages else "$warning")
        if status.has_vectors
        else ("vectors", "disabled: `embedding.provider` is none", ""),
    ]
    lines = [hang(Content.styled(fit(name, 11), "$muted"), 11, value, style, width) for name, value, style in rows]
    if status.passages and status.has_vectors:
        lines.append(Content.assemble(" " * 11, share_bar(covered, 30, "$success"), f" {100 * covered:.0f}%"))
    lines += [hang(Content.styled("! ", "$warning"), 2, note, "$foreground", width) for note in status.notes]
    return Content("\n").join(lines)


def skipped_text(status: ProjectStatus) -> Content:
    """List the number of skipped files by reason."""
    if not status.skipped:
        return Content.styled("No files were skipped.", "$muted")
    return Content("\n").join(numbers_table(status.skipped))


def files_text(files: Sequence[FileEntry]) -> Content:
    """Files that were not read in full, and why: searched by lines, or some definitions lost."""
    if not files:
        return Content.styled("Every file could be parsed.", "$muted")
    lines = [
        Content.assemble((one_line(entry.path), "$foreground"), (f"  {one_line(entry.error or '')}", "$muted"))
        for entry in files[:FILES_SHOWN]
    ]
    if len(files) > FILES_SHOWN:
        lines.append(Content.styled(f"{FILES_SHOWN} of {len(files):,} shown", "$muted"))
    return Content("\n").join(lines)


def log_text(lines: Iterable[LogLine], width: int) -> Content:
    """What this session did, newest first."""
    rows = []
    for line in reversed(list(lines)):
        mark, style = _MARKS.get(line.state, ("·", "$muted"))
        clock = local_clock(line.at)
        label = Content.assemble((f"{clock} ", "$muted"), (f"{mark} ", style))
        rows.append(hang(label, 11, line.text, "$foreground", width))
    return Content("\n").join(rows)


def _commit(status: ProjectStatus) -> str:
    if not status.git:
        return "no git repository"
    indexed, head = (status.indexed_head or "none")[:10], (status.head or "none")[:10]
    return indexed if indexed == head else f"{indexed}, HEAD is {head}"


def _kind(vectors: str) -> str:
    return {"graph": "approximate search", "exact": "exact search", "none": "not searched"}.get(vectors, vectors)
