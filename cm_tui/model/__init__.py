"""Frozen records that cross the interface between the engine and its front ends."""

from cm_tui.model.backup import BackupReport, ProjectBackup, RestoredProject, RestoreReport
from cm_tui.model.code import Edge, FileEntry, ImportEdge, SkippedFile, Source, Symbol, SymbolKey
from cm_tui.model.episode import (
    Actor,
    Edited,
    Episode,
    EpisodeEdit,
    EpisodeFilter,
    EpisodeState,
    EpisodeStats,
    EpisodeType,
    Facet,
    Outcome,
    Session,
    Step,
    StepKind,
)
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
from cm_tui.model.projects import KnownProject
from cm_tui.model.recording import Recording, RecordingState
from cm_tui.model.search import CODE, EPISODES, Candidates, Hit, Mode, ScorePart, SearchResult
from cm_tui.model.secrets import ErasedEvent, ErasureReport, SecretFinding, SecretsReport, told_of_neighbours
from cm_tui.model.status import Check, CheckoutHead, IndexPlan, ProjectStatus

__all__ = [
    "CODE",
    "EPISODES",
    "Actor",
    "BackupReport",
    "Cancel",
    "Candidates",
    "Check",
    "CheckoutHead",
    "CommitPoint",
    "Drift",
    "DriftRow",
    "Edge",
    "Edited",
    "Episode",
    "EpisodeEdit",
    "EpisodeFilter",
    "EpisodeState",
    "EpisodeStats",
    "EpisodeType",
    "ErasedEvent",
    "ErasureReport",
    "Facet",
    "FileEntry",
    "Freshness",
    "HistoryStatus",
    "Hit",
    "ImportEdge",
    "IndexPlan",
    "IndexSummary",
    "KnownProject",
    "LayerState",
    "Mode",
    "Need",
    "Outcome",
    "Pack",
    "PackFormat",
    "PackItem",
    "PackRequest",
    "Page",
    "Profile",
    "Progress",
    "ProjectBackup",
    "ProjectStatus",
    "PruneReport",
    "Recording",
    "RecordingState",
    "ResolvedRevision",
    "RestoreReport",
    "RestoredProject",
    "ScorePart",
    "SearchResult",
    "SecretFinding",
    "SecretsReport",
    "Session",
    "SkippedFile",
    "Source",
    "Step",
    "StepKind",
    "Symbol",
    "SymbolChange",
    "SymbolEvent",
    "SymbolHistory",
    "SymbolKey",
    "SymbolSpan",
    "told_of_neighbours",
]
