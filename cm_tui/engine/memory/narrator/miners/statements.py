"""What the user says in a turn: statements, decisions, rejected alternatives and corrections.

Each sentence is weighed by its cues and its form (`cues.py`), `1 / (1 + e^-(bias + weights))`; an order that begins
with `always` or `never`, without a cue against it, gets at least 0.97, and one in German, French, Spanish, Italian,
Dutch or Portuguese with explicit words (`languages.toml`) 0.95. From 0.4 on it is observed with that weight,
which the model of prose corrects in a second look (`grouping.py`); `confidence.py` computes the confidence. The cues
also decide on the kind:

| kind | cue |
|---|---|
| rejected | `turned down` (rejected, ruled out, decided against, not an option, we do not want, …) |
| decision | `decision` (we decided, decision:, settled on, …) or `go with` (let's go with, X it is) |
| correction | `corrects`: the prompt follows an answer and begins with no, wrong, stop, don't, use … instead, …, or it is short, has a denial, and the agent then takes back lines that it had just added |
| statement | any other: rules, preferences and requests to remember something |

A single correction is seldom certain enough; repeated ones are. One in another language that does not sound lasting, or
one that only what the agent did shows, gets at least 0.7.

The user's statements in a turn that sound lasting, each as a sentence of its own.

Cues and form decide how a sentence sounds (`cues.py`). A prompt that begins by correcting the agent, right after its answer, has
the cue `corrects`; there, words of trouble and of the moment do not count against it. Of a sentence that joins an order
and something lasting by `and`, the lasting part is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from cm_tui.engine.memory.narrator.cues import (
    AGAINST,
    CORRECTS,
    MOMENTARY,
    cues_of,
    explicit_cues,
    is_faint,
    is_foreign,
    opens_correction,
    plainness,
    sound_of,
)
from cm_tui.engine.memory.narrator.lists import pattern, words
from cm_tui.engine.memory.narrator.own_words import signature
from cm_tui.engine.memory.narrator.turn import Observation, Turn, takes_back
from cm_tui.engine.memory.narrator.wording import normal, polarity
from cm_tui.engine.search.ranking.wording import stem
from cm_tui.model import FactKind


def mine_statements(turn: Turn) -> Iterable[Observation]:
    """Return what the user says in a turn, by kinds."""
    found = (observation(turn, kind_of(one), one) for one in statements_in(turn))
    return [one for one in found if one is not None]


LEAST = 0.4
"""Least plainness of a lasting statement."""
OUTRIGHT = 0.97
"""Plainness of an order that begins with `always`, `never` or `from now on`, unless a cue is against it."""
EXPLICIT = 0.95
"""Plainness of a sentence in another language than English with explicit words: how it sounds is not learned."""
REPEATED = 0.7
"""Plainness of what is enough where it is repeated: a correction that does not sound lasting, but is one by its words in
another language, or by what the agent did next; and what users do themselves."""
_SHORT = 200
"""Characters of a prompt that may correct the agent without words that are known."""
_DENIALS = words("denials")
_WORDS = re.compile(r"[^\W\d_]+(?:['’]t)?")
_RULE = pattern("statements", "rule")
_REASON = re.compile(r"\s[—–-]\s|;\s|\s\(|,? \b(?:because|since|otherwise|so that)\b", re.IGNORECASE)
"""What comes behind an order says why: trouble in it does not count."""
_THEIRS = pattern("statements", "theirs")
"""What users do themselves: `I'll run the server myself`."""
_HYPOTHETICAL = pattern("statements", "hypothetical")
"""What would be if something else were: no statement about what is."""
_LEAST_WORDS = 2
_JOINED = re.compile(r"[,;?!.]*,?\s+and\s+(?=\S)|;\s+(?=\S)")
_CORRECTS = pattern("statements", "corrects")
_PLAIN = words("separating_cues")
_WAIVED = frozenset({"trouble", "past", "this one thing", "order"})
_REPORTED = "reported"
"""What others said is not the user's own statement, however lasting it sounds."""
_MEMO = pattern("statements", "memo")
_REPROACH = pattern("statements", "reproach")
_TAIL = pattern("statements", "tail")
_USER = pattern("statements", "user")
_OF_PROJECT = pattern("statements", "of_project")


