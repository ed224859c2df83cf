"""Pairs from a repository's history: what a commit says, and a function that it changed, as it was before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pygit2

from cm_tui.engine.code.parse.parse_blob import parse_blob
from cm_tui.engine.code.parse.records import ParsedSymbol
from cm_tui.engine.code.scan.languages import HEAD_BYTES, language_of
from cm_tui.engine.search.ranking.code_source import title_of
from tests.bench.questions.commits import changed, question_of
from tests.bench.questions.snapshot import is_source
from tests.bench.static_model.cleaning import is_answer, question
from tests.bench.static_model.pairs import Pair, passage
from tests.bench.static_model.sources import LARGEST

_MOST_FILES = 6
_MOST_FUNCTIONS = 4


def from_history(project: str, repository: pygit2.Repository, most: int) -> Iterator[Pair]:
    """Ask what the newest commits say that changed a few functions.

    Args:
        project: its name.
        repository: with some history.
        most: commits that are read.
    """
    walk = repository.walk(repository.head.target, pygit2.enums.SortMode.TOPOLOGICAL)
    plain = (commit for commit in islice(walk, 3 * most) if len(commit.parent_ids) == 1)
    for commit in islice(plain, most):
        said = question(question_of(commit.message))
        if not said or commit.parent_ids[0] not in repository:
            continue
        try:
            diff = repository.diff(commit.parents[0], commit, context_lines=0)
            found = list(islice(_functions(repository, diff), _MOST_FUNCTIONS + 1))
        except (KeyError, pygit2.GitError):
            continue  # a partial clone lacks some contents
        if len(found) <= _MOST_FUNCTIONS:
            for path, language, symbol, text in found:
                if is_answer(text):
                    title = title_of(symbol.qualname, symbol.signature)
                    yield Pair(project, language, "commit", said, path, title, text)


def _functions(repository: pygit2.Repository, diff: pygit2.Diff) -> Iterator[tuple[str, str, ParsedSymbol, str]]:
    """Functions that a commit changed, with their path, language and text; none of a mass edit."""
    patches = [patch for patch in diff if patch is not None and is_source(patch.delta.old_file.path)]
    if len(patches) > _MOST_FILES:
        return
    for patch in patches:
        path, oid = patch.delta.old_file.path, patch.delta.old_file.id
        if patch.delta.status_char() != "M" or oid not in repository:
            continue
        data = repository[oid].peel(pygit2.Blob).data
        language = language_of(path, data[:HEAD_BYTES])
        if not language or len(data) > LARGEST:
            continue
        blob = parse_blob(str(oid), language, data)
        lines = data.decode("utf-8", "replace").splitlines()
        symbols = {changed(blob.symbols, hunk, documents=False): None for hunk in patch.hunks}
        for symbol in symbols:
            if symbol is not None:
                yield path, language, symbol, passage(lines[symbol.start_line - 1 : symbol.end_line])
