"""What of a text may be a question: plain English of some length that says something."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import blake2b

LEAST_WORDS, MOST_WORDS = 3, 60
_LEAST_CODE = 30
"""Characters of an answer."""
_PARAGRAPH = re.compile(
    r"\n\s*\n|\n\s*(?=[@:\\*+-]\s*\w)|\n(?=\s*(?:Args|Arguments|Parameters|Returns|Raises|Example)s?:)"
)
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`])")
_MARKUP = re.compile(
    r"<[^>]{1,80}>|\{@\w+\s+([^}]*)\}|!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|:\w+:(?=`)|``?|\*\*|\[\[?|\]\]?"
)
_NO_QUESTION = re.compile(
    r"^(?:@|todo|fixme|xxx|deprecated|see\b|inheritdoc|\{@inherit|eslint|nolint|noqa|type:|ts-|pylint|pragma|rubocop|#)"
    r"|copyright|licen[sc]e|permission is hereby|all rights reserved|warrant(?:y|ies)|spdx|auto-?generated|do not edit"
    r"|https?://\S+$|lorem ipsum|-{4}|={4}",
    re.IGNORECASE,
)
_CODE_MARKS = re.compile(r"[{};=<>()\[\]|\\/*$@~^]")


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a comment or of prose, without blank ones."""
    return [part for found in _PARAGRAPH.split(text.strip()) if (part := " ".join(found.split()))]


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph."""
    return [part.strip() for part in _SENTENCE.split(paragraph) if part.strip()]


def question(text: str) -> str:
    """Return a text without markup, cut to the longest question; empty where it says nothing in English."""
    said = " ".join(_MARKUP.sub(lambda match: match[1] or match[2] or "", text).split()).strip(" .:-*#/")
    words = said.split()[:MOST_WORDS]
    said = " ".join(words)
    if len(words) < LEAST_WORDS or not said.isascii() or _NO_QUESTION.search(said):
        return ""
    letters = sum(letter.isalpha() or letter == " " for letter in said)
    if letters < 0.8 * len(said) or len(_CODE_MARKS.findall(said)) > len(words) / 2:
        return ""
    return said if sum(len(word) > 2 for word in words) >= LEAST_WORDS else ""


def is_answer(text: str) -> bool:
    """Return whether a text is long enough to answer something and is no licence."""
    return len(text.strip()) >= _LEAST_CODE and "permission is hereby" not in text.lower()


class Seen:
    """What was taken already, over all projects.

    Args:
        most: pairs with the same question.
    """

    def __init__(self, most: int = 2) -> None:
        self._most = most
        self._questions: Counter[bytes] = Counter()
        self._answers: set[bytes] = set()

    def is_new(self, kind: str, asked: str, answer: str) -> bool:
        """Return whether a pair says something new, and remember it."""
        said, text = _name(asked.lower()), _name(f"{kind}\n{' '.join(answer.split())}")
        if self._questions[said] >= self._most or text in self._answers:
            return False
        self._questions[said] += 1
        self._answers.add(text)
        return True


def _name(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
