"""Notes: Markdown files that people and agents write, of the user, of the project, of each day."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, get_args

from cm_tui import model
from cm_tui.engine.api.entries import EntryMethods
from cm_tui.engine.api.needs import needs
from cm_tui.engine.api.rooms import of_one_generation
from cm_tui.errors import CmError, NotFoundError, UsageError

if TYPE_CHECKING:
    from cm_tui.engine.notes.notes import Notes
    from cm_tui.engine.notes.places import Found
    from cm_tui.model import (
        Actor,
        Decision,
        Note,
        NoteChange,
        NoteConflict,
        NoteText,
        Page,
        RuleBlock,
        SearchResult,
    )


ROOM = 40_000
"""Characters of a note in one answer."""
_DAYS = 2
"""Logs that a session begins with: those of today and of so many days back, less one."""


class NoteMethods(EntryMethods):
    """Notes of the project and of its user: their files are the truth, and may change at any time.

    An agent appends to day logs and topics; what else is written into a note, a person writes.
    """

    @needs("nothing")
    def notes(self, *, match: str = "", kind: str = "", scope: str = "", limit: int = 200) -> Page[Note]:
        """Return notes, those that were changed last first.

        Args:
            match: only those that have these words in id, title or tags.
            kind: only those of this one.
            scope: only `user` or `project`.
            limit: how many at most; the total counts all that match.

        Raises:
            UsageError: there is no such kind or scope.
        """
        from cm_tui.engine.memory import episode_sync
        from cm_tui.engine.notes import note_table
        from cm_tui.engine.notes.known_scan import known_notes, places_of
        from cm_tui.model.page import bounded

        for value, known, what in ((kind, get_args(model.NoteKind), "kind"), (scope, get_args(model.Scope), "scope")):
            if value and value not in known:
                raise UsageError(f"There is no {what} {value[:40]!r}.", hint=f"Use {', '.join(known)}.")
        said = episode_sync.sync_before_question(self._db, self._root, self._read_text, wait=episode_sync.WAIT_S)
        rows, total = note_table.page(self._db, match.lower().split(), kind, scope, bounded(limit))
        skipped = known_notes(places_of(self._root)).folders.notes
        return model.Page(
            tuple(map(self._with_origin, rows)),
            total,
            " ".join(part for part in (said, *(one for one in skipped if one not in said)) if part),
        )

    @needs("nothing")
    def note(self, name: str, *, start: int = 1, lines: int | None = None) -> NoteText:
        """Return lines of a note, as they are on disk, without what looks like a secret.

        Args:
            name: its id, or the end of one that no other has.
            start: the first line.
            lines: how many; None: all that an answer takes.

        Raises:
            NotFoundError: there is no such note, or it has no such line.
            UsageError: several notes are meant.
            RefusedError: it lies outside the folders of notes.
            StoreError: it cannot be read.
        """
        from cm_tui.engine.notes.notes import Notes

        notes = Notes(self._root)
        return self._text_of(notes, notes.named(name), start, lines)

    @needs("nothing")
    def search_notes(self, query: str, *, limit: int | None = None, min_score: float | None = None) -> SearchResult:
        """Return passages of notes that answer a question, ranked by the profile `notes`.

        Args:
            query: the question.
            limit: how many at most; None: as the profile says.
            min_score: least score from 0 to 1; None: as the profile says.

        Raises:
            UsageError: a filter of the question cannot be understood.
            StoreError: the store cannot be read.
        """
        from cm_tui.engine.memory import episode_sync

        said = episode_sync.sync_before_question(self._db, self._root, self._read_text, wait=episode_sync.WAIT_S)
        result = self._search_notes(query, limit, min_score)
        return replace(result, notes=(*result.notes, said)) if said else result

    @of_one_generation
    def _search_notes(self, query: str, limit: int | None, min_score: float | None) -> SearchResult:
        profile = self._searcher.profile("notes")
        if min_score is not None:
            profile = replace(profile, min_score=min_score)
        return self._searcher.search(query, profile=profile, limit=limit)

    @needs("nothing")
    def day_logs(self) -> tuple[NoteText, ...]:
        """Return the logs of yesterday and today that were written here or trusted, the older one first."""
        import datetime as dt

        from cm_tui.engine.notes.notes import Notes

        notes, today = Notes(self._root), dt.datetime.now().astimezone().date()
        days = [today - dt.timedelta(days=back) for back in reversed(range(_DAYS))]
        texts = []
        for place in notes.days(days):
            try:
                found = self._text_of(notes, place, 1, None)
            except CmError:
                continue  # what cannot be read is told where it is asked for
            texts += [] if found.note.came_along or not found.text.strip() else [found]
        return tuple(texts)

    @needs("nothing", writes=("memory",))
    def append_note(
        self, text: str, *, name: str = "", actor: Actor = "person", agent: str = "", session: str = ""
    ) -> NoteChange:
        """Write a paragraph at the end of a note, without what looks like a secret; one that is not there is begun.

        Args:
            text: what is to be kept, at most 20,000 characters.
            name: of the note, such as `.cm/notes/topics/router.md` or `user:style.md`; empty: the log of today.
            actor: who writes it.
            agent: name of the agent, where one writes.
            session: id of its session.

        Raises:
            UsageError: there is nothing to write, too much, or no such place.
            RefusedError: the note lies outside the folders of notes, is not this actor's to write, or nothing is recorded now.
            StoreError: it cannot be written.
        """
        from cm_tui.engine.notes.note_changes import NoteChanges
        from cm_tui.engine.notes.notes import Notes
        from cm_tui.model.author import Author

        self._check_recorded(actor, session)
        return self._changed(NoteChanges(Notes(self._root)).append(text, name, Author(actor, agent, session)))

    @needs("nothing", writes=("memory",))
    def write_note(self, name: str, text: str, *, base: str | None = None, decision: Decision = "") -> NoteChange:
        """Write a note as a person edited it; what was changed in the file meanwhile stays, line by line.

        Args:
            name: its id.
            text: all of it, as it is to be.
            base: what the person began with; None: it is a new note.
            decision: what becomes of lines that both have changed; empty: the conflict is returned, and nothing is written.

        Raises:
            UsageError: it is too long, or it is to be new and is there.
            RefusedError: the note lies outside the folders of notes, or may not be written.
            StoreError: it cannot be written.
        """
        from cm_tui.engine.notes.note_changes import NoteChanges
        from cm_tui.engine.notes.notes import Notes

        return self._changed(NoteChanges(Notes(self._root)).write(name, text, base, decision))

    @needs("nothing")
    def note_conflicts(self) -> tuple[NoteConflict, ...]:
        """Return lines that an earlier version kept because another program saved over them, once; the oldest first.

        In each, `mine` is what was there before, `theirs` what is in the note now; `file` keeps both.

        Raises:
            StoreError: that file cannot be written.
        """
        from cm_tui.engine.notes import overwritten

        return overwritten.export(self._root)

    @needs("nothing", writes=("memory",))
    def move_note(self, name: str, target: str) -> NoteChange:
        """Give a note another name, also in another scope.

        Args:
            name: its id.
            target: its id afterwards.

        Raises:
            NotFoundError: there is no such note.
            UsageError: something has that name already.
            RefusedError: one of them lies outside the folders of notes, or may not be written.
            StoreError: it cannot be written.
        """
        from cm_tui.engine.notes.note_changes import NoteChanges
        from cm_tui.engine.notes.notes import Notes

        return self._changed(NoteChanges(Notes(self._root)).move(name, target))

    @needs("nothing", writes=("memory",))
    def delete_note(self, name: str) -> NoteChange:
        """Delete a note; `undo` brings it back.

        Raises:
            NotFoundError: there is no such note.
            RefusedError: it lies outside the folders of notes, or may not be written.
            StoreError: it cannot be written.
        """
        from cm_tui.engine.notes.note_changes import NoteChanges
        from cm_tui.engine.notes.notes import Notes

        return self._changed(NoteChanges(Notes(self._root)).delete(name))

    @needs("nothing", writes=("memory",))
    def publish_rules(self, name: str, *, remove: bool = False, dry_run: bool = False) -> RuleBlock:
        """Write the approved rules into a block of a file of instructions, or take the block out again.

        Args:
            name: of the file, such as `AGENTS.md`, whether it is there or not. One of the project gets the project's rules,
                one of the user's own those that hold in all projects.
            remove: take the block out.
            dry_run: only say what would change.

        Raises:
            NotFoundError: agents read no file of that name.
            UsageError: it is no text that could be written again.
            RefusedError: it is a link, or lies below one.
            StoreError: it cannot be read or written.
        """
        from cm_tui.engine.notes import publishing
        from cm_tui.engine.notes.notes import Notes
        from cm_tui.engine.notes.rule_block import Rule

        notes = Notes(self._root)
        place = publishing.place_of(notes, name)
        mine = [
            one
            for one in self._entries().all().entries
            if one.category == "Rule" and one.scope == place.scope and not one.held
        ]
        approved = [one for one in mine if not one.unapproved and not one.never_recall]
        rules = (
            [] if remove else [Rule(one.title, one.content) for one in sorted(approved, key=lambda one: one.timestamp)]
        )
        left_out = sum(one.unapproved for one in mine)
        block = publishing.publish(notes, place, rules, left_out, dry_run=dry_run)
        if block.change:
            self._sync_memory()
        return block

    # --- parts ---

    def _changed(self, change: NoteChange) -> NoteChange:
        """Let searches see a change at once."""
        if change.change:
            self._sync_memory()
        return change

    def _text_of(self, notes: Notes, place: Found, start: int, lines: int | None) -> NoteText:
        from cm_tui.engine.redaction.redact import redact

        read = notes.read(place)
        every = redact("\n".join(read.lines)).text.removesuffix("\n").split("\n")
        if start > len(every):
            raise NotFoundError(f"{place.id} has no line {start}.", hint=f"It ends at line {len(every)}.")
        first = max(1, start)
        wanted = every[first - 1 : None if lines is None else first - 1 + lines]
        size = kept = 0
        for line in wanted:
            size += len(line) + 1
            if size > ROOM and kept:
                break
            kept += 1
        text = "\n".join(wanted[:kept])
        following = first + kept if first + kept <= len(every) else None
        return model.NoteText(self._with_origin(read.note), text, first, first + kept - 1, following)

    def _with_origin(self, note: Note) -> Note:
        """Return a note with the mark of one that came along with the repository."""
        if note.scope == "user" or ":" in note.id:
            return note
        repository = self._repository
        # A submodule's files are in its own index, and came with the repository all the same.
        folders = PurePosixPath(note.id).parents
        is_of_another = any((self._root / one / ".git").exists() for one in folders if one.name)
        return replace(note, came_along=not repository.git or is_of_another or repository.is_tracked(note.id))
