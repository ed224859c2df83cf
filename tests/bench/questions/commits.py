"""Questions from history: what a commit says, and the functions or sections that it changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import pygit2

from cm_tui.engine.code.parse.parse_blob import parse_blob
from cm_tui.engine.code.parse.records import ParsedSymbol
from cm_tui.engine.search.ranking import tokens, traits
from tests.bench.corpora import Question, Target
from tests.bench.questions.snapshot import CALLABLES, Snapshot, is_source

_DEPTH = 400
"""First-parent commits between the state that is asked and the newest."""
_MOST_FILES = 6
_MOST_TARGETS = 4
_LEAST_WORDS = 3
_BODY = 300
_LARGEST = 300_000
_PREFIX = re.compile(r"^(?:\[[^\]]{1,30}\]|\(?#\d+\)?|[a-z]+(?:\([^)]{1,40}\))?!?:|[\w./-]{1,40}:)\s*", re.IGNORECASE)
_REFERENCE = re.compile(
    r"\(?(?:(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|see|gh-?|pr|issue)\s*)?#\d+\)?|https?://\S+", re.IGNORECASE
)
_TRAILER = re.compile(
    r"^(?:[A-Z][\w-]+-by|Change-Id|Bug|Reviewed-on|PR-URL|Refs?|Fixes|Closes|Signed-off):", re.IGNORECASE
)
_CONTENTLESS = re.compile(
    r"^(?:merge|revert|bump|release|prepare|version|v?\d+\.\d|update (?:change|dep|readme|version|licen|copyright)|wip\b)"
    r"|\b(?:typos?|lint(?:er|ing)?|clippy|rubocop|prettier|reformat|formatting|whitespace|changelog|copyright|code style"
    r"|dependabot|renovate|dependenc(?:y|ies)|upgrade|spelling|grammar|wording|dead code|unused|warnings?|shellcheck|pre-commit|cleanups?|clean up|refactor(?:ing|ed)?)\b",
    re.IGNORECASE,
)


def base_of(repository: pygit2.Repository) -> tuple[pygit2.Commit, list[pygit2.Commit]]:
    """Return the commit whose state is asked about, and the commits made since, oldest first."""
    newest = repository[repository.head.target].peel(pygit2.Commit)
    line = [newest]
    # What a shallow clone lacks is where its line ends.
    while len(line) < 2 * _DEPTH and line[-1].parent_ids and line[-1].parent_ids[0] in repository:
        line.append(line[-1].parents[0])
    base = line[min(_DEPTH, len(line) // 2)]
    since = repository.walk(newest.id, pygit2.enums.SortMode.TOPOLOGICAL | pygit2.enums.SortMode.REVERSE)
    since.hide(base.id)
    return base, list(since)


def from_commits(
    repository: pygit2.Repository, commits: list[pygit2.Commit], snap: Snapshot, most: int
) -> Iterator[Question]:
    """Ask what commits say; the answer is the functions that they changed, where these are still as in the snapshot."""
    yield from islice(_Asking(repository, snap).about(commits, documents=False), most)


def from_document_commits(
    repository: pygit2.Repository, commits: list[pygit2.Commit], snap: Snapshot, most: int
) -> Iterator[Question]:
    """Ask what commits say that change documents alone; the answer is the section."""
    yield from islice(_Asking(repository, snap).about(commits, documents=True), most)


class _Asking:
    """Finds what commits changed, in terms of the snapshot's lines."""

    def __init__(self, repository: pygit2.Repository, snap: Snapshot) -> None:
        self._repository = repository
        self._snap = snap

    def about(self, commits: list[pygit2.Commit], *, documents: bool) -> Iterator[Question]:
        seen = set()
        for commit in commits:
            text = question_of(commit.message)
            if not text or len(commit.parents) != 1 or text in seen:
                continue
            try:
                diff = self._repository.diff(commit.parents[0], commit, context_lines=0)
                targets = self._targets([patch for patch in diff if patch is not None], documents)
            except (KeyError, pygit2.GitError):
                continue  # a partial clone lacks some contents
            if targets:
                seen.add(text)
                yield Question(text, "document" if documents else "commit", targets)

    def _targets(self, patches: list[pygit2.Patch], documents: bool) -> tuple[Target, ...]:
        if documents:
            if not all("docs" in traits.roles(patch.delta.new_file.path) for patch in patches):
                return ()
        else:
            # What goes with a change, such as tests and change logs, answers nothing.
            patches = [patch for patch in patches if is_source(patch.delta.old_file.path)]
        if not 0 < len(patches) <= _MOST_FILES:
            return ()
        found: dict[Target, None] = {}
        for patch in patches:
            path = patch.delta.old_file.path
            if path not in self._snap.files:
                return ()
            before = self._parsed(path, patch.delta.old_file.id)
            for hunk in patch.hunks:
                edited = changed(before, hunk, documents=documents)
                if edited is None:
                    continue
                same = self._same(path, edited)
                if same is None:
                    return ()
                found[_whole(path, same, self._snap.parsed[path].symbols)] = None
        return tuple(found) if 0 < len(found) <= _MOST_TARGETS else ()

    def _parsed(self, path: str, oid: pygit2.Oid) -> list[ParsedSymbol]:
        if self._snap.oids[path] == str(oid):
            return self._snap.parsed[path].symbols
        data = self._repository[oid].peel(pygit2.Blob).data
        return parse_blob(str(oid), self._snap.parsed[path].language, data[:_LARGEST]).symbols

    def _same(self, path: str, changed: ParsedSymbol) -> ParsedSymbol | None:
        """Return the symbol of the snapshot that was changed; None where it was not as it is there."""
        for symbol in self._snap.parsed[path].symbols:
            if (symbol.qualname, symbol.kind, symbol.body) == (changed.qualname, changed.kind, changed.body):
                return symbol
        return None


