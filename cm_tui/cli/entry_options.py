"""Options that the commands about entries share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cm_tui.errors import UsageError

if TYPE_CHECKING:
    from cm_tui.model import Scope

Id = Annotated[str, typer.Argument(help="The entry's id, or a beginning of it.")]
OptionalId = Annotated[str, typer.Argument(metavar="ID", help="The entry's id, or a beginning of it.")]
Category = Annotated[str | None, typer.Option("--category", help="Knowledge, Rule or Experience.")]
Title = Annotated[str | None, typer.Option("--title", help="What it is called.")]
Keywords = Annotated[str | None, typer.Option("--keywords", help="Words that it is found by, with | between them.")]
OfScope = Annotated[str, typer.Option("--scope", help="Only those of user or project.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at most.")]


def text_of(text: str) -> str:
    """Return what an option says; `-` is what stands on stdin."""
    return sys.stdin.read() if text == "-" else text


def scope_of(text: str) -> Scope:
    """Return the scope of a name.

    Raises:
        UsageError: unknown scope.
    """
    if text not in {"user", "project"}:
        raise UsageError(f"There is no scope {text!r}.", hint="Use `user` or `project`.")
    return cast("Scope", text)
