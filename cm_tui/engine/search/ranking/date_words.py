"""Words of dates: the kinds that each word of a text may have in a date, from `date_words.toml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from cm_tui.engine.search.ranking.date_spans import QUARTER
from cm_tui.engine.search.ranking.tokens import STOP_WORDS, packaged, word_list, word_set

_ENDING, _SHORTEST = 4, 3
"""Most letters of an ending, and fewest of a word that has one."""
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_DIGITS = (
    r"(?<![\d.-])(?:19|20)\d\d(?:[-/]\d{1,2}(?:[-/]\d{1,2})?|\.\d\d\.\d\d)(?![\d-]|\.\d)"
    r"|(?<![\d.])\d{1,2}\.\s?\d{1,2}\.\s?(?:19|20)\d\d(?!\.?\d)"
    r"|(?:(?<=\bam )|(?<=\bvom ))\d{1,2}\.\d{1,2}\.(?:\d\d)?(?![\d.])"
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
_ENGLISH = word_set("may march spring fall")
"""In English no date before a word that carries meaning: `in fall back mode`."""
_FUNCTION_WORDS = STOP_WORDS | word_list("small") | word_list("talk")
_COUNTED = word_set("ms kb mb gb px hz")
"""Units after a number, which is then no year; so is one before a plural."""
_GOES_ON = re.compile(r"_|\.\w")
_DATED = frozenset(("month", "season", "year", "date", "day_number", "weekday"))

Meanings = Mapping[str, int]


class Token(NamedTuple):
    """A word, or a date in digits, at its place in a text."""

    text: str
    start: int
    end: int
    means: Meanings
    """Its kinds, with the value that it has as each."""


_NONE = Token("", 0, 0, {})


class _Vocabulary(NamedTuple):
    whole: dict[str, dict[str, int]]
    begun: dict[str, dict[str, int]]
    """Beginnings of words that have endings."""
    longest: int
    """Most words of a phrase."""
    pattern: re.Pattern[str]


@cache
def _vocabulary() -> _Vocabulary:
    units = {"day": 0, "week": 1, "month": 2, "year": 3, "weekend": 4, "quarter": QUARTER, "half_year": 6, "hour": 7}
    whole: dict[str, dict[str, int]] = {}
    begun: dict[str, dict[str, int]] = {}
    for kind, rows in packaged("date_words").items():
        for name, words in rows.items():
            value = units[name] if kind in ("unit", "single") else int(name) if kind != "word" else 1
            for word in words.split():
                plain = re.sub(r"['’-]", "_", word.rstrip("*"))
                into = begun if word.endswith("*") else whole
                into.setdefault(plain, {}).setdefault(name if kind == "word" else kind, value)
    # In scripts without spaces, the words of dates are found in the text, the longest first.
    unspaced = "|".join(
        sorted((word for word in whole if re.fullmatch(f"[{_UNSPACED}]+", word)), key=len, reverse=True)
    )
    pattern = re.compile(
        f"(?P<digits>{_DIGITS})|{unspaced}|[{_UNSPACED}]|(?<=\\d)\\s?[-–—]\\s?(?=\\d)|[^\\W_{_UNSPACED}]+"
    )
    return _Vocabulary(whole, begun, max(word.count("_") + 1 for word in whole), pattern)


@lru_cache(maxsize=1 << 12)
def _meanings(word: str) -> Meanings:
    """What a lower-case word may mean in a date."""
    if word.isdecimal() or (word[:-2].isdecimal() and word[-2:] in {"st", "nd", "rd", "th", "er"}):
        value = int(re.sub(r"\D", "", word)) if len(word) < 8 else 0
        if 1950 <= value < 2100 and len(word) == 4:
            return {"year": value}
        return {"number": value, **({"day_number": value} if value <= 31 else {})} if 0 < value < 1000 else {}
    if word in ("-", "–", "—"):
        return {"to": 1}
    vocabulary = _vocabulary()
    found = dict(vocabulary.whole.get(word, {}))
    for length in range(max(_SHORTEST, len(word) - _ENDING), len(word) + 1):
        found = {**vocabulary.begun.get(word[:length], {}), **found}
    return found


def _dates_in_digits(text: str) -> list[int]:
    """The dates that digits may mean, each as the number YYYYMMDD; parts that are missing are 0."""
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    if text.endswith(".") or (len(numbers) > 2 and max(numbers) < 100):
        orders = [[2000 + numbers[2] if len(numbers) > 2 else 0, numbers[1], numbers[0]]]
    elif numbers[0] > 999:
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
            found.append(Token(match[0].lower().strip(), *match.span(), _meanings(match[0].lower().strip())))
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
    before, after = (tokens[at] if 0 <= at < len(tokens) else _NONE for at in (place - 1, place + 1))
    # In French a year: `an upcoming release` is none.
    is_article = token.text == "an" and after.text in ("upcoming", "this", "current")
    if is_article or ("date" not in token.means and _is_in_name(text, token)):
        return token._replace(means={})
    if (
        "quarter" in token.means
        and text[token.start] == "q"
        and not before.means.keys() & {"cue", "year"} | after.means.keys() & {"year"}
    ):
        return token._replace(means={})
    if "day_number" in token.means and "unit" in after.means:
        number = token.means["number"]
        is_quarter = after.means["unit"] == QUARTER and number <= 4
        return token._replace(means={"ordinal" if is_quarter else "number": number})
    if "year" in token.means:
        return token if "quarter" in after.means or _is_year(text, tokens, place) else token._replace(means={})
    if token.text not in _NEEDS_CUE or not token.means.keys() & {"month", "season"}:
        return token
    gaps = (text[before.end : token.start], text[token.end : after.start])
    beside = any(
        one.means.keys() & {"year", "day_number"} and not gap.strip(" .,-/")
        for one, gap in zip((before, after), gaps, strict=True)
    )
    return token if beside or _is_cued(text, tokens, place) else token._replace(means={})


def _is_in_name(text: str, token: Token) -> bool:
    """Whether a word is a part of code or of an address: `last_month`, `monday.com`, `today()`."""
    before, after = text[max(0, token.start - 2) : token.start], text[token.end : token.end + 2]
    is_called = after.startswith("(") and token.text.isascii()
    return (
        is_called
        or before.endswith("_")
        or re.fullmatch(r"\w\.", before) is not None
        or _GOES_ON.match(after) is not None
    )


def _is_year(text: str, tokens: list[Token], place: int) -> bool:
    """Whether a number of four digits is a year: not `#2024`, `2000 rows`, or `upgrade to 2024`."""
    token = tokens[place]
    if text[token.start - 1 : token.start] in tuple("#:/._-") or text[token.end : token.end + 1] in tuple(":/_%-"):
        return False
    after = tokens[place + 1] if place + 1 < len(tokens) else _NONE
    is_count = after.text in _COUNTED or (after.text.endswith("s") and after.text not in _FUNCTION_WORDS)
    if is_count and not after.means and text[token.end : after.start].isspace():
        return False
    if not place:
        return True
    kinds = tokens[place - 1].means.keys()
    ends_range = place > 1 and bool(tokens[place - 2].means.keys() & _DATED)
    return bool(kinds) and (ends_range or not kinds <= {"to"})


def _is_cued(text: str, tokens: list[Token], place: int) -> bool:
    """Whether the words around one with another meaning say that it is a date."""
    token, at = tokens[place], place - 1
    after = tokens[place + 1] if place + 1 < len(tokens) else _NONE
    is_plain = not after.means and after.text.isalpha() and after.text not in _FUNCTION_WORDS
    if token.text in _ENGLISH and is_plain and text[token.end : after.start].isspace():
        return False
    if at > 0 and tokens[at].text == "the" and token.means.keys() & {"season"}:
        at -= 1
    before = tokens[at] if at >= 0 else _NONE
    is_capital = text[token.start].isupper()
    ends_range = place > 1 and "to" in before.means and bool(tokens[place - 2].means.keys() & _DATED)
    cued = ends_range or bool(before.means.keys() & {"cue", "way", "part"}) or "way" in after.means
    cued = cued or ("from" in before.means and len(token.text) > _SHORTEST)
    cued = cued or text[max(0, token.start - 2) : token.start] in ("l'", "l’", "d'")
    if token.text in _ONLY_CAPITAL:
        is_capital = is_capital and not text[token.start : token.end].isupper()
        return (cued and (before.text != "this" or is_capital)) or (
            is_capital and (place > 0 or "month" in after.means)
        )
    return cued
