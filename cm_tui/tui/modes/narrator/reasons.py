"""Why a command is not possible now."""

from __future__ import annotations

from cm_tui.model import NarratedProposal, Proposal
from cm_tui.tui.modes.narrator.view import NarratorView

_OF_TOPICS = "topics are listed: t goes back to proposals"
_NO_ROW = "there is nothing under the cursor"
_LINES = ("add", "replace")


def not_open(screen: NarratorView) -> str | None:
    """Say why nothing can be asked."""
    return None if screen.cm.project.engine == "open" else "the project is not open"


def on_topics(screen: NarratorView) -> str | None:
    """Say why it is for proposals alone."""
    return _OF_TOPICS if screen.on_topics else None


def no_row(screen: NarratorView) -> str | None:
    """Say why there is nothing to read."""
    return None if screen.panel.lines.rows else _NO_ROW


def no_item(screen: NarratorView) -> str | None:
    """Say why there is no proposal."""
    return on_topics(screen) or (None if screen.item is not None else _NO_ROW)


def cannot_decide(screen: NarratorView) -> str | None:
    """Say why nothing is decided on what the cursor is on."""
    if reason := no_item(screen):
        return reason
    one = screen.proposal
    if one is not None and one.state not in ("waiting", "deferred"):
        return f"already {one.state}; u undoes it"
    return None


def cannot_approve(screen: NarratorView) -> str | None:
    """Say why it cannot be approved."""
    if reason := cannot_decide(screen):
        return reason
    one = screen.proposal
    if one is None:
        return None
    whole = screen.details.of(one)
    if screen.is_refused(one) and whole is None:
        return "it is another than what you saw: it is being read again"
    return (whole or one).problem or None


def cannot_write_line(screen: NarratorView) -> str | None:
    """Say why there is no line to change, or to write elsewhere."""
    if isinstance(screen.item, Proposal):
        return "it is a wish about an entry: a accepts it, then Memory (8) changes it"
    if reason := cannot_decide(screen):
        return reason
    one = screen.proposal
    if one is not None and one.action not in _LINES:
        return "it writes no line of its own"
    return None


def cannot_be_rule(screen: NarratorView) -> str | None:
    """Say why it is no Rule."""
    if reason := cannot_write_line(screen):
        return reason
    one = screen.proposal
    if one is not None and not one.as_rule:
        return "it says nothing that is to be done or left"
    return cannot_approve(screen)


def cannot_move(screen: NarratorView) -> str | None:
    """Say why it is written nowhere else."""
    if reason := cannot_write_line(screen):
        return reason
    one = screen.proposal
    return "it changes a line that stands where it is" if one is not None and one.action == "replace" else None


def cannot_defer(screen: NarratorView) -> str | None:
    """Say why it is not put off."""
    if isinstance(screen.item, Proposal):
        return "it is a wish about an entry: it waits until you accept or decline it"
    if reason := cannot_decide(screen):
        return reason
    one = screen.proposal
    return "it was put off already: u has it wait again" if one is not None and one.state == "deferred" else None


def cannot_approve_kind(screen: NarratorView) -> str | None:
    """Say why not all of a kind are approved."""
    if isinstance(screen.item, Proposal):
        return "wishes about entries are looked at one by one"
    return cannot_decide(screen)


def no_evidence(screen: NarratorView) -> str | None:
    """Say why there is no episode to tell."""
    if isinstance(screen.item, Proposal):
        return None if screen.item.session else "it names no session"
    if reason := no_item(screen):
        return reason
    one = screen.proposal
    return None if one is not None and one.evidence_ids else "it stands on no episode"


def cannot_run(screen: NarratorView) -> str | None:
    """Say why no pass is started."""
    return not_open(screen) or ("a pass is on its way: N stops it" if screen.cm.project.narrating else None)


def no_pass(screen: NarratorView) -> str | None:
    """Say why there is no pass to stop."""
    return None if screen.cm.project.narrating else "no pass is on its way"


# --- topics ---


def on_proposals(screen: NarratorView) -> str | None:
    """Say why it is for topics alone."""
    return None if screen.on_topics else "proposals are listed: t goes to topics"


def no_topic(screen: NarratorView) -> str | None:
    """Say why there is no topic."""
    if reason := on_proposals(screen):
        return reason
    if screen.topics.topic is not None:
        return None
    return "this is no topic" if screen.topics.row is not None else _NO_ROW


def not_there(screen: NarratorView) -> str | None:
    """Say why a topic cannot be changed."""
    if reason := no_topic(screen):
        return reason
    topic = screen.topics.topic
    return "it was retired: D brings it back" if topic is not None and topic.retired else None


def cannot_merge(screen: NarratorView) -> str | None:
    """Say why there is nothing to merge."""
    if reason := not_there(screen):
        return reason
    topic = screen.topics.topic
    if len(screen.topic_list.selected) > 1 or (topic is not None and topic.overlaps):
        return None
    return "select two or more with space: the first one stays"


def is_proposal(screen: NarratorView) -> bool:
    """Return whether the command belongs into the key bar because proposals are listed."""
    return not screen.on_topics


def is_topic(screen: NarratorView) -> bool:
    """Return whether the command belongs into the key bar because topics are listed."""
    return screen.on_topics


def shown_proposal(screen: NarratorView) -> NarratedProposal | None:
    """Return the proposal that is shown, whole where it was read."""
    one = screen.proposal
    return None if one is None else screen.details.of(one) or one
