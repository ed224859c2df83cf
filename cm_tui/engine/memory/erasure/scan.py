"""The scan for possible secrets in stored data, and the small files next to journals and stores."""

from __future__ import annotations

import json
import os
import re
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from cm_tui import counts, paths
from cm_tui.engine.memory.entries import entry_backup
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.erasure.selection import kinds_in, located, texts_of_problem
from cm_tui.engine.memory.importers.project import formats_of
from cm_tui.engine.memory.transcripts import copies
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.erasure import ERASING
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.find import find
from cm_tui.engine.platform.redaction.redact import redact, texts_of, with_texts
from cm_tui.engine.platform.redaction.strength import is_random
from cm_tui.engine.platform.store.database import Database
from cm_tui.files import SUFFIX, write_atomically
from cm_tui.model import SecretFinding, SecretsReport
from cm_tui.state_file import read_object, reported

# --- small files next to journals and stores: logs, caches of facts, the application's state ---

_TEXTS = (".json", ".log", ".md", ".txt")
_BINARY = ("vectors.", ".duckdb")
_WORD = re.compile(r"\w")
_LARGEST = 64_000_000
_ORIGINALS = "agents"
_BENCH = "bench"
_IMPORTS = "imports"
_CURSORS = "hook"
"""Folder of the places up to which journals were read."""
_KEPT_NOTES = ("note-changes", "note-conflicts")
"""Folders of notes that were deleted, and of lines that another program saved over."""
_SHORTEST, _FEWEST = 8, 5
"""Characters, and different ones, of a value that is no ordinary word by its look alone."""


def files(store: Path | None) -> Iterator[Path]:
    """Yield the files with people's and agents' words: all of them can be redacted.

    `store`: folder of a project's store; None: those of all projects.
    """
    yield from _below(paths.state_dir(), without={_ORIGINALS, _BENCH, _CURSORS, copies.FOLDER})
    # Positions in transcripts: with kinds of records and ids of sessions.
    yield from (file for folder in (paths.data_dir() / "journal").glob(f"*/{_IMPORTS}") for file in _in(folder))
    # Copies of the user's texts, while they can be restored.
    yield from (file for name in _KEPT_NOTES for file in _in(paths.data_dir() / name))
    # The daemon's own notes hold its token, which is good for this machine and as long as it runs.
    for folder in (paths.data_dir() / "run", *_folders(store)):
        yield from (file for file in _in(folder) if _is_log(file))


def bookkeeping(store: Path | None) -> Iterator[Path]:
    """Yield the files that locate data of cm: they contain paths and names, and are scanned, but never changed.

    `store`: folder of a project's store; None: those of all projects.
    """
    yield from _in(paths.state_dir() / _CURSORS)
    for folder in _folders(store):
        yield from (file for file in _in(folder) if not _is_log(file))


def _folders(store: Path | None) -> list[Path]:
    data = paths.data_dir()
    stores = [store] if store is not None else sorted((data / "projects").glob("*"))
    return [data, data / "journal", *stores]


def originals_folder() -> Path:
    """Return the folder of agents' settings as they were."""
    return paths.state_dir() / _ORIGINALS


def originals() -> Iterator[Path]:
    """Yield the files that hold agents' settings as they were."""
    yield from _in(originals_folder())


def texts(file: Path) -> Iterator[str]:
    """Yield the texts of a file: those of its JSON, else all of it; empty if unreadable."""
    try:
        text = _read(file)
    except OSError:
        return
    parsed = _parsed(file, text)
    if parsed is None:
        yield text
    else:
        yield from texts_of(parsed)


def clean(file: Path, secrets: Collection[str] | None) -> bool:
    """Redact secrets in a file; return whether there were any.

    A log is overwritten in place, as a process may have it open; other files are replaced. `secrets`: these; None: all
    recognised ones. Raises StoreError if it cannot be written.
    """
    with reported(file, "clean"), suppress(FileNotFoundError):
        text = _read(file)
        parsed = _parsed(file, text)
        if parsed is None:
            return _overwrite(file, text, secrets)
        changed = with_texts(parsed, changing(secrets), names=file.parent.name == _IMPORTS)
        if changed != parsed:
            write_atomically(file, json.dumps(changed), durable=True)
            return True
    return False


