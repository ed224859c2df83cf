"""A backup's entries, marks and remembered choices, restored where nothing of their kind exists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cm_tui import paths
from cm_tui.counts import count, noun
from cm_tui.engine.code.mainline import user_marks
from cm_tui.engine.memory.backup.reading import Section
from cm_tui.engine.memory.entries import entry_backup
from cm_tui.engine.memory.entries.entries import MOST_ENTRIES
from cm_tui.engine.platform.git import checkout_links
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.journal.location import base, folder_of
from cm_tui.engine.platform.redaction.values import redact_values
from cm_tui.errors import CmError
from cm_tui.files import write_atomically
from cm_tui.model import Entry

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
                "use --all to restore what all projects of the file have"
            )


def target_of(section: Section, here: Path | None, *, everything: bool) -> Target:
    """Return the target of a project.

    `here`: root of the user's current project, if it is the target; `everything`: include entries of other projects.
    """
    if here is not None:
        return Target(here, wanted=True)
    return Target(_checkout(section.name) if everything else None, wanted=everything)


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
    return Journal.of(target.root) if section.here and target.root is not None else Journal(base() / section.name)


def restore_rest(section: Section, target: Target) -> Iterator[str]:
    """Restore missing entries, marks and choices; yield messages for the user.

    Raises CmError if something of it cannot be read or written.
    """
    yield from target.notes(section)
    journal = journal_of(section, target)
    if section.too_long:
        yield f"{count(section.too_long, 'event')} of {section.title} {noun(section.too_long, 'is', 'are')} too long for any journal"
    if section.left_out:
        yield f"{count(section.left_out, 'event')} of {section.title} {noun(section.left_out, 'is', 'are')} skipped: unknown or damaged"
    if section.entries and target.wanted:
        yield from _restore_entries(section, target, journal)
    store = paths.data_dir() / "projects" / journal.folder.name
    present = user_marks.read(store)
    for mark in ("last_seen", "vacuumed_to"):
        if mark in section.marks and mark not in present and store.is_dir():
            user_marks.set_mark(store, mark, section.marks[mark])
    if section.choices and section.here and target.root is not None:
        file = paths.choices_file(target.root)
        text = json.dumps(redact_values(section.choices))
        if file.exists() or len(text) > _CHOICES_BYTES:
            yield "the application's own state here stays as it is"
            return
        paths.private_dir(file.parent)
        write_atomically(file, text)


def _restore_entries(section: Section, target: Target, journal: Journal) -> Iterator[str]:
    if target.root is None:
        section.new_entries = entry_backup.let_wait(journal, section.entries)
        if section.new_entries:
            number = section.new_entries
            yield (
                f"{count(number, 'entry', 'entries')} of {section.title} {noun(number, 'waits', 'wait')} "
                "for a checkout: `cm link` in one adds them"
            )
        return
    added, others, gone, too_many = entry_backup.merge(target.root, section.entries)
    section.new_entries = added
    of = "" if section.here else f" of {section.title}"
    if added:
        yield f"{count(added, 'entry', 'entries')}{of} added"
    if others:
        yield f"{count(others, 'entry', 'entries')}{of} of the backup {noun(others, 'has', 'have')} another text here, which stays"
    if too_many:
        yield f"{count(too_many, 'entry', 'entries')}{of} of the backup {noun(too_many, 'is', 'are')} skipped: a file takes at most {MOST_ENTRIES:,}"
    if gone:
        yield f"{count(gone, 'entry', 'entries')}{of} of the backup {noun(gone, 'was', 'were')} forgotten or erased here, and {noun(gone, 'stays', 'stay')} so"
