"""Effect of approving a proposal about one line of a note: computed, shown, and written as other changes of notes are.

The digest identifies the expected state: for a line to add, all the foreign text of the note; for one to replace or
remove, the old line. Other approvals do not change a digest, the user's edits do.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cm_tui.engine.memory.narrator import note_lines, topic_text
from cm_tui.engine.memory.narrator.note_lines import Changed
from cm_tui.engine.memory.notes.marked_lines import digest_of, mark_of, marked, marks_in, without_marks
from cm_tui.engine.memory.notes.note_file import MOST_WRITTEN, NoteSaves, refuse_conflict, refuse_locked, writing
from cm_tui.engine.memory.notes.notes import NoteFile, Notes, refuse_links
from cm_tui.engine.memory.notes.places import Found
from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.model import NarratedProposal
from cm_tui.model.author import Author

_DIGEST_BYTES = 4


class Look(NamedTuple):
    """Current effect of an approval.

    Attributes:
        diff: unified and redacted; empty: no change.
        problem: why it is impossible; empty: it is possible.
        digest: identifies the effect.
    """

    diff: str
    problem: str
    digest: str


class _Note(NamedTuple):
    """A note as it is now; without a file it cannot be read."""

    place: Found | None = None
    file: NoteFile | None = None
    problem: str = ""
    words: str = ""
    """Digest of others' text."""
    bullets: frozenset[str] = frozenset()


def looks(root: Path, proposals: Sequence[NarratedProposal]) -> dict[str, Look]:
    """Return by id the current effect of approving each, without diffs; writes nothing."""
    notes = Notes(root)
    known = {target: _note(notes, one) for target, one in {one.target: one for one in proposals}.items()}
    return {one.id: _look(one, known[one.target]) for one in proposals}


def look(root: Path, proposal: NarratedProposal) -> Look:
    """Return what approving would do now, with its diff; nothing is written."""
    note = _note(Notes(root), proposal)
    found = _look(proposal, note)
    if found.problem or note.place is None or note.file is None:
        return found
    try:
        changed = _changed(note.place, note.file.shown, proposal)
    except CmError as error:
        return found._replace(problem=error.message)
    return found._replace(diff=diff(note.place.id, None if note.file.data is None else note.file.shown, changed.text))


def write(
    root: Path, proposal: NarratedProposal, digest: str, writer: Author, more: dict[str, Any], *, is_begun: bool = False
) -> tuple[str, dict[str, str]]:
    """Write a proposal into its note; return words for the user, and data for the event of the decision.

    The data is the digest of the line, as `line` (empty: none), and `note` or `heading` as `made`, where that was
    created for it.

    Args:
        root: of the checkout.
        proposal: about one line.
        digest: of the shown effect: another one is refused; empty: any.
        writer: who approved it.
        more: further data of the event.
        is_begun: the same change was recorded before: a line with the proposal's mark is its result.

    Raises:
        UsageError: the note was changed so that it does not apply, or has another effect.
        RefusedError: it may not be written.
        StoreError: it cannot be written.
    """
    notes = Notes(root)
    place = _place(notes, proposal)
    refuse_locked(place)
    with writing():
        saves = NoteSaves(notes)
        file = notes.file(place)
        refuse_conflict(place, file.shown)
        if digest and _look(proposal, _read(place, file)).digest != digest:
            raise changed_since(proposal)
        # Anyone may write such a mark: alone it is no evidence.
        before = marked(file.shown, proposal.id) if is_begun and proposal.action != "remove" else None
        if before is not None:
            # A process that was killed later had written it.
            return f"is in {place.id}, line {before.row + 1}", {"line": digest_of(before.said), "made": ""}
        changed = _changed(place, file.shown, proposal)
        if changed.text == file.shown:
            return f"is already in {place.id}: nothing was written", {"line": "", "made": ""}
        saves.put(place, file, changed.text, writer, **more)
    done = {"add": "wrote to", "replace": "changed a line of", "remove": "removed a line from"}[proposal.action]
    where = f" › {proposal.heading}" if proposal.heading else ""
    line = f", line {changed.row}" if changed.row else ""
    said = digest_of(without_marks(changed.line)) if changed.line else ""
    return f"{done} {place.id}{where}{line}", {"line": said, "made": changed.made}


