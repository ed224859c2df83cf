"""Names in a query: suggestions for one that is nowhere in the project, and which words name something there."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.embed.prose import english_words
from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.fts_writer import FIELDS
from cm_tui.engine.search.ranking.keyword import KeywordIndex
from cm_tui.engine.search.ranking.narrowed import Narrowed
from cm_tui.engine.search.ranking.near_names import NearNames
from cm_tui.model import CODE, Suggestion

_PARTS = re.compile(r"[^\W\d]\w*")
_LOOKED_AT = 8
"""Names of a query; a pasted page has more of them than anybody mistyped."""
_SHORTEST = 3


class Spelling:
    """Finds names of a query that are unknown, and similar ones.

    Args:
        keyword: returns whether a text or symbol has a name.
        near: the names of the project's symbols.
    """

    def __init__(self, keyword: KeywordIndex, near: NearNames) -> None:
        self._keyword = keyword
        self._near = near

    def suggestions(self, asked: Narrowed) -> tuple[Suggestion, ...]:
        """Return suggestions for the first unknown name in a query, regardless of filters."""
        parts = [part for name in asked.query.names for part in _PARTS.findall(name.text)]
        for part in list(dict.fromkeys(parts))[:_LOOKED_AT]:
            if self._is_somewhere(part):
                continue
            if names := self._near.of(part):
                return tuple(Suggestion(name, _with(asked.typed, part, name)) for name in names)
        return ()

    def _is_somewhere(self, part: str) -> bool:
        # The first term of a name with several pieces is the whole of it.
        terms = tokens.split(part)
        return len(part) < _SHORTEST or not terms or tokens.is_cjk(part) or bool(self._keyword.terms(terms[:1], CODE))


def said(suggestions: tuple[Suggestion, ...]) -> str:
    """Return the question of a note: `Did you mean ClientSession, or ClientSessions?`."""
    *others, last = [one.name for one in suggestions]
    return f"Did you mean {', '.join(others)} or {last}?" if others else f"Did you mean {last}?"


def _with(query: str, part: str, name: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(part)}(?!\w)", lambda _: name, query, count=1)


# --- known names ---

_NAME_SHARE = 1 / 3
"""Of the passages with a word, the share that has it in path or title; a word of plain English is mostly in bodies."""
_MOST = 1 / 2
"""Highest share of passages with a name: a more frequent one is not telling."""
_COMMON_SHARE = 1 / 20
"""The same for a symbol's name that is no English word, and for what the prompt is about, as in a question how it works."""
_FEW = 20
"""Passages that a name may be in however few there are."""
_LOOKED_UP = 8
_TITLE = FIELDS.index("title")
_NAMED = [FIELDS.index("path"), _TITLE]


def known_names(keyword: KeywordIndex, words: Sequence[str], *, common: bool = False) -> tuple[str, ...]:
    """Return the words that are names, in the given order.

    Args:
        keyword: the project's keyword index.
        words: the first eight are looked up as a whole; of a path, its last part.
        common: also those that are mostly in bodies, or in most passages.
    """
    wholes = {word: terms[0] for word in words[:_LOOKED_UP] if (terms := tokens.split(word.rpartition("/")[2]))}
    documents, found = keyword.documents_and_terms(list(wholes.values()), None)
    passages = len(documents.ids)
    few, most = (2, passages) if common else (1, max(_FEW, _MOST * passages))
    counts = {term.text: term.postings.counts for term in found}

    def is_name(word: str, rows: NDArray[np.float32]) -> bool:
        named = int(rows[:, _NAMED].any(axis=1).sum())
        is_rare = bool(rows[:, _TITLE].any()) and word.lower() not in english_words()
        share = _COMMON_SHARE if common or is_rare else _NAME_SHARE
        return few <= named <= most and named >= share * len(rows)

    return tuple(word for word, whole in wholes.items() if whole in counts and is_name(word, counts[whole]))
