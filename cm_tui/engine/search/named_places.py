"""Places that a report names: frames of its traces, and the code that writes the messages it quotes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search import tokens
from cm_tui.engine.search.candidate_table import CandidateTable
from cm_tui.engine.search.keyword import KeywordIndex
from cm_tui.engine.search.passage_cache import PassageCache, PassageRecord
from cm_tui.engine.search.report import Frame, Report
from cm_tui.model import CODE

_FRAMES = 12
"""Own frames that are looked at; those further out only lead there."""
_OUTER = 0.8
"""What each frame counts of the one inside it."""
_FILE_ALONE = 0.4
"""Share of a passage that is in the file of a frame, where neither function nor line is its own."""
_MESSAGES = 6
_LEAST_WORDS = 3
"""Words that a literal piece of a message has; fewer stand anywhere."""
_EVERYWHERE = 12
"""Passages with a piece of a message from which on it says nothing."""
_VARIABLE = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|<[^>]*>|\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|\S*[\d/\\=*_]\S*|[^\w\s'-]")
_SPACE = re.compile(r"[\s\"'`\\]+")

Values = Mapping[int, float]
"""What passages are worth, from 0 to 1, by id."""


def framed(records: PassageCache, report: Report) -> Values:
    """Return passages of the frames of a trace, the innermost in a file of the project first, and of files that are named.

    Args:
        records: what is known about passages.
        report: gives the frames and the paths.
    """
    frames = (*report.frames, *(Frame(path, 0, "") for path in report.paths()))
    names = {frame.path.rpartition("/")[2] for frame in frames}
    known = records.called(sorted(names)) if names else {}
    own = [(frame, path) for frame in frames if (path := _meant(frame.path, known.get(frame.path.rpartition("/")[2], ())))]
    found: dict[int, float] = {}
    passages: dict[str, list[PassageRecord]] = {}
    for number, (frame, path) in enumerate(own[:_FRAMES]):
        worth = _OUTER**number
        if path not in passages:
            passages[path] = records.get(records.at([path]).tolist())
        for one in _of_frame(passages[path], frame):
            found[one.id] = max(found.get(one.id, 0.0), worth)
        for one in passages[path]:
            found[one.id] = max(found.get(one.id, 0.0), _FILE_ALONE * worth)
    return found


def _meant(path: str, known: Sequence[str]) -> str:
    """The file that a path of another machine means: that which shares most of its end; empty: none, or several."""
    pieces = path.split("/")[::-1]

    def shared(one: str) -> int:
        return sum(1 for _ in _same(pieces, one.split("/")[::-1]))

    best = sorted(known, key=lambda one: (-shared(one), one))[:2]
    if not best or (len(best) > 1 and shared(best[0]) == shared(best[1])):
        return ""
    # A name such as `utils.py` alone may be that of a library.
    return best[0] if shared(best[0]) > 1 or len(pieces) == 1 or "/" not in best[0] else ""


def _same(one: Sequence[str], other: Sequence[str]) -> Sequence[str]:
    count = next((number for number, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    return one[: min(len(one), len(other)) if count is None else count]


def _of_frame(passages: Sequence[PassageRecord], frame: Frame) -> list[PassageRecord]:
    """Passages of a frame: those of its function, nearest to its line; else those of its line."""
    named = [
        one
        for one in passages
        if frame.function
        and (
            any(definition.name == frame.function for definition in one.definitions)
            or (one.owner is not None and one.owner.qualname.rpartition(".")[2] == frame.function)
        )
    ]
    if len(named) > 1 and frame.line:
        nearest = min(named, key=lambda one: max(one.start_line - frame.line, frame.line - one.end_line, 0))
        return [nearest]
    return named or [one for one in passages if one.start_line <= frame.line <= one.end_line]


def quoting(index: KeywordIndex, records: PassageCache, report: Report) -> Values:
    """Return passages that hold a literal piece of an error message, those with a rare one most.

    Args:
        index: the keyword index.
        records: what is known about passages.
        report: gives the messages.
    """
    found: dict[int, float] = {}
    for piece in _pieces(report)[:_MESSAGES]:
        documents, terms = index.documents_and_terms([term for word in piece for term in tokens.split(word)], CODE)
        wanted = {term for word in piece for term in tokens.split(word)}
        if len(terms) < len(wanted) or not terms:
            continue
        at = terms[0].postings.documents
        for term in terms[1:]:
            at = np.intersect1d(at, term.postings.documents, assume_unique=True)
        if not len(at) or len(at) > 200:
            continue
        text = " ".join(piece).lower()
        holding = [one for one in records.get(documents.ids[at].tolist()) if text in _SPACE.sub(" ", one.text).lower()]
        if len(holding) > _EVERYWHERE:
            continue
        for one in holding:
            found[one.id] = max(found.get(one.id, 0.0), min(1.0, len(piece) / 6) / len(holding) ** 0.5)
    return found


def _pieces(report: Report) -> list[list[str]]:
    """Runs of words of the messages, without what differs from case to case, the longest first."""
    found: dict[tuple[str, ...], None] = {}
    for text in (*report.texts("error"), report.title):
        message = re.sub(r"^\s*[\w.:]*(?:Error|Exception|Warning)\b:?", " ", text)
        for run in _VARIABLE.split(message):
            words = run.replace("'", " ").split()
            if len(words) >= _LEAST_WORDS:
                found[tuple(words)] = None
    return sorted(map(list, found), key=lambda one: -len(one))


def with_signal(table: CandidateTable, name: str, values: Values) -> CandidateTable:
    """Return candidates with what passages are worth as a signal."""
    if not values:
        return table
    column: NDArray[np.float64] = np.array([values.get(id_, 0.0) for id_ in table.ids])
    return replace(table, signals={**table.signals, name: column})