_LEANS = re.compile(r"\b(?:it|that|this|them|they|those|these|he|she)\b", re.IGNORECASE)
"""Words that refer to an earlier statement."""
_NAMELESS = pattern("statements", "nameless")
"""Its subject is elsewhere: `we dropped it last year`, or a point of the agent's list: `for 3 drop utc`; or it only says
what went wrong: `I didn't ask you to put that in code`, or why: `we leak it otherwise`."""
_CLAIMED = pattern("statements", "claimed")
"""What another person says."""
_DANGLES = pattern("statements", "dangles")
"""Beginnings of half a sentence, whose other half is not here."""

_CREDENTIAL = pattern("statements", "credential")
_OPAQUE = re.compile(r"(?<!\S)(?=[^\s/]*\d)(?=[^\s/]*[A-Za-z])[^\s/]{8,}(?!\S)")
"""A word of letters and digits next to a credential by name may be its value: redaction does not recognise all."""


_FILLING = frozenset(map(stem, words("filling_elsewhere")))


class Statement(NamedTuple):
    """A sentence that sounds lasting.

    Attributes:
        quote: the original.
        text: the form for writing.
        cues: of it.
        weight: its plainness.
    """

    quote: str
    text: str
    cues: tuple[str, ...]
    weight: float


def statements_in(turn: Turn) -> tuple[Statement, ...]:
    """Return what sounds lasting in a turn, in its order."""
    before = turn.before
    corrects = before is not None and bool(before.record.answer)
    is_shown = corrects and _may_deny(turn.statements) and takes_back(turn)
    return weigh_sentences(turn.statements, corrects, is_shown)


@lru_cache(maxsize=4)
def weigh_sentences(sentences: tuple[str, ...], corrects: bool, takes_back: bool = False) -> tuple[Statement, ...]:
    """Return what sounds lasting of the sentences of a prompt, in their order.

    `corrects`: the prompt follows an answer of the agent, and may correct it. `takes_back`: the agent then took back
    lines that it had added before.
    """
    if not sentences:
        return ()
    # The first meaningful one: a mere `No!` belongs to the sentence after it.
    first = next((place for place, one in enumerate(sentences[:2]) if len(normal(one)) >= _LEAST_WORDS), 0)
    is_shown = takes_back and _may_deny(sentences)
    is_correcting = is_shown or (corrects and may_correct(sentences))
    parts = [(place, part) for place, sentence in enumerate(sentences) for part in _parts(sentence)]
    best: dict[int, Statement] = {}
    for place, part in parts:
        corrects_here = is_correcting and place == first
        explicit, sound = explicit_cues(part, corrects_here), sound_of(part)
        is_theirs = _THEIRS.match(part) is not None
        if not (corrects_here or explicit or is_theirs) and is_faint(part, sound):
            continue
        cues = explicit or cues_with(part, corrects=corrects_here)
        if _REPORTED in cues or MOMENTARY in cues or _HYPOTHETICAL.match(part) or _is_asked_about(sentences, place):
            continue
        is_elsewhere = is_foreign(part)
        weight = EXPLICIT if explicit else 0.0 if is_elsewhere else plainness(cues, sound)
        if _RULE.match(part) and AGAINST.isdisjoint(cues_with(_order_in(part), corrects=corrects_here)):
            weight = max(weight, OUTRIGHT)
        if is_theirs or (corrects_here and (is_shown or is_elsewhere) and not part.endswith("?")):
            weight = max(weight, REPEATED)
        if weight >= LEAST and (place not in best or weight > best[place].weight) and (text := tidy(part)):
            best[place] = Statement(part, text, cues, weight)
    return tuple(best[place] for place in sorted(best))


