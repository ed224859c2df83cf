"""Rows that several commands print: as lines for people, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cm_tui.model import CommitPoint, Symbol


def symbol_row(symbol: Symbol) -> dict[str, Any]:
    """Return a symbol as a row of JSON."""
    from cm_tui.cli.output import plain

    return {**plain(symbol), "line": symbol.line}


def symbol_line(symbol: Symbol) -> str:
    """Return a symbol as a line for people."""
    return f"{symbol.path}:{symbol.line}  {symbol.kind} {symbol.qualname}  {symbol.signature}"


def commit_line(commit: CommitPoint) -> str:
    """Return a commit as `#17 2024-05-01 0a1b2c3d4e Ada  Subject`; off the mainline its place comes last."""
    from cm_tui.model.dates import day

    words = f"{day(commit.time)} {commit.sha[:10]} {commit.author}  {commit.subject}"
    return f"{words} ({commit.place})" if commit.ahead else f"{commit.place} {words}"
