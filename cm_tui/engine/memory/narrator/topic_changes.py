"""Changing topics, by hand or by approval: create, merge, split, retire, restore, compress. Each is one undoable change.

Plans of changes of topics: the files before and after, computed before anything is written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.counts import count
from cm_tui.engine.memory.narrator import line_changes, note_blocks, topic_text
from cm_tui.engine.memory.narrator.line_changes import Look, diff
from cm_tui.engine.memory.narrator.note_blocks import new_head
from cm_tui.engine.memory.narrator.topic_names import MOST_TITLE, name_of, new_topic, retired_named, topic_named
from cm_tui.engine.memory.narrator.topics import origins_of, tags_of
from cm_tui.engine.memory.notes.note_file import refuse_locked, writing
from cm_tui.engine.memory.notes.notes import Notes, ReadNote, parse_note, text_of, written_like
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.memory.notes.topic_files import (
    FileChange,
    TopicFiles,
    archived,
    as_text,
    content_of,
    restored,
    shown,
)
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.files import Stamp
from cm_tui.model import NarratedChange, NarratedProposal, TopicAction
from cm_tui.model.author import Author

BETWEEN = "\n"
"""Between the lines of a proposal's heading, where it names several."""


def change(
    root: Path, action: TopicAction, names: Sequence[str], title: str = "", tags: Sequence[str] = ()
) -> NarratedChange:
    """Create, merge, split, retire or restore topics, as the user.

    Args:
        root: of the checkout.
        action: what to do.
        names: ids of topics; for a merge the first one remains; for a split one topic, then the headings of the
            sections that move to the new one; for a new topic its name, or nothing.
        title: of the new topic.
        tags: of the new topic.

    Raises:
        NotFoundError: there is no such topic, or no such section.
        UsageError: too few or too many names, or a name is taken.
        RefusedError: the file may not be written.
        StoreError: it cannot be written.
    """
    clean_title, clean_tags = redact(title).text, [redact(tag).text for tag in tags]

    def plan(plans: TopicPlans) -> Plan:
        if action == "create":
            if len(names) > 1:
                raise UsageError("Only one topic can be created at a time.", hint="Give one name, or a title.")
            return plans.create(names[0] if names else "", clean_title, clean_tags)
        if action == "merge":
            return plans.merge(names, clean_tags)
        if action == "split":
            if not names:
                raise UsageError("No topic given.", hint="Give the topic, then the headings to move.")
            return plans.split(names[0], names[1:], clean_title, clean_tags)
        return plans.retire(names) if action == "retire" else plans.restore(names)

    return _done(root, action, plan, Author(), {})


def apply(
    root: Path, proposal: NarratedProposal, writer: Author | None = None, more: Mapping[str, Any] | None = None,
    digest: str = "",
) -> NarratedChange:  # fmt: skip
    """Apply a proposal about topics, or about the size of a note.

    Args:
        root: of the checkout.
        proposal: about topics, not about a line.
        writer: who approved it; None: the user.
        more: further data of the event, such as `narrated`.
        digest: of the shown effect: another one is refused; empty: any.

    Raises:
        NotFoundError: a topic, or a section, no longer exists.
        UsageError: it is not such a proposal, does not apply any more, or has another effect.
        RefusedError: the file may not be written.
        StoreError: it cannot be written.
    """

    def plan(plans: TopicPlans) -> Plan:
        found = _plan_of(plans, proposal)
        if digest and _digest(proposal.action, diff_of(found)) != digest:
            raise UsageError(
                f"The topics of {proposal.id} have changed since it was shown.", hint="Review it again, then decide."
            )
        return found

    return _done(root, proposal.action, plan, writer or Author(), more or {})


def preview(root: Path, proposal: NarratedProposal) -> Look:
    """Return what approving a proposal would do now; nothing is written."""
    if proposal.is_line:
        return line_changes.look(root, proposal)
    notes = Notes(root)
    try:
        plan = _plan_of(TopicPlans(notes, content_of), proposal)
        for one in plan.files:
            refuse_locked(one.place)
        diff = diff_of(plan)
    except CmError as error:
        return Look("", error.message, _digest(proposal.action, error.message))
    return Look(diff, "", _digest(proposal.action, diff))


def diff_of(plan: Plan) -> str:
    """Return the diff of all files of a change."""

    def clean(text: str | None) -> str | None:
        return shown([text])[0].replace("\r\n", "\n").removeprefix("\ufeff") if text else text

    sides = ((one.place, as_text(one.place, one.before), as_text(one.place, one.after)) for one in plan.files)
    return "".join(diff(place.id, clean(before), clean(after)) for place, before, after in sides)


# --- parts ---


def _done(
    root: Path, action: str, plan_with: Callable[[TopicPlans], Plan], writer: Author, more: Mapping[str, Any]
) -> NarratedChange:
    notes = Notes(root)
    with writing():
        files = TopicFiles(notes)
        finished = files.complete()
        plan = plan_with(TopicPlans(notes, files.read))
        event = files.change(action, plan.words, plan.files, writer, **more)
    words = [plan.words, *_mixed(root, plan)]
    words += [f"before that, an interrupted change was completed: {finished}"] if finished else []
    return NarratedChange(plan.id, "; ".join(words), event)


