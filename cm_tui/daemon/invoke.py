"""One question to the engine, and what is said with its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cm_tui.daemon.project_pool import Project
from cm_tui.daemon.rpc import METHODS, Method
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Candidates, Page


def method_of(name: str, *, streams: bool) -> Method:
    """A method of the engine.

    `streams`: whether long work is wanted, or a single result. Raises UsageError: unknown method.
    """
    method = METHODS.get(name)
    if method is None or method.streams != streams:
        raise UsageError(f"There is no {'long work' if streams else 'method'} {name[:80]!r}.")
    return method


def ask(project: Project, name: str, values: dict[str, Any]) -> Any:
    """Ask the engine; candidates stay here, and only the name of their table goes out."""
    engine = project.engine
    if name == "rank":
        asked: Candidates = values.pop("candidates")
        found = project.kept(str(asked.table))
        # What was forgotten is retrieved again.
        found = found or engine.retrieve(asked.query, profile=values["profile"], mode=asked.mode)
        return engine.rank(found, **values)
    result = getattr(engine, name)(**values)
    return replace(result, table=project.keep(result)) if isinstance(result, Candidates) else result


def other_checkout_note(root: str, reflects: str = "reflects") -> str:
    """Return the note on a result or state of another checkout."""
    return f"The index {reflects} another checkout, {root}."


def accepts_notes(result: Any) -> bool:
    """Return whether a note can be left on a result."""
    return isinstance(result, Page) or hasattr(result, "notes")


def with_note(result: Any, note: str) -> Any:
    """A result with a note, where its record has room for one."""
    if isinstance(result, Page):
        return replace(result, note="; ".join(filter(None, (result.note, note))))
    return replace(result, notes=(*result.notes, note)) if accepts_notes(result) else result


def noted(error: NotFoundError, note: str) -> NotFoundError:
    """Return a failure to find something that says of the index what an answer would have said."""
    return type(error)(error.message, hint=f"{error.hint} {note}".strip(), finding=error.finding)
