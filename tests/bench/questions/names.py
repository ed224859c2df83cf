"""Questions that are names: exact ones, and names as people half remember them."""

from __future__ import annotations

from collections import defaultdict
from random import Random

from cm_tui.engine.search.ranking import tokens
from tests.bench.corpora import Question, Target
from tests.bench.questions.snapshot import Defined, Snapshot

_SHORTEST = 4


def from_names(snap: Snapshot, random: Random, most: int) -> list[Question]:
    """Ask names of functions, methods and types; every definition of that name answers."""
    by_name: dict[str, list[Defined]] = defaultdict(list)
    by_qualname: dict[str, list[Defined]] = defaultdict(list)
    for one in snap.definitions:
        by_name[one.symbol.name].append(one)
        by_qualname[_last_two(one.symbol.qualname)].append(one)
    known = [one for one in snap.definitions if len(one.symbol.name) >= _SHORTEST and _is_plain(one.symbol.name)]
    random.shuffle(known)
    questions: list[Question] = []
    for number, one in enumerate(known[:most]):
        qualified = _last_two(one.symbol.qualname)
        if number % 2 and qualified != one.symbol.name and _is_plain(qualified.replace(".", "")):
            questions.append(Question(qualified, "qualified name", _targets(by_qualname[qualified])))
        else:
            questions.append(Question(one.symbol.name, "name", _targets(by_name[one.symbol.name])))
    return questions


def half_remembered(snap: Snapshot, random: Random, most: int) -> list[Question]:
    """Ask names with a letter wrong, in another case style, or with a word missing."""
    by_name: dict[str, list[Defined]] = defaultdict(list)
    for one in snap.definitions:
        by_name[one.symbol.name].append(one)
    names = [name for name in by_name if len(tokens.parts(name)) > 1 and _is_plain(name) and len(name) > 2 * _SHORTEST]
    random.shuffle(names)
    ways = (_misspelt, _other_style, _shortened)
    questions: list[Question] = []
    for number, name in enumerate(names):
        text = ways[number % len(ways)](name, random)
        if text and text not in by_name:
            questions.append(Question(text, "half a name", _targets(by_name[name])))
        if len(questions) == most:
            break
    return questions


def _targets(found: list[Defined]) -> tuple[Target, ...]:
    return tuple(Target(one.path, one.symbol.start_line, one.symbol.end_line) for one in found)


def _last_two(qualname: str) -> str:
    return ".".join(qualname.split(".")[-2:])


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isidentifier()


def _misspelt(name: str, random: Random) -> str:
    at = random.randrange(2, len(name) - 2)
    return (
        name[:at] + name[at + 1] + name[at] + name[at + 2 :] if name[at] != name[at + 1] else name[:at] + name[at + 1 :]
    )


def _other_style(name: str, _: Random) -> str:
    pieces = tokens.parts(name)
    return pieces[0] + "".join(map(str.capitalize, pieces[1:])) if "_" in name else "_".join(pieces)


def _shortened(name: str, random: Random) -> str:
    pieces = tokens.parts(name)
    if len(pieces) < 3:
        return ""
    out = random.randrange(len(pieces))
    return " ".join(piece for number, piece in enumerate(pieces) if number != out)
