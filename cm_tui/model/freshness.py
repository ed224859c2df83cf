"""Records of what keeps an index fresh: each layer, what it did last, and what is behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Need = Literal["files", "head", "checkout", "nothing"]
"""What the index must reflect before a method is called.

`files`: HEAD and the files on disk; a query about an earlier revision needs only `head`. `head`: the checked-out commit,
without uncommitted changes, because the caller compares with them. `checkout`: any state of the requesting checkout, but
not of another clone or worktree of the project. `nothing`: no requirement.
"""


@dataclass(frozen=True, slots=True)
class LayerState:
    """One layer that notices changes."""

    name: str
    """`git hooks`, `agent hooks`, `watcher`, `guard`, `journal`, `autostart`."""
    state: Literal["on", "off", "failed"]
    mode: str = ""
    """How it works now, such as `native` or `polling`."""
    fired_at: float | None = None
    """Seconds since the epoch when it last noticed something."""
    did: str = ""
    """What that was, in words."""
    note: str = ""
    """What it cannot do at the moment, and why."""

    @property
    def label(self) -> str:
        """Return its name as people are shown it."""
        return label_of(self.name)


def label_of(layer: str) -> str:
    """Return the name of a layer as people are shown it; records keep the one that older versions know."""
    return "staleness check" if layer == "guard" else layer


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far the index is behind the project, and who would notice."""

    behind: bool
    why: str
    """What is not in the index yet, in words; empty when nothing is behind."""
    running: bool = False
    """True while a run is on."""
    due_at: float | None = None
    """Seconds since the epoch when the next run begins; None when none is waiting."""
    ran_at: float | None = None
    """Seconds since the epoch when the last run ended."""
    did: str = ""
    """What the last run did, or why it failed."""
    runs: int = 0
    """Index runs since the daemon of the project began."""
    signals: int = 0
    """Signals that asked for them."""
    layers: tuple[LayerState, ...] = ()


@dataclass(frozen=True, slots=True)
class GitHook:
    """One of git's hooks, as it lies there."""

    name: str
    state: Literal["installed", "outdated", "missing"]
    path: str
    note: str = ""
    """How it is chained to a hook that was there before, or why it does not run."""


@dataclass(frozen=True, slots=True)
class GitHooks:
    """All hooks of a repository that keep its index fresh."""

    folder: str
    """Where git looks for hooks."""
    outside: bool
    """True when that folder lies outside the repository, so that other repositories share it."""
    hooks: tuple[GitHook, ...] = ()
    notes: tuple[str, ...] = ()
    off: bool = False
    """True when git's `core.hooksPath` points to a place without hooks."""


@dataclass(frozen=True, slots=True)
class Autostart:
    """Whether the daemon begins with the user's session."""

    system: str
    """`systemd`, `launchd` or `task scheduler`."""
    state: Literal["installed", "outdated", "missing", "unsupported"]
    path: str
    """The file that says so."""
    text: str
    """What the file holds, or would hold."""
    notes: tuple[str, ...] = ()
    """What was checked, done, or is left to do."""
