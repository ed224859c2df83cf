"""The sources of passages, in reading order. To add one: a file of its own, and a line here."""

from __future__ import annotations

from cm_tui.engine.memory.projection.entry_source import EntrySource
from cm_tui.engine.memory.projection.episode_source import EpisodeSource
from cm_tui.engine.memory.projection.ingested import IngestedSource
from cm_tui.engine.memory.projection.note_source import NoteSource
from cm_tui.engine.search.ranking.code_source import CodeSource
from cm_tui.engine.search.ranking.source import MakeSource

SOURCES: tuple[MakeSource, ...] = (
    CodeSource,
    EpisodeSource,
    EntrySource,
    NoteSource,
    IngestedSource,
)
