"""Making a backup: journals, archives, entries, marks and remembered choices of projects, redacted and verified."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.engine.code.mainline import user_marks
from cm_tui.engine.memory.backup import stream
from cm_tui.engine.memory.backup.reading import OF_ONE_ARCHIVE
from cm_tui.engine.memory.entries.entry_backup import entries_of
from cm_tui.engine.memory.projection.visibility import PURGED, ids_of
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.cleaning import Cleaner, Raw
from cm_tui.engine.platform.journal.event import ERASURE, TRACES, Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.redact import redact_values
from cm_tui.errors import StoreError
from cm_tui.model import BackupReport, Progress, ProjectBackup
from cm_tui.model.progress import Tell, ignore_progress
from cm_tui.state_file import read_object

_NAMES = {"event": b'{"event":', "turn": b'{"turn":', "archived": b'{"archived":'}
_TELL_EVERY = 200


class Chosen(NamedTuple):
    """A project that is backed up."""

    name: str
    """Of its journal and its store."""
    identity: str
    title: str
    """For people."""
    root: str
    """A checkout of it, whose remembered choices go along; empty: none."""
    written_as: str = ""
    """Its folder name on other machines, by its current identity in git; empty: the same."""


def make(
    file: Path, projects: Iterable[Chosen], *, dry_run: bool = False, tell: Tell = ignore_progress
) -> BackupReport:
    """Write the irreplaceable data of projects into one private file, and verify it.

    `file`: in an existing folder; an existing file is replaced. `projects`: the projects to back up. `dry_run`: only
    count. `tell`: called with the progress. Raises StoreError if something cannot be read or written, or the file is
    not what was written.
    """
    made = time.time()
    if dry_run:
        rows = tuple(_count(project) for project in projects)
        return BackupReport(str(file), made, rows, 0, dry_run=True)
    with stream.writing(file, made) as writer, Cleaner() as cleaner:
        rows = tuple(_write(writer, cleaner, project, tell) for project in projects)

    lines = sum(1 for _, one, _ in stream.read(file, tell) if "event" in one or "archived" in one)
    if lines != sum(row.events + row.archived for row in rows):
        raise StoreError(f"{file} differs from what was written.", hint="Check the disk and repeat the backup.")
    return BackupReport(str(file), made, rows, file.stat().st_size, dry_run=False)


def _count(project: Chosen) -> ProjectBackup:
    counted = {"event": 0, "turn": 0, "archived": 0}
    for what, _ in _Content(project.name, ignore_progress):
        counted[what] += 1
    return ProjectBackup(project.name, project.title, project.identity, counted["event"], counted["archived"])


def _write(writer: stream.Writer, cleaner: Cleaner, project: Chosen, tell: Tell) -> ProjectBackup:
    name = project.written_as or project.name
    writer.write({"project": name, "identity": project.identity, "title": project.title})
    counted = {"event": 0, "turn": 0, "archived": 0}
    content = _Content(project.name, tell)
    # By the current rules: data recorded under earlier ones is redacted again.
    raw = (Raw(what, _fields(event), event.is_clean) for what, event in content)
    try:
        for what, line in cleaner.clean(raw):
            writer.write_line(_NAMES[what] + line.rstrip() + b"}\n")
            counted[what] += 1
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"An event of {content.journal.folder} cannot be written as JSON: {error}",
            hint="`cm doctor` looks for damage.",
        ) from error
    if marks := user_marks.read(paths.data_dir() / "projects" / project.name):
        writer.write({"marks": marks})
    if choices := _choices(project.root):
        writer.write({"choices": choices})
    if project.root and Path(project.root).is_dir():
        for entry in entries_of(Path(project.root)):
            writer.write({"entry": entry})
    return ProjectBackup(project.name, project.title, project.identity, counted["event"], counted["archived"])


class _Content:
    """Content of a journal and its archive by kind: events, and turns before their archived episodes.

    `tell`: called with the progress.
    """

    def __init__(self, name: str, tell: Tell) -> None:
        self.journal = Journal.named(name)
        self._archive = Archive(self.journal)
        self._tell = tell
        self._done: set[str] = set()
        """Ids of yielded, erased and purged events."""

    def __iter__(self) -> Iterator[tuple[str, Event]]:
        sizes = {number: self.journal.file(number).stat().st_size for number in self.journal.segments()}
        for count, event in enumerate(self.journal.read()):
            if count % _TELL_EVERY == 0:
                at = sum(size for number, size in sizes.items() if number < event.position.segment)
                done = (at + event.position.offset) // 1_000
                self._tell(Progress("backup", done, max(sum(sizes.values()) // 1_000, done), "kB"))
            if event.kind in (ERASURE, PURGED):
                self._done |= ids_of(event)
            if event.kind not in TRACES and event.kind not in OF_ONE_ARCHIVE:
                self._done.add(event.id)
                yield "event", event
        for number in self._archive.files():
            yield from self._archived(number)

    def _archived(self, number: int) -> Iterator[tuple[str, Event]]:
        """Yield the content of an archive file; one of a killed process may repeat others."""
        for episode, turn in self._archive.whole(number):
            if episode.id in self._done:
                continue
            self._done.add(episode.id)
            for one in turn:
                yield "turn", one
            yield "archived", episode


def _fields(event: Event) -> dict[str, Any]:
    return {"id": event.id, "time": event.time, "kind": event.kind, "head": event.head, "data": event.data}


def _choices(root: str) -> Mapping[str, Any]:
    if not root:
        return {}
    # What cannot be read is not remembered by the application either.
    clean: Mapping[str, Any] = redact_values(read_object(paths.choices_file(Path(root))))
    return clean
