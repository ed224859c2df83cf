"""What the engine offers to every front end: one protocol, whoever implements it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from cm_tui.engine.api.assembly import AssemblyApi
from cm_tui.engine.api.code import CodeApi
from cm_tui.engine.api.context import ContextApi
from cm_tui.engine.api.curation import CurationApi
from cm_tui.engine.api.entries import EntriesApi
from cm_tui.engine.api.history import HistoryApi
from cm_tui.engine.api.imports import ImportsApi
from cm_tui.engine.api.index import IndexApi
from cm_tui.engine.api.ingestion import IngestionApi
from cm_tui.engine.api.memory import MemoryApi
from cm_tui.engine.api.narrator import NarratorApi
from cm_tui.engine.api.notes import NotesApi
from cm_tui.engine.api.recalls import RecallsApi
from cm_tui.engine.api.search import SearchApi
from cm_tui.engine.api.stale import StaleApi
from cm_tui.engine.api.tuning import TuningApi


class Engine(
    IndexApi,
    SearchApi,
    TuningApi,
    CodeApi,
    HistoryApi,
    MemoryApi,
    EntriesApi,
    NotesApi,
    CurationApi,
    RecallsApi,
    StaleApi,
    NarratorApi,
    ImportsApi,
    ContextApi,
    AssemblyApi,
    IngestionApi,
    Protocol,
):
    """One project's engine, room by room; all paths are relative to the project's root, with `/`."""

    @property
    def root(self) -> Path:
        """Return the project's root folder."""

    @property
    def uses_daemon(self) -> bool:
        """Return whether a daemon answers, which other clients use as well and which tells what they do."""

    @property
    def own_jobs(self) -> set[str]:
        """Return the numbers of the daemon's jobs that were started through this engine; none without a daemon."""

    def close(self) -> None:
        """Let go of the store."""
