"""Settings that texts mention: keys and variables, valid as long as a file other than prose has them."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from cm_tui.engine.code.history.revisions import snapshot_at
from cm_tui.engine.memory.mentions.report import Finding, Known, NameQuery
from cm_tui.engine.platform.git.encodings import decode
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking import tokens
from cm_tui.errors import CmError

# --- contents of current files and of earlier commits, within a budget, for looking up commands and settings ---

BUDGET = 96_000_000
"""Bytes of earlier contents to read at once; the rest is looked up the next time."""
_MOST_OF_FILE = 2_000_000
_FILES = "SELECT f.path, b.oid, b.language FROM {files} f JOIN blob b ON b.id = f.blob"
_EVERY_VERSION = "SELECT f.path, b.oid, f.from_ord, f.to_ord FROM file_span f JOIN blob b ON b.id = f.blob"


class File(NamedTuple):
    """A file at some commit, or now."""

    path: str
    oid: str
    language: str


class PathVersion(NamedTuple):
    """A content of some file, and the stretch of the mainline that had it."""

    path: str
    oid: str
    since: int
    until: int | None


class Contents:
    """Reads files of one store's past and present.

    `read_now`: reads a current file by path and object id; `seconds`: time limit for reading earlier contents.
    """

    def __init__(
        self, db: Database, repository: Repository, read_now: Callable[[str, str], str], seconds: float
    ) -> None:
        self._db = db
        self._repository = repository
        self._read_now = read_now
        self._left = BUDGET
        self._until = time.monotonic() + seconds
        self._at: dict[int, list[File]] = {}

    @property
    def is_exhausted(self) -> bool:
        """Return whether the budget is spent."""
        return self._left <= 0 or time.monotonic() > self._until

    def now(self) -> list[File]:
        """Return the current files."""
        return [File(*row) for row in self._db.rows(_FILES.format(files="now_file"))]

    def at(self, ordinal: int) -> list[File]:
        """Return the files at an ordinal that is known."""
        if ordinal not in self._at:
            self._at = {ordinal: [File(*row) for row in self._db.rows(_FILES.format(files=snapshot_at(ordinal)))]}
        return self._at[ordinal]

    def every_version(self) -> list[PathVersion]:
        """Return the contents that all files had."""
        return [PathVersion(*row) for row in self._db.rows(_EVERY_VERSION)]

    def versions(self, path: str) -> list[PathVersion]:
        """Return the contents that a file had, oldest first."""
        return [
            PathVersion(*row) for row in self._db.rows(f"{_EVERY_VERSION} WHERE f.path = ? ORDER BY f.from_ord", [path])
        ]

    def text_now(self, file: File) -> bytes:
        """Return the content of a current file; empty where it cannot be read."""
        try:
            return self._read_now(file.path, file.oid).encode("utf-8", "replace")
        except CmError:
            return b""

    def then(self, oid: str) -> bytes | None:
        """Return an earlier content; None: the budget is spent; empty: not in this clone, or too long."""
        if self._left <= 0:
            return None
        size = self._repository.size(oid) if self._repository.git else None
        if size is None or size > _MOST_OF_FILE:
            return b""
        self._left -= size
        return decode(self._repository.read(oid) or b"").text.encode()


# --- settings that texts mention: keys and variables, valid as long as a file other than prose has them ---

WAITS = -2
"""In place of an ordinal: the budget was spent before this was looked up."""
_MOST_PASSAGES = 400
"""Passages that are read for one word, at most."""
_PROSE = re.compile(
    r"\.(md|mdx|markdown|rst|txt|adoc|asciidoc|org|tex|po|pot)$|(^|/)(change|news|histor|release)[\w-]*(\.\w+)?$",
    re.IGNORECASE,
)
_SETTINGS_FILE = re.compile(
    r"\.(toml|ya?ml|jsonc?|json5|ini|cfg|conf|properties|env|editorconfig)$|(^|/)\.env[\w.]*$", re.IGNORECASE
)
_WORDS = re.compile(r"[A-Za-z][\w-]*")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""Written like a variable of the environment: looked for in all files, other words only in files of settings."""
_IN_ONE_PIECE = re.compile(r"[.-]")
"""In a key that is no word by itself."""
_RARE = """
SELECT w.word, d.termid, d.df FROM (SELECT unnest(?::VARCHAR[]) AS word, unnest(?::VARCHAR[]) AS term) w
JOIN fts_main_passage.dict d ON d.term = w.term
QUALIFY row_number() OVER (PARTITION BY w.word ORDER BY d.df, d.termid) = 1
"""
_PASSAGES = f"""
SELECT DISTINCT t.termid, p.id, p.path, p.text FROM fts_main_passage.terms t JOIN passage p ON p.id = t.docid
WHERE p.source = 'code' AND t.termid IN (SELECT unnest(?::BIGINT[]))
QUALIFY row_number() OVER (PARTITION BY t.termid ORDER BY p.path, p.id) <= {_MOST_PASSAGES}
"""  # noqa: S608 - a number


