"""Frozen records that cross the door between the engine and its front ends."""

from cm_tui.model.code import Edge, FileEntry, ImportEdge, SkippedFile, Source, Symbol, SymbolKey
from cm_tui.model.episode import Episode
from cm_tui.model.freshness import Freshness, LayerState
from cm_tui.model.history import (
    Drift,
    DriftRow,
    HistoryStatus,
    Life,
    LifeEvent,
    LifeSpan,
    Moment,
    Place,
    SymbolChange,
    VacuumReport,
)
from cm_tui.model.pack import Pack, PackFormat, PackItem, PackRequest
from cm_tui.model.page import Page
from cm_tui.model.profile import Profile
from cm_tui.model.progress import Cancel, IndexSummary, Progress
from cm_tui.model.search import Candidates, Hit, Mode, ScorePart, SearchResult
from cm_tui.model.status import Check, IndexPlan, ProjectStatus

__all__ = [
    "Cancel",
    "Candidates",
    "Check",
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
    "Life",
    "LifeEvent",
    "LifeSpan",
    "Mode",
    "Moment",
    "Pack",
    "PackFormat",
    "PackItem",
    "PackRequest",
    "Page",
    "Place",
    "Profile",
    "Progress",
    "ProjectStatus",
    "ScorePart",
    "SearchResult",
    "SkippedFile",
    "Source",
    "Symbol",
    "SymbolChange",
    "SymbolKey",
    "VacuumReport",
]
