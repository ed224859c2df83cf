"""Which proposals are approved without asking: what a person chose in their own settings, and never more than a line added.

| policy | approves |
|---|---|
| `by-hand` | nothing |
| `careful` | commands and workflows that are new, with a confidence of at least 0.9, seen in 3 sessions or more, and nothing that says otherwise |
| `custom` | the kinds that are named in `approve`, from the confidence that is named there |

Whatever the policy: never what is for all projects, what contradicts what is known or stands there already, what an agent
proposed, what changes or removes lines or topics, what cannot be written, and what stands on no episode.
"""

from __future__ import annotations

from typing import get_args

from cm_tui.config.sections import NarratorConfig
from cm_tui.model import FactKind, NarratedProposal

CAREFUL = 0.9
"""As sure as can be: what only four sessions showed, or none of five for two months, stays below."""
SESSIONS = 3
OPPOSITION = "unopposed"
"""Name of the part of a confidence that is below 1 where something says otherwise."""
_CAREFUL_KINDS: frozenset[FactKind] = frozenset({"command", "workflow"})
_NEVER: frozenset[FactKind] = frozenset({"stale", "topic", "size"})
"""Kinds that are about what is written down already."""
KINDS: frozenset[FactKind] = frozenset(get_args(FactKind)) - _NEVER
"""Kinds that a policy may approve."""


def approves(proposal: NarratedProposal, config: NarratorConfig) -> str:
    """Return the name of the policy that approves a proposal; empty: a person decides.

    Args:
        proposal: as it would be shown to a person.
        config: the user's settings: a repository has no say in them.
    """
    if config.policy == "by-hand" or not _may_be(proposal):
        return ""
    fits = _is_careful(proposal) if config.policy == "careful" else _is_chosen(proposal, config)
    return config.policy if fits else ""


def _may_be(one: NarratedProposal) -> bool:
    """Return whether a policy may approve it at all."""
    return (
        one.state == "waiting"
        and one.action == "add"
        and one.kind in KINDS
        and one.scope != "user"
        and one.relation not in ("contradicts", "redundant")
        and not one.proposed_by
        and not one.problem
        and bool(one.evidence_ids)
    )


def _is_careful(one: NarratedProposal) -> bool:
    is_opposed = any(part.name == OPPOSITION and part.value < 1 for part in one.parts)
    return (
        one.kind in _CAREFUL_KINDS
        and one.relation == "new"
        and one.confidence >= CAREFUL
        and one.sessions >= SESSIONS
        and not is_opposed
    )


def _is_chosen(one: NarratedProposal, config: NarratorConfig) -> bool:
    least = config.approve.get(one.kind)
    # What is no number is no limit that anything reaches.
    return least is not None and one.confidence >= least
