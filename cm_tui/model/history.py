"""Records of time: moments on the line, the lives of symbols, what changed, drift and vacuum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cm_tui.model.code import Edge, Symbol, SymbolKey
from cm_tui.model.page import Page

Change = Literal["added", "removed", "changed", "signature", "moved"]
"""`changed`: its own lines differ; `signature`: how it is declared does; `moved`: the same body at another path or name."""

DriftState = Literal["tombstoned", "drifted", "unindexed"]
"""`tombstoned`: gone since it was indexed; `drifted`: there, but not as indexed; `unindexed`: new, not in the index."""


@dataclass(frozen=True, slots=True)
class CommitPoint:
    """A commit of the first-parent line of HEAD."""

    ordinal: int
    """First-parent count, from 1 at the root (of what is in this clone)."""
    sha: str
    time: int
    """When it was committed: seconds since the epoch; may be absurd, as git takes any."""
    author: str
    subject: str


@dataclass(frozen=True, slots=True)
class ResolvedRevision:
    """What a name of a moment stands for."""

    moment: CommitPoint
    asked: str
    """As it was named."""
    sha: str
    """The commit of that name; another one than the moment's when it is not on the line; empty for a date before all."""
    exact: bool
    """False when the moment is not what was named: its nearest ancestor on the line, or for a date before all the first."""
    known: bool
    """True when what was alive at that moment can be answered."""
    note: str = ""
    """Why it is not exact, or not known; or which files of it are not in this clone."""


@dataclass(frozen=True, slots=True)
class HistoryStatus:
    """How much of the line is known."""

    head: CommitPoint | None
    """Newest commit of the line as indexed; None without git and before the first commit."""
    length: int
    """Commits on the line."""
    known: int
    """How many of them can be answered."""
    known_from: CommitPoint | None
    known_to: CommitPoint | None
    complete: bool
    """True when the line is known from its first commit to its last, with all of its files."""
    running: bool
    """True while history is being read."""
    blobs: int
    """Distinct file contents that the past alone refers to."""
    vacuumed: str = ""
    """What was removed by `vacuum` and is unanswerable, or nothing."""
    text: str = ""
    """One sentence for people: `history known back to 2021-03-04, 3,112 of 5,480 commits`."""
    notes: tuple[str, ...] = ()
    missing: int = 0
    """File versions of the past that are not in this clone: what was in there is not known."""


@dataclass(frozen=True, slots=True)
class SymbolChange:
    """What became of one symbol between two moments."""

    change: Change
    symbol: Symbol
    """As it is at the later moment; for `removed`, as it was at the earlier one."""
    before: Symbol | None = None
    """As it was at the earlier moment; None for `added`."""


@dataclass(frozen=True, slots=True)
class SymbolEvent:
    """Something that happened to a symbol, and the commit that did it."""

    moment: CommitPoint
    what: Literal["came", "changed", "signature", "left", "returned", "moved", "unknown"]
    """`unknown`: what the commit did to it cannot be told, as the file's version before or after it is not in this clone."""
    path: str
    qualname: str
    line: int
    """Where it starts after the commit; for `left`, where it started before."""
    signature: str
    other: SymbolKey | None = None
    """For `moved`: where it stood before; for `left`: where it went, if its body went on elsewhere."""


@dataclass(frozen=True, slots=True)
class SymbolSpan:
    """A stretch of the line in which a symbol was there without a gap."""

    from_ord: int
    """Ordinal of the commit that brought it; 0: it was there already where what is known begins."""
    to_ord: int | None
    """Ordinal of the commit that took it away; None: it is still there."""
    path: str


@dataclass(frozen=True, slots=True)
class SymbolHistory:
    """One symbol from its first commit to its last, moves followed back."""

    key: SymbolKey
    name: str
    alive: bool
    """True when it is there at HEAD."""
    spans: tuple[SymbolSpan, ...]
    """Oldest first, gaps kept."""
    events: tuple[SymbolEvent, ...]
    """Oldest first."""
    first_seen: CommitPoint | None
    """The commit that brought it; None when it was there before what is known."""
    last_seen: CommitPoint | None
    """The last commit at which it was there."""
    invalid: CommitPoint | None
    """The commit that took it away for good; None while it is there."""
    callers_before: Page[Edge] | None = None
    """Who called it at `last_seen`, when that was asked for and it is gone."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DriftRow:
    """A symbol on which index and checkout disagree."""

    path: str
    symbol: str
    """Qualified name; empty for a file without symbols."""
    kind: str
    line: int
    """Where the index has it; for `unindexed`, where it stands on disk."""
    state: DriftState
    why: str
    mend: str
    """The command that mends it."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How far index and checkout are apart; with `since`, also what changed since that moment."""

    rows: tuple[DriftRow, ...]
    total: int
    current: bool
    """True when the index reflects HEAD and the working tree."""
    head: str | None
    indexed_head: str | None
    files: int
    """Paths that differ."""
    since: ResolvedRevision | None = None
    looked: CommitPoint | None = None
    """Where the person last looked, if that is remembered."""
    changes: Page[SymbolChange] | None = None
    """From `since` to HEAD as indexed."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What a vacuum removed, or (`dry_run`) would remove."""

    dry_run: bool
    before: CommitPoint | None
    """The oldest moment that can be answered afterwards; None when only HEAD's state is kept."""
    commits: int
    """Commits that can no longer be answered."""
    spans: int
    blobs: int
    symbols: int
    references: int
    bytes: int
    """Bytes of source that those blobs stand for."""
    note: str = ""
