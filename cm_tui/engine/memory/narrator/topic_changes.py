"""Changing topics, by hand or by approval: create, merge, split, retire, restore, compress. Each is one undoable change."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.narrator.origins import origins_of
from cm_tui.engine.memory.narrator.topic_plans import Plan, TopicPlans
from cm_tui.engine.memory.notes.note_file import refuse_locked, writing
from cm_tui.engine.memory.notes.note_reader import read_data
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.memory.notes.topic_events import as_text, shown
from cm_tui.engine.memory.notes.topic_files import TopicFiles
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.model import NarratedAction, NarratedChange, NarratedProposal, TopicAction
from cm_tui.model.author import Author

ACTIONS: frozenset[NarratedAction] = frozenset({"merge", "split", "retire", "create", "compress"})
"""Actions on topics; the others are on lines."""
BETWEEN = "\n"
"""Between the lines of a proposal's heading, where it names several."""


class TopicPreview(NamedTuple):
    """Current effect of an approval.

    Attributes:
        diff: of all files, unified and redacted.
        problem: why it is impossible; empty: it is possible.
        digest: identifies the effect.
    """

    diff: str
    problem: str
    digest: str


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
                raise UsageError("No topic is named.", hint="Name the topic, then the headings that move.")
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
        proposal: one with an action of `ACTIONS`.
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
                f"What {proposal.id} is about was changed since it was shown.", hint="Look at it again, then decide."
            )
        return found

    return _done(root, proposal.action, plan, writer or Author(), more or {})


def preview(root: Path, proposal: NarratedProposal) -> TopicPreview:
    """Return what approving such a proposal would do now; nothing is written."""
    notes = Notes(root)
    try:
        plan = _plan_of(TopicPlans(notes, _read), proposal)
        for one in plan.files:
            refuse_locked(one.place)
        diff = diff_of(plan)
    except CmError as error:
        return TopicPreview("", error.message, _digest(proposal.action, error.message))
    return TopicPreview(diff, "", _digest(proposal.action, diff))


def diff_of(plan: Plan) -> str:
    """Return the diff of all files of a change, as files are compared by git."""
    pieces: list[str] = []
    for one in plan.files:
        before, after = (as_text(one.place, data) for data in (one.before, one.after))
        clean = [shown([text])[0] if text else "" for text in (before, after)]
        old, new = (text.replace("\r\n", "\n").removeprefix("\ufeff").splitlines(keepends=True) for text in clean)
        names = ("/dev/null" if before is None else one.place.id), ("/dev/null" if after is None else one.place.id)
        lines = difflib.unified_diff(old, new, *names)
        pieces += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
    return "".join(pieces)


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


def _read(place: Found) -> bytes | None:
    try:
        return read_data(place)
    except NotFoundError:
        return None


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
