"""Selection among facts with the same evidence.

A miner sees one turn, so it yields a sequence and its beginning, three files and two of them, a command and the same
with one more option. Here, where all of them are counted, these are dropped:

- a workflow, or files that change together, contained in a larger one, unless it occurs in far more turns by itself;
- a command that differs from another one only in how much it prints and how its program is found; one that differs only
  in options, and is run three times less; one that differs only in folders from the one about everything, or from two or
  more others, and is run less; the beginning of another one that is run as often; one that is
  hardly ever run except in a workflow or to fix an error;
- a convention of a folder, where a narrower one covers nearly all of the files that follow it, or a wider one covers
  more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from cm_tui.engine.memory.narrator.confidence import Candidate
from cm_tui.engine.memory.narrator.lists import pattern
from cm_tui.engine.memory.narrator.lists import words as listed
from cm_tui.engine.memory.narrator.shell import core_of

_MORE = 1.6
"""A contained one is proposed, too, if it is seen so many times as often."""
_MUCH_MORE = 3.0
_PATHS = 2
"""Of commands that differ only in folders, up to so many are proposed; of more, only the most frequent one."""
_EVERYTHING = frozenset(("./...", "./"))
_WIDER = 1.3
"""A wider folder is used if so many times as many files follow the convention there."""
_SPAN = re.compile(r"`([^`]+)`")
_QUIET = pattern("overlaps", "quiet", 0)
_TASK_RUNNERS = listed("task_runners")


def without_overlaps(found: Sequence[Candidate]) -> list[Candidate]:
    """Return facts in order, without those that others imply."""
    kinds: dict[str, list[Candidate]] = defaultdict(list)
    for one in found:
        kinds[one.kind].append(one)
    left_out = set(map(id, _held(kinds["workflow"]))) | set(map(id, _held(kinds["cochange"])))
    left_out.update(map(id, _wider(kinds["convention"])))
    others = [one for one in (*kinds["workflow"], *kinds["fix"]) if id(one) not in left_out]
    left_out.update(map(id, _inner(kinds["command"], others)))
    left_out.update(map(id, _same_commands([one for one in kinds["command"] if id(one) not in left_out])))
    return [one for one in found if id(one) not in left_out]


def _held(found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield sequences, or sets of files, that are parts of others, or nearly."""
    kept: list[tuple[frozenset[str], tuple[str, ...], Candidate]] = []
    by_part: dict[str, list[int]] = defaultdict(list)
    for one in sorted(found, key=lambda one: (-one.claim.count("\n"), -one.tally.support, one.claim)):
        parts = tuple(one.claim.split("\n"))
        mine = frozenset(parts)
        near = {number for part in parts for number in by_part[part]}
        if any(_is_held(one, parts, mine, kept[number]) for number in near):
            yield one
            continue
        for part in mine:
            by_part[part].append(len(kept))
        kept.append((mine, parts, one))


def _is_held(
    one: Candidate, parts: Sequence[str], mine: frozenset[str], other: tuple[frozenset[str], tuple[str, ...], Candidate]
) -> bool:
    theirs, order, longer = other
    shared = len(mine & theirs)
    if len(theirs) > len(mine) and shared == len(mine):
        if one.kind == "workflow" and [part for part in order if part in mine] != list(parts):
            return one.tally.support < longer.tally.support
        return one.tally.support < _MORE * longer.tally.support
    # Two of three or four in common: the same habit, with another step at one end.
    return shared >= 2 and shared >= len(mine) - 1 and one.tally.support < _MORE * longer.tally.support


