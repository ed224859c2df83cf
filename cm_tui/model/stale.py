"""Records of mentions: names of code in memories, and their current state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cm_tui.counts import count
from cm_tui.model.history import SHORT_SHA, CommitPoint

MentionKind = Literal["path", "symbol", "command", "setting"]
"""`path`: a file or folder; `command`: a target or script that the project defines; `setting`: a key or variable."""
MentionState = Literal["alive", "changed", "moved", "renamed", "gone", "unknown"]
"""`changed`: the same one with other lines; `moved`: it stands elsewhere; `renamed`: it has another name; `unknown`:
history does not tell."""
FLAGGED: tuple[MentionState, ...] = ("gone", "renamed", "moved")
"""States for which an item counts as stale, the worst first."""
_SUBJECT = 60


@dataclass(frozen=True, slots=True)
class Mention:
    """A name of the code that something remembered says, and what became of it."""

    kind: MentionKind
    text: str
    """As it is written there."""
    line: int
    """Line of the item at which it stands, from 1."""
    state: MentionState
    path: str = ""
    """Where it stands now, or stood last."""
    start_line: int = 0
    """Its line there; 0: of a file as a whole."""
    became: str = ""
    """What it is called now, or where it is; empty where nothing shows that."""
    commit: CommitPoint | None = None
    """The commit that did it; None where that is not known."""
    uncommitted: bool = False
    """Only the files on disk lack it: no commit did it."""
    confirmed: bool = False
    """A person said that what is written is true all the same, and nothing changed since."""

    @property
    def words(self) -> str:
        """What became of it, for people: ``names `parse_config`, renamed to `read_config` since abc1234 “subject”``."""
        return f"names `{self.text}`, {self.fate}"

    @property
    def fate(self) -> str:
        """What became of it, without its name."""
        if self.state in ("alive", "unknown"):
            return "which exists" if self.state == "alive" else "whose history is unknown"
        successor = f" to `{self.became}`" if self.became else ""
        return f"{self._change}{successor}{_since(self)}"

    @property
    def _change(self) -> str:
        """Return what happened to it in a word: a file with another name was renamed, wherever it is."""
        names = {path.rstrip("/").rpartition("/")[2] for path in (self.text, self.became)}
        is_renamed = self.kind == "path" and self.state == "moved" and self.became and len(names) > 1
        return "renamed" if is_renamed else self.state


@dataclass(frozen=True, slots=True)
class StaleItem:
    """Something remembered that names what is no longer so."""

    kind: str
    """Its source: `entry`, `note` or `episode`."""
    id: str
    path: str
    """Its name among passages, such as `entry/k3m9x2a`."""
    title: str
    mentions: tuple[Mention, ...]
    """Those that are not alive, in the order of their lines; all of them where one item was asked for."""
    time: int | None = None
    """When it was written; None: not known."""
    commit: CommitPoint | None = None
    """The commit of the mainline that it was written at."""
    note: str = ""
    """What cannot be told, and why."""

    @property
    def flagged(self) -> tuple[Mention, ...]:
        """Return the mentions for which it counts as stale, the worst first."""
        found = (one for one in self.mentions if one.state in FLAGGED and not one.confirmed)
        return tuple(sorted(found, key=lambda one: FLAGGED.index(one.state)))

    @property
    def words(self) -> str:
        """The worst of it, and how many more there are."""
        flagged = self.flagged
        if not flagged:
            return ""
        more = f" (and {count(len(flagged) - 1, 'more name')})" if len(flagged) > 1 else ""
        return f"{flagged[0].words}{more}"


def _since(one: Mention) -> str:
    if one.uncommitted:
        return " in the working tree"
    if one.commit is None:
        return ""
    subject = " ".join(one.commit.subject.split())
    subject = subject if len(subject) <= _SUBJECT else f"{subject[: _SUBJECT - 1]}…"
    return f" since {one.commit.sha[:SHORT_SHA]} “{subject}”"
