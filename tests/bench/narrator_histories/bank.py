"""The bank of facts, traps and ordinary tasks that histories are made of, and the rules that it keeps to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

SAID = ("statement", "decision", "rejected", "correction")
"""Kinds that a person puts into words; which of them a sentence is may be seen in several ways."""
SHOWN = ("command", "workflow", "fix", "cochange", "convention")
"""Kinds that are only seen in what was done."""
TRAPS = (
    "one_off", "task_order", "question", "reversed", "own", "secret", "injection", "disagree", "declined", "pasted",
    "quoted", "sarcasm", "subagent",
)  # fmt: skip
"""Types of traps that the bank words; `failed`, `one_session`, `gone` and `mass_edit` come of its ecosystems."""
_NEGATION = (
    r"(?:never|not|no|don'?t|doesn'?t|dont|isn'?t|cannot|can'?t|mustn'?t|shouldn'?t|won'?t|avoid|stop|stopped|without|against|"
    r"instead of|rather than|reject\w*|turned (?:it )?down|turned down|ruled \w+ ?out|ruled out|no longer|unless|off limits|"
    r"nothing|nobody|drop\w*|threw|forget|leave|gone)"
)
_NEGATIVE = re.compile(rf"\b{_NEGATION}\b")
_FOLDER = Path(__file__).parent


def plain(text: str) -> str:
    """Return a text in lower case with single spaces and straight quotes."""
    return " ".join(text.lower().replace("’", "'").replace("\u2011", "-").split())


@cache
def _pattern(word: str) -> re.Pattern[str]:
    start = r"(?<![a-z0-9])" if word[0].isalnum() else ""
    return re.compile(start + re.escape(plain(word)))


@cache
def _command(run: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w:./-])" + re.escape(plain(run)) + r"(?![\w:/=-])")


@dataclass(frozen=True)
class Wanted:
    """What a text has to say to be a certain fact."""

    needs: tuple[tuple[str, ...], ...]
    """Groups of words: one of each group has to begin a word of the text, in any case."""
    polarity: str = ""
    """`do`, `dont`, or nothing where it does not matter."""
    runs: tuple[str, ...] = ()
    """Commands that the text has to hold, whole."""
    without: tuple[str, ...] = ()
    """Words that make it another thing: arguments of one call."""

    def is_met(self, text: str) -> bool:
        """Return whether a text says it."""
        text = plain(text)
        if not all(any(_pattern(word).search(text) for word in group) for group in self.needs):
            return False
        if not all(_command(run).search(text) for run in self.runs) or any(plain(w) in text for w in self.without):
            return False
        if self.polarity == "dont":
            return _NEGATIVE.search(text) is not None
        return self.polarity != "do" or not self._is_denied(text)

    def _is_denied(self, text: str) -> bool:
        """Return whether each place where the first words stand is governed by a negation."""
        places = [match for word in self.needs[0] for match in _pattern(word).finditer(text)]
        near = re.compile(rf"\b{_NEGATION}\b(?:[^.,;:!?]*)$")
        return bool(places) and all(near.search(text[max(0, place.start() - 28) : place.start()]) for place in places)


@dataclass(frozen=True)
class Fact:
    """Something true that a history shows."""

    id: str
    kind: str
    wanted: Wanted
    scope: str = "project"
    group: str = ""
    ecosystems: tuple[str, ...] = ()
    say: tuple[str, ...] = ()
    did: str = ""
    more: dict[str, Any] = field(default_factory=dict, compare=False, hash=False)
    """What only its kind has: `run`, `args`, `runs`, `error`, `fix`, `files`, `path`, `lines`, `commit`."""


@dataclass(frozen=True)
class Trap:
    """Something that must not be proposed."""

    id: str
    type: str
    wanted: tuple[Wanted, ...]
    say: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    more: dict[str, Any] = field(default_factory=dict, compare=False, hash=False)


@dataclass(frozen=True)
class Bank:
    """Everything that histories are made of."""

    facts: tuple[Fact, ...]
    traps: tuple[Trap, ...]
    ecosystems: dict[str, dict[str, Any]]
    words: dict[str, Any]
    """Of ordinary work: `tasks`, `openers`, `tails`, `short`, `answers`, `carriers`."""


def load(name: str) -> Bank:
    """Read `bank_NAME.json`, or all files of the folder `bank_NAME`."""
    single = _FOLDER / f"bank_{name}.json"
    files = [single] if single.is_file() else sorted((_FOLDER / f"bank_{name}").glob("*.json"))
    facts: list[Fact] = []
    traps: list[Trap] = []
    ecosystems: dict[str, dict[str, Any]] = {}
    words: dict[str, Any] = {}
    for file in files:
        data = json.loads(file.read_text(encoding="utf-8"))
        facts += map(fact_of, data.get("facts", ()))
        traps += map(trap_of, data.get("traps", ()))
        ecosystems |= data.get("ecosystems", {})
        words |= {key: value for key, value in data.items() if key not in {"facts", "traps", "ecosystems"}}
    return Bank(tuple(facts), tuple(traps), ecosystems, words)


def exists(name: str) -> bool:
    """Return whether there is such a bank."""
    return (_FOLDER / f"bank_{name}.json").is_file() or (_FOLDER / f"bank_{name}").is_dir()


def wanted_of(data: dict[str, Any]) -> Wanted:
    """Return what a text has to say, by a record of the bank."""
    needs = tuple(tuple(group) for group in data.get("needs", ()))
    return Wanted(needs, data.get("polarity", ""), (), tuple(data.get("without", ())))


def fact_of(data: dict[str, Any]) -> Fact:
    """Return a fact by its record of the bank."""
    kind = data["kind"]
    wanted = wanted_of(data)
    if kind == "command":
        wanted = Wanted((), "", (data["run"],), tuple(data.get("args", ())))
    elif kind == "workflow":
        wanted = Wanted((), "", tuple(data["runs"]))
    elif kind == "fix":
        wanted = Wanted((tuple(data["sign"]),), "", (data["fix"],))
    elif kind == "cochange":
        wanted = Wanted(tuple((file,) for file in data["files"]))
    known = {"id", "kind", "needs", "polarity", "without", "scope", "group", "ecosystems", "say", "did"}
    more = {key: value for key, value in data.items() if key not in known}
    return Fact(
        data["id"], kind, wanted, data.get("scope", "project"), data.get("group", ""), tuple(data.get("ecosystems", ())),
        tuple(data.get("say", ())), data.get("did", ""), more,
    )  # fmt: skip


def trap_of(data: dict[str, Any]) -> Trap:
    """Return a trap by its record of the bank."""
    parts = [data[name] for name in ("first", "a", "b") if name in data] or [data]
    groups = [data.get("group", ""), data.get("later", {}).get("group", "")]
    more = {key: value for key, value in data.items() if key not in {"id", "type", "needs", "say", "group"}}
    wanted = tuple(map(wanted_of, parts))
    return Trap(data["id"], data["type"], wanted, tuple(data.get("say", ())), tuple(filter(None, groups)), more)


def later_of(trap: Trap) -> Fact:
    """Return what counts since a decision was reversed."""
    later = trap.more["later"]
    return Fact(
        f"{trap.id}-later", trap.more["kind"], wanted_of(later), group=later.get("group", ""), say=tuple(later["say"])
    )


# --- the rules of a bank ---


def problems(bank: Bank) -> Iterator[str]:
    """Yield what is wrong with a bank, in words."""
    said = [fact for fact in bank.facts if fact.kind in SAID]
    said += [later_of(trap) for trap in bank.traps if trap.type == "reversed"]
    yield from _alone(bank)
    yield from _between(said)
    for trap in bank.traps:
        for fact in (fact for fact in said if not (fact.group and fact.group in trap.groups)):
            for phrase in filter(fact.wanted.is_met, _phrases(trap)):
                yield f"{trap.id}: a phrasing says the fact {fact.id}: {phrase}"
    yield from _structure(bank)


def _between(said: Sequence[Fact]) -> Iterator[str]:
    """Yield phrasings of one fact that are, or say, another one too."""
    seen: dict[str, str] = {}
    for fact in said:
        for phrase in fact.say:
            if seen.setdefault(plain(phrase), fact.id) != fact.id:
                yield f"{fact.id}: {seen[plain(phrase)]} has the phrasing too: {phrase}"
        for other in said:
            if other is not fact and not (other.group and other.group == fact.group):
                for phrase in filter(other.wanted.is_met, fact.say):
                    yield f"{fact.id}: a phrasing says {other.id} too: {phrase}"


def _alone(bank: Bank) -> Iterator[str]:
    """Yield what is wrong with each fact and trap by itself."""
    ids = [item.id for item in (*bank.facts, *bank.traps)]
    yield from (f"{id_}: stands twice" for id_ in {id_ for id_ in ids if ids.count(id_) > 1})
    for fact in bank.facts:
        if fact.kind not in (*SAID, *SHOWN):
            yield f"{fact.id}: no kind {fact.kind}"
        if fact.kind in SAID and len(fact.say) < 6:
            yield f"{fact.id}: fewer than 6 phrasings"
        yield from (
            f"{fact.id}: its phrasing does not say it: {phrase}"
            for phrase in fact.say
            if not fact.wanted.is_met(phrase)
        )
    for trap in bank.traps:
        if trap.type not in TRAPS:
            yield f"{trap.id}: no type {trap.type}"
        sides = [trap.more[name] for name in ("first", "a", "b") if name in trap.more]
        for wanted, phrases in zip(trap.wanted, [side["say"] for side in sides] or [trap.say], strict=True):
            if trap.type != "declined":
                yield from (f"{trap.id}: not what it needs: {p}" for p in phrases if not wanted.is_met(p))
        if trap.type == "declined" and not trap.wanted[0].is_met(trap.more["offer"]):
            yield f"{trap.id}: the offer is not what it needs"
        if trap.type == "reversed":
            later = later_of(trap)
            yield from (f"{later.id}: not what it needs: {p}" for p in later.say if not later.wanted.is_met(p))
            yield from (f"{later.id}: said already: {p}" for p in trap.more["first"]["say"] if later.wanted.is_met(p))


def _phrases(trap: Trap) -> Sequence[str]:
    if trap.type == "declined":
        return (trap.more["offer"],)
    return [p for name in ("first", "a", "b") for p in trap.more.get(name, {}).get("say", ())] or trap.say


def _structure(bank: Bank) -> Iterator[str]:
    """Yield commands and files of one ecosystem that stand for two facts."""
    for name, ecosystem in bank.ecosystems.items():
        shown = [fact for fact in bank.facts if fact.kind in SHOWN and name in fact.ecosystems]
        for one, other in combinations([f for f in shown if f.kind == "command"], 2):
            if one.wanted.is_met(f"`{other.more['run']}`") or other.wanted.is_met(f"`{one.more['run']}`"):
                yield f"{one.id}: the same command as {other.id}, or a beginning of it"
        inner = [run for fact in shown if fact.kind in {"workflow", "fix"} for run in runs_of(fact)]
        for fact in shown:
            if fact.kind == "command" and any(fact.wanted.is_met(run) for run in inner):
                yield f"{fact.id}: stands in a workflow or a fix, too"
        files = [file for fact in shown if fact.kind == "cochange" for file in fact.more["files"]]
        yield from (f"{name}: {file} stands in two facts" for file in set(files) if files.count(file) > 1)
        for key in ("failed", "one_session", "gone", "one_offs", "nouns", "dirs", "edit", "files"):
            if not ecosystem.get(key):
                yield f"{name}: no {key}"


def runs_of(fact: Fact) -> list[str]:
    """Return the commands that showing a workflow or a fix takes."""
    return list(fact.more["runs"]) if fact.kind == "workflow" else [fact.more["run"], fact.more["fix"]]
