"""Notes: Markdown files that people and agents write, of the user, of the project, of each day."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import Actor, Decision, Note, NoteChange, NoteConflict, NoteText, Page, RuleBlock, SearchResult


class NotesApi(Protocol):
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

    @needs("nothing")
    def day_logs(self) -> tuple[NoteText, ...]:
        """Return the logs of yesterday and today that were written here or trusted, the older one first."""

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

    @needs("nothing")
    def note_conflicts(self) -> tuple[NoteConflict, ...]:
        """Return lines that an earlier version kept because another program saved over them, once; the oldest first.

        In each, `mine` is what was there before, `theirs` what is in the note now; `file` keeps both.

        Raises:
            StoreError: that file cannot be written.
        """

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

    @needs("nothing", writes=("memory",))
    def delete_note(self, name: str) -> NoteChange:
        """Delete a note; `undo` brings it back.

        Raises:
            NotFoundError: there is no such note.
            RefusedError: it lies outside the folders of notes, or may not be written.
            StoreError: it cannot be written.
        """

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
