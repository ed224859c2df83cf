"""The source of episodes: agents' prompts and answers, as passages."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from cm_tui.engine.code.parse.chunks import chunk_lines
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.journal_source import JournalSource, name_in_path
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.source import SourcePassage
from cm_tui.model import EPISODES, Step

# --- the text of a turn for search and display: dialogue, plan, steps, and result ---

_FIRST_STEPS, _LAST_STEPS = 20, 20
_FAILED_STEPS = 20
"""Failed ones between these: what went wrong is asked for later."""
_SAID_CHARS = 1_200
"""Of what the agent said on the way: its reasons and decisions."""
_STEP_CHARS = 200
_BEGIN_CHARS, _END_CHARS, _ERROR_CHARS = 60, 120, 300
"""What is shown of the beginning of a result, of its end, and of the end of what failed."""
_TODO = re.compile(r"(?:.*\n)?- \[[x~ ]\] ")
_FILES = 20
_CHANGE_CHARS, _CHANGES_CHARS = 200, 400
"""Of the added lines of one file, and of all."""
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
    yield "\n".join(line for step in _shown(record.steps) if (line := _step(step)))
    if record.agent and record.files:
        yield f"Files: {', '.join(record.files[:_FILES])}"
    yield "\n".join(["Changed to:", *changes]) if (changes := _small_changes(record.patch)) else ""
    yield f"Verdict: {record.verdict}" if record.verdict else ""


def _small_changes(patch: str) -> list[str]:
    """The added lines of files of which little was changed: versions, limits, settings. Larger changes are in the index of code."""
    found: list[str] = []
    for section in patch.split("diff --git ")[1:]:
        added = [
            line[1:].strip() for line in section.split("\n") if line.startswith("+") and not line.startswith("+++ ")
        ]
        if sum(map(len, added)) <= _CHANGE_CHARS and sum(map(len, found)) <= _CHANGES_CHARS:
            found += filter(None, added)
    return found


def _shown(steps: Sequence[Step]) -> list[Step]:
    """The first and the last steps, and those between that failed."""
    middle = steps[_FIRST_STEPS : max(_FIRST_STEPS, len(steps) - _LAST_STEPS)]
    failed = [step for step in middle if step.failed][-_FAILED_STEPS:]
    return [*steps[:_FIRST_STEPS], *failed, *steps[_FIRST_STEPS + len(middle) :]]


def _step(step: Step) -> str:
    """One line of a step; an agent's thoughts are excluded."""
    # A state of the to-do list is none: the plan is the last one.
    if step.kind == "thought" or (step.kind == "tool" and _TODO.match(step.text)):
        return ""
    if step.kind != "tool":
        return " ".join(step.text.split())[:_SAID_CHARS]
    is_of_file = bool(step.path) and step.text.strip().replace(os.sep, "/").endswith(step.path)
    said = " ".join((step.path if is_of_file else f"{step.path} {step.text}").split())[:_STEP_CHARS]
    # What a file contained, and that it was written, is in the index of code.
    came = "" if is_of_file and not step.failed else " ".join(step.result.split())
    last = _ERROR_CHARS if step.failed else _END_CHARS
    if len(came) > _BEGIN_CHARS + last:
        came = f"{came[:_BEGIN_CHARS]} … {came[-last:]}"
    failed = " failed" if step.failed else ""
    return f"[{step.tool}{failed}] {said}" + (f" → {came}" if came else "")


# --- the source of episodes ---

_TITLE_CHARS = 300
_LATEST = 2.0**40
"""Times beyond are damage: a journal can be edited by hand."""


class EpisodeSource(JournalSource):
    """Passages of episodes."""

    name = EPISODES
    kind = episode_record.KIND
    key = "episode"
    words = "Episodes are"

    def passages_of(self, event: Event) -> Iterable[SourcePassage]:
        """Return the passages of an episode."""
        return passages_of(event)


def mark_outdated(db: Database) -> None:
    """Have every episode read again at the next comparison, by the rules of today."""
    EpisodeSource.keep(db, Position(1, 1), "-")


def path_of(episode: str) -> str:
    """Return the name of an episode among paths."""
    return f"episode/{name_in_path(episode)}"


def passages_of(event: Event) -> Iterator[SourcePassage]:
    """Yield the passages of an episode: the turn's text in pieces, each under the session's title."""
    record = EpisodeRecord.from_event(event)
    # Once more where it was recorded by earlier rules than today's: it becomes searchable here.
    clean = str if event.is_clean else lambda text: redact(text).text
    text = clean(of(record))
    lines = [_storable(line) for line in text.split("\n")]
    first = next((line.strip() for line in lines if line.strip()), "")[:_TITLE_CHARS]
    name = _storable(clean(session_name(record)))[:_TITLE_CHARS]
    at = event.time if record.at is None else record.at
    for chunk in chunk_lines(lines):
        # A later piece does not contain the prompt.
        title = name if chunk.start_line == 1 else f"{name} {first}".strip()
        yield SourcePassage(
            path=path_of(event.id),
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            title=title,
            text="\n".join(lines[chunk.start_line - 1 : chunk.end_line]),
            names=title,
            time=int(at) if 0 <= at < _LATEST else None,
            thread=f"{EPISODES}/{_storable(record.session)}" if record.session else None,
            place=record.turn,
        )


def _storable(line: str) -> str:
    """Return a line that the store can hold: journals may have lone surrogates and zero bytes."""
    return line.encode("utf-8", "replace").decode("utf-8").replace("\0", " ").removesuffix("\r")
