"""Places named in a report: frames of its traces, and the code that writes its error messages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.candidate_table import CandidateTable
from cm_tui.engine.search.ranking.frames import Frame
from cm_tui.engine.search.ranking.keyword import KeywordIndex, best_positions
from cm_tui.engine.search.ranking.passage_cache import PassageCache, PassageRecord
from cm_tui.engine.search.ranking.report import Report
from cm_tui.model import CODE

_FRAMES = 12
"""Most frames in the project to use; outer ones are less relevant."""
_OUTER = 0.8
"""What each frame counts of the one inside it."""
_CUT = 0.5
"""What the frames of a trace count whose innermost one is missing."""
_FILE_ALONE = 0.4
"""Share of a passage that is in the file of a frame, where neither function nor line is its own."""
_WHOLE_FILES = 2
"""Frames whose whole file counts; of further ones that costs time, and changes nothing."""
_MESSAGES = 6
_LEAST_WORDS = 3
"""Consecutive words that identify a message; fewer occur anywhere."""
_ENOUGH_WORDS = 6
"""Consecutive words that are unique."""
_EVERYWHERE = 12
"""Number of passages with the same words from which on they are not telling."""
_COMPARED = 16
"""Most passages to compare word by word, those with the rarest words of the message first."""
_ERROR_NAME = re.compile(r"^\s*[\w.:]*(?:Error|Exception|Warning)\b:?")

Values = Mapping[int, float]
"""What passages are worth, from 0 to 1, by id."""


def framed(records: PassageCache, report: Report) -> Values:
    """Return passages of the frames of a trace, the innermost project file first, then of named files.

    Args:
        records: data on passages.
        report: with the frames and the paths.
    """
    frames = (*report.frames, *(Frame(path, 0, "") for path in report.paths()))
    names = {frame.path.rpartition("/")[2] for frame in frames}
    known = records.called(sorted(names)) if names else {}
    own = [
        (frame, path)
        for frame in frames
        if (path := _matching_file(frame.path, known.get(frame.path.rpartition("/")[2], ())))
    ][:_FRAMES]
    found: dict[int, float] = {}
    passages: dict[str, list[PassageRecord]] = defaultdict(list)
    for one in records.get(records.at([path for _, path in own]).tolist()) if own else ():
        passages[one.path].append(one)
    for number, (frame, path) in enumerate(own):
        worth = _OUTER**number * (_CUT if report.is_cut and frame in report.frames else 1.0)
        inside = _of_frame(passages[path], frame)
        for one in passages[path] if number < _WHOLE_FILES or not inside else inside:
            found[one.id] = max(found.get(one.id, 0.0), worth if one in inside else _FILE_ALONE * worth)
    return found


def _matching_file(path: str, known: Sequence[str]) -> str:
    """The file for a path of another machine: the one with the longest common ending; empty: none, or several."""
    pieces = path.split("/")[::-1]

    def shared(one: str) -> int:
        pairs = zip(pieces, one.split("/")[::-1], strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    best = sorted(known, key=lambda one: (-shared(one), one))[:2]
    if not best or (len(best) > 1 and shared(best[0]) == shared(best[1])):
        return ""
    # A name such as `utils.py` alone may be that of a library.
    return best[0] if shared(best[0]) > 1 or len(pieces) == 1 or "/" not in best[0] else ""


def _of_frame(passages: Sequence[PassageRecord], frame: Frame) -> list[PassageRecord]:
    """Passages of a frame: those of its function, nearest to its line; else those of its line."""
    function = frame.function
    named = [
        one
        for one in passages
        if function
        and function in {one.owner and one.owner.qualname.rpartition(".")[2], *(its.name for its in one.definitions)}
    ]
    if len(named) > 1 and frame.line:
        nearest = min(named, key=lambda one: max(one.start_line - frame.line, frame.line - one.end_line, 0))
        return [nearest]
    return named or [one for one in passages if one.start_line <= frame.line <= one.end_line]


def quoting(index: KeywordIndex, records: PassageCache, report: Report) -> Values:
    """Return passages with consecutive words of an error message, without its values.

    Args:
        index: the keyword index.
        records: data on passages.
        report: with the messages.
    """
    found: dict[int, float] = {}
    texts: dict[int, str] = {}
    for words in _messages(report)[-_MESSAGES:]:
        documents, terms = index.documents_and_terms([term for word in words for term in tokens.split(word)], CODE)
        worth = np.zeros(len(documents.ids))
        for term in terms:
            worth[term.postings.documents] += term.idf
        ids = documents.ids[best_positions(worth, _COMPARED)].tolist()
        texts |= {one.id: _words(one.text) for one in records.get([id_ for id_ in ids if id_ not in texts])}
        runs = {id_: _longest_run(words, texts[id_]) for id_ in ids if id_ in texts}
        longest = max(runs.values(), default=0)
        holding = [id_ for id_, run in runs.items() if run == longest]
        if longest < _LEAST_WORDS or len(holding) > _EVERYWHERE:
            continue
        for id_ in holding:
            found[id_] = max(found.get(id_, 0.0), min(1.0, longest / _ENOUGH_WORDS) / len(holding) ** 0.5)
    return found


def _messages(report: Report) -> list[list[str]]:
    """Words of the title and of each message; the last one names the error."""
    texts = (report.title, *report.texts("error"))
    return [found for text in texts if len(found := _words(_ERROR_NAME.sub(" ", text)).split()) >= _LEAST_WORDS]


def _words(text: str) -> str:
    """The words of a text in lower case, each between spaces."""
    return f" {' '.join(tokens.words(text)).lower()} "


def _longest_run(words: Sequence[str], own: str) -> int:
    """Number of consecutive words that a text has in common with a message; short words alone do not count.

    Args:
        words: of the message.
        own: the text's words, as from `_words`.
    """

    def run(first: int, size: int) -> str:
        return f" {' '.join(words[first : first + size])} "

    size = 0
    starts: list[int] = []
    for first in range(len(words)):
        if first + size > len(words) or run(first, size or 1) not in own:
            continue
        longer = size or 1
        while first + longer < len(words) and run(first, longer + 1) in own:
            longer += 1
        starts = [*starts, first] if longer == size else [first]
        size = longer
    first = min(starts, key=lambda start: own.find(run(start, size)), default=0)
    return size if any(len(word) > 3 for word in words[first : first + size]) else 0


def with_signal(table: CandidateTable, name: str, values: Values) -> CandidateTable:
    """Return candidates with what passages are worth as a signal."""
    if not values:
        return table
    column: NDArray[np.float64] = np.array([values.get(id_, 0.0) for id_ in table.ids])
    return replace(table, signals={**table.signals, name: column})
