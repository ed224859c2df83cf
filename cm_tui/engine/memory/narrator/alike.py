"""Which wordings mean the same, and which contradict each other.

The similarity of two wordings is

    z = 10.3 · cosine + 9.9 · |both| / |either| + 1.3 · |both| / |fewer| - 8.5

where the cosine is that of the vectors of both, and the sets are their words (`wording.py`), of which those that are
common among developers count 0.35. It is 1 less if one is about the user and the other about the project, 1 less
without common words, and 4 less if both have different names in backticks. Without a model, and in other languages than
English, `z = 14.6 · |both| / |either| + 1.9 · |both| / |fewer| + 1.1 · |both| - 6.9`. The numbers come from logistic regressions over pairs of
wordings of synthetic sessions. A wording joins the earlier fact with the largest `0.4 · best z + 0.6 · mean z`, if that
is at least -0.4; a contradicting one joins none. From -2.9 on two are near: a fact that was said only once and is near
another is held back. From -1.5 on one can contradict the other.

Two wordings contradict each other when one affirms most of what the other denies (`never rebase`, `always rebase`),
when they are nearly the same except for numbers, or for one of two rivals each (single and double, tabs and spaces).
Between two people, a denial in only one of them is enough.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cm_tui.engine.memory.narrator.wording import is_conditional, is_reversal, is_switch, sides, weight_of

_COSINE, _SHARE, _HELD, _BIAS = 10.3, 9.9, 1.3, -8.5
_ALONE_SHARE, _ALONE_HELD, _ALONE_EACH, _ALONE_BIAS = 14.6, 1.9, 1.1, -6.9
_OTHER_SCOPE, _NOTHING_SHARED, _OTHER_CODE = 1.0, 1.0, 4.0
SAME = -0.4
"""Least z for joining a fact."""
NEAR = -2.9
"""Least z for being near another fact, and possibly another wording of it."""
_OF_ONE_THING = -1.5
"""Least z for a contradiction."""
_BEST_SHARE = 0.4
"""How much the wording that is most alike counts; the mean of all counts the rest."""
ALONE_COSINE = (NEAR - _BIAS) / _COSINE
_LEAST_COSINE = 0.2
MOST_POSTINGS = 300
"""A word that more wordings have finds none by itself."""
_BLOCK = 256
_DENIED = 0.75
_LEAST_DENIED = 0.9
"""Of the weight of words that are denied."""
_SWITCHED = 1.0
"""Share of the weight of an earlier statement's words in its replacement."""
_FRAME, _FRAME_REVERSED = 0.7, 0.5
_RIVALS = (
    ("singl", "doubl"), ("tab", "space"), ("lowercas", "uppercas"), ("camelcas", "snake_cas"), ("camelcas", "kebab-cas"),
    ("snake_cas", "kebab-cas"), ("rebas", "merg"), ("squash", "rebas"), ("sync", "async"),
)  # fmt: skip
"""Stems of mutually exclusive words."""


class Wording(NamedTuple):
    """One wording of a statement.

    Attributes:
        number: its id.
        text: the words.
        terms: for comparison.
    """

    number: int
    text: str
    terms: frozenset[str]
    is_users: bool = False
    """It is about the person, wherever they work."""
    code: frozenset[str] = frozenset()
    """Text in backticks."""
    speakers: frozenset[str] = frozenset()
    """The author, if known."""
    is_foreign: bool = False
    """It is in another language than English, in which vectors are alike that mean different things."""


@dataclass
class Group:
    """Wordings with the same meaning."""

    rows: list[int] = field(default_factory=list)
    """Indexes of its wordings, the first mention first."""
    topic: int = 0
    """Id of its subject, if others contradict it; else 0."""
    near: set[int] = field(default_factory=set)
    """Indexes of groups that may mean the same."""


def grouped(
    wordings: Sequence[Wording], vectors: Any, known: Sequence[int] = (), topics: Sequence[int] = (),
    common: Collection[str] = (),
) -> list[Group]:  # fmt: skip
    """Group wordings, in the order of their first mentions.

    `vectors`: of them, a unit row each; None: no model. `known`: earlier groups of the first wordings, which later ones
    do not change. `topics`: of the known groups. `common`: words that too many other wordings have.
    """
    groups = [Group(topic=topic) for topic in topics]
    of_row = list(known)
    for row, group in enumerate(known):
        groups[group].rows.append(row)
    for row, near in enumerate(_Finder(wordings, vectors, len(known), common).all(), len(known)):
        by_group: dict[int, list[float]] = {}
        opposed: set[int] = set()
        for other, z in near:
            by_group.setdefault(of_row[other], []).append(z)
            if z >= _OF_ONE_THING and contradicts(wordings[row], wordings[other]):
                opposed.add(of_row[other])
        best = _best(groups, by_group, opposed)
        if best < 0:
            best = len(groups)
            groups.append(Group())
        groups[best].rows.append(row)
        of_row.append(best)
        groups[best].near |= by_group.keys() - opposed - {best}
        for group in opposed - {best}:
            _oppose(groups, wordings, best, group)
    return groups


