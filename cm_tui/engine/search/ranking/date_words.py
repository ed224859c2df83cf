"""Words of dates: the kinds that each word of a text may have in a date, from `date_words.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from cm_tui.engine.search.ranking.tokens import word_set

_ENDING, _SHORTEST = 4, 3
"""Most letters of an ending, and fewest of a word that has one."""
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_DIGITS = (
    r"(?<![\d.-])(?:19|20)\d\d[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?![\d-])"
    r"|(?<![\d.])\d{1,2}\.\s?\d{1,2}\.\s?(?:19|20)\d\d(?!\d)"
    r"|(?<![\d/])\d{1,2}[/-]\d{1,2}[/-](?:19|20)\d\d(?![\d/])"
    r"|(?<!\d)(?:\d{4}\s?[年년]\s?)?\d{1,2}\s?[月월](?!\s?[前전間])(?:\s?\d{1,2}\s?[日일])?|(?<!\d)\d{4}\s?[年년]"
)
"""Dates in digits."""
_NEEDS_CUE = word_set(
    "may march mars mart mai maja marca mar jan jun sep dec fall spring lente estate été ete yaz lato lata lat mayo"
)
"""Words with another meaning: of a date only after certain words or next to a number."""
_ONLY_CAPITAL = word_set("may march")
"""Verbs: after `this`, a month only with a capital letter."""

Meanings = Mapping[str, int]


class Token(NamedTuple):
    """A word, or a date in digits, at its place in a text."""

    text: str
    start: int
    end: int
    means: Meanings
    """Its kinds, with the value that it has as each."""


class _Vocabulary(NamedTuple):
    whole: dict[str, dict[str, int]]
    begun: dict[str, dict[str, int]]
    """Beginnings of words that have endings."""
    longest: int
    """Most words of a phrase."""
    pattern: re.Pattern[str]


@cache
def _vocabulary() -> _Vocabulary:
    text = (resources.files("cm_tui.engine.search.ranking") / "date_words.toml").read_text(encoding="utf-8")
    units = {"day": 0, "week": 1, "month": 2, "year": 3, "weekend": 4}
    whole: dict[str, dict[str, int]] = {}
    begun: dict[str, dict[str, int]] = {}
    for kind, rows in tomllib.loads(text).items():
        for name, words in rows.items():
            value = units[name] if kind == "unit" else int(name) if kind != "word" else 1
            for word in words.split():
                plain = re.sub(r"['’-]", "_", word.rstrip("*"))
                into = begun if word.endswith("*") else whole
                into.setdefault(plain, {}).setdefault(name if kind == "word" else kind, value)
    # In scripts without spaces, the words of dates are found in the text, the longest first.
    unspaced = "|".join(
        sorted((word for word in whole if re.fullmatch(f"[{_UNSPACED}]+", word)), key=len, reverse=True)
    )
    pattern = re.compile(f"(?P<digits>{_DIGITS})|{unspaced}|[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
    return _Vocabulary(whole, begun, max(word.count("_") + 1 for word in whole), pattern)


@lru_cache(maxsize=1 << 12)
def _meanings(word: str) -> Meanings:
    """What a lower-case word may mean in a date."""
    if word.isdecimal() or (word[:-2].isdecimal() and word[-2:] in {"st", "nd", "rd", "th", "er"}):
        value = int(re.sub(r"\D", "", word)) if len(word) < 8 else 0
        if 1950 <= value < 2100 and len(word) == 4:
            return {"year": value}
        return {"number": value, **({"day_number": value} if value <= 31 else {})} if 0 < value < 1000 else {}
    vocabulary = _vocabulary()
    found = dict(vocabulary.whole.get(word, {}))
    for length in range(max(_SHORTEST, len(word) - _ENDING), len(word) + 1):
        found = {**vocabulary.begun.get(word[:length], {}), **found}
    return found


def _dates_in_digits(text: str) -> list[int]:
    """The dates that digits may mean, each as the number YYYYMMDD; parts that are missing are 0."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    if numbers[0] > 999:
        orders = [numbers]
    elif numbers[-1] > 999:
        first, second, year = numbers
        orders = [[year, second, first]] if "." in text else [[year, first, second], [year, second, first]]
    else:
        orders = [[0, *numbers]]
    found = ([*one, 0, 0][:3] for one in orders)
    return list(dict.fromkeys(year * 10_000 + month * 100 + day for year, month, day in found))


def tokens_of(text: str) -> list[Token]:
    """Return the words and dates of a text, phrases as one."""
    vocabulary = _vocabulary()
    found: list[Token] = []
    for match in vocabulary.pattern.finditer(text):
        if match["digits"]:
            found += [Token(match[0], *match.span(), {"date": value}) for value in _dates_in_digits(match[0])]
        else:
            found.append(Token(match[0].lower(), *match.span(), _meanings(match[0].lower())))
    tokens: list[Token] = []
    at = 0
    while at < len(found):
        token, size = found[at], 1
        for more in range(min(vocabulary.longest, len(found) - at), 1, -1):
            name = "_".join(one.text for one in found[at : at + more])
            if name in vocabulary.whole:
                token, size = Token(name, token.start, found[at + more - 1].end, vocabulary.whole[name]), more
                break
        tokens.append(token)
        at += size
    return [_certain(text, tokens, place) if token.means else token for place, token in enumerate(tokens)]


def _certain(text: str, tokens: list[Token], place: int) -> Token:
    """A token without the kinds that it does not have in its context."""
    token = tokens[place]
    before = tokens[place - 1] if place else Token("", 0, 0, {})
    after = tokens[place + 1] if place + 1 < len(tokens) else Token("", 0, 0, {})
    if "day_number" in token.means and "unit" in after.means:
        return token._replace(means={"number": token.means["number"]})
    if "year" in token.means:
        is_part = text[token.start - 1 : token.start] in tuple("#:/._-") or text[token.end : token.end + 1] in tuple(
            ":/_%-"
        )
        return token._replace(means={}) if is_part or (place and not before.means) else token
    if token.text not in _NEEDS_CUE or not token.means.keys() & {"month", "season"}:
        return token
    is_capital = text[token.start].isupper()
    cued = bool(before.means.keys() & {"cue", "way", "part"}) or "way" in after.means
    cued = cued or text[max(0, token.start - 2) : token.start] in ("l'", "l’", "d'")
    if token.text in _ONLY_CAPITAL:
        cued = (cued and (before.text != "this" or is_capital)) or (
            is_capital and (place > 0 or "month" in after.means)
        )
    beside = any(one.means.keys() & {"year", "day_number"} for one in (before, after))
    return token if beside or cued else token._replace(means={})