def _plan_of(plans: TopicPlans, proposal: NarratedProposal) -> Plan:
    action, lines = proposal.action, proposal.heading.split(BETWEEN)
    if action == "merge":
        return plans.merge(proposal.topics)
    if action == "retire":
        return plans.retire(proposal.topics)
    if action == "compress":
        return plans.compress(proposal.target)
    if action == "split":
        return plans.split(proposal.target, lines, "", proposal.tags, any_note=True)
    if action == "create":
        return plans.gather(proposal.target, frozenset(proposal.old.split(BETWEEN)), proposal.heading, proposal.tags)
    raise UsageError(f"The proposal {proposal.id} is about a line, not about topics.")


def _mixed(root: Path, plan: Plan) -> list[str]:
    """Warn where lines that came with the repository are now in a note that did not."""
    came_along = origins_of(root)
    strange = [one.place.id for one in plan.files if one.before is not None and came_along(one.place)]
    own = [one.place.id for one in plan.files if one.after is not None and not came_along(one.place)]
    if not strange or not own or len(plan.files) < 2:
        return []
    return [f"lines of {', '.join(strange)}, which came with the repository, are now in {', '.join(own)}"]


def _digest(action: str, text: str) -> str:
    return hashlib.blake2b(f"{action}\0{text}".encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


MOST_TAGS = 50
"""More are read of no note."""
Read = Callable[[Found], bytes | None]
"""Reads the current content of a file; None: no file."""


class Plan(NamedTuple):
    """A change of topics.

    Attributes:
        id: of the remaining, or new, topic.
        words: description for the user.
        files: all changed files.
    """

    id: str
    words: str
    files: tuple[FileChange, ...]


class TopicPlans:
    """Works out changes of the topics of a project."""

    def __init__(self, notes: Notes, read: Read) -> None:
        self._notes = notes
        self._read = read

    def create(self, name: str, title: str, tags: Sequence[str]) -> Plan:
        """Create an empty topic.

        Raises UsageError if it has no name, or the name is taken; RefusedError if it is outside the folders of topics.
        """
        place = new_topic(self._notes, name, title)
        made = _new_text(title or name_of(place), _clean(tags), [])
        return Plan(place.id, f"made the topic {place.id}", (FileChange(place, None, made.encode()),))

    def gather(self, source: str, bullets: Collection[str], title: str, tags: Sequence[str]) -> Plan:
        """Create a topic from bullets of another note, each below its heading there.

        Raises UsageError if the name is taken, or the bullets no longer exist.
        """
        from_place = self._notes.places.place(source)
        place = new_topic(self._notes, "", title, for_user=from_place.scope == "user")
        data, text = self._text(from_place)
        below = [(heading, bullet) for heading, bullet, _ in topic_text.bullets(text) if bullet in bullets]
        if not below:
            raise UsageError(f"The lines for the topic are no longer in {source}.", hint="The topic was edited.")
        rest, _ = topic_text.without_bullets(text, bullets)
        lines = [
            line
            for heading in dict.fromkeys(heading for heading, _ in below)
            for line in (f"## {heading}", "", *(f"- {said}" for under, said in below if under == heading), "")
        ]
        files = (
            FileChange(from_place, data, written_like(data or b"", rest)),
            FileChange(place, None, _new_text(title, _clean(tags), lines).encode()),
        )
        return Plan(place.id, f"made the topic {place.id} of {count(len(below), 'line')} of {source}", files)

    def merge(self, names: Sequence[str], tags: Sequence[str] = ()) -> Plan:
        """Merge topics into the first one.

        Raises NotFoundError if there is no such topic; UsageError if there are fewer than two names, a repeated one, or
        different scopes.
        """
        places = [topic_named(self._notes, name) for name in names]
        if len({one.id for one in places}) < max(2, len(places)):
            raise UsageError("Merging needs two or more topics.", hint="Give each once; the first one remains.")
        if len({one.scope for one in places}) > 1:
            raise UsageError(
                "Topics of the user and of the project cannot be merged.",
                hint="Merge topics of one scope.",
            )
        stays, *others = [self._noted(place) for place in places]
        named = [tag for _, _, note in (stays, *others) for tag in note.note.tags]
        united = _clean([*named, *tags])[:MOST_TAGS]
        text = stays[1]
        for _, other, note in others:
            text = topic_text.unite(text, other, note.note.title, united)
        files = [FileChange(places[0], stays[0], written_like(stays[0], text))]
        files += [FileChange(place, data, None) for place, (data, _, _) in zip(places[1:], others, strict=True)]
        gone = ", ".join(one.id for one in places[1:])
        return Plan(places[0].id, f"merged {gone} into {places[0].id}", tuple(files))

    def split(
        self, name: str, headings: Sequence[str], title: str, tags: Sequence[str], *, any_note: bool = False
    ) -> Plan:
        """Create a topic from sections of another one.

        Args:
            name: of the note to split.
            headings: of the sections that move.
            title: of the new topic; empty: the first of the headings.
            tags: of the new topic; empty: from the moved sections.
            any_note: it may be another kind of note.

        Raises:
            NotFoundError: there is no such topic, or no such section.
            UsageError: no section is named, nothing would remain, or the new name is taken.
        """
        if not headings:
            raise UsageError("Nothing to move.", hint="Give the headings of the sections to move.")
        place = self._notes.named(name) if any_note else topic_named(self._notes, name)
        data, text, _ = self._noted(place)
        halves = topic_text.split(text, headings)
        if halves.missing:
            known = ", ".join(f"{one.name!r}" for _, one in topic_text.parse(text).content.all())
            raise NotFoundError(
                f"{place.id} has no section {', '.join(map(repr, halves.missing))}.",
                hint=f"It has {known[:400]}." if known else "It has no sections.",
            )
        if not any(block for block in _body_blocks(halves.rest)):
            raise UsageError(f"Nothing would remain in {place.id}.", hint="Give fewer sections, or move the note.")
        title = title or headings[0].lstrip("# ")[:MOST_TITLE]
        to = new_topic(self._notes, "", title, for_user=place.scope == "user")
        made = _new_text(title, [], halves.moved)
        found = _clean(tags) or list(tags_of(_read_as(to, made))[0])
        files = (
            FileChange(place, data, written_like(data, halves.rest)),
            FileChange(to, None, written_like(data, _new_text(title, found, halves.moved))),
        )
        return Plan(to.id, f"split {to.id} from {place.id}", files)

    def retire(self, names: Sequence[str]) -> Plan:
        """Move topics outside of recall, where the user can still find them.

        Raises NotFoundError if there is no such topic; UsageError if a topic of that name was retired before, or no
        name is given.
        """
        places = [topic_named(self._notes, name) for name in names]
        return self._moved(places, [archived(self._notes, one) for one in places], "retired")

    def restore(self, names: Sequence[str]) -> Plan:
        """Restore retired topics.

        Raises NotFoundError if there is no such topic; UsageError if the name is taken now, or no name is given.
        """
        places = [retired_named(self._notes, name) for name in names]
        return self._moved(places, [restored(self._notes, one) for one in places], "restored")

    def compress(self, name: str) -> Plan:
        """Merge equivalent bullets of a note; lines with possible secrets are unchanged.

        Raises NotFoundError if there is no such note; UsageError if it has no equivalent bullets.
        """
        place = self._notes.named(name)
        data, text, _ = self._noted(place)
        made, gone = topic_text.compress(text, keep=lambda line: redact(line).secrets > 0)
        if not gone:
            raise UsageError(f"{place.id} has no equivalent lines.", hint="Split it, or remove lines by hand.")
        return Plan(
            place.id, f"merged {count(gone, 'repeated line')} of {place.id} with others",
            (FileChange(place, data, written_like(data, made)),),
        )  # fmt: skip

    # --- parts ---

    def _moved(self, places: Sequence[Found], targets: Sequence[Found], words: str) -> Plan:
        if not places or len({one.id for one in places}) < len(places):
            raise UsageError("A name is missing or repeated.", hint="Give the id of each topic once.")
        files: list[FileChange] = []
        for place, to in zip(places, targets, strict=True):
            if os.path.lexists(to.file):
                raise UsageError(f"{to.file} already exists.", hint="Move or rename that one first.")
            data = self._noted(place)[0]
            files += [FileChange(to, None, data), FileChange(place, data, None)]
        return Plan(targets[0].id, f"{words} {', '.join(one.id for one in places)}", tuple(files))

    def _text(self, place: Found) -> tuple[bytes | None, str]:
        data = self._read(place)
        return data, "" if data is None else text_of(data)[0]

    def _noted(self, place: Found) -> tuple[bytes, str, ReadNote]:
        data, text = self._text(place)
        if data is None:
            raise NotFoundError(f"Note not found: {place.id}.", hint="`cm notes list` lists them.")
        return data, text, parse_note(place, Stamp(0, len(data), 0), data)


def _read_as(place: Found, text: str) -> ReadNote:
    return parse_note(place, Stamp(0, len(text), 0), text.encode())


def _new_text(title: str, tags: Sequence[str], lines: Sequence[str]) -> str:
    shown = " ".join("".join(letter if letter.isprintable() else " " for letter in title).split())
    text = "\n".join([*new_head(shown, tags), "", f"# {shown}", "", *lines])
    return f"{text.rstrip(chr(10))}\n"


def _clean(tags: Sequence[str]) -> list[str]:
    """Return tags as front matter has them, each once."""
    words = (" ".join(tag.replace(",", " ").split()).lstrip("#") for tag in tags)
    found: dict[str, str] = {}
    for word in words:
        if word:
            found.setdefault(word.casefold(), word)
    return list(found.values())


def _body_blocks(text: str) -> list[note_blocks.Block]:
    """Return the text of a note below its headings."""
    sections = topic_text.parse(text).whole.every()
    return [block for section in sections for block in note_blocks.blocks(section.body)]
