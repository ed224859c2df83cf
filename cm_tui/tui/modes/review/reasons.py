"""Why a command is not possible now."""

from __future__ import annotations

from cm_tui.model import Entry, NarratedProposal, Proposal, StaleItem
from cm_tui.tui.modes.review.inbox import OUTDATED, Other
from cm_tui.tui.modes.review.view import ReviewView

_OF_TOPICS = "topics are listed: t goes back to proposals"
_NO_ROW = "there is nothing under the cursor"
_LINES = ("add", "replace")


def not_open(screen: ReviewView) -> str | None:
    """Say why nothing can be asked."""
    return None if screen.cm.project.engine == "open" else "the project is not open"


def on_topics(screen: ReviewView) -> str | None:
    """Say why it is for proposals alone."""
    return _OF_TOPICS if screen.on_topics else None


def no_row(screen: ReviewView) -> str | None:
    """Say why there is nothing to read."""
    return None if screen.panel.lines.rows else _NO_ROW


def no_item(screen: ReviewView) -> str | None:
    """Say why there is no proposal."""
    return on_topics(screen) or (None if screen.item is not None else _NO_ROW)


def cannot_decide(screen: ReviewView) -> str | None:
    """Say why nothing is decided on what the cursor is on."""
    if reason := no_item(screen):
        return reason
    one = screen.proposal
    if one is not None and one.state not in ("waiting", "deferred"):
        return f"already {one.state}; u undoes it"
    return None


def cannot_approve(screen: ReviewView) -> str | None:
    """Say why it cannot be approved."""
    if reason := cannot_decide(screen):
        return reason
    if isinstance(screen.item, Other):
        return _cannot_fix(screen.item)
    one = screen.proposal
    if one is None:
        return None
    whole = screen.details.of(one)
    if screen.is_refused(one) and whole is None:
        return "it changed since you saw it: it is being read again"
    return (whole or one).problem or None


def _cannot_fix(item: Other) -> str | None:
    record = item.record
    if not isinstance(record, StaleItem):
        return None
    if record.kind != "entry":
        return "it is a file of yours: e opens it in Memory, d keeps it, x archives it"
    return None if any(one.became for one in record.flagged) else "the new name is unknown: e edits it, d keeps it"


def cannot_edit(screen: ReviewView) -> str | None:
    """Say why there is no line to change, and no memory to open."""
    record = screen.item.record if isinstance(screen.item, Other) else None
    if isinstance(record, StaleItem):
        return "an episode is not edited" if record.kind == "episode" else None
    return cannot_write_line(screen)


def session_of(item: Other) -> str:
    """Return the session that an item comes from; empty: not known."""
    return item.record.session if isinstance(item.record, Proposal | Entry) else ""


def cannot_write_line(screen: ReviewView) -> str | None:
    """Say why there is no line to change, or to write elsewhere."""
    if isinstance(screen.item, Other):
        is_wish = isinstance(screen.item.record, Proposal)
        wish = "it is a request about an entry: a accepts it, then Memory (6) changes it"
        return wish if is_wish else "it has no line of its own"
    if reason := cannot_decide(screen):
        return reason
    one = screen.proposal
    if one is not None and one.action not in _LINES:
        return "it writes no line of its own"
    return None


def cannot_be_rule(screen: ReviewView) -> str | None:
    """Say why it is no Rule."""
    if reason := cannot_write_line(screen):
        return reason
    one = screen.proposal
    if one is not None and not one.as_rule:
        return "it is not an instruction"
    return cannot_approve(screen)


def cannot_move(screen: ReviewView) -> str | None:
    """Say why it is written nowhere else."""
    if reason := cannot_write_line(screen):
        return reason
    one = screen.proposal
    return "it changes an existing line" if one is not None and one.action == "replace" else None


def cannot_defer(screen: ReviewView) -> str | None:
    """Say why it is not put off."""
    if isinstance(screen.item, Other):
        return None if screen.item.kind == OUTDATED else "it waits until you approve or reject it"
    if reason := cannot_decide(screen):
        return reason
    one = screen.proposal
    return "it is deferred already: u undoes that" if one is not None and one.state == "deferred" else None


def cannot_approve_kind(screen: ReviewView) -> str | None:
    """Say why not all of a kind are approved."""
    if isinstance(screen.item, Other):
        return "only proposals of the narrator are approved together"
    return cannot_decide(screen)


def no_evidence(screen: ReviewView) -> str | None:
    """Return why no episode can be shown."""
    if isinstance(screen.item, Other):
        return None if session_of(screen.item) else "it names no session"
    if reason := no_item(screen):
        return reason
    one = screen.proposal
    return None if one is not None and one.evidence_ids else "it has no evidence episode"


def cannot_run(screen: ReviewView) -> str | None:
    """Say why no pass is started."""
    return not_open(screen) or ("a pass is in progress: N stops it" if screen.cm.project.narrating else None)


def no_pass(screen: ReviewView) -> str | None:
    """Say why there is no pass to stop."""
    return None if screen.cm.project.narrating else "no pass is in progress"


# --- topics ---


def on_proposals(screen: ReviewView) -> str | None:
    """Say why it is for topics alone."""
    return None if screen.on_topics else "proposals are listed: t goes to topics"


def no_topic(screen: ReviewView) -> str | None:
    """Say why there is no topic."""
    if reason := on_proposals(screen):
        return reason
    if screen.topics.topic is not None:
        return None
    return "not a topic" if screen.topics.row is not None else _NO_ROW


def not_there(screen: ReviewView) -> str | None:
    """Say why a topic cannot be changed."""
    if reason := no_topic(screen):
        return reason
    topic = screen.topics.topic
    return "it was retired: D restores it" if topic is not None and topic.retired else None


def cannot_merge(screen: ReviewView) -> str | None:
    """Say why there is nothing to merge."""
    if reason := not_there(screen):
        return reason
    topic = screen.topics.topic
    if len(screen.topic_list.selected) > 1 or (topic is not None and topic.overlaps):
        return None
    return "select two or more with space: the first one stays"


def is_proposal(screen: ReviewView) -> bool:
    """Return whether the command belongs into the key bar because proposals are listed."""
    return not screen.on_topics


def is_topic(screen: ReviewView) -> bool:
    """Return whether the command belongs into the key bar because topics are listed."""
    return screen.on_topics


def shown_proposal(screen: ReviewView) -> NarratedProposal | None:
    """Return the proposal that is shown, whole where it was read."""
    one = screen.proposal
    return None if one is None else screen.details.of(one) or one
