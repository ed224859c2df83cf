"""Records of history: commits of the mainline, the histories of symbols, what changed, drift and pruning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cm_tui.counts import count
from cm_tui.model.code import Edge, Symbol, SymbolKey
from cm_tui.model.dates import day
from cm_tui.model.page import Page

SHORT_SHA = 10
"""Letters of a commit's id by which people are shown it."""
BEFORE_FIRST = "#0"
"""Stands, as what others are compared with, for the time before the first commit."""

Change = Literal["added", "removed", "changed", "signature", "moved"]
"""`changed`: its own lines differ; `signature`: how it is declared does; `moved`: the same body at another path or name."""

DriftState = Literal["tombstoned", "drifted", "unindexed"]
"""`tombstoned`: gone since it was indexed; `drifted`: there, but not as indexed; `unindexed`: new, not in the index."""


@dataclass(frozen=True, slots=True)
class CommitPoint:
    """A commit, and where it lies: on the first-parent line of HEAD, or off it."""

    ordinal: int
    """First-parent count, from 1 at the root (of what is in this clone). Off the mainline that of its nearest ancestor there; 0: none."""
    sha: str
    time: int
    """When it was committed: seconds since the epoch; may be absurd, as git takes any."""
    author: str
    subject: str
    ahead: int = 0
    """Commits that it and its ancestors have beyond the mainline; 0 on it."""

    @property
    def place(self) -> str:
        """`#2011`, or `off the mainline, 143 commits after #2011`."""
        if not self.ahead:
            return f"#{self.ordinal}"
        if not self.ordinal:
            return "off the mainline, with no ancestor on it"
        return f"off the mainline, {self.ahead:,} commit{'s' * (self.ahead != 1)} after #{self.ordinal}"


@dataclass(frozen=True, slots=True)
class ResolvedRevision:
    """The commit that a name stands for."""

    moment: CommitPoint
    asked: str
    """As it was named."""
    sha: str
    """The commit of that name; empty for a date before all."""
    exact: bool
    """False when `moment` is not what was named: for a date before all it is the first commit."""
    known: bool
    """True when what was there at that commit is at hand. Off the mainline the first question about it reads it."""
    note: str = ""
    """Why it is not exact, or not known; or which files of it are not in this clone."""

    @property
    def said(self) -> str:
        """Warnings for the user: off the mainline, and the note."""
        here = self.moment
        sha, when, name = here.sha[:SHORT_SHA], day(here.time), self.asked.strip()
        named = f"{sha} ({when})" if here.sha.startswith(name) else f"{name} ({sha}, {when})"
        return "; ".join(filter(None, (f"{named} is {here.place}" if here.ahead else "", self.note)))


@dataclass(frozen=True, slots=True)
class HistoryStatus:
    """How much of the mainline is known."""

    head: CommitPoint | None
    """Newest commit of the mainline as indexed; None without git and before the first commit."""
    length: int
    """Commits on the mainline."""
    known: int
    """How many of them can be answered."""
    known_from: CommitPoint | None
    known_to: CommitPoint | None
    complete: bool
    """True when the mainline is known from its first commit to its last, with all of its files."""
    running: bool
    """True while history is being read."""
    blobs: int
    """Distinct file contents that history alone refers to."""
    vacuumed: str = ""
    """What was pruned and is unanswerable, or nothing."""
    text: str = ""
    """One sentence for people: `history known back to 2021-03-04, 3,112 of 5,480 commits`."""
    notes: tuple[str, ...] = ()
    missing: int = 0
    """File versions of history that are not in this clone: what was in there is not known."""
    wanted: int = 0
    """Commits that will be known at the end of the reading that is on its way; 0 while history is not being read."""


def reading_text(known: int, wanted: int) -> str:
    """Return how far a reading of history is: `312 of 5,000 commits read`; the same wherever it is shown."""
    return f"{known:,} of {count(wanted, 'commit')} read"


@dataclass(frozen=True, slots=True)
class SymbolChange:
    """What became of one symbol between two revisions."""

    change: Change
    symbol: Symbol
    """As it is at the later revision; for `removed`, as it was at the earlier one."""
    before: Symbol | None = None
    """As it was at the earlier revision; None for `added`."""


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

    @property
    def word(self) -> str:
        """What happened, in the words of changes: `added`, `removed`."""
        return {"came": "added", "left": "removed", "returned": "added again"}.get(self.what, self.what)


@dataclass(frozen=True, slots=True)
class SymbolSpan:
    """A stretch of the mainline in which a symbol was there without a gap."""

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
    """The command that fixes it."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How far index and checkout are apart; with `since`, also what changed since that revision."""

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
    """What pruning removed, or (`dry_run`) would remove."""

    dry_run: bool
    before: CommitPoint | None
    """The oldest commit that can be answered afterwards; None when only HEAD's state is kept."""
    commits: int
    """Commits that can no longer be answered."""
    spans: int
    blobs: int
    symbols: int
    references: int
    bytes: int
    """Bytes of source that those blobs stand for."""
    note: str = ""
