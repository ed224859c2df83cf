"""Questions from documentation comments: what a comment says, asked where the comment is gone."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

from tests.bench.corpora import Question, Target
from tests.bench.questions.snapshot import Defined, Snapshot

_ABOVE = 60
"""Lines above a definition in which its documentation may stand."""
_LEAST_WORDS, _MOST_WORDS = 4, 40
_SENTENCE = re.compile(r"(?<=[.!?])\s|\n\s*\n|\n\s*[@:\\\-*]")
_TAGS = re.compile(r"<[^>]{1,60}>|\{@\w+\s+([^}]*)\}|`+|\[\[?|\]\]?")
_OUT = re.compile(
    r"^(?:@|todo|fixme|deprecated|see\b|copyright|inheritdoc|\{@inherit|eslint|nolint|ts-)", re.IGNORECASE
)


def from_comments(snap: Snapshot, random: Random, most: int) -> list[Question]:
    """Ask the first sentence of comments, and take these comments out of the snapshot; line numbers stay.

    Args:
        snap: its files are changed.
        random: chooses.
        most: questions.
    """
    asked = [(one, text) for one in snap.definitions if (text := _first_sentence(one))]
    often = Counter(text for _, text in asked)
    random.shuffle(asked)
    questions: list[Question] = []
    for one, text in asked:
        if len(questions) == most:
            break
        if often[text] == 1 and _take_out(snap, one):
            questions.append(Question(text, "comment", (Target(one.path, one.symbol.start_line, one.symbol.end_line),)))
    return questions


def _first_sentence(one: Defined) -> str:
    text = _SENTENCE.split(one.symbol.doc.strip(), maxsplit=1)[0]
    text = " ".join(_TAGS.sub(lambda match: match[1] or "", text).split())
    words = text.split()
    # Go's comments begin with the name itself.
    if words and words[0].strip("`*()") == one.symbol.name:
        words = words[1:]
    if not _LEAST_WORDS <= len(words) <= _MOST_WORDS or _OUT.match(text) or not text.isascii():
        return ""
    return " ".join(words).rstrip(".")


def _take_out(snap: Snapshot, one: Defined) -> bool:
    """Remove the text of a comment, and leave its marks and its lines; false when it cannot be found."""
    lines = snap.lines(one.path)
    first = max(0, one.symbol.start_line - 1 - _ABOVE)
    last = min(len(lines), one.symbol.end_line)
    wanted = [text for line in one.symbol.doc.splitlines() if len(text := line.strip()) > 3]
    gone = 0
    for text in wanted:
        for row in range(first, last):
            at = lines[row].find(text)
            if at >= 0:
                lines[row] = lines[row][:at] + lines[row][at + len(text) :]
                gone += 1
                break
    if not wanted or gone < len(wanted):
        return False
    snap.files[one.path] = "\n".join(lines).encode()
    return True