def _is_asked_about(sentences: Sequence[str], place: int) -> bool:
    """Return whether a sentence is another person's opinion that the next one asks about."""
    following = sentences[place + 1] if place + 1 < len(sentences) else ""
    return following.endswith("?") and _CLAIMED.match(sentences[place]) is not None


def _order_in(part: str) -> str:
    """Return an order without what introduces it and the reason for it."""
    return _REASON.split(_MEMO.sub("", part))[0]


def _may_deny(sentences: Sequence[str]) -> bool:
    """Return whether a prompt is short, and denies something or asks for something else instead."""
    if not 0 < sum(map(len, sentences)) <= _SHORT:
        return False
    return not _DENIALS.isdisjoint(_WORDS.findall(" ".join(sentences).lower().replace("’", "'")))


def may_correct(sentences: Sequence[str]) -> bool:
    """Return whether a prompt begins with a correction of the agent."""
    if not sentences:
        return False
    return _CORRECTS.match(sentences[0].replace("’", "'")) is not None or opens_correction(" ".join(sentences[:2]))


def cues_with(part: str, *, corrects: bool) -> tuple[str, ...]:
    """Return the cues of a part of a sentence that count in a correction of the agent, or otherwise."""
    cues = cues_of(part)
    return (*(name for name in cues if name not in _WAIVED), CORRECTS) if corrects else cues


def observation(turn: Turn, kind: FactKind, said: Statement) -> Observation | None:
    """Return the observation of a statement; None: it is not meaningful alone."""
    terms = normal(said.text)
    least = 1 if kind in ("decision", "rejected") and not _LEANS.search(said.text) else _LEAST_WORDS
    holds_secret = _CREDENTIAL.search(said.text) is not None and _OPAQUE.search(said.text) is not None
    if len(terms) < least or _DANGLES.match(said.text) or _NAMELESS.match(said.text) or holds_secret:
        return None
    # An affirmation and a denial about one thing are two claims.
    claim = " ".join(terms if polarity(said.text) > 0 else ("not", *terms))
    if explicit_cues(said.text) or is_foreign(said.text):
        terms = tuple(term for term in terms if term not in _FILLING)
    return Observation(
        kind, "", claim, said.text, said.quote, said.weight, terms=terms, scope=scope_of(said.text),
        speaker=signature(turn.record),
    )  # fmt: skip


@lru_cache(maxsize=1 << 10)
def scope_of(text: str) -> Literal["user", "project"]:
    """Return whether a statement is about the user, in any project, or about the project."""
    return "user" if _USER.search(text) and not _OF_PROJECT.search(text) else "project"


def kind_of(said: Statement) -> FactKind:
    """Return the kind: a rejected alternative, a decision, a correction of the agent, or a statement."""
    cues = said.cues
    if "turned down" in cues:
        return "rejected"
    if "decision" in cues or "go with" in cues:
        return "decision"
    return "correction" if CORRECTS in cues else "statement"


def _parts(sentence: str) -> Iterator[str]:
    """Yield a sentence, and the part after an `and` in it."""
    yield sentence
    for joined in _JOINED.finditer(sentence):
        rest = sentence[joined.end() :].strip()
        # Only an order, or a question, is separated from a lasting part: two halves of one rule stay together.
        if _DANGLES.match(rest):
            continue
        if _PLAIN & set(cues_of(rest)) and not _PLAIN & set(cues_of(sentence[: joined.start()])):
            yield rest


@lru_cache(maxsize=1 << 12)
def tidy(sentence: str) -> str:
    """Return a sentence in the form for a note: without words of address, with a capital and a full stop."""
    text = _MEMO.sub("", _REPROACH.sub("", " ".join(sentence.split())))
    text = _TAIL.sub("", text).strip(" ,;:-–")
    if not text:
        return ""
    first = text.split(maxsplit=1)[0].strip(",;:!?").replace("'", "").replace("’", "")
    if first.isalpha() and first.islower():
        text = text[0].upper() + text[1:]
    return text if text[-1] in ".!?`)" else f"{text}."
