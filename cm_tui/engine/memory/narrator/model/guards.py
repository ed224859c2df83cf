"""Validation of a model's wordings: whether they still mean the given fact, as the model is untrusted."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from typing import Any

from cm_tui.engine.memory.narrator.lists import pattern, words
from cm_tui.engine.platform.redaction.redact import redact

MOST_CHARACTERS = 200
_LEAST_SHARE = 0.7
"""Least share of its words that are in the input."""
_STEM = 5
"""Letters by which two forms of a word are taken to be the same."""
_CODE = re.compile(r"`([^`]+)`")
_WORD = re.compile(r"[^\W\d_]{4,}")
_EXACT = re.compile(r"[\w./:@-]*[\d_/@][\w./:@-]*|[a-z]+[A-Z]\w*|\b[A-Z]{2,}\b|\w+(?:[.:]\w+)+")
"""Names, paths and numbers rather than words."""
_NEGATION = pattern("guards", "negation")
_MARKUP = re.compile(r"[<>{}|]|\]\(|\]\[|!\[|https?:|^\s*(?:[-*+#>]|\d+[.)])\s|\*\*|__|```|&\w+;|&#")
_FILLER = words("guard_filling")


def object_in(text: str) -> dict[str, Any]:
    """Return the JSON object in an answer, which may have words or a fence around it; empty: none."""
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        return {}
    try:
        found = json.loads(text[begin : end + 1])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def problem_of(text: object, fact: str, said: Iterable[str]) -> str:
    """Return why a wording is invalid for a fact; empty: it is valid.

    `text`: the model's wording; `said`: the given evidence.
    """
    if not isinstance(text, str) or not text.strip():
        return "nothing"
    given = " ".join((fact, *said))
    checks = (
        (len(text) > MOST_CHARACTERS or "\n" in text or not text.isprintable(), "more than one line"),
        (_MARKUP.search(_CODE.sub("", text)) is not None or text.count("`") % 2 == 1, "markup"),
        (_names_of(text) - _names_of(given) != set() and not _all_in(_names_of(text), given), "a name that was not given"),
        (not {*_CODE.findall(fact)} <= {*_CODE.findall(text)}, "a command or name is missing"),
        (_names_of(_CODE.sub("", fact)) - _names_of(text) != set(), "a name or number is missing"),
        (_negations(text) != _negations(fact), "a different meaning"),
        (_strange_share(text, given) > 1 - _LEAST_SHARE, "someone else's words"),
        (redact(text).text != text, "a possible secret"),
    )  # fmt: skip
    return next((words for fails, words in checks if fails), "")


def same_facts(one: str, other: str) -> bool:
    """Return whether two facts can be equivalent: with the same commands and numbers, in the same sense."""
    return _names_of(one) == _names_of(other) and _negations(one) == _negations(other)


def groups_in(answer: dict[str, Any], known: Collection[str]) -> list[list[str]]:
    """Return groups of equivalent ids; unknown and repeated ids are skipped."""
    taken: set[str] = set()
    groups = []
    found = answer.get("same")
    for group in found if isinstance(found, list) else ():
        ids = [one for one in group if isinstance(one, str) and one in known] if isinstance(group, list) else []
        ids = [one for one in dict.fromkeys(ids) if one not in taken]
        if len(ids) > 1:
            taken.update(ids)
            groups.append(ids)
    return groups


def values_in(answer: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a field of each item of an answer, by the item's id."""
    items = answer.get("items")
    return {
        item["id"]: item.get(name)
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, dict) and isinstance(item.get("id"), str)
    }


def _names_of(text: str) -> set[str]:
    return {one.strip(".:/-") for one in (*_CODE.findall(text), *_EXACT.findall(_CODE.sub(" ", text)))} - {""}


def _all_in(names: Iterable[str], given: str) -> bool:
    return all(name in given for name in names)


def _negations(text: str) -> bool:
    return _NEGATION.search(_CODE.sub("", text)) is not None


def _strange_share(text: str, given: str) -> float:
    stems = {word.lower()[:_STEM] for word in _WORD.findall(given)}
    words = [word.lower() for word in _WORD.findall(_CODE.sub("", text)) if word.lower() not in _FILLER]
    return sum(word[:_STEM] not in stems for word in words) / len(words) if words else 0.0
