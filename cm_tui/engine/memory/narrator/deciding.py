"""Deciding on proposals: approval writes the text, is recorded in the journal, and can be undone at any later time.

A decision is recorded in this order: the text of the proposal, then the writes (recorded as other changes of notes,
entries and topics are), then the verdict. If a process is killed before the last step, and something was written by
then, the next decision completes it; otherwise the proposal waits again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import Any

from cm_tui import paths
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_file import RULE
from cm_tui.engine.memory.entries.entry_record import changed_by, digest
from cm_tui.engine.memory.entries.entry_writing import CHANGED as ENTRY_CHANGED
from cm_tui.engine.memory.entries.entry_writing import changed_ids
from cm_tui.engine.memory.episodes.edits import append_of_many, new_change
from cm_tui.engine.memory.episodes.undo import UndoRequest, events_of, refuse_elsewhere, undo_decision
from cm_tui.engine.memory.narrator import decisions, line_changes, policy, topic_changes
from cm_tui.engine.memory.narrator.decisions import STATES, Decision, Open, object_in, read_worded
from cm_tui.engine.memory.narrator.line_changes import changed_since
from cm_tui.engine.memory.narrator.note_lines import note_text
from cm_tui.engine.memory.narrator.proposals import FactProposal, Parts, Proposals
from cm_tui.engine.memory.notes.note_file import CHANGED as NOTE_CHANGED
from cm_tui.engine.memory.notes.topic_files import CHANGED as TOPIC_CHANGED
from cm_tui.engine.memory.projection.narrated import DECIDED, STANDS_ON, WORDED
from cm_tui.engine.memory.projection.visibility import UNDONE
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import CmError, NotFoundError, RefusedError, UsageError
from cm_tui.model import EPISODES, Edited, NarratedChange, NarratedDecision, NarratedProposal, Scope, Undone
from cm_tui.model.author import Author
from cm_tui.model.ids import id_named
from cm_tui.model.text import one_line
from cm_tui.state_file import holding

PERSON = "person"
_LOCK_S = 30.0
_DONE = {"reject": "rejected: it is not proposed again", "defer": "deferred: it is no longer waiting"}
_ALREADY = {"approved": "is already approved", "rejected": "was rejected"}
_WRITES = frozenset({NOTE_CHANGED, ENTRY_CHANGED, TOPIC_CHANGED})
"""Kinds of events of what an approval writes."""
_SOURCES = 20
"""Episodes that a Rule names."""
_REASON_CHARACTERS = 500
_SHOWN = 300
"""Characters of a text to show with another."""


class Deciding:
    """Decides on the proposals of a project. `parts`: what the narrator is based on."""

    def __init__(self, parts: Parts, proposals: Proposals) -> None:
        self._parts = parts
        self._proposals = proposals
        self._journal = parts.episodes.journal

    def decide(self, names: Sequence[str], decision: NarratedDecision, by: str = PERSON) -> tuple[NarratedChange, ...]:
        """Decide on proposals, each separately; a failed one holds its reason.

        `names`: ids; one with `@` and a digest is decided only if it would still do what was shown. `decision`: what to
        do with them. `by`: who decides: `person`, or `policy NAME`. Raises UsageError if no name is given, or the
        options conflict.
        """
        decision = _checked(names, decision)
        # Before reading the proposals: concurrent decisions are read again.
        seen = self._journal.end()
        self.complete()
        known = self._known()
        changes: list[NarratedChange] = []
        for name in names:
            id_, _, digest = name.strip().lower().partition("@")
            made: FactProposal | None = None
            try:
                made = self._one_of(known, id_)
                with self._alone():
                    if self._journal.end() != seen:
                        self._parts.episodes.index.follow()
                        # Proposals no longer counted meanwhile were shown anyway.
                        known = {made.proposal.id: made, **self._known()}
                        made = known[made.proposal.id]
                    done = self._decide(made.proposal, digest, decision, by)
                    seen = self._journal.end()
                known[made.proposal.id] = replace(made, proposal=done.proposal or made.proposal)
                changes.append(done)
            except CmError as error:
                shown = None if made is None else made.proposal
                problem = NarratedChange(id_, "", done=False, problem=error.message, hint=error.hint, proposal=shown)
                changes.append(problem)
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
            one = self.named(name).proposal
            found = self._proposals.decisions.now().by_proposal.get(one.id)
            if found is None or one.state == "waiting":
                raise UsageError(
                    f"{one.id} is still waiting: there is no decision to undo.",
                    hint="`cm proposals` lists waiting proposals.",
                )
            episodes = self._parts.episodes
            events = events_of(episodes, found.change)
            asked = UndoRequest(self._parts.root, episodes, found.change, events)
            refuse_elsewhere(asked)
            back = undo_decision(asked)
            if back.conflicts:
                return NarratedChange(found.proposal, "", done=False, problem=_conflict_words(back), proposal=one)
            self._mark_undone(found.change, found.proposal, DECIDED, PERSON)
        self._settle(found.state == "approved")
        made = self._known().get(found.proposal)
        words = f"undone: {back.words}; {'it waits again' if made is not None else 'it is not proposed any more'}"
        return NarratedChange(found.proposal, words, found.change, proposal=None if made is None else made.proposal)

    def redo(self, change: str) -> Edited | None:
        """Redo an undone decision, with its reason, text and note; None: the change is another one.

        Raises NotFoundError if the proposal is gone; UsageError if the journal no longer has its words; RefusedError if
        it can no longer be made; StoreError if it cannot be written.
        """
        self._parts.episodes.index.follow()
        sql = "SELECT kind, data FROM narrator_event WHERE change = ? AND undone"
        undone = dict(self._parts.episodes.tables.rows(sql, [change]))
        if DECIDED not in undone:
            return None
        data = object_in(undone.get(WORDED, ""))
        made = read_worded(str(data.get("proposal")), data)
        if made is None:
            raise UsageError("The journal no longer contains the text of this proposal.", hint="Look for it in Review.")
        shown, decision, _ = made
        live = self.named(shown.id).proposal
        if decision.verdict == "approve" and shown.action in ("add", "replace"):
            decision = replace(decision, text=shown.text if shown.text != live.text else None)
        if decision.verdict == "approve" and shown.target != live.target and shown.action == "add":
            decision = replace(decision, target=shown.target)
        done = self.decide([live.id], decision)[0]
        if not done.done:
            raise RefusedError(done.problem, hint=done.hint)
        return Edited(self._proposals.decisions.now().by_proposal[live.id].change, (live.id,), done.words)

    def auto_approve(self) -> tuple[str, ...]:
        """Approve proposals by the user's policy; return the ids.

        Raises StoreError if it cannot be written.
        """
        config, decided = self._parts.config().narrator, self._proposals.decisions.now()
        if config.policy == "by-hand":
            return ()
        chosen = [
            f"{one.id}@{one.digest}"
            for one in self._proposals.waiting()
            if policy.approves(one, config) and decided.taken_from_policies.isdisjoint(one.claims)
        ]
        done = self.decide(chosen, NarratedDecision("approve"), f"policy {config.policy}") if chosen else ()
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

    def named(self, name: str) -> FactProposal:
        """Return a proposal by its id or a prefix of it; `@` and a digest may follow."""
        return self._one_of(self._known(), name.strip().lower().partition("@")[0])

    # --- parts ---

    def _one_of(self, known: Mapping[str, FactProposal], name: str) -> FactProposal:
        """Return a proposal by its id or a prefix of it.

        Raises NotFoundError if no proposal has that name, or it was withdrawn; UsageError if the name is ambiguous.
        """
        listed = "`cm proposals list` lists them."
        try:
            return known[id_named(name, known, "proposal", listed, least=2)]
        except NotFoundError:
            gone = id_named(name, self._proposals.withdrawn(known), "proposal", listed, least=2)
            raise NotFoundError(
                f"The proposal {gone} was withdrawn: its evidence was forgotten, changed or is too old.",
                hint="`cm proposals` lists waiting proposals.",
            ) from None

    def _known(self) -> dict[str, FactProposal]:
        return {made.proposal.id: made for made in self._proposals.all()}

    def _decide(self, one: NarratedProposal, digest: str, decision: NarratedDecision, by: str) -> NarratedChange:
        if one.state in _ALREADY:
            raise UsageError(
                f"{one.id} {_ALREADY[one.state]}: undo that first with `cm proposals undo {one.id}`.",
                hint="`cm proposals` lists waiting proposals.",
            )
        if digest and digest != self._digest(one):
            raise changed_since(one)
        change = new_change()
        if decision.verdict != "approve":
            data = (
                decisions.worded(change, one, decision, by),
                decisions.decided(change, one, decision, by, _writer(by), {}),
            )
            # One of them alone is worth nothing.
            with self._journal.held():
                for kind, said in zip((WORDED, DECIDED), data, strict=True):
                    self._journal.append_held(kind, said)
            return NarratedChange(one.id, _DONE[decision.verdict], proposal=_after(one, decision, by, change))
        wanted = self._edited(one, decision)
        if digest and one.is_line and not decision.as_rule:
            digest = self._digest(wanted)
        self._journal.append(WORDED, decisions.worded(change, wanted, decision, by))
        try:
            words, done = self._write(wanted, decision, _writer(by), change, shown=digest)
        except BaseException:
            # A decision reported as failed must not be completed later.
            with suppress(CmError):
                self._mark_undone(change, wanted.id)
            raise
        self._journal.append(DECIDED, decisions.decided(change, wanted, decision, by, _writer(by), done))
        return NarratedChange(one.id, words, change, proposal=_after(wanted, decision, by, change))

    def _edited(self, one: NarratedProposal, decision: NarratedDecision) -> NarratedProposal:
        """Return a proposal with the user's text and note. Raises CmError if it cannot be written."""
        if one.action == "remove" and decision.text is not None:
            raise UsageError(f"{one.id} removes a line, so it takes no text.", hint="Edit the note instead.")
        if not one.is_line and (decision.text is not None or decision.target):
            raise UsageError(f"{one.id} is about topics, so it takes no text and no note.", hint="Use `cm topics`.")
        if decision.target and one.action != "add":
            raise UsageError(f"{one.id} would change a line of {one.target}, so it cannot be written to another note.")
        if one.action in ("add", "replace"):
            one = replace(one, text=note_text(one.text if decision.text is None else decision.text))
        if decision.as_rule and (one.action != "add" or not (one.as_rule or decision.text is not None)):
            raise UsageError(
                f"{one.id} is not an instruction, so it cannot be a Rule.",
                hint="Approve it as a line, or give the Rule: --text TEXT --as-rule.",
            )
        one = line_changes.placed(self._parts.root, one, decision.target) if decision.target else one
        if one.is_line and not decision.as_rule and (problem := line_changes.look(self._parts.root, one).problem):
            raise RefusedError(problem)
        return one

    def _digest(self, one: NarratedProposal) -> str:
        return topic_changes.preview(self._parts.root, one).digest

    def _write(
        self, one: NarratedProposal, decision: NarratedDecision, writer: Author, change: str, *, shown: str = "",
        told: Sequence[Event] = (),
    ) -> tuple[str, Mapping[str, str]]:  # fmt: skip
        """Write a proposal; return words for the user, and data for the event of the decision.

        `shown`: digest of the expected effect; empty: any. `told`: earlier writes of the same change, which are not
        repeated. Raises UsageError if its target was changed so that it does not apply; RefusedError if it may not be
        written; StoreError if it cannot be written.
        """
        more: dict[str, Any] = {"change": change, "narrated": one.id}
        if one.evidence_ids:
            more[STANDS_ON] = list(one.evidence_ids)
        if decision.as_rule:
            return _rule(Entries(self._parts.root), one, writer, more, told)
        if not one.is_line:
            return f"approved: {topic_changes.apply(self._parts.root, one, writer, more, shown).words}", {}
        is_begun = any(event.kind == NOTE_CHANGED for event in told)
        words, done = line_changes.write(self._parts.root, one, shown, writer, more, is_begun=is_begun)
        return f"approved: {words}", done

    def _mark_undone(self, change: str, name: str, kind: str = WORDED, actor: str = "narrator") -> None:
        with self._journal.held():
            append_of_many(self._journal, UNDONE, {"change": change, "kind": kind, "actor": actor}, [name])

    def _complete(self, one: Open) -> None:
        begun, events = read_worded(one.proposal, one.data), events_of(self._parts.episodes, one.change)
        if begun is not None and begun[1].verdict == "approve" and any(event.kind in _WRITES for event in events):
            proposal, decision, by = begun
            with suppress(CmError):
                _, done = self._write(proposal, decision, _writer(by), one.change, told=events)
                data = decisions.decided(one.change, proposal, decision, by, _writer(by), done)
                self._journal.append(DECIDED, data)
                return
        # Nothing was written of it: the proposal waits.
        self._mark_undone(one.change, one.proposal)

    def _settle(self, is_written: bool) -> None:
        self._parts.episodes.index.follow()
        if is_written:
            self._parts.on_written()

    def _alone(self) -> AbstractContextManager[None]:
        """Hold the lock against decisions of all other processes.

        Raises StoreError if another process is deciding for too long.
        """
        return holding(paths.data_dir() / "note-changes" / f"deciding-{self._journal.folder.name}.lock", _LOCK_S)


