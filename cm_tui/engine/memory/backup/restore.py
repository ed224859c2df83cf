"""Restoring a backup: validated as a whole, then merged; no existing data is lost or repeated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from cm_tui import paths
from cm_tui.counts import count, noun
from cm_tui.engine.code.mainline import user_marks
from cm_tui.engine.memory.backup.merging import ExistingIds, Merge
from cm_tui.engine.memory.backup.reading import Belongs, Record, Section, walk
from cm_tui.engine.memory.entries import entry_backup
from cm_tui.engine.memory.entries.entries import MOST_ENTRIES
from cm_tui.engine.platform.git import checkout_links
from cm_tui.engine.platform.journal.cleaning import Cleaner
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.engine.platform.redaction.redact import redact_values
from cm_tui.errors import CmError, UsageError
from cm_tui.files import write_atomically
from cm_tui.model import Entry, Progress, RestoredProject, RestoreReport
from cm_tui.model.progress import Tell, ignore_progress

_CHOICES_BYTES = 1_000_000


class Target(NamedTuple):
    """Target of a backup's project."""

    root: Path | None
    """A checkout that takes its entries; None: none on this machine."""
    wanted: bool
    """Whether its entries are restored."""

    def missing(self, section: Section) -> list[Entry]:
        """Return the entries that are restored and are not there. Raises CmError if a file cannot be read."""
        if not self.wanted:
            return []
        if self.root is None:
            return entry_backup.not_waiting(journal_of(section, self), section.entries)
        return entry_backup.missing(self.root, section.entries)

    def notes(self, section: Section) -> Iterator[str]:
        """Yield what is not restored of a project, and how to restore it."""
        if section.entries and not self.wanted:
            number = len(section.entries)
            yield (
                f"{count(number, 'entry', 'entries')} of {section.title} {noun(number, 'is', 'are')} not restored: "
                "use --all to restore every project in the file"
            )


def _checkout(name: str) -> Path | None:
    """Return a checkout on this machine that shares a project's memory."""
    for owner in sorted(checkout_links.owners(name) or ()):
        root = Path(checkout_links.main_folder(owner))
        try:
            if root.is_dir() and folder_of(root).name == name:
                return root
        except CmError:
            # What git cannot open there is no checkout of it.
            continue
    return None


def journal_of(section: Section, target: Target) -> Journal:
    """Return the journal of a project's target."""
    return Journal.of(target.root) if section.here and target.root is not None else Journal.named(section.name)


def restore_rest(section: Section, target: Target) -> Iterator[str]:
    """Restore missing entries, marks and choices; yield messages for the user.

    Raises CmError if something of it cannot be read or written.
    """
    yield from target.notes(section)
    journal = journal_of(section, target)
    if section.too_long:
        yield f"{count(section.too_long, 'event')} of {section.title} {noun(section.too_long, 'is', 'are')} too long for the journal"
    if section.left_out:
        yield f"{count(section.left_out, 'event')} of {section.title} {noun(section.left_out, 'is', 'are')} skipped: unknown or damaged"
    if section.entries and target.wanted:
        yield from _restore_entries(section, target, journal)
    user_marks.add(paths.data_dir() / "projects" / journal.folder.name, section.marks)
    if section.choices and section.here and target.root is not None:
        file = paths.choices_file(target.root)
        text = json.dumps(redact_values(section.choices))
        if file.exists() or len(text) > _CHOICES_BYTES:
            yield "the state of the application here is unchanged"
            return
        paths.private_dir(file.parent)
        write_atomically(file, text)


def _restore_entries(section: Section, target: Target, journal: Journal) -> Iterator[str]:
    if target.root is None:
        section.new_entries = entry_backup.store_waiting(journal, section.entries)
        if section.new_entries:
            number = section.new_entries
            yield (
                f"{count(number, 'entry', 'entries')} of {section.title} {noun(number, 'waits', 'wait')} "
                "for a checkout: run `cm link` in one to add them"
            )
        return
    added, others, gone, too_many = entry_backup.merge(target.root, section.entries)
    section.new_entries = added
    of = "" if section.here else f" of {section.title}"
    if added:
        yield f"{count(added, 'entry', 'entries')}{of} added"
    if others:
        yield f"{count(others, 'entry', 'entries')}{of} of the backup {noun(others, 'has', 'have')} a different text here, which is kept"
    if too_many:
        yield f"{count(too_many, 'entry', 'entries')}{of} of the backup {noun(too_many, 'is', 'are')} skipped: a file holds at most {MOST_ENTRIES:,}"
    if gone:
        yield f"{count(gone, 'entry', 'entries')}{of} of the backup {noun(gone, 'was', 'were')} forgotten or erased here and not restored"


class Here(NamedTuple):
    """The user's current project."""

    root: Path
    name: str
    """Of its journal."""
    identity: str
    """Its identity when its memory was created."""
    claims: str = ""
    """Its current identity by git, unless that is another project's memory."""


class RestoreOptions(NamedTuple):
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
        if section.here and self.here is not None:
            return Target(self.here.root, wanted=True)
        return Target(_checkout(section.name) if self.everything else None, wanted=self.everything)


_NO_WISH = RestoreOptions()


def look_at(file: Path, wish: RestoreOptions = _NO_WISH, *, tell: Tell = ignore_progress) -> RestoreReport:
    """Return what restoring a file would do; changes nothing.

    `file`: of `cm backup`; `tell`: called with the progress. Raises RefusedError if it is not a backup, or is damaged;
    UsageError if it has several projects instead of one; CmError if it, or a journal, cannot be read.
    """
    known: dict[str, ExistingIds] = {}
    sections: list[Section] = []

    for section, records in _by_project(file, wish, tell):
        sections.append(section)
        journal = journal_of(section, wish.target(section))
        name = journal.folder.name
        known[name] = known[name] if name in known else ExistingIds.of(journal)
        for record in filter(known[name].takes, _counted(section, records)):
            section.new += record.turn is None
            section.new_archived += record.turn is not None
    if wish.into_here and len(sections) != 1:
        raise UsageError(f"{file} has {len(sections)} projects.", hint="Restore it without --here.")
    for section in sections:
        missing = wish.target(section).missing(section)
        section.new_entries, section.new_everywhere = len(missing), sum(one.scope == "user" for one in missing)
    notes = tuple(note for one in sections for note in wish.target(one).notes(one))
    return RestoreReport(str(file), tuple(_row(one, wish) for one in sections), dry_run=True, notes=notes)


def restore(file: Path, wish: RestoreOptions = _NO_WISH, *, tell: Tell = ignore_progress) -> RestoreReport:
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


def _by_project(
    file: Path, wish: RestoreOptions, tell: Tell = ignore_progress
) -> Iterator[tuple[Section, Iterator[Record]]]:
    for _, found in groupby(walk(file, wish.belongs, tell), key=lambda pair: id(pair[0])):
        # The first record identifies the project.
        section, _ = next(found)
        yield section, _records(found)  # noqa: B031 - the rest of the group


def _records(found: Iterator[tuple[Section, Record | None]]) -> Iterator[Record]:
    return (record for _, record in found if record is not None)


def _counted(section: Section, records: Iterator[Record]) -> Iterator[Record]:
    """Count the records of a project."""
    for record in records:
        section.events += record.turn is None
        section.archived += record.turn is not None
        yield record


def _row(section: Section, wish: RestoreOptions) -> RestoredProject:
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
