"""Words for comparing sentences: stems without filler words, expanded abbreviations, and denials.

Words of facts and written text for comparison: stems, and text in backticks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from cm_tui.engine.memory.narrator.lists import pairs, pattern, words
from cm_tui.engine.search.ranking.wording import stem

_WORD = re.compile(r"[^\W_][\w./'-]*")
_PIECE = re.compile(r"[_./-]")
_FILLING = words("filling")
_NEGATIONS = words("negations")
_ALIKE = pairs("alike")
_COMMON = frozenset(map(stem, words("common")))
_COMMON_WEIGHT = 0.35
_CLAUSE = re.compile(r"[,;:!?()]|\.(?!\S)|\s[-–—]\s|\b(?:but|because|since|so that|otherwise)\b")
_DENIED = pattern("wording", "denied", 0)
_IN_PLACE = frozenset({"instead of", "rather than"})
"""A denied part follows, an affirmed one precedes."""
_TURNED_DOWN = pattern("wording", "turned_down", 0)
_REPROACH = re.compile(r"^(?:(?:no|nope|wrong|stop)\b[\s,.!…-]*(?=\w+ \w))+(?<=[,.!…-] )")
_REVERSAL = pattern("wording", "reversal", 0)
_ENDED = pattern("wording", "ended", 0)


@lru_cache(maxsize=1 << 14)
def normal(text: str) -> tuple[str, ...]:
    """Return the unique words of a text for comparison, in order."""
    return tuple(dict.fromkeys(_words(text.lower().replace("’", "'"))))


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        word = match[0].strip("./-'")
        word = word.removesuffix("'s")
        if not word or word in _FILLING or word in _NEGATIONS:
            continue
        yield stem(_ALIKE.get(word, word))
        if _PIECE.search(word):
            yield from (
                stem(_ALIKE.get(piece, piece))
                for piece in _PIECE.split(word)
                if len(piece) > 1 and piece not in _FILLING
            )


@lru_cache(maxsize=1 << 14)
def sides(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of affirmed parts of a text, and those of denied parts."""
    yes: set[str] = set()
    no: set[str] = set()
    plain = _REPROACH.sub("", text.lower().replace("’", "'"))
    if _TURNED_DOWN.search(plain):
        return frozenset(), frozenset(normal(plain))
    for clause in _CLAUSE.split(plain):
        found = _DENIED.search(clause)
        if _ENDED.search(clause) and not found:
            no.update(normal(clause))
        elif found is None:
            yes.update(normal(clause))
        else:
            before, behind = normal(clause[: found.start()]), normal(clause[found.end() :])
            no.update(behind)
            # `X must not be changed`: the denied part precedes, too.
            (no if len(behind) < 2 and found[0] not in _IN_PLACE else yes).update(before)
    return frozenset(yes - no), frozenset(no)


@lru_cache(maxsize=1 << 14)
def polarity(text: str) -> int:
    """Return whether most of a text affirms (1) or denies (-1)."""
    yes, no = sides(text)
    return -1 if len(no) > len(yes) else 1


_ON_CONDITION = pattern("wording", "on_condition", 0)


def is_conditional(text: str) -> bool:
    """Return whether a text's denial is conditional."""
    return _ON_CONDITION.search(text.lower()) is not None


def term_weight(term: str) -> float:
    """Return the weight of a word for the subject of a sentence."""
    return _COMMON_WEIGHT if term in _COMMON else 1.0


def weight_of(terms: Iterable[str]) -> float:
    """Return the total weight of words."""
    return sum(map(term_weight, terms))


def is_reversal(text: str) -> bool:
    """Return whether a text mentions an earlier, different state."""
    return _REVERSAL.search(text.lower()) is not None


_SWITCH = pattern("wording", "switch", 0)


def is_switch(text: str) -> bool:
    """Return whether a text mentions a replacement."""
    return _SWITCH.search(text.lower().replace("’", "'")) is not None


_CODE = re.compile(r"`([^`\n]{1,200})`")


def code_of(text: str) -> tuple[str, ...]:
    """Return texts in backticks, with single blanks."""
    return tuple(dict.fromkeys(" ".join(found.split()) for found in _CODE.findall(text) if found.strip()))


@lru_cache(maxsize=1 << 14)
def terms_of(text: str) -> frozenset[str]:
    """Return the words of a text for comparison."""
    code = code_of(text)
    # Polarity records denial: the denied statement has the same words.
    return frozenset((*normal(_CODE.sub(" ", text)), *(f"`{one}" for one in code)))