# --- parts ---


def _writer(by: str) -> Author:
    return Author() if by == PERSON else Author("narrator")


def _after(one: NarratedProposal, decision: NarratedDecision, by: str, change: str) -> NarratedProposal:
    """Return a proposal in its state after a decision, before it is read back."""
    data = {"by": by, "reason": decision.reason}
    return Decision(change, one.id, STATES[decision.verdict], time.time(), data, one).applied_to(one) or one


def _checked(names: Sequence[str], decision: NarratedDecision) -> NarratedDecision:
    """Return a decision with its reason in one line.

    Raises UsageError if no name is given, or the options conflict.
    """
    if not names:
        raise UsageError("No proposal given.", hint="`cm proposals` lists waiting proposals.")
    if decision.text is not None and len(names) > 1:
        raise UsageError("A text can be given for one proposal only.", hint="Give one id.")
    given = decision.text is not None or decision.target or decision.as_rule
    if decision.verdict != "approve" and given:
        raise UsageError("A text, a note or a Rule is only for approvals.", hint="Approve it instead.")
    if decision.as_rule and decision.target:
        raise UsageError("A Rule cannot be written to a note.", hint="Omit the note or the Rule.")
    if decision.text is not None:
        note_text(decision.text)
    reason = " ".join(one_line(redact(decision.reason).text).split())
    return replace(decision, reason=reason[:_REASON_CHARACTERS])


