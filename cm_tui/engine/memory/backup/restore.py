"""Restoring a backup: validated as a whole, then merged; no existing data is lost or repeated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.backup import stream
from cm_tui.engine.memory.backup.merging import Known, Merge
from cm_tui.engine.memory.backup.reading import Belongs, Record, Section, walk
from cm_tui.engine.memory.backup.remaining import Target, journal_of, restore_rest, target_of
from cm_tui.engine.platform.journal.cleaning import Cleaner
from cm_tui.errors import UsageError
from cm_tui.model import Progress, RestoredProject, RestoreReport
from cm_tui.model.progress import Tell, tell_nobody


class Here(NamedTuple):
    """The user's current project."""

    root: Path
    name: str
    """Of its journal."""
    identity: str
    """Its identity when its memory was created."""
    claims: str = ""
    """Its current identity by git, unless that is another project's memory."""


class Wish(NamedTuple):
    """Options of a restore."""

    here: Here | None = None
    """The project that the person is in."""
    into_here: bool = False
    """Restore its one project into this checkout, whatever its origin."""
    everything: bool = False
    """Also restore entries of the other projects."""
    mine: bool = False
    """The user made it: text marked as redacted by the current rules is not scanned again."""

    @property
    def belongs(self) -> Belongs:
        """Return whether a project of the backup is the user's current one."""
        here = self.here

        def is_here(name: str, identity: str) -> bool:
            return here is not None and (
                self.into_here or name == here.name or bool(identity and identity in {here.identity, here.claims})
            )

        return is_here

    def target(self, section: Section) -> Target:
        """Return the target of a project."""
        root = self.here.root if section.here and self.here is not None else None
        return target_of(section, root, everything=self.everything)


_NO_WISH = Wish()


def look_at(file: Path, wish: Wish = _NO_WISH, *, tell: Tell = tell_nobody) -> RestoreReport:
    """Return what restoring a file would do; changes nothing.

    `file`: of `cm backup`; `wish`: the options; `tell`: called with the progress. Raises RefusedError if it is not a
    backup, or is damaged; UsageError if it has several projects instead of one; CmError if it, or a journal, cannot be
    read.
    """
    known: dict[str, Known] = {}
    sections: list[Section] = []

    def told(done: int, total: int) -> None:
        tell(Progress("check", done // 1_000, total // 1_000, "kB"))

    for section, records in _by_project(file, wish, told):
        sections.append(section)
        journal = journal_of(section, wish.target(section))
        name = journal.folder.name
        known[name] = known[name] if name in known else Known.of(journal)
        for record in records:
            _count(section, record, known[name], is_new=True)
    if wish.into_here and len(sections) != 1:
        raise UsageError(f"{file} has {len(sections)} projects.", hint="Restore it without --here.")
    for section in sections:
        missing = wish.target(section).missing(section)
        section.new_entries, section.new_everywhere = len(missing), sum(one.scope == "user" for one in missing)
    notes = tuple(note for one in sections for note in wish.target(one).notes(one))
    return RestoreReport(str(file), tuple(_row(one, wish) for one in sections), dry_run=True, notes=notes)


def restore(file: Path, wish: Wish = _NO_WISH, *, tell: Tell = tell_nobody) -> RestoreReport:
    """Merge a backup into the current data; existing and erased events are unchanged.

    After a crash, it can be run again. Arguments and errors as for `look_at`.
    """
    looked = look_at(file, wish, tell=tell)
    total = sum(one.new + one.new_archived for one in looked.projects)
    done = 0
    sections: list[Section] = []
    with Cleaner() as cleaner:
        for section, records in _by_project(file, wish):
            sections.append(section)
            journal = journal_of(section, wish.target(section))
            with Merge(journal, section, cleaner, trusting=wish.mine) as merge:
                for number in merge.all(_counted(section, records)):
                    if number % _TELL_EVERY == 0:
                        tell(Progress("restore", min(done + number, total), total))
            done += section.new + section.new_archived
    notes = tuple(note for one in sections for note in restore_rest(one, wish.target(one)))
    return RestoreReport(str(file), tuple(_row(one, wish) for one in sections), dry_run=False, notes=notes)


_TELL_EVERY = 100


def _by_project(file: Path, wish: Wish, *told: stream.Told) -> Iterator[tuple[Section, Iterator[Record]]]:
    for _, found in groupby(walk(file, wish.belongs, *told), key=lambda pair: id(pair[0])):
        # The first record identifies the project.
        section, _ = next(found)
        yield section, _records(found)  # noqa: B031 - the rest of the group


def _records(found: Iterator[tuple[Section, Record | None]]) -> Iterator[Record]:
    return (record for _, record in found if record is not None)


def _counted(section: Section, records: Iterator[Record]) -> Iterator[Record]:
    for record in records:
        _count(section, record, _NOTHING, is_new=False)
        yield record


_NOTHING = Known(set(), set(), set())


def _count(section: Section, record: Record, known: Known, *, is_new: bool) -> None:
    id_ = record.fields["id"]
    if record.turn is None:
        section.events += 1
        if is_new and id_ not in known.events:
            known.events.add(id_)
            known.archived.add(id_)
            section.new += 1
        return
    section.archived += 1
    if is_new and id_ not in known.archived:
        known.archived.add(id_)
        section.new_archived += 1


def _row(section: Section, wish: Wish) -> RestoredProject:
    return RestoredProject(
        id=journal_of(section, wish.target(section)).folder.name,
        name=section.title,
        identity=section.identity,
        here=section.here,
        events=section.events,
        new=section.new,
        archived=section.archived,
        new_archived=section.new_archived,
        entries=len(section.entries),
        new_entries=section.new_entries,
        new_everywhere=section.new_everywhere,
    )
