"""Erasing from journal, index, logs and remembered choices; each step can be repeated after a crash."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.counts import count
from cm_tui.engine.memory.entries import entry_backup
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.erasure import scan
from cm_tui.engine.memory.erasure.selection import Chosen, Selection, secrets_in
from cm_tui.engine.memory.importers.withheld import remove_copies
from cm_tui.engine.memory.notes import note_file, overwritten
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.narrated import PROPOSED, WORDED
from cm_tui.engine.platform.journal import erasure
from cm_tui.engine.platform.journal.erasure import Line
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.redact import redact, texts_of
from cm_tui.model import Episode, ErasedEvent, ErasureReport
from cm_tui.model.text import one_line

# --- the text of events, for finding repetitions without ids ---

_TELLING = 24
"""Non-blank characters of a line that identify it: no other text repeats it by chance."""
_NOT_SAID = frozenset({"root", "session", "agent", "base", "stop", "patch", "patch_digest", "origin", "paths", "files"})
"""Fields of events without text, or with source code, which is in the project anyway."""


class EventTexts(NamedTuple):
    """The text of events.

    Attributes:
        lines: the distinctive ones.
        prompts: with their sessions.
    """

    lines: frozenset[str]
    prompts: frozenset[tuple[str, str]]


def texts_of_lines(journal: Journal, lines: Iterable[Line]) -> EventTexts:
    """Return the text of lines of a journal. Raises OSError if a file cannot be read."""
    said: set[str] = set()
    prompts: set[tuple[str, str]] = set()
    for line in lines:
        data = data_of(journal, line)
        if isinstance(data, str):
            said |= set(_lines_with_text(data))
            continue
        session = str(data.get("session", ""))
        prompts |= {(session, text) for text in texts_of([data.get("prompt"), data.get("prompts")]) if text.strip()}
        for text in texts_of([value for name, value in data.items() if name not in _NOT_SAID]):
            said |= set(_lines_with_text(text))
    return EventTexts(frozenset(said), frozenset(prompts))


def texts_of_episodes(episodes: Iterable[Episode]) -> EventTexts:
    """Return the text of episodes."""
    said: set[str] = set()
    prompts: set[tuple[str, str]] = set()
    for one in episodes:
        prompts |= {(one.session, text) for text in one.prompts if text.strip()}
        for text in (*one.prompts, one.answer):
            said |= set(_lines_with_text(text))
    return EventTexts(frozenset(said), frozenset(prompts))


def data_of(journal: Journal, line: Line) -> Mapping[str, Any] | str:
    """Return the data of an event, or the text of an invalid line.

    Raises OSError if the file cannot be read.
    """
    with journal.file(line.segment).open("rb") as file:
        file.seek(line.start)
        text = file.read(line.end - line.start).decode("utf-8", "replace")
    try:
        data = json.loads(text)["data"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return text
    return data if isinstance(data, Mapping) else text


def _lines_with_text(text: str) -> Iterator[str]:
    return (bare for line in text.splitlines() if len("".join((bare := line.strip()).split())) >= _TELLING)


# --- erasing ---

_ADDED, _SAID = 12, 24
"""Least non-blank characters of a distinctive line: in a patch, and in a prompt or an answer."""


def neighbours(journal: Journal, chosen: Sequence[Chosen]) -> tuple[str, ...]:
    """Return the ids of remaining episodes that share lines with an erased one of the same checkout.

    `journal`: read twice. Raises StoreError if the journal cannot be read.
    """
    going = {one.event.id: one.line for one in chosen if one.event and one.event.kind == episode_record.KIND}
    if not going:
        return ()
    first = min(going.values())
    lines: dict[str, set[str]] = defaultdict(set)
    left = len(going)
    for event in _episodes(journal, Position(first.segment, first.start)):
        if event.id in going:
            record = EpisodeRecord.from_event(event)
            lines[record.root].update(_lines(record))
            left -= 1
            if not left:
                break
    return tuple(
        event.id
        for event in _episodes(journal, START)
        if event.id not in going and _shares(EpisodeRecord.from_event(event), lines)
    )


def _shares(record: EpisodeRecord, lines: dict[str, set[str]]) -> bool:
    return record.root in lines and not lines[record.root].isdisjoint(_lines(record))


def _episodes(journal: Journal, start: Position) -> Iterator[Event]:
    return (found for found in journal.scan(start) if isinstance(found, Event) and found.kind == episode_record.KIND)


def _lines(record: EpisodeRecord) -> Iterator[str]:
    """Yield the distinctive lines of an episode, without blanks, as indentation may differ."""
    added = (line[1:] for line in record.patch.splitlines() if line.startswith("+") and not line.startswith("+++ "))
    yield from _long(added, _ADDED)
    for text in (*record.prompts, record.answer):
        yield from _long(text.splitlines(), _SAID)


def _long(lines: Iterable[str], shortest: int) -> Iterator[str]:
    return (bare for line in lines if len(bare := "".join(line.split())) >= shortest)


_INTERRUPTED = "this also completes an interrupted erasure"
_WHOLE = "the whole turn is erased: its prompts, edits, stop and episode contain the same text"
_STANDING = "proposals and decisions based on them lose their text, and pipelines' output from them is removed; lines in notes and entries remain"
_ENTRY = "the whole entry is erased, with all earlier versions: its changes contain the same text"
_DAMAGED = "{} is a damaged or unfinished copy and may contain erased text: check it, then remove it"
_COPIES = "{} of transcripts removed because they contain an erased turn; the agents' own files are never changed"
_WORDS = 60
"""Characters that are shown of an event."""


class EraseRequest(NamedTuple):
    """A request to erase.

    Attributes:
        names: ids, prefixes of ids, places, as for `Selection`.
        found: also all possible secrets.
        with_patches: also turns of other episodes with lines of an erased one.
    """

    names: Collection[str]
    found: bool = False
    with_patches: bool = False

    def select(self, journal: Journal, again: Collection[str]) -> tuple[Selection, tuple[str, ...]]:
        """Return the lines to erase, and the ids of other episodes with lines of an erased one.

        Raises NotFoundError if a name is not in the journal; UsageError if a name is too short or ambiguous; StoreError
        if the journal cannot be read.
        """
        chosen = Selection(journal, self.names, again=again, found=self.found)
        if not self.names and not self.with_patches:
            # A possible secret is erased everywhere.
            return chosen, ()
        others = neighbours(journal, chosen.chosen)
        if not others or not self.with_patches:
            return chosen, others
        return Selection(journal, [*self.names, *others], again=again, found=self.found), ()


def preview(journal: Journal, asked: EraseRequest) -> ErasureReport:
    """Return what would be erased.

    Raises NotFoundError if a name is not in the journal; UsageError if a name is too short or ambiguous; StoreError if
    the journal cannot be read.
    """
    again = erasure.ERASING.names(journal)
    selection, others = asked.select(journal, again)
    report = _report(selection, asked, others, interrupted=bool(again))
    return replace(report, dry_run=True, events=tuple(map(_recognisable, report.events)))


def erase_events(
    journal: Journal,
    asked: EraseRequest,
    *,
    make_again: Callable[[], Sequence[str]],
    store: Path,
    entries: Entries | None = None,
    forget_counts: Callable[[Collection[str]], None] = lambda _: None,
    forget_words: Callable[[EventTexts, Collection[str] | None], None] = lambda *_: None,
) -> ErasureReport:
    """Erase events and all derived data.

    First the journal records the erasure, so that nothing more is derived from them; then their lines are overwritten,
    then derived data is rebuilt without them. A killed process leaves a note, by which the next erasure completes it.

    Args:
        journal: the project's.
        asked: the request.
        make_again: rebuilds the index without erased events, and returns notes.
        store: folder of the project's store.
        entries: the project's, if its folder is known.
        forget_counts: drops the recall counts of ids.
        forget_words: drops saved output that repeats erased text, or has one of these secrets; None: any secret.

    Raises:
        NotFoundError: a name is not in the journal.
        UsageError: a name is too short or ambiguous.
        StoreError: the journal or a file cannot be written, or another erasure is running.
    """
    with erasure.alone(journal):
        again = erasure.ERASING.names(journal)
        selection, others = asked.select(journal, again)
        # Which events an interrupted erasure took secrets from is unknown.
        traces = _Traces(journal, None if asked.found or again else set(), forget_words)
        lines, ids = _erase_lines(journal, selection, traces, again)
        cleaned = redact_files(store, traces.secrets)
        if entries is not None:
            dropped = entry_backup.drop(entries, selection.entries, again)
            cleaned += tuple(dict.fromkeys((*dropped, *_clean_entries(entries, traces.secrets))))
        note_file.forget_saved((*again, *ids))
        overwritten.remove_last_texts()
        forget_counts({*again, *ids, *selection.entries})
        removed = remove_copies(journal, traces.sessions, {line.origin for line in lines}, interrupted=bool(again))
        notes = [*make_again()]
        if entries is not None and selection.entries:
            notes += [_DAMAGED.format(file) for file in entry_backup.set_aside(entries)]
        if removed:
            notes.append(_COPIES.format(count(removed, "rescued copy", "rescued copies")))
        erasure.ERASING.forget(journal)
    report = _report(selection, asked, others, interrupted=bool(again))
    events = tuple(replace(event, words="") for event in report.events)
    return replace(report, events=events, files=cleaned, notes=(*report.notes, *notes))


def _erase_lines(
    journal: Journal, selection: Selection, traces: _Traces, again: Collection[str]
) -> tuple[list[Line], list[str]]:
    """Erase the chosen lines from the journal; return them, and the ids of those that were events.

    `again`: names of what an interrupted erasure left.
    """
    # Looking for secrets takes long, so writing is not blocked meanwhile.
    known = [one.line for one in selection.chosen]
    traces.take(known)
    with journal.held():
        selection.read_on(held=True)
        lines = [one.line for one in selection.chosen]
        if late := set(lines) - set(known):
            traces.take(late)
        ids = [line.left[0] for line in lines if line.left is not None]
        places = [f"{line.segment}:{line.start}" for line in lines if line.left is None]
        erasure.ERASING.note(journal, dict.fromkeys([*again, *ids, *places, *sorted(selection.entries)]))
        erasure.erase_lines(journal, lines, list(dict.fromkeys([*again, *ids])))
    return lines, ids


@dataclass
class _Traces:
    """What erased lines left elsewhere."""

    journal: Journal
    secrets: set[str] | None
    """Their possible secrets; None: any secret."""
    forget_words: Callable[[EventTexts, Collection[str] | None], None]
    sessions: set[str] = field(default_factory=set)

    def take(self, lines: Collection[Line]) -> None:
        """Note what some lines hold, before they are erased: after a crash in between, it would be unknown."""
        if self.secrets is not None:
            self.secrets |= _secrets(self.journal, lines)
        said = texts_of_lines(self.journal, lines)
        self.sessions |= {session for session, _ in said.prompts}
        self.forget_words(said, self.secrets)


def _clean_entries(entries: Entries, secrets: Collection[str] | None) -> tuple[str, ...]:
    """Redact secrets in the remaining entries; return the changed files."""
    if secrets is not None and not secrets:
        return ()
    damaged = (file for file in entry_backup.set_aside(entries) if scan.clean(file, secrets))
    return (*entry_backup.clean(entries, scan.changing(secrets)), *map(str, damaged))


def redact_files(store: Path, secrets: Collection[str] | None) -> tuple[str, ...]:
    """Redact secrets in logs and remembered choices; return the files with any.

    `store`: folder of the project's store. `secrets`: these; None: all recognised ones. Raises StoreError if one cannot
    be written.
    """
    if secrets is not None and not secrets:
        return ()
    return tuple(str(file) for file in scan.files(store) if scan.clean(file, secrets))


def _secrets(journal: Journal, lines: Iterable[Line]) -> set[str]:
    """Return possible secrets in erased lines, for redacting other files."""
    secrets: set[str] = set()
    for line in lines:
        data = data_of(journal, line)
        secrets |= secrets_in(iter((data,)) if isinstance(data, str) else texts_of(data))
    return secrets


def _report(selection: Selection, asked: EraseRequest, others: tuple[str, ...], *, interrupted: bool) -> ErasureReport:
    chosen = selection.chosen
    events = tuple(one.event for one in chosen if one.event is not None)
    notes = (_INTERRUPTED,) if interrupted else ()
    return ErasureReport(
        False, events, len(chosen) - len(events), (), notes, tuple(_reasons(selection, asked, events)), others
    )


def _reasons(selection: Selection, asked: EraseRequest, events: Sequence[ErasedEvent]) -> Iterable[str]:
    """Yield reasons why more is erased than was named."""
    standing = {one.event.id for one in selection.dependent_events if one.event is not None}
    proposed = entry_backup.EVENTS | {WORDED, PROPOSED}
    others = [event for event in events if event.kind not in proposed and event.id not in standing]
    if standing:
        yield _STANDING
    if len(others) > 1 and not all(event.id.startswith(tuple(asked.names)) for event in others):
        yield _WHOLE
    if selection.entries:
        yield _ENTRY
    if selection.open_prompts > 1:
        yield (
            f"{selection.open_prompts:,} prompts of turns that have not ended are erased: those of a session belong to one "
            "open turn"
        )


def _recognisable(event: ErasedEvent) -> ErasedEvent:
    words = " ".join(one_line(redact(event.words).text).split())
    return replace(event, words=words if len(words) <= _WORDS else f"{words[: _WORDS - 1]}…")
