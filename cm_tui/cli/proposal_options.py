"""Options that the commands about proposals share."""

from __future__ import annotations

from typing import Annotated

import typer

KINDS = (
    "command", "workflow", "fix", "statement", "decision", "rejected", "correction", "cochange", "convention", "stale",
    "topic", "size",
)  # fmt: skip
"""Kinds of what the narrator proposes; written down here, so that `cm --help` imports no records."""
AGENT = "agent"
"""Stands among the kinds for whatever agents propose."""
STATES = ("waiting", "deferred", "approved", "rejected")
ALL_STATES = "all"

Id = Annotated[str, typer.Argument(metavar="ID", help="The proposal's id, or a beginning of it.")]
Ids = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID]...", help="Ids, or beginnings of them; ID@DIGEST decides only on what was shown."),
]
KIND_HELP = f"Only of this kind: {', '.join(KINDS)}, or {AGENT}."
Kind = Annotated[str, typer.Option("--kind", help=KIND_HELP)]
Every = Annotated[bool, typer.Option("--all", help="With --kind: all of that kind that wait.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="With --all: do not ask.")]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is remembered.")]
