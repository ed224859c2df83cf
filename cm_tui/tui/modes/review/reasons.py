"""Why a command is not possible now."""

from __future__ import annotations

from collections.abc import Callable

from cm_tui.model import Entry, NarratedProposal, Proposal, StaleItem
from cm_tui.tui.modes.review.inbox import OUTDATED, Other
from cm_tui.tui.modes.review.view import ReviewView
from cm_tui.tui.screens.app_commands import not_open
from cm_tui.tui.screens.commands import unless

_NO_ROW = "there is nothing under the cursor"
_LINES = ("add", "replace")
Reason = Callable[[ReviewView], str | None]
on_topics: Reason = unless(lambda screen: not screen.on_topics, "topics are listed: t goes back to proposals")
on_proposals: Reason = unless(lambda screen: screen.on_topics, "proposals are listed: t goes to topics")
no_row: Reason = unless(lambda screen: screen.panel.lines.rows, _NO_ROW)
no_pass: Reason = unless(lambda screen: screen.cm.project.narrating, "no pass is in progress")
_no_item: Reason = unless(lambda screen: screen.item, _NO_ROW)
_by_itself: Reason = unless(
    lambda screen: not isinstance(screen.item, Other), "only proposals of the narrator are approved together"
)
_on_its_way: Reason = unless(lambda screen: not screen.cm.project.narrating, "a pass is in progress: N stops it")


def _of_proposal(holds: Callable[[NarratedProposal], object], why: str) -> Reason:
    """Make a reason that concerns the narrator's proposals alone."""
    return unless(lambda screen: screen.proposal is None or holds(screen.proposal), why)


_no_line = _of_proposal(lambda one: one.action in _LINES, "it writes no line of its own")
_no_rule = _of_proposal(lambda one: one.as_rule, "it is not an instruction")
_replaces = _of_proposal(lambda one: one.action != "replace", "it changes an existing line")
_deferred = _of_proposal(lambda one: one.state != "deferred", "it is deferred already: u undoes that")


def _decided(screen: ReviewView) -> str | None:
    one = screen.proposal
    return f"already {one.state}; u undoes it" if one is not None and one.state not in ("waiting", "deferred") else None


DECIDE = (on_topics, _no_item, _decided)


def _cannot_fix(screen: ReviewView) -> str | None:
    record = screen.item.record if isinstance(screen.item, Other) else None
    if not isinstance(record, StaleItem):
        return None
    if record.kind != "entry":
        return "it is a file of yours: e opens it in Memory, d keeps it, x archives it"
    return None if any(one.became for one in record.flagged) else "the new name is unknown: e edits it, d keeps it"


def _refused(screen: ReviewView) -> str | None:
    one = screen.proposal
    if one is None:
        return None
    whole = screen.details.of(one)
    if screen.is_refused(one) and whole is None:
        return "it changed since you saw it: it is being read again"
    return (whole or one).problem or None


APPROVE = (*DECIDE, _cannot_fix, _refused)


def _no_line_of_other(screen: ReviewView) -> str | None:
    if not isinstance(screen.item, Other):
        return None
    wish = "it is a request about an entry: a accepts it, then Memory (6) changes it"
    return wish if isinstance(screen.item.record, Proposal) else "it has no line of its own"


WRITE = (_no_line_of_other, *DECIDE, _no_line)


def cannot_edit(screen: ReviewView) -> str | None:
    """An outdated memory is edited in Memory, of the others the line."""
    record = screen.item.record if isinstance(screen.item, Other) else None
    if isinstance(record, StaleItem):
        return "an episode is not edited" if record.kind == "episode" else None
    return next(filter(None, (reason(screen) for reason in WRITE)), None)


RULE = (*WRITE, _no_rule, *APPROVE)
MOVE = (*WRITE, _replaces)


def _cannot_wait(screen: ReviewView) -> str | None:
    waits = not isinstance(screen.item, Other) or screen.item.kind == OUTDATED
    return None if waits else "it waits until you approve or reject it"


DEFER = (*DECIDE, _cannot_wait, _deferred)
APPROVE_KIND = (_by_itself, *DECIDE)


def session_of(item: Other) -> str:
    """The session that asked for it, or wrote it."""
    return item.record.session if isinstance(item.record, Proposal | Entry) else ""


def _no_episode(screen: ReviewView) -> str | None:
    if isinstance(screen.item, Other):
        return None if session_of(screen.item) else "it names no session"
    return None if screen.proposal is not None and screen.proposal.evidence_ids else "it has no evidence episode"


EVIDENCE = (on_topics, _no_item, _no_episode)


RUN = (not_open, _on_its_way)


# --- topics ---


def _no_topic(screen: ReviewView) -> str | None:
    if screen.topics.topic is not None:
        return None
    return "not a topic" if screen.topics.row is not None else _NO_ROW


def _retired(screen: ReviewView) -> str | None:
    topic = screen.topics.topic
    return "it was retired: D restores it" if topic is not None and topic.retired else None


def _nothing_to_merge(screen: ReviewView) -> str | None:
    topic = screen.topics.topic
    if len(screen.topic_list.selected) > 1 or (topic is not None and topic.overlaps):
        return None
    return "select two or more with space: the first one stays"


TOPIC = (on_proposals, _no_topic)
CURRENT_TOPIC = (*TOPIC, _retired)
MERGE = (*CURRENT_TOPIC, _nothing_to_merge)


def shown_proposal(screen: ReviewView) -> NarratedProposal | None:
    """The proposal under the cursor, whole where it was read."""
    one = screen.proposal
    return None if one is None else screen.details.of(one) or one
