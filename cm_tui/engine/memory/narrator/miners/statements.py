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
from cm_tui.engine.memory.narrator.lists import words
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
_RULE = re.compile(
    r"(?:(?:no|nope|and|but|also|please|pls|yes|ok(?:ay)?|so|important|note|remember|reminder|rule|nb)\b[\s,:;.!-]*)*(?:always|never|from now on|remember to (?:always|never)|(?:do not|don'?t) ever)\b "
    r"(?!mind\b|the\b|a\b|an\b|it\b|got\b|been\b)",
    re.IGNORECASE,
)
_REASON = re.compile(r"\s[—–-]\s|;\s|\s\(|,? \b(?:because|since|otherwise|so that)\b", re.IGNORECASE)
"""What comes behind an order says why: trouble in it does not count."""
_THEIRS = re.compile(
    r"i(?:['’]ll| will| always)(?: always)? (?:run|start|restart|test|deploy|commit|push|merge|release|install|build)\b"
    r"(?! (?:it|this|that|them)\b).{0,40}\b(?:myself|by hand)\b",
    re.IGNORECASE,
)
"""What users do themselves: `I'll run the server myself`."""
_HYPOTHETICAL = re.compile(
    r"(?:(?:so|but|and|hm+|ok(?:ay)?|well)\b[\s,]*)*(?:(?:imagine|suppos(?:e|ing)|let'?s say|what if)\b|"
    r"if (?!you\b)[\w'-]+(?: [\w'-]+){0,2} (?:ever |only |really )?(?:\w+ed|were|had|went|was|did|chose|kept|took|made)\b.*\b(?:would|could|might|'d)\b)",
    re.IGNORECASE,
)
"""What would be if something else were: no statement about what is."""
_LEAST_WORDS = 2
_JOINED = re.compile(r"[,;?!.]*,?\s+and\s+(?=\S)|;\s+(?=\S)")
_CORRECTS = re.compile(
    r"(?:(?:ugh|argh|hey|sorry|oh|ah|h+m+|please|pls|actually|well|ok|but|and|wait|come on|seriously|again|damn)\b[\s,:;.!…-]*)*"
    r"(?:no(?:pe)?\b(?! (?:hurry|problem|need|worries|rush|thanks?|idea))|nah\b|wrong\b|stop\b|don'?t\b|dont\b|do not\b|not\b|"
    r"(?:undo|revert) (?:that|this|the|your|it)\b|revert,|put (?:it|that) back|again\b|you (?:again|did|have|'ve|keep|forgot|left|committed|\w+ed)\b|"
    r"that'?s (?:not|wrong|cheating|a|the (?:second|third|fourth|\w+th) )|that (?:was|is|isn'?t|must|should|has to|belongs|goes|\w+ (?:belongs|goes|should|must|lives))\b|"
    r"this (?:is|isn'?t|must|should) |it (?:has to|should|must) be|other way r?ound|look at (?:how|what|the)|i'?d (?:expect|rather|look)|"
    r"i (?:told|said|asked|did ?n'?o?t|don'?t|dont|do not|never|thought|want (?:the|a|our) .{2,40} (?:there|instead|here))|"
    r"(?:use|put|move|write|return|create|catch|take|read|get|keep|leave|go through|call|make|name|import|delete|just|try) .{2,80}\b(?:instead|rather|not|belongs?|have|has)\b|"
    r"(?:as|like) i (?:said|told)|we(?:'ve|'re)? (?:don'?t|do not|never|always|have|already|use|agreed|only|got|\w+)\b|.{2,60}\bexists? already\b|"
    r".{2,60}\bis (?:wrong|not how|the wrong)\b|.{2,60}\b(?:belongs? (?:in|to|under)|goes? (?:in|into|through)|lives? in)\b|"
    r"why (?:did|do|are|would) you\b|how (?:often|many times)\b|what were you|instead\b|.{2,40}! )",
    re.IGNORECASE,
)
_PLAIN = words("separating_cues")
_WAIVED = frozenset({"trouble", "past", "this one thing", "order"})
_REPORTED = "reported"
"""What others said is not the user's own statement, however lasting it sounds."""
_MEMO = re.compile(
    r"^(?:(?:please |pls |just |also |and |so |fyi[:,]? )*(?:(?:remember|note|keep in mind|bear in mind|be aware|don'?t forget|mind|reminder|nb|"
    r"important|fyi|psa|heads[- ]up|for the record|(?:just )?so you know|for (?:your|future) (?:information|reference))\b(?: to| that)?|"
    r"(?:rule|convention|policy|decision|decided|settled|agreed)(?= ?[:=]))\s*[:,!–-]*\s*)+",
    re.IGNORECASE,
)
_REPROACH = re.compile(
    r"^(?:(?:(?:no )+no|no|nope|stop|wrong(?: \w+){0,2}|again [\w ]{1,30}|not (?:there|like that|by hand)|i told you|come on|seriously|that'?s wrong|that was wrong)"
    r"\s*[,:.!…-]+\s*)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:,? (?:please|pls|plz|remember(?: that| it)?|(?:ok|got it|understood|w(?:tf|th))\??|thanks))+\s*[.!]*$",
    re.IGNORECASE,
)
_USER = re.compile(
    r"\b(?:i (?:prefer|like|love|hate|dislike|use|work|am|don'?t like|want (?:a|the|to see|you|sources|alternatives|concise)|always|sometimes|i?d rather|code|type)\b|"
    r"i'?m\b|my (?:shell|editor|machine|laptop|os|system|terminal|preference|dates?|language|german|name|time ?zone|ide|keyboard|browser)\b|for me\b|"
    r"(?:to|show|give|tell|ask|answer|reply|remind|let) (?:to )?me\b|with me\b|your (?:answers?|repl(?:y|ies)|responses?|messages?|explanations?|summar(?:y|ies))|"
    r"(?:be|stay) (?:brief|concise|terse|short|direct)|(?:answer|reply|respond|explain|talk|write to me)\b.{0,20}\b(?:in|short|brief|concise)|"
    r"\bdon'?t guess|never (?:guess|assume things)|ask,? never guess|emojis?|before i (?:saw|say|ok|approve|confirm)|"
    r"prefer(?:isco|iero|ite)\b|prefiero|préfère|bevorzuge|liever\b|lieber\b|antworte\b|antwoord (?:me|altijd|in|kort)|réponds|resp[óo]nde|rispond[io])",
    re.IGNORECASE,
)
_OF_PROJECT = re.compile(
    r"\b(?:we|our|ours|us|the team|project|repo(?:sitory)?|code ?base|in this|customers?|users of|production|staging|ci\b)",
    re.IGNORECASE,
)