def _best(groups: Sequence[Group], by_group: dict[int, list[float]], opposed: set[int]) -> int:
    """Return the group that a wording joins, by the z of its near wordings; below 0: none."""
    best, most = -1, SAME
    for group, found in by_group.items():
        size = len(groups[group].rows)
        mean = (sum(found) + NEAR * (size - len(found))) / size
        score = _BEST_SHARE * max(found) + (1 - _BEST_SHARE) * mean
        if group not in opposed and score >= most:
            best, most = group, score
    return best


def _oppose(groups: list[Group], wordings: Sequence[Wording], one: int, other: int) -> None:
    """Put two groups under one topic, together with all of either topic."""
    topics = {groups[one].topic, groups[other].topic} - {0}
    topic = min(topics) if topics else wordings[groups[min(one, other)].rows[0]].number
    if topics:
        for group in groups:
            if group.topic in topics:
                group.topic = topic
    groups[one].topic = groups[other].topic = topic


def contradicts(one: Wording, other: Wording) -> bool:
    """Return whether a wording contradicts an earlier one on the same thing."""
    (yes, no), (other_yes, other_no) = sides(one.text), sides(other.text)
    if no & other_no:
        return False
    if _denies(one, no, other_yes) or _denies(other, other_no, yes):
        return True
    if one.speakers and other.speakers and not one.speakers & other.speakers and bool(no) != bool(other_no):
        return True
    if is_switch(one.text) and not is_switch(other.text) and weight_of(one.terms & other.terms) >= _SWITCHED:
        return True
    frame = _FRAME_REVERSED if is_reversal(one.text) else _FRAME
    return _differs(yes, other_yes, frame)


def _denies(wording: Wording, no: frozenset[str], yes: frozenset[str]) -> bool:
    """Return whether most of what a wording denies is affirmed elsewhere, and is more than a common word."""
    weight = weight_of(no)
    return weight >= _LEAST_DENIED and weight_of(no & yes) >= _DENIED * weight and not is_conditional(wording.text)


def _differs(yes: frozenset[str], other: frozenset[str], frame: float) -> bool:
    """Return whether two otherwise equal texts have different numbers, or one of two rivals each."""
    numbers, others = ({term for term in terms if term.isdigit()} for terms in (yes, other))
    plain, plain_other = yes - numbers, other - others
    either = weight_of(plain | plain_other)
    if numbers and others and not numbers & others and weight_of(plain & plain_other) >= frame * either > 0:
        return True
    return bool(yes & other) and any(
        (a in yes and b in other and b not in yes and a not in other)
        or (b in yes and a in other and a not in yes and b not in other)
        for a, b in _RIVALS
    )


class _Finder:
    """Finds earlier wordings that may mean the same as one, or contradict it.

    `wordings`: in the order of their first mentions; `start`: the first one to compare.
    """

    def __init__(self, wordings: Sequence[Wording], vectors: Any, start: int, common: Collection[str] = ()) -> None:
        self._wordings = wordings
        self._vectors = vectors
        self._start = start
        self._weights = [weight_of(wording.terms) for wording in wordings]
        self._by_term: dict[str, list[int]] = {term: [0] * (MOST_POSTINGS + 1) for term in common}
        for row in range(start):
            self._take(row)

    def all(self) -> Iterator[list[tuple[int, float]]]:
        """Yield, for each wording from the start on, the earlier ones that are near, with their z."""
        for begin in range(self._start, len(self._wordings), _BLOCK):
            end = min(begin + _BLOCK, len(self._wordings))
            cosines = None if self._vectors is None else self._vectors[begin:end] @ self._vectors[:end].T
            for row in range(begin, end):
                yield self._near(row, None if cosines is None else cosines[row - begin, :row])
                self._take(row)

    def _take(self, row: int) -> None:
        for term in self._wordings[row].terms:
            self._by_term.setdefault(term, []).append(row)

    def _near(self, row: int, cosines: Any) -> list[tuple[int, float]]:
        import numpy as np

        rare = [
            found for term in self._wordings[row].terms if len(found := self._by_term.get(term, ())) <= MOST_POSTINGS
        ]
        others = {other for found in rare for other in found}
        if cosines is None:
            pairs = ((other, self._z(row, other, None)) for other in others)
        else:
            # Without a common rare word, it has to be very near.
            others.update(np.flatnonzero(cosines >= ALONE_COSINE).tolist())
            chosen = [(other, float(cosines[other])) for other in others if cosines[other] >= _LEAST_COSINE]
            pairs = ((other, self._z(row, other, cosine)) for other, cosine in chosen)
        return sorted(pair for pair in pairs if pair[1] >= NEAR)

    def _z(self, row: int, other: int, cosine: float | None) -> float:
        one, two = self._wordings[row], self._wordings[other]
        mine, theirs = self._weights[row], self._weights[other]
        both = weight_of(one.terms & two.terms)
        share, held = both / max(0.1, mine + theirs - both), both / max(0.1, min(mine, theirs))
        apart = _OTHER_SCOPE * (one.is_users != two.is_users) + _NOTHING_SHARED * (not both)
        apart += _OTHER_CODE * (bool(one.code) and bool(two.code) and not one.code & two.code)
        if cosine is None or one.is_foreign or two.is_foreign:
            return _ALONE_SHARE * share + _ALONE_HELD * held + _ALONE_EACH * both + _ALONE_BIAS - apart
        return _COSINE * cosine + _SHARE * share + _HELD * held + _BIAS - apart