class SettingCheck:
    """Checks settings against the project's files.

    `contents`: reads files of earlier commits; `known`: the known part of history.
    """

    def __init__(self, db: Database, contents: Contents, known: Known) -> None:
        self._db = db
        self._contents = contents
        self._known = known
        self._said: dict[str, frozenset[str]] = {}
        """The words in each content."""

    def check(self, wanted: Iterable[NameQuery]) -> dict[NameQuery, Finding]:
        """Return a finding for each setting; a word that was found neither then nor now is omitted."""
        asked = list(dict.fromkeys(wanted))
        now = self._now(sorted({one.text for one in asked}))
        found = {one: Finding("alive", now[one.text]) for one in asked if one.text in now}
        left = sorted((one for one in asked if one.text not in now), key=lambda one: -one.until)
        for number, one in enumerate(left if self._known.first else ()):
            # At least one is looked up each time, so that all come to their end.
            finding = Finding("unknown", ordinal=WAITS) if number and self._contents.is_exhausted else self._then(one)
            if finding is not None:
                found[one] = finding
        return found

    def _now(self, words: Sequence[str]) -> dict[str, str]:
        """The current file with each word."""
        pairs = [(word, term) for word in words for piece in tokens.words(word) for term in tokens.split(piece)[:1]]
        if not pairs:
            return {}
        rarest = self._db.rows(_RARE, [[word for word, _ in pairs], [term for _, term in pairs]])
        texts: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for termid, _, path, text in self._db.rows(_PASSAGES, [sorted({termid for _, termid, _ in rarest})]):
            if not _kind_of(path)[0]:
                texts[termid].append((path, text))
        found = {}
        for word, termid, _ in rarest:
            path = next((path for path, text in texts[termid] if _says(path, text, word)), None)
            if path is not None:
                found[word] = path
        return found

    def _then(self, wanted: NameQuery) -> Finding | None:
        """What became of a missing word: the last commit that removed it from a file that had it then."""
        since, until = self._known.stretch(wanted.at, wanted.until)
        is_variable = _VARIABLE.fullmatch(wanted.text) is not None
        having = set[str]()
        for version in self._versions(is_variable):
            if version.since > until or (version.until is not None and version.until <= since):
                continue
            said = self._words_of(version.oid)
            if said is None:
                return Finding("unknown", ordinal=WAITS)
            if _is_mentioned(wanted.text, said):
                having.add(version.path)
        return self._removed(wanted.text, having, is_variable=is_variable) if having else None

    def _removed(self, word: str, having: Collection[str], *, is_variable: bool) -> Finding:
        last, where = 0, min(having)
        for version in self._versions(is_variable):
            if version.path not in having or version.until is None or version.until <= last:
                continue
            said = self._words_of(version.oid)
            if said is not None and _is_mentioned(word, said):
                last, where = version.until, version.path
        return Finding("gone", where, 0, "", last)

    def _versions(self, is_variable: bool) -> list[PathVersion]:
        """All contents of the files that may contain a variable, or another key."""
        return self._all if is_variable else self._of_settings

    @cached_property
    def _all(self) -> list[PathVersion]:
        return [one for one in self._contents.every_version() if not _kind_of(one.path)[0]]

    @cached_property
    def _of_settings(self) -> list[PathVersion]:
        return [one for one in self._all if _kind_of(one.path)[1]]

    def _words_of(self, oid: str) -> frozenset[str] | None:
        """The words in a content; None: the budget is spent."""
        if oid not in self._said:
            data = self._contents.then(oid)
            if data is None:
                return None
            self._said[oid] = frozenset(_WORDS.findall(data.decode("utf-8", "replace")))
        return self._said[oid]


def _is_mentioned(word: str, said: frozenset[str]) -> bool:
    """Whether each part of a key is among words; a variable has one."""
    return all(part in said for part in word.split("."))


@lru_cache(maxsize=1 << 15)
def _kind_of(path: str) -> tuple[bool, bool]:
    """Whether a file is prose, and whether it is one of settings."""
    return _PROSE.search(path) is not None, _SETTINGS_FILE.search(path) is not None


def _says(path: str, text: str, word: str) -> bool:
    """Whether a file contains a variable, or a key in one piece; part by part, or a plain word, only in a settings file.

    Code that has the key reads it, or it is no setting, such as a header or another package (`Content-Type`).
    """
    if _VARIABLE.fullmatch(word) or (not _kind_of(path)[1] and _IN_ONE_PIECE.search(word)):
        return _exists(text, word)
    if not _kind_of(path)[1]:
        return False
    return _exists(text, word) or ("." in word and all(_exists(text, part) for part in word.split(".")))


def _exists(text: str, word: str) -> bool:
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not _in_word(text[at - 1 : at]) and not _in_word(text[end : end + 1]):
            return True
        at = text.find(word, at + 1)
    return False


def _in_word(letter: str) -> bool:
    return letter == "_" or letter.isalnum()
