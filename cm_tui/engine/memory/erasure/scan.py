"""The scan for possible secrets in journal, index, logs and remembered choices, by the current patterns."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator
from pathlib import Path

from cm_tui import counts
from cm_tui.engine.memory.entries import entry_erasure
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.erasure import state_files
from cm_tui.engine.memory.erasure.selection import kinds_in, located, texts_of_problem
from cm_tui.engine.memory.importers.project import formats_of
from cm_tui.engine.memory.transcripts import copies
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.erasure import ERASING
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.find import find
from cm_tui.engine.platform.redaction.redact import texts_of
from cm_tui.engine.platform.store.database import Database
from cm_tui.model import SecretFinding, SecretsReport
from cm_tui.state_file import read_object

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
        for file, texts in entry_erasure.texts(entries):
            findings += [SecretFinding("file", str(file), kind, count) for kind, count in kinds_in(texts).items()]
        findings += _in_files(entry_erasure.set_aside(entries))
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
    findings = [*_in_files(state_files.files(store))]
    own = [*_in_files(state_files.bookkeeping(store))]
    notes: list[str] = []
    if own:
        where = ", ".join(dict.fromkeys(one.where for one in own))
        notes.append(f"{where} is the path of cm's own data and is never erased; rename that folder or file")
    if kept := sum(map(_count_secrets, state_files.originals())):
        notes.append(
            f"{kept:,} more in agents' settings from before the installation of cm, in "
            f"{state_files.originals_folder()}: `cm agent uninstall` restores those and removes the copies"
        )
    if copied := sum(1 for one in formats_of((), {}) for _ in copies.all_copies(one.agent)):
        notes.append(
            f"{counts.count(copied, 'copy', 'copies')} of transcripts under {copies.folder()} are unredacted: "
            "secrets are redacted on import"
        )
    return [*findings, *own], notes


def _in_files(files: Iterable[Path]) -> Iterator[SecretFinding]:
    for file in files:
        for kind, count in kinds_in(state_files.texts(file)).items():
            yield SecretFinding("file", str(file), kind, count)


def _count_secrets(file: Path) -> int:
    before = read_object(file).get("before", "")
    try:
        text = b64decode(before).decode("utf-8", "replace")
    except (ValueError, TypeError):
        return 0
    return sum(1 for _ in find(text))
