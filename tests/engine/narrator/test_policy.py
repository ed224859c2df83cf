"""What a policy approves, and what none ever does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cm_tui.config.sections import NarratorConfig
from cm_tui.engine.memory.narrator import confidence
from cm_tui.engine.memory.narrator.confidence import Tally
from cm_tui.engine.memory.narrator.policy import CAREFUL, KINDS, OPPOSITION, SESSIONS, approves
from cm_tui.model import ConfidencePart, NarratedProposal

HAND = NarratorConfig()
CAREFULLY = NarratorConfig(policy="careful")
EVERYTHING = NarratorConfig(
    policy="custom", min_confidence=0.0, approve=dict.fromkeys((*KINDS, "stale", "topic", "size"), 0.0)
)


def proposal(**fields: Any) -> NarratedProposal:
    made = NarratedProposal(
        id="nabcdef", kind="command", action="add", text="Run `make test`", why="", scope="project",
        target=".cm/notes/project.md", heading="Commands", relation="new", other="", other_place="", support=9,
        sessions=SESSIONS, first=1.0, last=2.0, confidence=CAREFUL, parts=(ConfidencePart(OPPOSITION, 1.0, "9 of 9"),),
        state="waiting", digest="d", evidence_ids=("a", "b", "c"),
    )  # fmt: skip
    return replace(made, **fields)


def test_by_hand_nothing_is_approved():
    assert approves(proposal(confidence=1.0), HAND) == ""
    settings = NarratorConfig(approve={"command": 0.0})
    assert approves(proposal(confidence=1.0), settings) == "", "kinds count with the policy custom alone"


def test_careful_approves_commands_and_workflows_that_nothing_is_against():
    assert approves(proposal(), CAREFULLY) == "careful"
    assert approves(proposal(kind="workflow", scope="topic"), CAREFULLY) == "careful"


@pytest.mark.parametrize(
    "fields",
    [
        {"confidence": CAREFUL - 0.001}, {"sessions": SESSIONS - 1}, {"relation": "reinforces"},
        {"parts": (ConfidencePart(OPPOSITION, 0.99, "99 of 100"),)},
        *({"kind": kind} for kind in sorted(KINDS - {"command", "workflow"})),
    ],
)  # fmt: skip
def test_careful_leaves_the_rest_to_a_person(fields: dict[str, Any]):
    assert approves(proposal(**fields), CAREFULLY) == ""


def test_custom_approves_the_kinds_that_are_named_from_their_confidence():
    settings = NarratorConfig(policy="custom", approve={"fix": 0.7, "statement": 0.95})
    assert approves(proposal(kind="fix", confidence=0.7, sessions=1), settings) == "custom"
    assert approves(proposal(kind="fix", confidence=0.69), settings) == ""
    assert approves(proposal(kind="statement", confidence=0.95, relation="reinforces"), settings) == "custom"
    assert approves(proposal(kind="command", confidence=1.0), settings) == ""
    assert approves(proposal(), EVERYTHING) == "custom"
    assert approves(proposal(kind="fix"), NarratorConfig(policy="custom", approve={"fix": float("nan")})) == ""


@pytest.mark.parametrize("settings", [CAREFULLY, EVERYTHING], ids=["careful", "custom"])
@pytest.mark.parametrize(
    "fields",
    [
        {"scope": "user"}, {"relation": "contradicts"}, {"relation": "redundant"}, {"proposed_by": "codex"},
        {"problem": "the note is read-only"}, {"evidence_ids": ()}, {"state": "deferred"}, {"state": "rejected"},
        {"state": "approved"}, {"kind": "stale"}, {"kind": "topic"}, {"kind": "size"},
        *({"action": action} for action in ("replace", "remove", "merge", "split", "retire", "create", "compress")),
    ],
)  # fmt: skip
def test_whatever_the_policy_some_things_are_a_persons(fields: dict[str, Any], settings: NarratorConfig):
    assert approves(proposal(), settings), "it is the one field that decides"
    assert approves(proposal(**fields, confidence=1.0), settings) == ""


@pytest.mark.parametrize(
    ("sessions", "opposed", "days", "policy"),
    [(6, 0, 1, "careful"), (5, 0, 40, "careful"), (5, 0, 60, ""), (4, 0, 1, ""), (40, 1, 0, ""), (6, 0, 200, "")],
)
def test_what_is_as_sure_as_can_be(sessions: int, opposed: int, days: int, policy: str):
    now = 2e9
    last = now - days * 86_400
    sure, parts = confidence.of("command", Tally(sessions * 9, sessions, opposed, 0.0, last, last, 1.0), now)
    assert approves(proposal(confidence=sure, parts=parts, sessions=sessions), CAREFULLY) == policy
