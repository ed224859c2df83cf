"""The source of episodes: what agents were asked and answered, as passages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cm_tui.engine.journal import START, Event, Journal, Position
from cm_tui.engine.memory import episode_record
from cm_tui.engine.memory.episode_record import EpisodeRecord
from cm_tui.engine.memory.redact import redact
from cm_tui.engine.parse.chunks import chunk_lines
from cm_tui.engine.search.source import Changes, SourceContext, SourcePassage
from cm_tui.engine.store.database import Database
from cm_tui.errors import CmError, UsageError

_POSITION = "episode_position"
"""Key in `meta`: how far the journal was read."""
_TITLE_CHARS = 300
_LATEST = 2.0**40
"""Times beyond are damage: a journal can be edited by hand."""
_NOT_IN_A_PATH = re.compile(r"[^\w-]")


class EpisodeSource:
    """Passages of episodes; each new event of the journal is read once.

    Args:
        context: says whose journal it is.
    """

    name = "episode"

    def __init__(self, context: SourceContext) -> None:
        self._root = context.root

    def has_changed(self, db: Database) -> bool:
        """Return whether the journal has grown, is another one, or cannot be looked at."""
        try:
            return Journal.of(self._root).end() != _position(db)
        except CmError:
            return True

    def changes(self, db: Database, *, anew: bool) -> Changes:
        """Read on from where the journal was left; a journal that is shorter than that is another one."""
        try:
            journal = Journal.of(self._root)
            before = _position(db)
            other = before > journal.end()
            end = START if anew or other else before
            passages: list[SourcePassage] = []
            for event in journal.read(end):
                end = event.position
                if event.kind == episode_record.KIND:
                    passages += passages_of(event)
        except CmError as error:
            if anew:
                # The passages that there are go all the same: they are read again next time.
                db.set_meta(_POSITION, str(START))
            return Changes([], [], [f"Episodes are as they were: {error.message}"])
        db.set_meta(_POSITION, str(end))
        gone = [row[0] for row in db.rows("SELECT id FROM passage WHERE source = ?", [self.name])] if other else []
        return Changes(gone, passages)


def passages_of(event: Event) -> Iterator[SourcePassage]:
    """Yield the passages of an episode: its prompts and its answer, in pieces, each under the first line of all."""
    record = EpisodeRecord.from_event(event)
    # Once more by the rules of today: what was recorded by earlier ones becomes searchable here.
    text = redact("\n\n".join((*record.prompts, record.answer))).text
    lines = [_storable(line) for line in text.split("\n")]
    title = next((line.strip() for line in lines if line.strip()), "")[:_TITLE_CHARS]
    for chunk in chunk_lines(lines):
        yield SourcePassage(
            path=f"episode/{_NOT_IN_A_PATH.sub('_', event.id)}",
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            title=title,
            text="\n".join(lines[chunk.start_line - 1 : chunk.end_line]),
            names=title,
            time=int(event.time) if 0 <= event.time < _LATEST else None,
        )


def _storable(line: str) -> str:
    """Return a line without what the store cannot hold: journals may have lone surrogates and zero bytes."""
    return line.encode("utf-8", "replace").decode("utf-8").replace("\0", " ").removesuffix("\r")


def _position(db: Database) -> Position:
    try:
        return Position.parse(db.get_meta(_POSITION) or str(START))
    except UsageError:
        return START
