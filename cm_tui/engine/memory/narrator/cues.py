"""How lasting a sentence sounds: its cues, and its form.

Each cue is a list of patterns (`cues.toml`). The form of a sentence is its sequences of up to three words in which
words of grammar (`lists.toml`) stand for themselves and all others for their shape, the beginnings of these, and its
words: so `images are webp` and `branches are short` have much in common. A logistic regression over both gives the
plainness of a lasting statement:

    plainness = 1 / (1 + e^-(bias + sum of the weights of its cues + sum of the weights of its form / sqrt(known parts)))

Sentences that sound lasting are checked again with their vector by the model of prose: `sense · vector` and its bias
are added. Other languages (`languages.toml`) have explicit words alone: what one of these is in, and nothing
against it, is a statement. The weights (`lasting.json`) are learned from synthetic sentences, and from ordinary ones of real sessions,
by `python -m tests.bench.narrator_histories.learn`; the signs of cues are fixed.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple

from cm_tui.engine.memory.narrator.lists import words

_PACKAGE = "cm_tui.engine.memory.narrator"
STRONG = words("strong_cues")
WEAK = words("weak_cues")
AGAINST = words("cues_against")
_RULES = words("rule_cues")
IMPLICIT, HINTED = 0.5, 0.25
"""Penalty for a sentence without these, or only with weak ones: it may be about the moment."""
_GRAMMAR = words("grammar")
_TOKEN = re.compile(r"`[^`]*`|[A-Za-z]+(?:'[a-z]+)?|\d+|[^\sA-Za-z0-9]")
_SHAPES = (
    (re.compile(r"`|[A-Za-z]*[a-z][A-Z]"), "CODE"), (re.compile(r"\d"), "NUMBER"), (re.compile(r"[A-Z]{2,}$"), "NAME"),
    (re.compile(r"\w+ing$", re.IGNORECASE), "DOING"), (re.compile(r"\w+ed$", re.IGNORECASE), "DONE"),
    (re.compile(r"\w+ly$", re.IGNORECASE), "LY"), (re.compile(r"\w*[^\Ws]s$", re.IGNORECASE), "MANY"),
)  # fmt: skip
_LONGEST, _OPENING = 3, 4
_MOST_TOKENS = 100
_LEAST_SOUND = -0.25
"""Least sum of the bias and what its form contributes, of a sentence without a word of a cue."""
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_HINTS = words("hints")
_LEAD = re.compile(r"[^\W\d_][\w'’-]*(?: [^\s,:;]+){0,4}[,:] ")

MOMENTARY = "against"
"""In place of the explicit cues of a sentence in another language than English, where something is against it."""
CORRECTS = "corrects"
_ELSEWHERE = frozenset(one for one in words("filling_elsewhere") if len(one) > 1) - _GRAMMAR
_ENGLISH = _GRAMMAR - words("filling_elsewhere")
_LETTERS = re.compile(r"[^\W\d_]+")
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u036f]")
"""Letters beyond Latin ones: what sounds lasting in these is not known."""


class Lasting(NamedTuple):
    """The learned weights.

    Attributes:
        bias: of a sentence without cues.
        cues: weights by name.
        form: weights of the parts of a form.
        sense: weights of the vector by the model of prose, for sentences that sound lasting.
        sense_bias: their bias.
    """

    bias: float
    cues: dict[str, float]
    form: dict[str, float]
    sense: tuple[float, ...]
    sense_bias: float


@cache
def lasting() -> Lasting:
    """Return the learned numbers."""
    data = json.loads(files(_PACKAGE).joinpath("lasting.json").read_text(encoding="utf-8"))
    return Lasting(data["bias"], data["cues"], data["form"], tuple(data["sense"]), data["sense_bias"])


@cache
def patterns() -> tuple[tuple[str, re.Pattern[str], bool], ...]:
    """Return each cue's name, its pattern, and whether that is for a sentence as it is, rather than in lower case."""
    data: dict[str, Any] = tomllib.loads(files(_PACKAGE).joinpath("cues.toml").read_text(encoding="utf-8"))
    return tuple((cue["name"], _pattern(cue["any"], data["parts"]), cue.get("cased", False)) for cue in data["cue"])


class Language(NamedTuple):
    """Explicit words of a language other than English, as patterns for text in lower case.

    Attributes:
        cues: patterns of what sounds lasting, by the names of cues.
        corrects: fits the beginning of a correction of the agent.
        corrected: fits what sounds lasting in a correction alone.
        against: fits what is not lasting.
    """

    cues: tuple[tuple[str, re.Pattern[str]], ...]
    corrects: re.Pattern[str]
    corrected: re.Pattern[str]
    against: re.Pattern[str]


@cache
def languages() -> tuple[Language, ...]:
    """Return the languages in which explicit words are known."""
    data: dict[str, Any] = tomllib.loads(files(_PACKAGE).joinpath("languages.toml").read_text(encoding="utf-8"))
    joined = ({name: _pattern(some, {}) for name, some in one.items()} for one in data.values())
    apart = Language._fields[1:]
    return tuple(
        Language(tuple((n, p) for n, p in one.items() if n not in apart), *(one[name] for name in apart))
        for one in joined
    )


