"""Frozen records that cross the interface between the engine and its front ends.

Each is read from its module when it is first asked for: a command that shows two kinds of records makes two of them, not a hundred and fifty.
"""

# ruff: noqa: F403 - a type checker reads the names from their modules
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cm_tui.model.assembly import *
    from cm_tui.model.author import *
    from cm_tui.model.backup import *
    from cm_tui.model.cancel import *
    from cm_tui.model.code import *
    from cm_tui.model.definition import *
    from cm_tui.model.entry import *
    from cm_tui.model.episode import *
    from cm_tui.model.freshness import *
    from cm_tui.model.history import *
    from cm_tui.model.ids import *
    from cm_tui.model.imports import *
    from cm_tui.model.narrator import *
    from cm_tui.model.note import *
    from cm_tui.model.pack import *
    from cm_tui.model.page import *
    from cm_tui.model.profile import *
    from cm_tui.model.progress import *
    from cm_tui.model.search import *
    from cm_tui.model.secrets import *
    from cm_tui.model.stale import *
    from cm_tui.model.status import *

_HOMES = {
    "assembly": "SECTIONS AppliedRule Assembly AssemblyDiff AssemblyHead AssemblySource AssemblyStep Cut Section SourceChange SourceKind StepOutcome",
    "author": "Author",
    "backup": "BackupReport ProjectBackup RestoredProject RestoreReport",
    "cancel": "Cancel",
    "code": "Edge FileEntry ImportEdge SkippedFile Source Symbol SymbolKey",
    "definition": "INGESTED DefinitionInfo DefinitionKind DefinitionProblem DefinitionState Definitions IngestOutcome IngestRun IngestedInto MemoryValue Trigger",
    "entry": "Category Duplicates Entry EntryEdit InjectedEntry Injection LeftOut MemoryChange Proposal ProposalKind RecalledBy Recalls Remembered Reminder Scope",
    "episode": "Actor Conflict Edited Episode EpisodeEdit EpisodeFilter EpisodeState EpisodeStats EpisodeType Facet Forgetting Outcome PurgeReport RetentionReport RetentionRow Session Step StepKind Undone WorkState",
    "freshness": "Freshness LayerState Need",
    "history": "CommitPoint Drift DriftRow HistoryStatus PruneReport ResolvedRevision SymbolChange SymbolEvent SymbolHistory SymbolSpan",
    "ids": "ambiguous id_named kind_and_id plain_id quoted where_ids_are",
    "imports": "AGENT_TITLES AllImports ImportPlan ImportSource ImportSummary ProjectSessions RescuePlan RescueSource RescueSummary TranscriptCounts UnknownRecord",
    "narrator": "ConfidencePart Evidence FactKind ModelCost NarratedAction NarratedChange NarratedDecision NarratedFilter NarratedProposal NarratedState NarratorReport Relation Topic TopicAction TopicMap TopicOverlap Verdict",
    "note": "NOTES Decision Note NoteChange NoteConflict NoteKind NoteText RuleBlock",
    "pack": "Pack PackFormat PackItem PackRequest",
    "page": "Page bounded",
    "profile": "Mark Profile ProfileReset",
    "progress": "IndexSummary Progress Tell WAIT ignore_progress",
    "search": "CODE ENTRIES EPISODES RECALL By Candidates FileHits Hit Mode ScorePart SearchResult Standing Suggestion",
    "secrets": "ErasedEvent ErasureReport SecretFinding SecretsReport neighbours_note",
    "stale": "Mention MentionKind MentionState StaleItem",
    "status": "Check CheckoutHead IndexPlan KnownProject ProjectStatus Recording RecordingState TeamVectors",
}
"""The modules, and what comes from each; a type checker takes all that they define."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = sorted(_HOME_OF)  # noqa: PLE0605 - one list of the names


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