def placed(root: Path, proposal: NarratedProposal, name: str) -> NarratedProposal:
    """Return a proposal for another note.

    Raises UsageError if no note can have that name; RefusedError if it lies outside the folders of notes, or is not for
    cm to write.
    """
    notes = Notes(root)
    try:
        place = notes.named(name)
    except NotFoundError:
        place = notes.places.new(name)
    if not place.writable:
        refuse_locked(place)
    is_topic = place.kind == "topic"
    scope: Literal["user", "project", "topic"] = "user" if place.scope == "user" else "topic" if is_topic else "project"
    return replace(proposal, target=place.id, scope=scope, topics=(place.id,) if is_topic else ())


def diff(id_: str, before: str | None, after: str | None) -> str:
    """Return the diff of a note, as files are compared by git; None: there is no such file."""
    old, new = ((text or "").splitlines(keepends=True) for text in (before, after))
    before_id, after_id = ("/dev/null" if text is None else id_ for text in (before, after))
    lines = difflib.unified_diff(old, new, before_id, after_id)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def changed_since(proposal: NarratedProposal) -> UsageError:
    """Return the error for a proposal with another effect than shown."""
    return UsageError(
        f"{proposal.target} has changed since {proposal.id} was shown.",
        hint=f"`cm proposals show {proposal.id}` shows its effect now.",
    )


# --- parts ---


def _place(notes: Notes, proposal: NarratedProposal) -> Found:
    return notes.places.new(proposal.target) if proposal.action == "add" else notes.places.place(proposal.target)


def _note(notes: Notes, proposal: NarratedProposal) -> _Note:
    found = _Note()
    try:
        place = _place(notes, proposal)
        refuse_links(place)
        file = notes.file(place)
        found = _read(place, file)
        refuse_locked(place)
        refuse_conflict(place, file.shown)
    except CmError as error:
        return found._replace(problem=error.message)
    return found


def _read(place: Found, file: NoteFile) -> _Note:
    words = "\n".join(note_lines.own_words(file.shown))
    digest = blake2b(words.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return _Note(place, file, "", digest, frozenset(bullet for _, bullet, _ in topic_text.bullets(file.shown)))


def _look(proposal: NarratedProposal, note: _Note) -> Look:
    is_there = proposal.old in note.bullets
    is_gone = note.file is not None and proposal.action != "add" and not is_there
    problem = note.problem or (_gone(proposal).message if is_gone else "")
    state = note.words if proposal.action == "add" else "there" if is_there else "gone"
    about = (proposal.action, proposal.text, proposal.target, proposal.heading, proposal.old)
    fields = (*about, state if note.file is not None else note.problem)
    digest = blake2b(json.dumps(fields).encode("utf-8", "replace"), digest_size=_DIGEST_BYTES).hexdigest()
    return Look("", problem, digest)


def _gone(proposal: NarratedProposal) -> UsageError:
    return UsageError(
        f"The line in {proposal.target} has changed since.",
        hint="Run `cm narrate` to check it again.",
    )


def _changed(place: Found, shown: str, proposal: NarratedProposal) -> Changed:
    """Return the note as it would be.

    Raises UsageError if the line that would go is not there any more, or the note would be too long.
    """
    if proposal.action == "add":
        text = note_lines.note_text(proposal.text)
        if note_lines.says(shown, text):
            return Changed(shown)
        line = f"{text} {mark_of(proposal.id)}"
        changed: Changed | None = note_lines.added(shown, place, proposal.heading, line, proposal.tags)
    elif proposal.action == "replace":
        marks = [*map(mark_of, marks_in(proposal.old)), mark_of(proposal.id)]
        line = " ".join([note_lines.note_text(proposal.text), *dict.fromkeys(marks)])
        changed = note_lines.replaced(shown, proposal.heading, proposal.old, line)
    else:
        changed = note_lines.removed(shown, proposal.heading, proposal.old)
    if changed is None:
        raise _gone(proposal)
    if len(changed.text) > MOST_WRITTEN:
        raise UsageError(
            f"The note {place.id} would have more than {MOST_WRITTEN:,} characters.",
            hint="Write it to another note: --to NOTE.",
        )
    return changed