def _conflict_words(back: Undone) -> str:
    """Return the message for a later change of the written text."""
    one = back.conflicts[0]
    then = f"“{_short(one.yours)}” was written" if one.yours else "another text was written"
    return f"{one.id} has changed since: {then}, now it is “{_short(one.now)}”; nothing was changed"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _rule(
    entries: Entries, proposal: NarratedProposal, writer: Author, more: Mapping[str, Any], told: Sequence[Event]
) -> tuple[str, Mapping[str, str]]:
    """Write a Rule that counts as approved: the narrator found it, and the user let it be written."""
    scope: Scope = "user" if proposal.scope == "user" else "project"
    draft = entries.draft(proposal.text, Author("narrator"), category=RULE, keywords=proposal.tags, scope=scope)
    sources = tuple(f"{EPISODES}/{id_}" for id_ in proposal.evidence_ids[:_SOURCES])
    made, notes = entries.add_new(
        changed_by(replace(draft, made_from=sources), writer), writer, approves=True, more=more
    )
    if made.again and made.unapproved:
        raise UsageError(
            f"The Rule {made.id} already exists and is waiting for approval.", hint=f"`cm entries approve {made.id}`"
        )
    # A process that was killed later had written it.
    is_own = not made.again or any(made.id in changed_ids(event) for event in told)
    words = f"wrote the Rule {made.id}" if is_own else f"the Rule {made.id} already exists"
    said = {"entry": made.id, "entry_scope": made.scope, "entry_digest": digest(made)}
    return "; ".join((f"approved: {words}", *notes)), said if is_own else {}
