"""Words that are names in the project: of a symbol, file, module, entry or note."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.engine.search.ranking.fts_writer import FIELDS
from cm_tui.engine.search.ranking.keyword import KeywordIndex, Term
from cm_tui.engine.search.ranking.tokens import split

_NAME_SHARE = 1 / 3
"""Of the passages with a word, the share that has it in path or title; a word of plain English is mostly in bodies."""
_MOST = 1 / 2
"""Highest share of passages with a name: a more frequent one is not telling."""
_FEW = 20
"""Passages that a name may be in however few there are."""
_LOOKED_UP = 8
_NAMED = [FIELDS.index("path"), FIELDS.index("title")]


def known_names(keyword: KeywordIndex, words: Sequence[str]) -> tuple[str, ...]:
    """Return the words that are names, in the given order.

    Args:
        keyword: the project's keyword index.
        words: the first eight are looked up as a whole; of a path, its last part.
    """
    wholes = {word: terms[0] for word in words[:_LOOKED_UP] if (terms := split(word.rpartition("/")[2]))}
    documents, found = keyword.documents_and_terms(list(wholes.values()), None)
    names = {term.text for term in found if _is_name(term, len(documents.ids))}
    return tuple(word for word, whole in wholes.items() if whole in names)


def _is_name(term: Term, passages: int) -> bool:
    counts = term.postings.counts
    named = int(counts[:, _NAMED].any(axis=1).sum())
    return 0 < named <= max(_FEW, _MOST * passages) and named >= _NAME_SHARE * len(counts)