@lru_cache(maxsize=1 << 13)
def explicit_cues(sentence: str, corrects: bool = False) -> tuple[str, ...]:
    """Return the explicit cues of a sentence in another language than English.

    `corrects`: it is in a correction of the agent. `MOMENTARY` alone: something in it is against them. Empty: it has
    none, or is in English.
    """
    plain = sentence.strip().lower()
    elsewhere, english = _words_of_grammar(plain)
    if plain.endswith("?") or (english and not elsewhere):
        return ()
    # An order or a ban may follow what it is for: `Pour les PR, mets toujours …`
    lead = _LEAD.match(plain)
    parts = (plain, plain[lead.end() :]) if lead else (plain,)
    is_corrected = corrects and is_foreign(plain)
    for language in languages():
        found = tuple(name for name, pattern in language.cues if any(map(pattern.search, parts)))
        if is_corrected and (found or any(map(language.corrected.search, parts))):
            found = (*found, CORRECTS)
        is_opened = is_corrected and language.corrects.search(plain) is not None
        # `Falsch, …`: what it begins with is not the trouble that it is about.
        if (found or is_opened) and any(map(language.against.search, parts[-1:] if is_opened else parts)):
            return (MOMENTARY,)
        if found:
            return found
    return ()


def is_foreign(sentence: str) -> bool:
    """Return whether a sentence is in another language than English, by its words of grammar or its script."""
    elsewhere, english = _words_of_grammar(sentence)
    # Most letters are of another script; of Chinese, two are a word.
    return elsewhere > max(1, english) or len(sentence) < 3 * len(_OTHER_SCRIPT.findall(sentence))


@lru_cache(maxsize=1 << 13)
def _words_of_grammar(sentence: str) -> tuple[int, int]:
    """Return the number of words of grammar of other known languages, and of English alone."""
    found = set(_LETTERS.findall(sentence.lower()))
    return len(found & _ELSEWHERE), len(found & _ENGLISH)


def opens_correction(prompt: str) -> bool:
    """Return whether a prompt in another language than English begins by correcting the agent."""
    return is_foreign(prompt) and any(one.corrects.search(prompt.lower()) for one in languages())


def _pattern(some: Sequence[str], parts: dict[str, str]) -> re.Pattern[str]:
    text = "|".join(f"(?:{one})" for one in some)
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return re.compile(text)


@lru_cache(maxsize=1 << 13)
def cues_of(sentence: str) -> tuple[str, ...]:
    """Return the names of the cues of a sentence."""
    plain = sentence.replace("’", "'")
    # Patterns that ignore the case take half as long again.
    lower = plain.lower()
    return tuple(name for name, pattern, is_cased in patterns() if pattern.search(plain if is_cased else lower))


def form_of(sentence: str) -> set[str]:
    """Return the parts of a sentence's form: sequences of its words of grammar and shapes, and its words."""
    tokens = [found[0] for found in islice(_TOKEN.finditer(sentence.replace("’", "'")), _MOST_TOKENS)]
    line = ["^"]
    for token in tokens:
        shape = _shape(token)
        if shape != line[-1] or shape.islower():
            line.append(shape)
    line.append("$")
    parts = {token.lower() for token in tokens if token[0].isalpha()}
    for length in range(1, _LONGEST + 1):
        parts.update(" ".join(line[at : at + length]) for at in range(len(line) - length + 1))
    parts.add(" ".join(line[: _OPENING + 1]))
    return parts


@lru_cache(maxsize=1 << 13)
def _shape(token: str) -> str:
    """Return a word of grammar or a mark itself, and the shape of any other word."""
    lower = token.lower()
    if lower in _GRAMMAR or not (token[0].isalnum() or token[0] == "`"):
        return lower
    return next((shape for pattern, shape in _SHAPES if pattern.match(token)), "WORD")


def sound_of(sentence: str) -> float:
    """Return the contribution of a sentence's form to how lasting it sounds."""
    known = lasting().form
    weights = [known[part] for part in form_of(sentence) if part in known]
    # Exact: the parts of a set come in another order in each process.
    return math.fsum(weights) / math.sqrt(len(weights) or 1)


def is_faint(sentence: str, sound: float) -> bool:
    """Return whether a sentence cannot sound lasting: its form does not, and it has no word of a cue and is no rule."""
    lower = sentence.lower().replace("’", "'")
    if lasting().bias + sound >= _LEAST_SOUND or not _HINTS.isdisjoint(_WORD.findall(lower)):
        return False
    return not any(pattern.search(lower) for name, pattern, _ in patterns() if name in _RULES)


def plainness(cues: Sequence[str], sound: float) -> float:
    """Return the plainness of a lasting statement with these cues, from 0 to 1.

    `sound`: contribution of its form.
    """
    learned = lasting()
    z = learned.bias + sum(learned.cues[name] for name in cues) + sound
    if not STRONG.intersection(cues):
        z -= HINTED if WEAK.intersection(cues) else IMPLICIT
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))
