"""Cues of a sentence: signs that it is lasting, or an order of the moment.

Each cue is a list of patterns (`cues.toml`). The plainness of a lasting statement is a logistic regression over its
cues and its vector by the bundled static model (`sound`):

    plainness = 1 / (1 + e^-(bias + sum of the weights of its cues + sound · vector))

Sentences that sound lasting are checked again with their vector by the model of prose: `sense · vector` and its bias
are added. The weights (`lasting.json`) are learned from synthetic sentences, and from ordinary ones of real sessions,
by `python -m tests.bench.narrator_histories.learn`; the signs of cues are fixed. Without the model, only cues count.

How lasting sentences sound by their words: the product of their vectors and learned weights (`lasting.json`).
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from cm_tui.engine.memory.narrator.lists import words
from cm_tui.errors import ModelError

if TYPE_CHECKING:
    from cm_tui.engine.search.embed.bundled import BundledProvider


_PACKAGE = "cm_tui.engine.memory.narrator"


STRONG = words("strong_cues")
WEAK = words("weak_cues")
AGAINST = words("cues_against")
IMPLICIT, HINTED = 2.0, 1.0
"""Penalty for a sentence without these, or only with weak ones: it may be about the moment."""
_FAINT = 0.0
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?")
_HINTS = words("hints")


class Lasting(NamedTuple):
    """The learned weights.

    Attributes:
        bias: of a sentence without cues.
        cues: weights by name.
        sound: weights of the vector.
        alone_bias: the bias without a vector.
        alone: weights of cues without a vector.
        sense: weights of the vector by the model of prose, for sentences that sound lasting.
        sense_bias: their bias.
    """

    bias: float
    cues: dict[str, float]
    sound: tuple[float, ...]
    alone_bias: float
    alone: dict[str, float]
    sense: tuple[float, ...]
    sense_bias: float


@cache
def lasting() -> Lasting:
    """Return the learned numbers."""
    data = json.loads(files(_PACKAGE).joinpath("lasting.json").read_text(encoding="utf-8"))
    return Lasting(
        data["bias"], data["cues"], tuple(data["sound"]), data["alone_bias"], data["alone"],
        tuple(data["sense"]), data["sense_bias"],
    )  # fmt: skip


@cache
def patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return each cue's name and its pattern."""
    data: dict[str, Any] = tomllib.loads(files(_PACKAGE).joinpath("cues.toml").read_text(encoding="utf-8"))
    return tuple((cue["name"], _pattern(cue, data["parts"])) for cue in data["cue"])


def _pattern(cue: dict[str, Any], parts: dict[str, str]) -> re.Pattern[str]:
    text = "|".join(f"(?:{one})" for one in cue["any"])
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    return re.compile(text, 0 if cue.get("cased") else re.IGNORECASE)


@lru_cache(maxsize=1 << 13)
def cues_of(sentence: str) -> tuple[str, ...]:
    """Return the names of the cues of a sentence."""
    plain = sentence.replace("’", "'")
    return tuple(name for name, pattern in patterns() if pattern.search(plain))


def is_faint(sentence: str, sound: float | None) -> bool:
    """Return whether a sentence cannot sound lasting, by its words alone."""
    return sound is not None and sound < _FAINT and _HINTS.isdisjoint(_words(sentence))


def _words(sentence: str) -> list[str]:
    return _TOKEN.findall(sentence.lower().replace("’", "'"))


def plainness(cues: Sequence[str], sound: float | None) -> float:
    """Return the plainness of a lasting statement with these cues, from 0 to 1.

    `sound`: contribution of its vector; None: no model.
    """
    learned = lasting()
    bias, weights = (learned.alone_bias, learned.alone) if sound is None else (learned.bias, learned.cues)
    z = bias + sum(weights[name] for name in cues) + (sound or 0.0)
    if not STRONG.intersection(cues):
        z -= HINTED if WEAK.intersection(cues) else IMPLICIT
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


@cache
def _provider() -> BundledProvider:
    from cm_tui.engine.search.embed.bundled import BundledProvider

    return BundledProvider()


@cache
def _weights() -> Any:
    import numpy as np

    return np.array(lasting().sound, np.float32)


def vectors_of(sentences: Sequence[str]) -> Any:
    """Return vectors of sentences by the bundled model, a row each.

    Raises ModelError if a file of the model is missing or damaged.
    """
    return _provider().embed(sentences)


def sounds_of(sentences: Sequence[str]) -> list[float | None]:
    """Return the vectors' contributions to how lasting sentences sound; None each: no model."""
    try:
        found: list[float | None] = (vectors_of(sentences) @ _weights()).tolist()
    except ModelError:
        # Cues alone are less reliable, but sufficient.
        return [None] * len(sentences)
    return found
