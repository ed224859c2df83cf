"""Questions from documents: the first sentence of a section, asked where that sentence is gone."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

from tests.bench.corpora import Question, Target
from tests.bench.questions.snapshot import Snapshot

_LEAST_WORDS, _MOST_WORDS = 5, 40
_LEAST_LINES = 4
"""Lines of text that a section has besides."""
_SENTENCE_END = re.compile(r"(?<=[.!?:])(?:\s|$)")
_MARKUP = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|`+|\*+|<[^>]+>")
_NO_TEXT = re.compile(r"^\s*(?:[-*+>|#`~<]|\d+[.)]|!\[|\[!|\[[^\]]+\]:|:|\.\.|=+$|-+$|import |```)")


def from_sections(snap: Snapshot, random: Random, most: int) -> list[Question]:
    """Ask first sentences of sections, and take these out of the snapshot; line numbers stay."""
    found = []
    for path, blob in sorted(snap.parsed.items()):
        starts = sorted(symbol.start_line for symbol in blob.symbols if symbol.kind == "section")
        lines = snap.lines(path)
        for symbol in blob.symbols:
            if symbol.kind == "section":
                end = min((start for start in starts if start > symbol.start_line), default=symbol.end_line + 1) - 1
                if (said := _first_sentence(lines, symbol.start_line, end)) is not None:
                    found.append((path, symbol.start_line, end, *said))
    often = Counter(one[-1] for one in found)
    random.shuffle(found)
    questions: list[Question] = []
    for path, start, end, first, last, text in found:
        if len(questions) == most:
            break
        if often[text] == 1:
            lines = snap.lines(path)
            lines[first:last] = [""] * (last - first)
            snap.files[path] = "\n".join(lines).encode()
            questions.append(Question(text, "section", (Target(path, start, end),)))
    return questions


def _first_sentence(lines: list[str], start: int, end: int) -> tuple[int, int, str] | None:
    """Return rows and text of a section's first sentence, where the sentence ends a line."""
    row = start
    while row < end and not lines[row].strip():
        row += 1
    if row >= end or _NO_TEXT.match(lines[row]):
        return None
    first, said = row, ""
    while row < end and lines[row].strip():
        said = f"{said} {lines[row].strip()}"
        row += 1
        if _SENTENCE_END.search(said.rstrip()[-1:]):
            break
    rest = sum(bool(line.strip()) for line in lines[row:end])
    text = " ".join(_MARKUP.sub(lambda match: match[1] or "", said).split()).rstrip(".:")
    if rest < _LEAST_LINES or not _LEAST_WORDS <= len(text.split()) <= _MOST_WORDS or not text.isascii():
        return None
    return first, row, text
