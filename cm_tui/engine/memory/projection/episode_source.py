"""The source of episodes: agents' prompts and answers, as passages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cm_tui.engine.code.parse.chunks import chunk_lines
from cm_tui.engine.memory.projection import episode_record, turn_text
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.journal_source import JournalSource, name_in_path
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.source import SourcePassage
from cm_tui.model import EPISODES

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


def read_again(db: Database) -> None:
    """Have every episode read again at the next comparison, by the rules of today."""
    EpisodeSource.keep(db, Position(1, 1), "-")


def path_of(episode: str) -> str:
    """Return the name of an episode among paths."""
    return f"episode/{name_in_path(episode)}"


def passages_of(event: Event) -> Iterator[SourcePassage]:
    """Yield the passages of an episode: the turn's text in pieces, each under the session's title."""
    record = EpisodeRecord.from_event(event)
    # Once more where it was recorded by earlier rules than today's: it becomes searchable here.
    clean = str if event.is_clean else _without_secrets
    text = clean(turn_text.of(record))
    lines = [_storable(line) for line in text.split("\n")]
    first = next((line.strip() for line in lines if line.strip()), "")[:_TITLE_CHARS]
    name = _storable(clean(turn_text.session_name(record)))[:_TITLE_CHARS]
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


def _without_secrets(text: str) -> str:
    return redact(text).text


def _storable(line: str) -> str:
    """Return a line that the store can hold: journals may have lone surrogates and zero bytes."""
    return line.encode("utf-8", "replace").decode("utf-8").replace("\0", " ").removesuffix("\r")
