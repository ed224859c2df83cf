"""Deciding on proposals: approval writes the text, is recorded in the journal, and can be undone at any later time.

A decision is recorded in this order: the text of the proposal, then the writes (recorded as other changes of notes,
entries and topics are), then the verdict. If a process is killed before the last step, and something was written by
then, the next decision completes it; otherwise the proposal waits again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial

from cm_tui import paths
from cm_tui.engine.memory.episodes.edits import append_of_many, new_change
from cm_tui.engine.memory.episodes.narrated_undo import undone_writes
from cm_tui.engine.memory.narrator import decision_events, effects, note_lines, policy
from cm_tui.engine.memory.narrator.decision_checks import checked, conflict_words, may_be, named
from cm_tui.engine.memory.narrator.decisions import STATES, Decision, Open
from cm_tui.engine.memory.narrator.facts import Made
from cm_tui.engine.memory.narrator.line_changes import ACTIONS, changed_since
from cm_tui.engine.memory.narrator.parts import Parts
from cm_tui.engine.memory.narrator.proposals import Proposals
from cm_tui.engine.memory.projection.narrated import DECIDED, WORDED
from cm_tui.engine.memory.projection.visibility import UNDONE
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.errors import CmError, RefusedError, UsageError
from cm_tui.model import Edited, NarratedChange, NarratedDecision, NarratedProposal
from cm_tui.model.author import Author
from cm_tui.state_file import holding

PERSON = "person"
_LOCK_S = 30.0
_DONE = {"reject": "rejected: it is not proposed again", "defer": "put off: it does not wait any more"}
_ALREADY = {"approved": "was approved already", "rejected": "was rejected"}


class Deciding:
    """Decides on the proposals of a project. `parts`: what the narrator is based on."""

    def __init__(self, parts: Parts, proposals: Proposals) -> None:
        self._parts = parts
        self._proposals = proposals
        self._lines = proposals.lines
        self._journal = parts.episodes.journal

    def decide(self, names: Sequence[str], decision: NarratedDecision, by: str = PERSON) -> tuple[NarratedChange, ...]:
        """Decide on proposals, each separately; a failed one holds its reason.

        `names`: ids; one with `@` and a digest is decided only if it would still do what was shown. `decision`: what to
        do with them. `by`: who decides: `person`, or `policy NAME`. Raises UsageError if no name is given, or the
        options conflict.
        """
        decision = checked(names, decision)
        # Before reading the proposals: concurrent decisions are read again.
        seen = self._journal.end()
        self.complete()
        known = {made.proposal.id: made for made in self._proposals.all()}
        changes: list[NarratedChange] = []
        for name in names:
            id_, _, digest = name.strip().lower().partition("@")
            made: Made | None = None
            try:
                made = named(known, id_)
                with self._alone():
                    if self._journal.end() != seen:
                        known = self._known_again(made, known)
                        made = named(known, made.proposal.id)
                    done = self._decide(made.proposal, digest, decision, by)
                    seen = self._journal.end()
                known[made.proposal.id] = replace(made, proposal=done.proposal or made.proposal)
                changes.append(done)
            except CmError as error:
                one = made.proposal if made is not None else None
                changes.append(
                    NarratedChange(id_, "", done=False, problem=error.message, hint=error.hint, proposal=one)
                )
        self._settle(any(one.done and decision.verdict == "approve" for one in changes))
        return tuple(changes)

    def undo(self, name: str) -> NarratedChange:
        """Undo the decision on a proposal.

        Raises NotFoundError if there is no such proposal; UsageError if it is undecided, or the decision cannot be
        undone; StoreError if it cannot be written.
        """
        self.complete()
        with self._alone():
            self._parts.episodes.index.follow()
            made = named(
                {one.proposal.id: one for one in self._proposals.all()}, name.strip().lower().partition("@")[0]
            )
            found = self._proposals.decisions.now().by_proposal.get(made.proposal.id)
            if found is None or made.proposal.state == "waiting":
                raise UsageError(
                    f"Nothing was decided on {made.proposal.id}: it waits.", hint="`cm proposals` lists what waits."
                )
            undone = partial(undone_writes, self._parts.episodes.tables, self._journal, found.change)
            back = effects.take_back(self._parts.root, found, self._events_of(found.change), undone)
            if back.conflicts:
                return NarratedChange(
                    found.proposal, "", done=False, problem=conflict_words(back), proposal=made.proposal
                )
            said = {"change": found.change, "kind": DECIDED, "actor": PERSON}
            with self._journal.held():
                append_of_many(self._journal, UNDONE, said, [found.proposal])
        self._settle(found.state == "approved")
        now = next((one.proposal for one in self._proposals.all() if one.proposal.id == found.proposal), None)
        words = f"undone: {back.words}"
        words += "; it waits again" if now is not None else "; it is not proposed any more"
        return NarratedChange(found.proposal, words, found.change, proposal=now)

    def redo(self, change: str) -> Edited | None:
        """Redo an undone decision, with its reason, text and note; None: the change is another one.

        Raises NotFoundError if the proposal is gone; UsageError if the journal no longer has its words; RefusedError if
        it can no longer be made; StoreError if it cannot be written.
        """
        self._parts.episodes.index.follow()
        sql = "SELECT data FROM narrator_event WHERE change = ? AND kind = ? AND undone"
        if not self._parts.episodes.tables.rows(sql, [change, DECIDED]):
            return None
        worded = self._parts.episodes.tables.rows(sql, [change, WORDED])
        made = decision_events.read_worded(json.loads(worded[0][0])) if worded else None
        if made is None:
            raise UsageError("The journal no longer has the words of this proposal.", hint="Look for it in Review.")
        shown, decision = made
        live = named({one.proposal.id: one for one in self._proposals.all()}, shown.id).proposal
        if decision.verdict == "approve" and shown.action in ("add", "replace"):
            decision = replace(decision, text=shown.text if shown.text != live.text else None)
        if decision.verdict == "approve" and shown.target != live.target and shown.action == "add":
            decision = replace(decision, target=shown.target)
        done = self.decide([live.id], decision)[0]
        if not done.done:
            raise RefusedError(done.problem, hint=done.hint)
        return Edited(self._proposals.decisions.now().by_proposal[live.id].change, (live.id,), done.words)

    def approve_unasked(self) -> tuple[str, ...]:
        """Approve proposals by the user's policy; return the ids.

        Raises StoreError if it cannot be written.
        """
        config, decided = self._parts.config().narrator, self._proposals.decisions.now()
        if config.policy == "by-hand":
            return ()
        chosen: dict[str, list[str]] = {}
        for one in self._proposals.waiting():
            name = policy.approves(one, config) if decided.may_be_approved_unasked(one) and may_be(one) else ""
            if name:
                chosen.setdefault(name, []).append(f"{one.id}@{one.digest}")
        decision = NarratedDecision("approve")
        done = [each for name, ids in chosen.items() for each in self.decide(ids, decision, f"policy {name}")]
        return tuple(each.id for each in done if each.done)

    def complete(self) -> None:
        """Complete decisions whose process was killed. Raises StoreError if it cannot be read or written."""
        self._parts.episodes.index.follow()
        if not self._proposals.decisions.now().open:
            return
        with self._alone():
            self._parts.episodes.index.follow()
            for one in self._proposals.decisions.now().open:
                self._complete(one)
        self._settle(is_written=True)

    # --- parts ---

    def _decide(self, one: NarratedProposal, digest: str, decision: NarratedDecision, by: str) -> NarratedChange:
        if one.state in _ALREADY:
            raise UsageError(
                f"{one.id} {_ALREADY[one.state]}: undo that first with `cm proposals undo {one.id}`.",
                hint="`cm proposals` lists what waits.",
            )
        if digest and digest != self._digest(one):
            raise changed_since(one)
        writer, change = Author() if by == PERSON else Author("narrator"), new_change()
        if decision.verdict != "approve":
            data = decision_events.decided(change, one, decision, by, writer, {})
            self._tell(decision_events.worded(change, one, decision, by), data)
            return NarratedChange(one.id, _DONE[decision.verdict], proposal=self._after(one, decision, by, change))
        wanted = self._wanted(one, decision)
        checked = effects.check(wanted, self._lines, decision)
        shown = (checked if one.action in ACTIONS else digest) if digest else ""
        self._journal.append(WORDED, decision_events.worded(change, wanted, decision, by))
        try:
            done = effects.write(self._parts.root, self._lines, wanted, decision, writer, change, shown=shown)
        except BaseException:
            # A decision reported as failed must not be completed later.
            with suppress(CmError):
                self._give_up(change, wanted.id)
            raise
        self._journal.append(DECIDED, decision_events.decided(change, wanted, decision, by, writer, done.data))
        return NarratedChange(one.id, done.words, change, proposal=self._after(wanted, decision, by, change))

    def _wanted(self, one: NarratedProposal, decision: NarratedDecision) -> NarratedProposal:
        """Return a proposal with the user's text and note. Raises CmError if they are invalid."""
        if one.action == "remove" and decision.text is not None:
            raise UsageError(f"{one.id} removes a line: no text is written.", hint="Edit the note instead.")
        if one.action not in ACTIONS and (decision.text is not None or decision.target):
            raise UsageError(f"{one.id} is about topics: it takes no text and no note.", hint="`cm topics` does it.")
        if decision.target and one.action != "add":
            raise UsageError(f"A line of {one.target} is changed by {one.id}: no other note will do.")
        if one.action in ("add", "replace"):
            one = replace(one, text=note_lines.said_by(one.text if decision.text is None else decision.text))
        return self._lines.placed(one, decision.target) if decision.target else one

    def _after(self, one: NarratedProposal, decision: NarratedDecision, by: str, change: str) -> NarratedProposal:
        """Return a proposal in its state after a decision, before it is read back."""
        data = decision_events.decided(change, one, decision, by, Author(), {})
        found = Decision(change, one.id, STATES[decision.verdict], time.time(), data, one).laid_on(one)
        return found or one

    def _digest(self, one: NarratedProposal) -> str:
        return (
            self._lines.looks([one])[one.id].digest
            if one.action in ACTIONS
            else effects.topic_digest(self._parts.root, one)
        )

    def _tell(self, *data: dict[str, object]) -> None:
        """Write the words and the decision: one of them alone is worth nothing."""
        with self._journal.held():
            for kind, said in zip((WORDED, DECIDED), data, strict=True):
                self._journal.append_held(kind, said)

    def _give_up(self, change: str, name: str) -> None:
        with self._journal.held():
            said = {"change": change, "kind": WORDED, "actor": "narrator"}
            append_of_many(self._journal, UNDONE, said, [name])

    def _complete(self, one: Open) -> None:
        begun = effects.begun(one)
        events = self._events_of(one.change)
        if begun is None or not any(event.kind in effects.WRITES for event in events):
            # Nothing was written of it: the proposal waits.
            return self._give_up(one.change, one.proposal)
        proposal, decision, by = begun
        writer = Author() if by == PERSON else Author("narrator")
        try:
            done = effects.write(self._parts.root, self._lines, proposal, decision, writer, one.change, told=events)
        except CmError:
            return self._give_up(one.change, one.proposal)
        data = decision_events.decided(one.change, proposal, decision, by, writer, done.data)
        self._journal.append(DECIDED, data)
        return None

    def _events_of(self, change: str) -> list[Event]:
        rows = self._parts.episodes.tables.rows(
            "SELECT segment, place FROM change WHERE change = ? AND NOT undone ORDER BY event", [change]
        )
        found = (next(self._journal.read(Position(segment, place)), None) for segment, place in rows)
        return [event for event in found if event is not None]

    def _known_again(self, made: Made, known: dict[str, Made]) -> dict[str, Made]:
        """Return the proposals, after another process wrote to the journal."""
        self._parts.episodes.index.follow()
        now = {one.proposal.id: one for one in self._proposals.all()}
        # Proposals no longer counted meanwhile were shown anyway.
        return now if made.proposal.id in now else {**known, **now}

    def _settle(self, is_written: bool) -> None:
        self._parts.episodes.index.follow()
        if is_written:
            self._parts.on_written()

    def _alone(self) -> AbstractContextManager[None]:
        """Hold the lock against decisions of all other processes.

        Raises StoreError if another process is deciding for too long.
        """
        return holding(paths.data_dir() / "note-changes" / f"deciding-{self._journal.folder.name}.lock", _LOCK_S)