def _wider(found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield conventions that hold for another folder as well."""
    claims: dict[str, list[Candidate]] = defaultdict(list)
    for one in found:
        if "\t" in one.subject:
            claims[one.claim].append(one)
    for same in claims.values():
        kept: list[Candidate] = []
        for one in sorted(same, key=lambda one: (-len(one.subject.partition("\t")[0]), one.subject)):
            inside = [other for other in kept if _is_below(other, one)]
            if any(one.tally.support < _WIDER * other.tally.support for other in inside):
                yield one
                continue
            yield from inside
            kept = [other for other in kept if other not in inside]
            kept.append(one)


def _is_below(inner: Candidate, outer: Candidate) -> bool:
    (folder, files), (above, all_files) = inner.subject.split("\t", 1), outer.subject.split("\t", 1)
    if files.rpartition("*")[2] != all_files.rpartition("*")[2] or "**" not in all_files:
        return False
    return not above or folder == above or folder.startswith(f"{above}/")


def _same_commands(found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield commands that are variants of others."""
    kept = list(_best(found, _quiet(found), lambda *_: True))
    kept = list(_best(kept, {id(one): _without_options(one.claim) for one in kept}, _is_rare))
    kept = list(_best(kept, {id(one): _without_paths(one.claim) for one in kept}, _is_part))
    chosen = set(map(id, kept))
    yield from (one for one in found if id(one) not in chosen)
    words = {id(one): tuple(one.claim.split(" ")) for one in kept}
    known = {words[id(one)]: one for one in kept}
    for one in kept:
        mine = words[id(one)]
        for size in range(2, len(mine)):
            shorter = known.get(mine[:size])
            if shorter is None or len(core_of(mine[:size])) < 2:
                continue
            if shorter.tally.support >= one.tally.support:
                yield one
            elif one.tally.support >= _MUCH_MORE * shorter.tally.support:
                yield shorter


def _best(
    found: Sequence[Candidate], keys: Mapping[int, object], is_covered: Callable[[Candidate, Candidate, int], bool]
) -> Iterator[Candidate]:
    """Yield commands: of those with the same key the most frequent one, and those that it does not cover.

    `is_covered`: by the most frequent one, the other one, and their number.
    """
    same: dict[object, list[Candidate]] = defaultdict(list)
    for one in found:
        same[keys[id(one)]].append(one)
    for some in same.values():
        best = max(some, key=lambda one: (one.tally.support, one.tally.last, one.claim))
        yield from (one for one in some if one is best or not is_covered(best, one, len(some)))


def _is_rare(best: Candidate, one: Candidate, _: int) -> bool:
    return best.tally.support >= _MUCH_MORE * one.tally.support


def _is_part(best: Candidate, one: Candidate, many: int) -> bool:
    """Return whether a command about a folder is one of many, or the one about everything there is run more often."""
    (place, words), (other, _) = _parts(best.claim), _parts(one.claim)
    paths = {word for word in words[1:] if "/" in word and not word.startswith("-")}
    return many > _PATHS or (place == other and paths <= _EVERYTHING)


def _quiet(found: Iterable[Candidate]) -> dict[int, object]:
    """Return a key for each command, without output options and launcher, and without the folder unless it is fixed."""
    keys: dict[int, tuple[str, tuple[str, ...]]] = {}
    places: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for one in found:
        place, words = _parts(one.claim)
        key = (*words[:1], *(word for word in words[1:] if word != "." and not _QUIET.fullmatch(word)))
        keys[id(one)] = place, key
        places[key].add(place)
    # An agent that is in a folder already does not go there again.
    return {number: (place if len(places[key] - {""}) > 1 else "", key) for number, (place, key) in keys.items()}


def _without_options(command: str) -> object:
    """Return a command and its folder without the options that have no value in the same word."""
    place, words = _parts(command)
    return place, tuple(word for word in words if not word.startswith("-") or "=" in word)


def _without_paths(command: str) -> object:
    """Return a command without the folders that it is about."""
    _, words = _parts(command)
    is_task = words[0] in _TASK_RUNNERS
    kept = (
        word for before, word in pairwise(words)
        if "/" not in word or word[:1] == "-" or (is_task and before[:1] != "-")
    )  # fmt: skip
    return words[:1], tuple(word for word in kept if not _QUIET.fullmatch(word))


def _parts(command: str) -> tuple[str, tuple[str, ...]]:
    place, _, rest = command.rpartition(" && ")
    return place, core_of(tuple(rest.split(" ")))


def _inner(commands: Sequence[Candidate], others: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield commands that are hardly ever run but in a workflow or to mend an error."""
    most: dict[str, int] = {}
    for other in others:
        for code in _SPAN.findall(other.text):
            most[code] = max(most.get(code, 0), other.tally.support)
    for one in commands:
        if one.tally.support < _MORE * most.get(one.claim, 0):
            yield one
