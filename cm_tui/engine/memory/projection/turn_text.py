"""The text of a turn for search and display: dialogue, plan, steps, and result."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.model import Step

_STEPS = 40
_STEP_CHARS = 200
_RESULT_CHARS = 120
_FILES = 20
_MACHINE_NAME = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{4,40}|[0-9a-fA-F_-]{16,}|[0-9A-HJKMNP-TV-Z]{26}")
"""Names that no person gave: digests, and identifiers by any of the usual schemes."""


def of(record: EpisodeRecord) -> str:
    """Return the turn as text: prompts and answer with their speakers, then plan, short steps, files and verdict."""
    return "\n\n".join(part for part in _parts(record) if part)


def session_name(record: EpisodeRecord) -> str:
    """Return the session's title, else its id unless that is machine-made."""
    return record.title or ("" if _MACHINE_NAME.search(record.session) else record.session)


def _parts(record: EpisodeRecord) -> Iterator[str]:
    # Without an agent the author of the answer is unknown.
    asked, answered = ("User: ", f"{record.agent}: ") if record.agent else ("", "")
    for prompt in record.prompts:
        yield f"{asked}{prompt}" if prompt else ""
    yield f"{answered}{record.answer}" if record.answer else ""
    yield f"Plan: {record.plan}" if record.plan else ""
    yield "\n".join(line for step in record.steps[:_STEPS] if (line := _step(step)))
    if record.agent and record.files:
        yield f"Files: {', '.join(record.files[:_FILES])}"
    yield f"Verdict: {record.verdict}" if record.verdict else ""


def _step(step: Step) -> str:
    """One line of a step; an agent's thoughts are excluded."""
    if step.kind == "thought":
        return ""
    if step.kind != "tool":
        return " ".join(step.text.split())[:_STEP_CHARS]
    said = " ".join(f"{step.path} {step.text}".split())[:_STEP_CHARS]
    came = " ".join(step.result.split())[:_RESULT_CHARS]
    failed = " failed" if step.failed else ""
    return f"[{step.tool}{failed}] {said}" + (f" → {came}" if came else "")
