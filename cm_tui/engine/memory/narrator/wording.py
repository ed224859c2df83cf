"""Words for comparing sentences: stems without filler words, expanded abbreviations, and denials.

Words of facts and written text for comparison: stems, and text in backticks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from cm_tui.engine.memory.narrator.lists import pairs, words
from cm_tui.engine.search.ranking.wording import stem

_WORD = re.compile(r"[^\W_][\w./'-]*")
_PIECE = re.compile(r"[_./-]")
_FILLING = words("filling")
_NEGATIONS = words("negations")
_ALIKE = pairs("alike")
_COMMON = frozenset(map(stem, words("common")))
_COMMON_WEIGHT = 0.35
_CLAUSE = re.compile(r"[,;:!?()]|\.(?!\S)|\s[-–—]\s|\b(?:but|because|since|so that|otherwise)\b")
_DENIED = re.compile(
    r"\b(?:never|not|no|don'?t|doesn'?t|isn'?t|aren'?t|won'?t|can'?t|cannot|mustn'?t|shouldn'?t|without|avoid|stop|stopped|neither|nor|"
    r"instead of|rather than|went back on|switched from|moved (?:away )?from|replaced|no longer|(?:end|cease|discontinue|remove)(?:d|ed|s)? (?:the )?support|drop(?:ped)?|forget|scrap(?:ped)?|against|hands off|ditch(?:ed)?|nobody|nothing|"
    r"nie|niemals|keine?[nmrs]?|nicht|gegen|jamais|pas|plus de|nunca|jamás|contra|mai|non(?= \w+(?:are|ere|ire|iamo)\b)|contro|nooit|geen|niet|tegen)\b"
)
_IN_PLACE = frozenset({"instead of", "rather than"})
"""A denied part follows, an affirmed one precedes."""
_TURNED_DOWN = re.compile(
    r"\b(?:rejected|ruled (?:\w+ ?)?out|turned (?:it |that |them )?down|decided against|not an option|off the table|dropped (?:the idea|it)|"
    r"said no to|do(?:n'?t| not) want|evaluated|considered|no[- ]go)\b|^no \w+"
)
_REPROACH = re.compile(r"^(?:(?:no|nope|wrong|stop)\b[\s,.!…-]*(?=\w+ \w))+(?<=[,.!…-] )")
_REVERSAL = re.compile(
    r"\b(?:no longer|any ?more|any longer|from now on|from today|switched|moved|changed?|reversed|went back|forget|scrap(?:ped)?|dropped|otherwise|"
    r"correction|replaced|is gone|instead of|now)\b"
)
_ENDED = re.compile(
    r"\b(?:is|are|was|were|got) (?:wrong|too \w+|out|gone|dead|over|switched off|retired|off[- ]limits|forbidden|banned|rejected|turned down|ruled out|not an option|overkill)\b|"
    r"\bany ?(?:more|longer)\b|\bsupport (?:\w+ )?ends?\b"
)


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


_ON_CONDITION = re.compile(
    r"\b(?:without|unless|before|until|except|only|by hand|manually|blindly|alone|on (?:your|its|their) own|by (?:your|it)sel(?:f|ves)|yourself|"
    r"directly|silently|automatically|too|just|more than|(?<!no )(?<!any )longer|larger|bigger|over|above|below|under|exceeds?|less|fewer|at (?:most|least))\b"
)


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


_SWITCH = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|any longer|switched (?:to|from|over|it)|moved (?:to|from|away|over|it)|changed (?:to|from|our mind|it)|reversed|went back on|"
    r"scrap(?:ped)?|dropped|replaced?|replaces|gave way|gives way|used to|forget (?:what|the|that|about)|correction|change of plan|otherwise than|retired|"
    r"is gone|are gone|is over|(?:is|are|gets?) switched off|the old (?:rule|way|one)|(?:is|are|it's) \S+ now|now (?:is|are|uses?))\b"
)


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
