"""Checking names: depends only on the names and the current store and git, not on earlier results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, cast

from cm_tui.engine.memory.mentions.command_check import CommandCheck
from cm_tui.engine.memory.mentions.contents import Contents
from cm_tui.engine.memory.mentions.finding import EVER, SOON, Finding, Known, Wanted
from cm_tui.engine.memory.mentions.paths import PathCheck
from cm_tui.engine.memory.mentions.settings import SettingCheck
from cm_tui.engine.memory.mentions.symbols import SymbolCheck
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.model.stale import MentionKind

NOWHERE = Finding("unknown", ordinal=0)
"""For a name that is not of this project, without a kind."""
_THERE = ("alive", "changed")


class Asked(NamedTuple):
    """A name to be looked up."""

    kinds: tuple[MentionKind, ...]
    text: str
    plain: bool
    at: int
    """Ordinal that its item counts as written at; -1: not known."""


class Answer(NamedTuple):
    """Kind of a name, and what became of it."""

    kind: MentionKind | None
    """None: not a known name of this project."""
    finding: Finding


class Checker:
    """Checks names against one state of a store.

    `read_now`: reads a current file by path and object id. `seconds`: time limit for reading earlier contents; names
    that need more are left for later.
    """

    def __init__(
        self, db: Database, repository: Repository, read_now: Callable[[str, str], str], seconds: float = 5.0
    ) -> None:
        self.known = Known.of(db)
        contents = Contents(db, repository, read_now, seconds)
        self._kinds = {
            "symbol": SymbolCheck(db, self.known).check,
            "path": PathCheck(db, repository, self.known).check,
            "command": CommandCheck(contents, self.known).check,
            "setting": SettingCheck(db, contents, self.known).check,
        }

    def check(self, asked: Collection[Asked]) -> dict[Asked, Answer]:
        """Return kind and result for each name."""
        wanted: dict[MentionKind, dict[Asked, Wanted]] = defaultdict(dict)
        for one in asked:
            for kind in one.kinds:
                wanted[kind][one] = _wanted(one)
        found: dict[MentionKind, Mapping[Wanted, Finding]] = {}
        for kind, names in wanted.items():
            # A word of code that is a symbol need not be looked for in all files.
            rest = [name for one, name in names.items() if kind != "setting" or name not in found.get("symbol", {})]
            found[kind] = self._kinds[kind](rest)
        return {one: self._answer(one, found) for one in asked}

    def _answer(self, one: Asked, found: Mapping[MentionKind, Mapping[Wanted, Finding]]) -> Answer:
        wanted = _wanted(one)
        answers = [Answer(kind, finding) for kind in one.kinds if (finding := found[kind].get(wanted)) is not None]
        there = next((answer for answer in answers if answer.finding.state in _THERE), None)
        told = next((answer for answer in answers if answer.finding.state != "unknown"), None)
        best = there or told or next(iter(answers), None)
        if best is not None:
            return best
        is_told = one.plain or self.known.tells(one.at)
        return Answer(None, NOWHERE) if is_told else Answer(one.kinds[0], NOWHERE)


def order_of_kinds(kinds: Sequence[str]) -> tuple[MentionKind, ...]:
    """Return kinds as they are stored, as kinds."""
    return cast("tuple[MentionKind, ...]", tuple(kinds))


def _wanted(one: Asked) -> Wanted:
    if one.at < 0:
        return Wanted(one.text, -1, EVER, one.plain)
    return Wanted(one.text, one.at, one.at + SOON, one.plain)
