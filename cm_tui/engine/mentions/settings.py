"""Settings that texts name: keys and variables, alive as long as the word stands in a file that is no prose."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from cm_tui.engine.mentions.contents import Contents, File
from cm_tui.engine.mentions.finding import Finding, Known, Wanted
from cm_tui.engine.search import tokens
from cm_tui.engine.store.database import Database

WAITS = -2
"""In place of an ordinal: the budget was spent before this was looked up."""
_MOST_PASSAGES = 400
"""Passages that are read for one word, at most."""
_MOST_FILES = 20
"""Files that had a word, whose versions are read to see when they lost it."""
_PROSE = re.compile(
    r"\.(md|mdx|markdown|rst|txt|adoc|asciidoc|org|tex|po|pot)$|(^|/)(change|news|histor|release)[\w-]*(\.\w+)?$",
    re.IGNORECASE,
)
_SETTINGS_FILE = re.compile(
    r"\.(toml|ya?ml|jsonc?|json5|ini|cfg|conf|properties|env|editorconfig)$|(^|/)\.env[\w.]*$", re.IGNORECASE
)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
"""Written like a variable of the environment: looked for in all files, other keys only in files of settings."""
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
    """Checks words of settings against the project's files.

    Args:
        db: the store.
        contents: reads files of earlier commits.
        known: how far history tells.
    """

    def __init__(self, db: Database, contents: Contents, known: Known) -> None:
        self._db = db
        self._contents = contents
        self._known = known
        self._words: list[str] = []
        self._said: dict[str, frozenset[str]] = {}
        """Which of the words each content says."""

    def check(self, wanted: Iterable[Wanted]) -> dict[Wanted, Finding]:
        """Return what became of each setting; a word that stood nowhere then, nor does now, is left out."""
        asked = list(dict.fromkeys(wanted))
        now = self._now(sorted({one.name for one in asked}))
        found = {one: Finding("alive", now[one.name]) for one in asked if one.name in now}
        left = sorted((one for one in asked if one.name not in now), key=lambda one: -one.until)
        self._words = sorted({one.name for one in left})
        for one in left if self._known.first else ():
            finding = self._then(one)
            if finding is not None:
                found[one] = finding
        return found

    def _now(self, words: Sequence[str]) -> dict[str, str]:
        """The file in which each word stands now."""
        pairs = [(word, term) for word in words for piece in tokens.words(word) for term in tokens.split(piece)[:1]]
        if not pairs:
            return {}
        rarest = self._db.rows(_RARE, [[word for word, _ in pairs], [term for _, term in pairs]])
        texts: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for termid, _, path, text in self._db.rows(_PASSAGES, [sorted({termid for _, termid, _ in rarest})]):
            if not _PROSE.search(path):
                texts[termid].append((path, text))
        found = {}
        for word, termid, _ in rarest:
            path = next((path for path, text in texts[termid] if _says(path, text, word)), None)
            if path is not None:
                found[word] = path
        return found

    def _then(self, wanted: Wanted) -> Finding | None:
        """What became of a word that stands nowhere now."""
        since, until = self._known.stretch(wanted.since, wanted.until)
        for ordinal in dict.fromkeys((until, since)):
            having = []
            for file in self._contents.at(ordinal):
                if not self._may_say(file.path, wanted.name):
                    continue
                said = self._of(file)
                if said is None:
                    return Finding("unknown", ordinal=WAITS)
                if wanted.name in said:
                    having.append(file)
            if having:
                return self._gone(wanted.name, having[:_MOST_FILES])
        return None

    @staticmethod
    def _may_say(path: str, word: str) -> bool:
        return not _PROSE.search(path) and (
            _VARIABLE.fullmatch(word) is not None or _SETTINGS_FILE.search(path) is not None
        )

    def _gone(self, word: str, having: Sequence[File]) -> Finding:
        last, where = 0, having[0].path
        for file in having:
            for version in reversed(self._contents.versions(file.path)):
                said = self._of(File(file.path, version.oid, ""))
                if said is not None and word in said:
                    if (version.until or 0) > last:
                        last, where = version.until or 0, file.path
                    break
        return Finding("gone", where, 0, "", last)

    def _of(self, file: File) -> frozenset[str] | None:
        """Which of the words a content says; None where the budget is spent."""
        if file.oid not in self._said:
            data = self._contents.then(file.oid)
            if data is None:
                return None
            text = data.decode("utf-8", "replace")
            self._said[file.oid] = frozenset(word for word in self._words if _says(file.path, text, word))
        return self._said[file.oid]


def _says(path: str, text: str, word: str) -> bool:
    """Whether a file says a variable, or, of a file of settings, a key: in one piece or part by part."""
    if _VARIABLE.fullmatch(word):
        return _stands(text, word)
    if _SETTINGS_FILE.search(path) is None:
        return False
    return _stands(text, word) or ("." in word and all(_stands(text, part) for part in word.split(".")))


def _stands(text: str, word: str) -> bool:
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not _in_word(text[at - 1 : at]) and not _in_word(text[end : end + 1]):
            return True
        at = text.find(word, at + 1)
    return False


def _in_word(letter: str) -> bool:
    return letter == "_" or letter.isalnum()
