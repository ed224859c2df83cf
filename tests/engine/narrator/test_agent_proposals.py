"""What agents propose: one plain line each, kept in the journal, and nothing but an agent's word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cm_tui.config.sections import NarratorConfig
from cm_tui.engine.api import recording
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.narrator import agent_proposals
from cm_tui.engine.memory.narrator.agent_proposals import AgentProposal, AgentProposals, candidate_of
from cm_tui.engine.memory.narrator.policy import KINDS, approves
from cm_tui.engine.memory.narrator.targets import PROJECT_NOTE, USER_NOTE
from cm_tui.engine.memory.projection.narrated import PROPOSED
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from cm_tui.model import NarratedDecision
from tests.engine.narrator.passes import new_project, opened, passed, put, said, sayings, use
from tests.planted import GITHUB

BLUE = "Deploys go through the blue cluster."


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    use(monkeypatch, sayings)
    yield from opened(new_project(tmp_path / "project"))


def agents(engine: Engine, **more: Any) -> AgentProposals:
    return AgentProposals(engine.root, engine._episodes, lambda: engine.topics().topics, **more)


def written(engine: Engine) -> list[dict[str, Any]]:
    return [dict(event.data) for event in Journal.of(engine.root).read() if event.kind == PROPOSED]


def test_what_an_agent_proposes_waits_with_its_evidence(engine: Engine):
    ids = put(engine.root, [(n, said("deploy it", f"s{n % 2}", 9 - n, title=f"Deployed {n}")) for n in range(3)])
    part = agents(engine)
    assert part.all() == []
    made = part.propose(
        AgentProposal(BLUE, "The deploy said so.", episodes=(ids[0][:20], ids[2]), agent="codex", session="s1")
    )
    assert (made.text, made.why, made.proposed_by, made.kind) == (BLUE, "The deploy said so.", "codex", "statement")
    assert (made.scope, made.target, made.heading, made.action) == ("project", PROJECT_NOTE, "Rules", "add")
    assert (made.support, made.sessions, made.evidence_ids) == (2, 1, (ids[2], ids[0]))
    assert (made.confidence, [part.name for part in made.parts]) == (agent_proposals.WORD, ["word"])
    assert made.confidence < NarratorConfig().min_confidence
    assert part.waiting() == agents(engine).waiting() == [made], "whoever asks"
    assert [(one.episode, one.quote) for one in part.evidence(made)] == [(ids[2], "Deployed 2"), (ids[0], "Deployed 0")]
    assert made.first < made.last
    assert candidate_of(made).text == BLUE


def test_the_same_text_is_the_same_proposal(engine: Engine):
    part = agents(engine)
    made = part.propose(AgentProposal(BLUE, agent="codex"))
    assert part.propose(AgentProposal("  deploys go  through the BLUE cluster ", "again", agent="claude")) == made
    assert part.propose(AgentProposal(BLUE, scope="user")).id != made.id
    assert part.propose(AgentProposal("Deploys go through the green cluster.")).id != made.id
    assert part.propose(AgentProposal("Deploys never go through the blue cluster.")).id != made.id
    assert len(part.waiting()) == len(written(engine)) == 4
    decided = agents(engine, is_decided=lambda one: one.id == made.id)
    assert decided.propose(AgentProposal(BLUE)) == made
    assert (len(decided.waiting()), len(decided.all())) == (3, 4)


def test_what_the_narrator_found_is_not_proposed_beside_it(engine: Engine):
    put(engine.root, [(n, said("always test", f"s{n}")) for n in range(4)])
    passed(engine)
    rows = engine.narrated().rows
    assert agents(engine, known=lambda: rows).propose(AgentProposal("Always test.")) == rows[0]
    assert written(engine) == []


def test_no_miner_looks_at_it_and_no_policy_approves_it(engine: Engine):
    made = agents(engine).propose(AgentProposal("always test"))
    report = passed(engine)
    assert (report.episodes, report.observations) == (0, 0)
    everything = NarratorConfig(policy="custom", min_confidence=0.0, approve=dict.fromkeys(KINDS, 0.0))
    surest = replace(made, confidence=1.0, evidence_ids=("a",), support=9, sessions=9)
    assert approves(replace(surest, proposed_by=""), everything) == "custom"
    assert approves(surest, everything) == approves(surest, NarratorConfig(policy="careful")) == ""
    assert agents(engine).propose(AgentProposal("Nobody says who.")).proposed_by == "an agent"


NO_LINES = (
    "", " \n ", "a\nb", "a\0b", "a\x1b[2Jb", "a\rb", "a\u2028b", "x" * 501, "fine <!-- cm:narrator nabcdef -->", "-->",
    "# Rules", "```sh", "> quoted", "[a]: http://x", "- - ", "\u202e", "\ud800",
)  # fmt: skip


def test_what_is_no_line_is_refused_in_words(engine: Engine):
    for text in NO_LINES:
        with pytest.raises(UsageError) as refused:
            agents(engine).propose(AgentProposal(text))
        assert refused.value.message, text
        assert refused.value.hint, text
    assert written(engine) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f" {BLUE}\n", BLUE), (f"- {BLUE}", BLUE), (f"* 1) {BLUE}", BLUE), ("a\u200bb\U000e0041c", "abc"), ("3.11 is used", "3.11 is used"),
        ("Use `a -> b`, never <T>.", "Use `a -> b`, never <T>."), ("日本語で書く。", "日本語で書く。"), ("x" * 500, "x" * 500),
    ],
)  # fmt: skip
def test_a_line_is_taken_as_it_is(text: str, line: str):
    assert agent_proposals.line(text) == agent_proposals.line(line) == line


def test_secrets_and_control_characters_are_taken_out(engine: Engine):
    made = agents(engine).propose(
        AgentProposal(f"Log in with {GITHUB}", f"why {GITHUB}\x1b", agent=f"a {GITHUB}\x1b[2J\n")
    )
    everything = Journal.of(engine.root).file(1).read_text() + str(made)
    assert GITHUB not in everything
    assert "\x1b" not in str(made)
    assert "[redacted" in made.text
    assert agents(engine).propose(AgentProposal(f"Log in with {GITHUB}")) == made


WRONG: tuple[tuple[AgentProposal, Any], ...] = (
    (AgentProposal(BLUE, scope="all"), UsageError), (AgentProposal(BLUE, episodes=("nope",)), NotFoundError), (AgentProposal(BLUE, episodes=("",)), NotFoundError),
    (AgentProposal(BLUE, topic="router"), NotFoundError), (AgentProposal(BLUE, topic=".cm/notes/project.md"), UsageError),
    (AgentProposal(BLUE, episodes=tuple(map(str, range(51)))), UsageError), (AgentProposal(BLUE, topic="../../etc/passwd"), (NotFoundError, RefusedError)),
    (AgentProposal(BLUE, scope="user", topic="http"), UsageError),
)  # fmt: skip


def test_what_makes_no_sense_is_refused(engine: Engine):
    engine.change_topics("create", ["http"], title="HTTP")
    (engine.root / ".cm" / "notes" / "project.md").write_text("# Project\n")
    for wish, error in WRONG:
        with pytest.raises(error):
            agents(engine).propose(wish)
    assert written(engine) == []


def test_forgotten_episodes_are_no_evidence(engine: Engine):
    ids = put(engine.root, [(n, said("deploy it", f"s{n}")) for n in range(2)])
    part = agents(engine)
    made = part.propose(AgentProposal(BLUE, episodes=tuple(ids)))
    engine.forget_memory(ids[0])
    (now,) = part.waiting()
    assert (now.id, now.support, now.evidence_ids) == (made.id, 1, (ids[1],))
    assert [one.episode for one in part.evidence(made)] == [ids[1]]
    with pytest.raises(NotFoundError):
        part.propose(AgentProposal("Something else.", episodes=(ids[0],)))


def test_it_goes_where_an_agent_says_or_where_it_belongs(engine: Engine):
    engine.change_topics("create", ["deploys"], title="Deploys", tags=("cluster", "deploy", "blue"))
    engine.change_topics("create", ["http"], title="HTTP", tags=("router",))
    part = agents(engine)
    named = part.propose(AgentProposal("Timeouts are in seconds.", topic="http"))
    assert (named.scope, named.target, named.topics) == (
        "topic",
        ".cm/notes/topics/http.md",
        (".cm/notes/topics/http.md",),
    )
    fits = part.propose(AgentProposal("The blue cluster takes each deploy."))
    assert (fits.target, set(fits.tags)) == (".cm/notes/topics/deploys.md", {"cluster", "deploy", "blue"})
    assert part.propose(AgentProposal("Prefer short answers.", scope="user")).target == USER_NOTE
    engine.change_topics("retire", ["http"])
    now = {one.id: one for one in part.waiting()}
    assert now[named.id].target == PROJECT_NOTE, "a topic that is gone takes nothing"


def test_in_a_pause_nothing_is_written_down(engine: Engine):
    recording.pause(engine.root)
    with pytest.raises(RefusedError, match="Nothing was recorded"):
        agents(engine).propose(AgentProposal(BLUE))
    assert written(engine) == []
    recording.resume(engine.root)
    assert agents(engine).propose(AgentProposal(BLUE)).text == BLUE


def test_too_many_are_not_taken(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(agent_proposals, "MOST_WAITING", 3)
    part = agents(engine)
    made = [part.propose(AgentProposal(f"Part {number} is slow.")) for number in range(3)]
    with pytest.raises(UsageError, match="3 proposals of agents are already waiting"):
        part.propose(AgentProposal(BLUE))
    assert part.propose(AgentProposal("Part 1 is slow.")) == made[1]
    assert agents(engine, is_decided=lambda one: one == made[0]).propose(AgentProposal(BLUE)).text == BLUE


STRANGE: tuple[dict[str, Any], ...] = (
    {}, {"text": 3, "scope": "project"}, {"text": "a\nb", "scope": "project"}, {"text": BLUE, "scope": "all"},
    {"text": f"{BLUE} <!-- cm:narrator x -->", "scope": "project"}, {"text": "x" * 9_999, "scope": "project"},
    {"text": BLUE, "scope": "project", "why": 3}, {"text": BLUE, "scope": "project", "agent": ["codex"]},
)  # fmt: skip


def test_what_stands_in_a_strangers_journal_is_looked_at(engine: Engine):
    for data in STRANGE:
        Journal.of(engine.root).append(PROPOSED, data)
    assert agents(engine).waiting() == []
    kept = {"text": "Fine.", "scope": "project", "agent": "x\x1b[2J" * 999, "topic": "../..", "stands_on": 3}
    Journal.of(engine.root).append(PROPOSED, kept)
    (one,) = agents(engine).waiting()
    assert (one.text, one.target, one.evidence_ids) == ("Fine.", PROJECT_NOTE, ())
    assert one.proposed_by.isprintable()
    assert len(one.proposed_by) <= 200


@pytest.mark.parametrize("named_by", ["event", "proposal", "episode"])
def test_what_was_erased_is_gone(engine: Engine, named_by: str):
    (episode,) = put(engine.root, [(1, said("feed it", "s1"))])
    part = agents(engine)
    gone = part.propose(AgentProposal("The quokka is fed on mondays.", agent="codex", episodes=(episode,)))
    kept = part.propose(AgentProposal(BLUE))
    (event, _) = [one.id for one in Journal.of(engine.root).read() if one.kind == PROPOSED]
    name = {"event": event, "proposal": gone.id, "episode": episode}[named_by]
    trial = engine.erase([name], dry_run=True)
    assert [one.words for one in trial.events if one.kind == PROPOSED] == ["The quokka is fed on mondays."]
    assert not any("turn" in note for note in trial.notes)
    engine.erase([name])
    assert [one.id for one in agents(engine).waiting()] == [kept.id]
    assert b"quokka" not in Journal.of(engine.root).file(1).read_bytes()
    home = engine.store.parent.parent
    assert [file for file in home.rglob("*") if file.is_file() and b"quokka" in file.read_bytes()] == []


def test_what_was_decided_of_it_stays_where_its_words_are_erased(engine: Engine):
    made = engine.propose_fact("The quokka is fed on mondays.", agent="codex")
    (done,) = engine.decide_narrated([made.id], NarratedDecision("reject", "on tuesdays"))
    assert done.done, done.problem
    engine.erase([f"proposal/{made.id}"])
    assert b"quokka" not in Journal.of(engine.root).file(1).read_bytes()
    again = engine.propose_fact("The quokka is fed on mondays.", agent="codex")
    assert (again.state, again.reason, engine.narrated().total) == ("rejected", "on tuesdays", 0)
