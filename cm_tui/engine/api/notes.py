"""Notes: Markdown files of users and agents, by user, project and day."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, get_args

from cm_tui import model
from cm_tui.engine.api.entries import EntryMethods
from cm_tui.engine.api.needs import needs
from cm_tui.errors import CmError, NotFoundError, UsageError

if TYPE_CHECKING:
    from cm_tui.engine.memory.notes.note_changes import NoteChanges
    from cm_tui.engine.memory.notes.notes import Notes
    from cm_tui.engine.memory.notes.places import Found


ROOM = 40_000
"""Characters of a note in one answer."""
_DAYS = 2
"""Number of day logs for the start of a session, including today's."""


class NoteMethods(EntryMethods):
    """Notes of the project and of its user: the files are authoritative, and may change at any time.

    An agent only appends to day logs and topics; all else is written by the user.
    """

    @needs("nothing")
    def notes(self, *, match: str = "", kind: str = "", scope: str = "", limit: int = 200) -> model.Page[model.Note]:
        """Return notes, the last changed first.

        `match`: only those with these words in id, title or tags. `kind`: only this kind. `scope`: only `user` or
        `project`. `limit`: the most to return; the total counts all matches. Raises UsageError if the kind or scope
        does not exist.
        """
        from cm_tui.engine.memory.notes import note_table
        from cm_tui.engine.memory.notes.scan import places_of, scan_notes

        for value, known, what in ((kind, get_args(model.NoteKind), "kind"), (scope, get_args(model.Scope), "scope")):
            if value and value not in known:
                raise UsageError(f"Unknown {what}: {value[:40]!r}.", hint=f"Use {', '.join(known)}.")
        said = self._read_journal()
        rows, total = note_table.page(self._db, match.lower().split(), kind, scope, model.bounded(limit))
        skipped = scan_notes(places_of(self._root)).folders.notes
        return model.Page(
            tuple(map(self._with_origin, rows)),
            total,
            " ".join(part for part in (said, *(one for one in skipped if one not in said)) if part),
        )

    @needs("nothing")
    def note(self, name: str, *, start: int = 1, lines: int | None = None) -> model.NoteText:
        """Return lines of a note from disk, with secrets redacted.

        `name`: its id, or a unique ending of it. `start`: the first line. `lines`: how many; None: as many as a
        response takes. Raises NotFoundError if there is no such note, or it has no such line; UsageError if the name is
        ambiguous; RefusedError if it is outside the folders of notes; StoreError if it cannot be read.
        """
        notes = self._notes()
        return self._text_of(notes, notes.named(name), start, lines)

    @needs("nothing")
    def search_notes(
        self, query: str, *, limit: int | None = None, min_score: float | None = None
    ) -> model.SearchResult:
        """Return passages of notes that match a query, ranked by the profile `notes`.

        `query`: words and filters. `limit`: the most to return; None: by the profile. `min_score`: least score from 0
        to 1; None: by the profile. Raises UsageError if a filter of the query is invalid; StoreError if the store
        cannot be read.
        """
        said = self._read_journal()
        profile = self._searcher.profile("notes")
        if min_score is not None:
            profile = replace(profile, min_score=min_score)
        result = self._of_one_generation(lambda: self._searcher.search(query, profile=profile, limit=limit))
        return replace(result, notes=(*result.notes, said)) if said else result

    @needs("nothing")
    def day_logs(self) -> tuple[model.NoteText, ...]:
        """Return the day logs of yesterday and today that were written here or are trusted, the older one first."""
        import datetime as dt

        notes, today = self._notes(), dt.datetime.now().astimezone().date()
        days = [today - dt.timedelta(days=back) for back in reversed(range(_DAYS))]
        texts = []
        for place in notes.days(days):
            try:
                found = self._text_of(notes, place, 1, None)
            except CmError:
                continue  # an unreadable note is reported where it is requested
            texts += [] if found.note.came_along or not found.text.strip() else [found]
        return tuple(texts)

    @needs("nothing", writes=("memory",), once=True)
    def append_note(
        self, text: str, *, name: str = "", actor: model.Actor = "person", agent: str = "", session: str = ""
    ) -> model.NoteChange:
        """Append a paragraph to a note, with secrets redacted; a missing note is created.

        Args:
            text: at most 20,000 characters.
            name: of the note, such as `.cm/notes/topics/router.md` or `user:style.md`; empty: today's log.
            actor: who writes it.
            agent: name of the agent, if any.
            session: id of its session.

        Raises:
            UsageError: the text is empty or too long, or the place is invalid.
            RefusedError: the note is outside the folders of notes, the actor may not write it, or recording is off.
            StoreError: it cannot be written.
        """
        self._check_recorded(actor, session)
        return self._changed(self._note_changes().append(text, name, model.Author(actor, agent, session)))

    @needs("nothing", writes=("memory",))
    def write_note(
        self, name: str, text: str, *, base: str | None = None, decision: model.Decision = ""
    ) -> model.NoteChange:
        """Write a note as the user edited it; concurrent changes of the file are merged by line.

        Args:
            name: its id.
            text: the new text.
            base: the text that the user edited; None: a new note.
            decision: how to resolve conflicting lines; empty: return the conflict, and write nothing.

        Raises:
            UsageError: it is too long, or the new note exists already.
            RefusedError: the note is outside the folders of notes, or may not be written.
            StoreError: it cannot be written.
        """
        return self._changed(self._note_changes().write(name, text, base, decision))

    @needs("nothing")
    def note_conflicts(self) -> tuple[model.NoteConflict, ...]:
        """Return, once, lines that an earlier version kept because another program overwrote them; the oldest first.

        In each, `mine` is the earlier text, `theirs` the note's current one; `file` keeps both. Raises StoreError if
        that file cannot be written.
        """
        from cm_tui.engine.memory.notes import overwritten

        return overwritten.export(self._root)

    @needs("nothing", writes=("memory",))
    def move_note(self, name: str, target: str) -> model.NoteChange:
        """Rename a note, also into another scope.

        `target`: its new id. Raises NotFoundError if there is no such note; UsageError if the name is taken;
        RefusedError if one of them is outside the folders of notes, or may not be written; StoreError if it cannot be
        written.
        """
        return self._changed(self._note_changes().move(name, target))

    @needs("nothing", writes=("memory",))
    def delete_note(self, name: str) -> model.NoteChange:
        """Delete a note; `undo` restores it.

        Raises NotFoundError if there is no such note; RefusedError if it is outside the folders of notes, or may not be
        written; StoreError if it cannot be written.
        """
        return self._changed(self._note_changes().delete(name))

    @needs("nothing", writes=("memory",))
    def publish_rules(self, name: str, *, remove: bool = False, dry_run: bool = False) -> model.RuleBlock:
        """Write the approved Rules into a block of an instructions file, or remove the block.

        Args:
            name: of the file, such as `AGENTS.md`, existing or not. A project's file gets the project's Rules, one of
                the user's own files the Rules for all projects.
            remove: remove the block.
            dry_run: only report what would change.

        Raises:
            NotFoundError: agents do not read a file of that name.
            UsageError: it is not text that could be written back.
            RefusedError: it is a link, or is below one.
            StoreError: it cannot be read or written.
        """
        from cm_tui.engine.memory.notes import publishing
        from cm_tui.engine.memory.notes.publishing import Rule

        notes = self._notes()
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

    def _notes(self) -> Notes:
        from cm_tui.engine.memory.notes.notes import Notes

        return Notes(self._root)

    def _note_changes(self) -> NoteChanges:
        from cm_tui.engine.memory.notes.note_changes import NoteChanges

        return NoteChanges(self._notes())

    def _changed(self, change: model.NoteChange) -> model.NoteChange:
        """Let searches see a change at once."""
        warning = self._sync_memory() if change.change else ""
        return replace(change, notes=(*change.notes, warning)) if warning else change

    def _text_of(self, notes: Notes, place: Found, start: int, lines: int | None) -> model.NoteText:
        from cm_tui.engine.platform.redaction.redact import redact

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

    def _with_origin(self, note: model.Note) -> model.Note:
        """Return a note, marked if it came with the repository."""
        if note.scope == "user" or ":" in note.id:
            return note
        repository = self._repository
        # A submodule's files are in its own index, and came with the repository all the same.
        folders = PurePosixPath(note.id).parents
        is_of_another = any((self._root / one / ".git").exists() for one in folders if one.name)
        return replace(note, came_along=not repository.git or is_of_another or repository.is_tracked(note.id))
