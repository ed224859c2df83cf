"""Questions from the names of tests: what a test says in its name, and the function that it calls for it."""

from __future__ import annotations

from collections import defaultdict
from random import Random

from cm_tui.engine.code.parse.records import ParsedSymbol
from cm_tui.engine.search.ranking import tokens, traits
from tests.bench.corpora import Question, Target
from tests.bench.questions.snapshot import CALLABLES, Defined, Snapshot

_LEAST_WORDS = 3
_SAID = frozenset({"test", "tests", "should", "it", "spec", "case", "when", "testing", "check", "verify"})


def from_tests(snap: Snapshot, random: Random, most: int) -> list[Question]:
    """Ask the names of tests, and take these tests out of the snapshot; line numbers stay."""
    by_name: dict[str, list[Defined]] = defaultdict(list)
    for one in snap.definitions:
        if one.symbol.kind in CALLABLES:
            by_name[one.symbol.name].append(one)
    tests = [
        Defined(path, index, symbol)
        for path, blob in sorted(snap.parsed.items())
        if "tests" in traits.roles(path)
        for index, symbol in enumerate(blob.symbols)
        if symbol.kind in CALLABLES
    ]
    random.shuffle(tests)
    questions: list[Question] = []
    for test in tests:
        if len(questions) == most:
            break
        words = _words(test.symbol)
        if len(words) < _LEAST_WORDS:
            continue
        subject = _subject(snap, test, frozenset(map(tokens.stem, words)), by_name)
        if subject is not None:
            target = Target(subject.path, subject.symbol.start_line, subject.symbol.end_line)
            questions.append(Question(" ".join(words), "test", (target,)))
            _take_out(snap, test)
    return questions


def _words(symbol: ParsedSymbol) -> list[str]:
    pieces = tokens.parts(symbol.name)
    if not pieces or not (pieces[0] in {"test", "tests", "should", "it"} or pieces[-1] in {"test", "tests"}):
        return []
    return [piece for piece in pieces if piece not in _SAID and not piece.isdigit()]


def _subject(snap: Snapshot, test: Defined, asked: frozenset[str], by_name: dict[str, list[Defined]]) -> Defined | None:
    """Return the one function of the project that the test calls and whose name shares most words with the test's."""
    called = {row.name for row in snap.parsed[test.path].references if row.symbol == test.number and row.kind == "call"}
    shared = {
        name: len(asked & {tokens.stem(piece) for piece in tokens.parts(name)})
        for name in called
        if len(by_name.get(name, ())) == 1
    }
    best = max(shared.values(), default=0)
    names = [name for name, count in shared.items() if count == best]
    # A test whose every word is in the name would be a question for a name.
    if not best or len(names) > 1 or best == len(asked):
        return None
    return by_name[names[0]][0]


def _take_out(snap: Snapshot, test: Defined) -> None:
    lines = snap.lines(test.path)
    for row in range(test.symbol.start_line - 1, min(test.symbol.end_line, len(lines))):
        lines[row] = ""
    snap.files[test.path] = "\n".join(lines).encode()
