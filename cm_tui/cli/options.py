"""Options that every command takes, and how a command gets at the engine."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cm_tui.cli.output import follow, narrate
from cm_tui.errors import CmError, RefusedError, UsageError

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

PROJECT: ContextVar[Path | None] = ContextVar("project", default=None)
"""Folder of `--project`, before the command or behind it."""
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done, without doing it.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Force = Annotated[bool, typer.Option("--force", help="Accept a root that is refused as unsafe.")]
Rows = Annotated[int, typer.Option("--limit", "-n", min=1, help="Maximum number of rows.")]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Maximum number of rows.")]
At = Annotated[
    str | None,
    typer.Option("--at", help="Use an earlier revision: a branch, tag, commit, #17 or date."),
]
Depth = Annotated[int, typer.Option("--depth", min=1, max=3, help="Maximum depth of calls.")]


def under_old_name(old: str, new: str, command: Callable[..., None]) -> Callable[..., None]:
    """Return a command as it goes by its old name: it does the same, and says the new one."""

    @functools.wraps(command)
    def renamed(*args: Any, **kwargs: Any) -> None:
        narrate(f"`cm {old}` is called `cm {new}` now.")
        command(*args, **kwargs)

    return renamed


def chosen_project() -> Path | None:
    """Return the folder of `--project`; None: the current one."""
    return PROJECT.get()


@contextmanager
def open_engine(project: Path | None = None, *, force: bool = False) -> Iterator[Engine]:
    """Open the engine to a project, by default the one of `--project`, and close it afterwards.

    Raises:
        CmError: the project or its store cannot be opened.
    """
    from cm_tui.daemon import open_engine as engines

    with closing(engines.open_engine(project or PROJECT.get(), force=force, say=narrate)) as engine:
        yield engine


@contextmanager
def open_fresh_engine(*, of_memory: bool = False) -> Iterator[Engine]:
    """Open the engine for questions: the index exists and reflects this checkout's HEAD.

    `of_memory`: what is asked is what people and agents left behind: that needs no index. Raises NotIndexedError if the
    project has no index yet.
    """
    from cm_tui.daemon import open_engine as engines

    with closing(engines.open_fresh_engine(PROJECT.get(), of_memory=of_memory, say=narrate)) as engine:
        yield engine


def refuse_empty(query: str, example: str) -> None:
    """Refuse a query of blanks.

    `query`: as the user typed it; `example`: a command with a query, for the hint. Raises UsageError if the query is
    empty.
    """
    if not query.strip():
        raise UsageError("The query is empty.", hint=f"For example: {example}")


def text_of(text: str) -> str:
    """Return what an option says; `-` is what stands on stdin."""
    return sys.stdin.read() if text == "-" else text


def checked_reason(reason: str) -> str:
    """Return the reason of a change. Raises UsageError if it is too long to be kept."""
    from cm_tui.model.entry import REASON_CHARACTERS

    if len(reason) > REASON_CHARACTERS:
        raise UsageError(
            f"--reason takes at most {REASON_CHARACTERS:,} characters; this has {len(reason):,}.",
            hint="Save the rest with `cm remember`.",
        )
    return reason


def values_of(words: Sequence[str]) -> dict[str, str]:
    """Return what `key=value` words say. Raises UsageError if one says nothing, or two say something of the same."""
    given: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise UsageError(f"{word[:60]!r} is not key=value.", hint='For example: text="how is tax added"')
        if key in given:
            raise UsageError(f"{key[:60]} was given twice.", hint="Give each value once.")
        given[key] = value
    return given


def ensure_history(engine: Engine, revision: str) -> None:
    """Have the history read back to a revision, unless it is known or was pruned on purpose.

    The files of a commit off the mainline are read by the question itself: that is said. Raises NotFoundError if there
    is no such revision.
    """
    found = engine.resolve(revision)
    if found.moment.ahead and not found.known:
        narrate(f"reading the files of {revision}: it is {found.moment.place}")
        return
    if found.known or not found.sha or engine.history().vacuumed:
        return
    narrate(f"reading history back to #{found.moment.ordinal} {found.moment.sha[:10]}")
    follow(engine.backfill(since=f"#{found.moment.ordinal}"))


def ask(
    question: str, hint: str, refusal: str = "This needs confirmation, and there is no terminal to ask in."
) -> None:
    """Ask for a confirmation.

    Raises RefusedError if there is no terminal to ask in; with the refusal and the hint. Abort if the user declines.
    """
    if not sys.stdin.isatty():
        raise RefusedError(refusal, hint=hint)
    typer.confirm(question, abort=True, err=True)


def need_editor(hint: str) -> None:
    """Refuse to open an editor where there is no terminal. Raises UsageError with the hint."""
    if not sys.stdin.isatty():
        raise UsageError("An editor needs a terminal.", hint=hint)


def need_terminal(refusal: str, hint: str) -> None:
    """Refuse what only a person decides when there is no terminal.

    Raises RefusedError: with the refusal and the hint.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RefusedError(refusal, hint=hint)


def root_here(*, needed: bool) -> Path | None:
    """Return the root of the project; None when it is optional and missing."""
    from cm_tui.engine.api import projects

    folder = PROJECT.get()
    try:
        return projects.locate(folder, around=folder is None)[0]
    except CmError:
        if needed:
            raise
        return None
