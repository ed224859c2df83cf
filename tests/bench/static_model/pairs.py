"""Pairs of question and answer from one file; an answer is laid out as a passage of the index is embedded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from cm_tui.engine.code.parse.chunks import MAX_CHARS, MAX_LINES
from cm_tui.engine.code.parse.parse_blob import parse_blob
from cm_tui.engine.code.parse.records import ParsedSymbol
from cm_tui.engine.search.ranking import tokens, traits
from cm_tui.engine.search.ranking.code_source import title_of
from tests.bench.questions.snapshot import CALLABLES, TYPES, is_source
from tests.bench.static_model.cleaning import is_answer, paragraphs, question, sentences
from tests.bench.static_model.sources import SourceFile


class Pair(NamedTuple):
    """A question and the passage that answers it."""

    project: str
    language: str
    kind: str
    question: str
    path: str
    """Empty where the answer is prose that stands by itself."""
    title: str
    text: str


KINDS = ("comment", "name", "inner", "section", "heading", "prose", "commit")
_COMMENT_LINE = re.compile(r"^\s*(?:#|//|--|;+|%+|\*)\s+(\S.*)$")
_MOST_INNER = 2
_LEAST_INNER = 5
"""Words of a comment within a function."""
_INNER_LINES = 12
_LEAST_LINES = 3
_LEAST_REST = 12
"""Words that follow a first sentence where both are a pair of prose."""
_NO_PROSE = re.compile(r"^\s*(?:[>|#~<+=:]|\.\.|```|---|\[[^\]]+\]:|!\[)")


def pairs_of(project: str, file: SourceFile, random: Random) -> Iterator[Pair]:
    """Make all pairs of one file.

    Args:
        project: its name.
        file: what is read.
        random: decides between a first sentence and a whole paragraph, and how many names are asked.
    """
    blob = parse_blob(file.path, file.language, file.data)
    if blob.generated:
        return
    lines = file.data.decode("utf-8", "replace").splitlines()
    if any(symbol.kind == "section" for symbol in blob.symbols):
        found = _from_sections(blob.symbols, lines)
    else:
        found = _from_code(file.path, blob.symbols, lines, random)
    for kind, asked, title, text in found:
        if asked and is_answer(text):
            yield Pair(project, file.language, kind, asked, "" if kind == "prose" else file.path, title, text)


_Found = Iterator[tuple[str, str, str, str]]


def _from_code(path: str, symbols: Sequence[ParsedSymbol], lines: list[str], random: Random) -> _Found:
    if not is_source(path) and "tests" not in traits.roles(path):
        return
    for symbol in symbols:
        if symbol.kind not in CALLABLES and symbol.kind not in TYPES:
            continue
        own = lines[symbol.start_line - 1 : symbol.end_line]
        title = title_of(symbol.qualname, symbol.signature)
        asked = ""
        if symbol.doc:
            own = _without(own, symbol.doc)
            said = paragraphs(symbol.doc)
            asked = _first(said[0], random) if said else ""
            yield "comment", _without_name(asked, symbol.name), title, passage(own)
            yield "prose", asked, "", " ".join(said[1:4]) if len(" ".join(said[1:4]).split()) >= _LEAST_REST else ""
        if symbol.kind in CALLABLES:
            if len(own) >= _LEAST_LINES and (not asked or random.random() < 0.2):
                yield "name", _name_words(symbol.name), "", _nameless(passage(own), symbol.name)
            yield from _inner(own, title)


def passage(lines: Sequence[str]) -> str:
    """Return lines as far as one passage reaches."""
    return "\n".join(lines[:MAX_LINES])[:MAX_CHARS]


def _first(paragraph: str, random: Random) -> str:
    return question(paragraph if random.random() < 0.5 else sentences(paragraph)[0])


def _without(lines: list[str], doc: str) -> list[str]:
    """Return lines of code without those of a documentation comment."""
    said = {text for line in doc.splitlines() if len(text := line.strip()) > 2}
    kept = [line for line in lines if not any(text in line for text in said)] if said else lines
    return [line for line in kept if line.strip(" \t\"'/*#!") or not line.strip()]


def _without_name(asked: str, name: str) -> str:
    """Return a question without the name that Go's comments begin with."""
    first, _, rest = asked.partition(" ")
    return rest if first.strip("`*()") == name else asked


def _name_words(name: str) -> str:
    words = [word for word in tokens.parts(name) if not word.isdigit() and word not in {"test", "tests", "should"}]
    return " ".join(words) if len(words) >= 2 and all(map(str.isascii, words)) else ""


def _nameless(text: str, name: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "", text)


def _inner(lines: list[str], title: str) -> _Found:
    """Comments within a function, and the lines below them."""
    count = row = 0
    while row < len(lines) and count < _MOST_INNER:
        first = row
        said = []
        while row < len(lines) and (match := _COMMENT_LINE.match(lines[row])):
            said.append(match[1])
            row += 1
        if row == first:
            row += 1
            continue
        below = lines[row : row + _INNER_LINES]
        blank = next((at for at, line in enumerate(below) if not line.strip() or _COMMENT_LINE.match(line)), len(below))
        if first and blank >= 2 and len(" ".join(said).split()) >= _LEAST_INNER:
            count += 1
            yield "inner", question(" ".join(said)), title, "\n".join(below[:blank])


def _from_sections(symbols: Sequence[ParsedSymbol], lines: list[str]) -> _Found:
    starts = sorted(symbol.start_line for symbol in symbols)
    for symbol in symbols:
        end = min((start for start in starts if start > symbol.start_line), default=symbol.end_line + 1) - 1
        own = lines[symbol.start_line : end]
        if symbol.kind != "section" or sum(bool(line.strip()) for line in own) < _LEAST_LINES:
            continue
        yield "heading", question(symbol.name), "", passage(own)
        plain = [part for part in "\n".join(own).split("\n\n") if part.strip() and not _NO_PROSE.match(part)]
        if not plain:
            continue
        said = sentences(" ".join(plain[0].split()))
        rest = "\n".join(own).replace(plain[0], " ".join(said[1:]), 1).split("\n")
        yield "section", question(said[0]), title_of(symbol.qualname, symbol.signature), passage(rest)
        for part in plain[1:4]:
            first, *others = sentences(" ".join(part.split()))
            if len(" ".join(others).split()) >= _LEAST_REST:
                yield "prose", question(first), "", " ".join(others)[:MAX_CHARS]