def changing(secrets: Collection[str] | None) -> Callable[[str], str]:
    """Return what takes secrets out of a text. `secrets`: these; None: all that looks like one."""

    def without(text: str) -> str:
        for start, end in reversed(_places(text, secrets or ())):
            text = f"{text[:start]}[erased]{text[end:]}"
        return text

    return (lambda text: redact(text).text) if secrets is None else without


def forget_copied_text(said: Collection[str]) -> None:
    """Remove the text that the application copied last, if it repeats erased texts.

    Raises StoreError if it cannot be read or removed.
    """
    file = paths.clipboard_file()
    with reported(file, "remove"), suppress(FileNotFoundError):
        text = _read(file)
        if any(one in text for one in said if len(one) >= _SHORTEST):
            file.unlink()


def _overwrite(file: Path, text: str, secrets: Collection[str] | None) -> bool:
    spans = [(one.start, one.end) for one in find(text)] if secrets is None else _places(text, secrets)
    if not spans:
        return False
    with file.open("r+b") as stream:
        for start, end in spans:
            stream.seek(_size(text[:start]))
            stream.write(b"*" * _size(text[start:end]))
        stream.flush()
        os.fsync(stream.fileno())
    return True


def _places(text: str, secrets: Collection[str]) -> list[tuple[int, int]]:
    """Return where a text holds secrets, in order and apart from each other.

    A short one may be an ordinary word: it counts only where it looks like a secret in this text too.
    """
    told = [value for value in secrets if len(value) >= _SHORTEST and len(set(value)) >= _FEWEST]
    spans = [found.span() for value in told for found in _pattern(value).finditer(text)]
    if len(told) < len(secrets):
        spans += [(one.start, one.end) for one in find(text) if text[one.start : one.end] in secrets]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


@lru_cache(maxsize=1_000)
def _pattern(value: str) -> re.Pattern[str]:
    """Return a pattern for a value: a random one may be anywhere, any other must not be part of a longer word."""
    if is_random(value):
        return re.compile(re.escape(value))
    # The letter of an escaped line end belongs to no word.
    begin = r"(?:(?<!\w)|(?<=\\[nrt]))" if _WORD.match(value[0]) else ""
    return re.compile(begin + re.escape(value) + (r"(?!\w)" if _WORD.match(value[-1]) else ""))


def _read(file: Path) -> str:
    with file.open("rb") as stream:
        # Invalid bytes are preserved, so that places in the text are places in the file.
        return stream.read(_LARGEST).decode("utf-8", "surrogateescape")


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _parsed(file: Path, text: str) -> Any:
    if file.suffix != ".json":
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _below(folder: Path, without: Collection[str]) -> Iterator[Path]:
    yield from _in(folder)
    for below in sorted(path for path in folder.glob("*") if path.is_dir() and not path.is_symlink()):
        if below.name not in without:
            yield from _below(below, ())