def changed(symbols: list[ParsedSymbol], hunk: pygit2.DiffHunk, *, documents: bool) -> ParsedSymbol | None:
    """Return the innermost function (or section) that holds a change."""
    start = max(hunk.old_start, 1)
    end = start + hunk.old_lines - 1 if hunk.old_lines else start + 1 - documents
    kinds = {"section"} if documents else CALLABLES
    inside = [s for s in symbols if s.kind in kinds and s.start_line <= start and (end <= s.end_line or documents)]
    inside = [s for s in inside if start <= s.end_line]
    return min(inside, key=lambda s: s.end_line - s.start_line, default=None)


def _whole(path: str, symbol: ParsedSymbol, symbols: list[ParsedSymbol]) -> Target:
    """Return the lines of a symbol; of a section, as far as its first subsection."""
    if symbol.kind != "section":
        return Target(path, symbol.start_line, symbol.end_line)
    below = [s.start_line for s in symbols if symbol.start_line < s.start_line <= symbol.end_line]
    return Target(path, symbol.start_line, min(below, default=symbol.end_line + 1) - 1)


def question_of(message: str) -> str:
    """Return what a commit's message says, as a question; empty when it says nothing of the code."""
    subject, _, body = message.strip().partition("\n")
    if _CONTENTLESS.search(subject):
        return ""
    while (match := _PREFIX.match(subject)) is not None:
        subject = subject[match.end() :]
    subject = _REFERENCE.sub("", subject).strip(" .-:;")
    if len(tokens.content_words(subject)) < _LEAST_WORDS:
        return ""
    lines = [line.strip() for line in body.strip().split("\n\n")[0].splitlines()]
    said = " ".join(
        line for line in lines if line and not _TRAILER.match(line) and not line.startswith(("*", "-", "```"))
    )
    said = _REFERENCE.sub("", said).strip()
    if said and not _CONTENTLESS.search(said):
        subject = f"{subject}. {said[:_BODY]}"
    return " ".join(subject.split())
