"""Frozen records that cross the interface between the engine and its front ends."""

from cm_tui.model.code import Edge, FileEntry, ImportEdge, SkippedFile, Source, Symbol, SymbolKey
from cm_tui.model.episode import Episode
from cm_tui.model.freshness import Freshness, LayerState
from cm_tui.model.history import (
    CommitPoint,
    Drift,
    DriftRow,
    HistoryStatus,
    PruneReport,
    ResolvedRevision,
    SymbolChange,
    SymbolEvent,
    SymbolHistory,
    SymbolSpan,
)
from cm_tui.model.need import Need
from cm_tui.model.pack import Pack, PackFormat, PackItem, PackRequest
from cm_tui.model.page import Page
from cm_tui.model.profile import Profile
from cm_tui.model.progress import Cancel, IndexSummary, Progress
from cm_tui.model.search import CODE, Candidates, Hit, Mode, ScorePart, SearchResult
from cm_tui.model.status import Check, IndexPlan, ProjectStatus

__all__ = [
    "CODE",
    "Cancel",
    "Candidates",
    "Check",
    "CommitPoint",
    "Drift",
    "DriftRow",
    "Edge",
    "Episode",
    "FileEntry",
    "Freshness",
    "HistoryStatus",
    "Hit",
    "ImportEdge",
    "IndexPlan",
    "IndexSummary",
    "LayerState",
    "Mode",
    "Need",
    "Pack",
    "PackFormat",
    "PackItem",
    "PackRequest",
    "Page",
    "Profile",
    "Progress",
    "ProjectStatus",
    "PruneReport",
    "ResolvedRevision",
    "ScorePart",
    "SearchResult",
    "SkippedFile",
    "Source",
    "Symbol",
    "SymbolChange",
    "SymbolEvent",
    "SymbolHistory",
    "SymbolKey",
    "SymbolSpan",
]