def _in(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(
            path for path in folder.iterdir() if path.is_file() and not path.is_symlink() and _is_text(path)
        )


def _is_log(file: Path) -> bool:
    return ".log" in file.name


def _is_text(file: Path) -> bool:
    # A rotated log ends in a number; a killed process's file ends in the suffix of new files.
    left_over = file.name.endswith(SUFFIX) and not any(part in file.name for part in _BINARY)
    return file.suffix in _TEXTS or ".log." in file.name or left_over


# --- the scan for possible secrets in journal, index, logs and remembered choices, by the current patterns ---

_ROWS = 2_000


def scan(
    journal: Journal | None, db: Database | None, store: Path | None, entries: Entries | None = None
) -> SecretsReport:
    """Scan the stored data of a project, or of all.

    `journal`: of the project; None: skip it. `db`: its store, if it is open. `store`: folder of its store; None: the
    small files of all projects. `entries`: the project's, if its folder is known. Raises StoreError if something cannot
    be read.
    """
    findings = [*scan_journal(journal), *scan_archive(journal)] if journal is not None else []
    in_source = 0
    if db is not None:
        of_index, in_source = scan_index(db)
        findings += of_index
    if entries is not None:
        for file, texts in entry_backup.texts(entries):
            findings += [SecretFinding("file", str(file), kind, count) for kind, count in kinds_in(texts).items()]
        findings += _in_files(entry_backup.set_aside(entries))
    of_files, notes = scan_files(store)
    interrupted = journal is not None and bool(ERASING.names(journal))
    return SecretsReport((*findings, *of_files), in_source, tuple(notes), interrupted)


def scan_journal(journal: Journal) -> Iterator[SecretFinding]:
    """Yield the text of a journal, line by line. Raises StoreError if it cannot be read."""
    for line in located(journal, START, torn=True):
        found = line.found
        file = str(journal.file(line.end.segment))
        if isinstance(found, Event):
            for kind, count in kinds_in(texts_of(found.data)).items():
                agent = str(found.data.get("agent", ""))
                yield SecretFinding("journal", file, kind, count, found.id, found.kind, agent, found.time)
        else:
            for kind, count in kinds_in(texts_of_problem(journal, found)).items():
                yield SecretFinding("journal", file, kind, count, str(line.begin))


def scan_archive(journal: Journal) -> Iterator[SecretFinding]:
    """Yield the text of a journal's archive, by episode. Raises StoreError if it cannot be read."""
    archive = Archive(journal)
    for number in archive.files():
        for episode, turn in archive.whole(number):
            texts = (text for event in (episode, *turn) for text in texts_of(event.data))
            for kind, count in kinds_in(texts).items():
                agent = str(episode.data.get("agent", ""))
                where = str(archive.file(number))
                yield SecretFinding("journal", where, kind, count, episode.id, episode.kind, agent, episode.time)


def scan_index(db: Database) -> tuple[list[SecretFinding], int]:
    """Return findings in passages outside of source files, and the number of secrets in those of source files.

    Raises StoreError if the store cannot be read.
    """
    findings: list[SecretFinding] = []
    in_source = 0
    last = -1
    sql = "SELECT id, path, blob IS NOT NULL, title, text FROM passage WHERE id > ? ORDER BY id LIMIT ?"
    while rows := db.rows(sql, [last, _ROWS]):
        last = rows[-1][0]
        for _, path, is_source, title, text in rows:
            if is_source:
                in_source += sum(1 for _ in find(text))
                continue
            # The title is the first line of the whole: it may be all that a later piece has of a secret.
            kinds = kinds_in(iter((text,))) or kinds_in(iter((title,)))
            findings += [SecretFinding("index", path, kind, count) for kind, count in kinds.items()]
    return findings, in_source


def scan_files(store: Path | None) -> tuple[list[SecretFinding], list[str]]:
    """Return findings in logs, remembered choices and small files, and notes.

    `store`: folder of the project's store; None: those of all projects.
    """
    findings = [*_in_files(files(store))]
    own = [*_in_files(bookkeeping(store))]
    notes: list[str] = []
    if own:
        where = ", ".join(dict.fromkeys(one.where for one in own))
        notes.append(f"{where} is the path of cm's own data and is never erased; rename that folder or file")
    if kept := sum(map(_count_secrets, originals())):
        notes.append(
            f"{kept:,} more in agents' settings from before the installation of cm, in "
            f"{originals_folder()}: `cm agent uninstall` restores those and removes the copies"
        )
    if copied := sum(1 for one in formats_of((), {}) for _ in copies.all_copies(one.agent)):
        notes.append(
            f"{counts.count(copied, 'copy', 'copies')} of transcripts under {copies.folder()} are unredacted: "
            "secrets are redacted on import"
        )
    return [*findings, *own], notes


def _in_files(files: Iterable[Path]) -> Iterator[SecretFinding]:
    for file in files:
        for kind, count in kinds_in(texts(file)).items():
            yield SecretFinding("file", str(file), kind, count)


def _count_secrets(file: Path) -> int:
    before = read_object(file).get("before", "")
    try:
        text = b64decode(before).decode("utf-8", "replace")
    except (ValueError, TypeError):
        return 0
    return sum(1 for _ in find(text))
