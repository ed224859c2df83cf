"""Policies for approval without asking: chosen in the user's own settings, and only for added lines.

| policy | approves |
|---|---|
| `by-hand` | nothing |
| `careful` | new commands and workflows with a confidence of at least 0.9, seen in 3 sessions or more, not contradicted |
| `custom` | the kinds in `approve`, from the confidence given there |

Never approved by any policy: proposals for all projects, contradictions or duplicates of known facts, agents'
proposals, changes or removals of lines or topics, impossible writes, and proposals without an episode.
"""

from __future__ import annotations

from typing import get_args

from cm_tui.config.sections import NarratorConfig
from cm_tui.model import FactKind, NarratedProposal

CAREFUL = 0.9
"""High confidence: habits seen in only four sessions, or not in the last two months, are below."""
SESSIONS = 3
OPPOSITION = "unopposed"
"""Name of the part of a confidence that is below 1 where something contradicts."""
_CAREFUL_KINDS: frozenset[FactKind] = frozenset({"command", "workflow"})
_NEVER: frozenset[FactKind] = frozenset({"stale", "topic", "size"})
"""Kinds about existing text."""
KINDS: frozenset[FactKind] = frozenset(get_args(FactKind)) - _NEVER
"""Kinds that a policy may approve."""


def approves(proposal: NarratedProposal, config: NarratorConfig) -> str:
    """Return the name of the policy that approves a proposal; empty: the user decides.

    `proposal`: as shown to the user; `config`: the user's settings, never a repository's.
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
    # NaN is a limit that nothing reaches.
    return least is not None and one.confidence >= least