_LEANS = re.compile(r"\b(?:it|that|this|them|they|those|these|he|she)\b", re.IGNORECASE)
"""Words that refer to an earlier statement."""
_NAMELESS = re.compile(
    r"(?:we|i)(?:'ve| have)? (?:\w+ly |all |just )?(?!need)\w+ed (?:it|them)\b|"
    r"(?:for|on|re|as to):? #?\d{1,2}[a-z]?(?:,| (?:add|do|don'?t|drop|go|i|it|keep|leave|let'?s|no|remove|skip|take|the|use|we|yes|you)\b)|"
    r"i (?:did ?n['’]?o?t (?:ask|want|say|tell|mean)|never (?:asked|said|told|wanted)|(?:only|just) (?:asked|wanted|meant))\b"
    r"(?!.*\b(?:again|always|ever|never|unless)\b)|that(?:['’]s| is) (?:not )?(?:true|correct|so)\b",
    re.IGNORECASE,
)
"""Its subject is elsewhere: `we dropped it last year`, or a point of the agent's list: `for 3 drop utc`; or it only says
what went wrong: `I didn't ask you to put that in code`."""
_DANGLES = re.compile(
    r"(?:backed|dropped|passed|won'?t|gives?|gave|keeps|went|got|did|does|said|has been|has to|is|are|was|were|will|would|comes|needs?|must|should|"
    r"decided against|turned down)\b",
    re.IGNORECASE,
)
"""Beginnings of half a sentence, whose other half is not here."""

_CREDENTIAL = re.compile(
    r"\b(?:pass(?:word|phrase|code|wd)|secret|token|credential|login|(?:api|access) key)s?\b", re.IGNORECASE
)
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
    return weigh_sentences(turn.statements, corrects, corrects and takes_back(turn))


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
        if _REPORTED in cues or MOMENTARY in cues or _HYPOTHETICAL.match(part):
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


def _order_in(part: str) -> str:
    """Return an order without what introduces it and the reason for it."""
    return _REASON.split(_MEMO.sub("", part))[0]


def _may_deny(sentences: Sequence[str]) -> bool:
    """Return whether a prompt is short, and denies something or asks for something else instead."""
    found = _WORDS.findall(" ".join(sentences).lower().replace("’", "'"))
    return sum(map(len, sentences)) <= _SHORT and not _DENIALS.isdisjoint(found)


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
