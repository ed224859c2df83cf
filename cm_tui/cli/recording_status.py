"""What `cm status` says of recording: whether it goes on, who stopped it until when, what is held back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cm_tui.counts import count, noun
from cm_tui.errors import CmError

if TYPE_CHECKING:
    from cm_tui.model import RecordingState

_BY = {"paused": "person", "never": "settings", "off": "settings", "on": ""}
"""Who stopped it: no agent can."""
_SHOWN = 5


def as_json(root: Path) -> dict[str, Any]:
    """Return it as JSON has it; `held_back` is null where too many files are to be told apart."""
    from cm_tui.cli.output import plain

    try:
        state, held = _found(root)
    except CmError as error:
        return {"state": "unknown", "error": error.message}
    fields: dict[str, Any] = plain(state)
    return {**fields, "by": _BY[state.state], "held_back": held if held is None else list(held)}


def lines(root: Path) -> Iterator[str]:
    """Yield it in words."""
    from cm_tui.cli.pause import sentence
    from cm_tui.model.dates import local_minute

    try:
        state, held = _found(root)
    except CmError as error:
        yield f"nothing is recorded: {error.message}"
        return
    yield sentence(state)
    if state.state == "paused":
        end = "`cm resume --everywhere`" if state.everywhere else "`cm resume`"
        since = f" since {local_minute(state.since)}" if state.since is not None else ""
        yield f"paused by a person{since}; {end} ends it"
    if state.sessions:
        yield f"{count(len(state.sessions), 'session')} {noun(len(state.sessions), 'is', 'are')} never recorded"
    if held is None:
        yield "held back: the patches of what was changed in a pause, which is too much to tell apart, until it is committed"
    elif held:
        more = f" and {len(held) - _SHOWN:,} more" if len(held) > _SHOWN else ""
        yield f"held back from patches, for they were changed in a pause: {', '.join(held[:_SHOWN])}{more}"


def _found(root: Path) -> tuple[RecordingState, tuple[str, ...] | None]:
    from cm_tui.engine.api import recording

    return recording.recording_state(root), recording.held_back(root)
