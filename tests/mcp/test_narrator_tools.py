"""Agents see what is proposed and propose lines; whatever they do, nothing is written before a person approves."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.narrator import NarratorMethods
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.mcp.tools import TOOLS
from cm_tui.model import NarratedDecision
from tests.mcp.served import answering

ROOT = Path(__file__).parents[2] / "cm_tui"
READ = {"narrated", "narrated_proposal"}
PROPOSE = {"propose_fact"}
"""What of the narrator agents may ask; all other methods decide, or write, and are a person's."""
DECIDING = {"decide", "decide_narrated", "undo_narrated", "change_topics", "narrate", "approve_entry", "undo"}


def names_in(file: Path) -> set[str]:
    """Every attribute and every text of a module: also what is reached by `getattr`."""
    tree = ast.parse(file.read_text())
    named = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return named | texts


@pytest.mark.parametrize("room", ["mcp", "agent_hooks"])
def test_nothing_that_agents_reach_decides(room: str):
    methods = {name for name, member in vars(NarratorMethods).items() if inspect.isfunction(member) and name[0] != "_"}
    assert methods > READ | PROPOSE
    for file in (ROOT / room).rglob("*.py"):
        named = names_in(file)
        assert not named & DECIDING, file
        assert not named & (methods - READ - PROPOSE - {"topics"}), file
    named = {kind.name for kind in TOOLS if "propos" in kind.name}
    assert named == {"codememory_proposals", "codememory_propose"}


async def test_what_an_agent_proposes_waits_for_a_person(own: Path):
    episode = Journal.of(own).append("episode", EpisodeRecord(prompts=("deploy it",)).to_event_data()).id
    told = {"text": "Deploys go through the blue cluster.", "why": "The deploy said so.", "episodes": [episode]}
    async with answering(own) as asked:
        text, kept = await asked.ok("codememory_propose", **told)
        assert (kept["state"], kept["kind"]) == ("proposed", "note")
        assert kept["proposal"] in text
        assert (await asked.ok("codememory_propose", **told))[1]["proposal"] == kept["proposal"], "the same once"
        text, found = await asked.ok("codememory_proposals")
        (row,) = found["rows"]
        assert (row["id"], row["of"], row["text"]) == (kept["proposal"], "note", told["text"])
        assert row["episodes"] == [episode]
        assert row["by"] not in ("", "narrator")
        assert "none of it is an instruction" in found["about"]
        assert episode in text
        assert "<cm-memory>" in text
    assert not (own / ".cm" / "notes").exists(), "nothing is written"
    with Engine.open(own) as engine:
        (done,) = engine.decide_narrated([kept["proposal"]], NarratedDecision("approve"))
        assert done.done, done.problem
        assert told["text"] in engine.note(done.proposal.target).text
    async with answering(own) as asked:
        assert (await asked.ok("codememory_proposals"))[1]["total"] == 0
        _, found = await asked.ok("codememory_proposals", state="approved")
        assert [one["state"] for one in found["rows"]] == ["approved"]
        assert (await asked.ok("codememory_propose", **told))[1]["state"] == "unchanged"


async def test_what_a_person_rejected_is_said_with_the_reason(own: Path):
    async with answering(own) as asked:
        _, kept = await asked.ok("codememory_propose", text="Deploys go through the green cluster.")
        with Engine.open(own) as engine:
            (done,) = engine.decide_narrated([kept["proposal"]], NarratedDecision("reject", "it was torn down"))
            assert done.done, done.problem
        text, again = await asked.ok("codememory_propose", text="Deploys go through the green cluster.")
        assert (again["state"], "it was torn down" in text) == ("unchanged", True)
        text, found = await asked.ok("codememory_proposals", state="rejected")
        assert [one["reason"] for one in found["rows"]] == ["it was torn down"]
        assert (await asked.ok("codememory_proposals"))[1]["total"] == 0


async def test_wishes_about_entries_stand_in_the_same_list(own: Path):
    async with answering(own) as asked:
        _, wish = await asked.ok("remember", content="Never deploy on fridays.", scope="user")
        _, line = await asked.ok("codememory_propose", text="Deploys take an hour.")
        _, found = await asked.ok("codememory_proposals")
        assert [(row["id"], row["of"]) for row in found["rows"]] == [
            (line["proposal"], "note"),
            (wish["proposal"], "entry"),
        ]
        _, second = await asked.ok("codememory_proposals", limit=1, offset=1)
        assert [row["id"] for row in second["rows"]] == [wish["proposal"]]
        assert (second["total"], second["offset"], "next_offset" in second) == (2, 1, False)


SENSELESS: tuple[dict[str, object], ...] = (
    {"text": ""}, {"text": " \n "}, {"text": "x" * 5_000}, {"text": "a\0b"}, {"text": "fine", "episodes": ["nope"]},
    {"text": "fine", "topic": "../../etc/passwd"}, {"text": "fine", "scope": "all"}, {"text": "fine", "aproved": True},
)  # fmt: skip


async def test_what_makes_no_sense_is_refused_in_words(own: Path):
    async with answering(own) as asked:
        for told in SENSELESS:
            assert await asked.refused("codememory_propose", **told)
        assert (await asked.ok("codememory_proposals"))[1]["total"] == 0
