"""The generator keeps to its own rules, and the judge tells right from wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import NarratedProposal
from tests import planted
from tests.bench.narrator_histories import bank as banks
from tests.bench.narrator_histories import people
from tests.bench.narrator_histories.bank import SAID, Fact, Wanted
from tests.bench.narrator_histories.history import History, build
from tests.bench.narrator_histories.scoring import Score, judge

BANKS = [name for name in ("dev", "own", "heldout") if banks.exists(name)]
NOW = 1_780_000_000.0


@pytest.mark.deep
@pytest.mark.parametrize("name", BANKS)
def test_a_bank_keeps_to_its_rules(name: str) -> None:
    assert list(banks.problems(banks.load(name))) == []


@pytest.mark.parametrize("half", ["worked_on", "kept_aside"])
def test_prompts_of_people_say_their_facts_and_traps(half: str) -> None:
    history = people.build(half, 1)
    assert (len(history.facts), len(history.traps)) == (30, 30)
    for one in (*history.facts, *history.traps):
        wanted = one.wanted if isinstance(one.wanted, tuple) else (one.wanted,)
        assert any(each.is_met(said) for each in wanted for said in one.say), one.id
    prompts = {turn.prompt for session in history.sessions for turn in session.turns}
    assert prompts.issuperset(said for fact in history.facts for said in fact.say)


@pytest.fixture(scope="module", params=range(1, 7))
def history(request: pytest.FixtureRequest) -> History:
    return build(banks.load("dev"), request.param)


def test_secrets_of_prompts_are_taken_out_as_they_are_recorded(history: History) -> None:
    assert history.secrets
    for record, _ in history.records(Path("/r"), NOW):
        assert not planted.leaked(redact(record.prompts[0]).text)


def proposal(text: str, kind: str = "statement", **fields: object) -> NarratedProposal:
    made = NarratedProposal(
        id="nabcdef", kind="statement", action="add", text=text, scope="project", target="", support=2, sessions=2, last=1,
        confidence=0.9,
    )  # fmt: skip
    return replace(made, kind=kind, **fields)


def text_of(fact: Fact) -> str:
    if fact.kind in SAID:
        return fact.say[-1]
    if fact.kind == "convention":
        return " and ".join(group[0] for group in fact.wanted.needs)
    words = " ".join(group[0] for group in fact.wanted.needs)
    return f"{words}: {' then '.join(f'`{run}`' for run in fact.wanted.runs)}"


def test_who_proposes_the_truth_is_right(history: History) -> None:
    proposals = [proposal(text_of(fact), fact.kind, scope=fact.scope) for fact in history.facts]
    found = Score(1, "", 1, history.facts, judge(history, proposals))
    assert (found.precision, found.recall, found.scope_share) == (1, 1, 1), [i for i in found.judged if i.is_wrong]


def test_who_says_it_twice_repeats_it(history: History) -> None:
    fact = next(fact for fact in history.facts if fact.kind == "statement")
    judged = judge(history, [proposal(fact.say[0]), proposal(fact.say[1])])
    assert sorted(item.verdict for item in judged) == ["repeat", "right"]


def test_who_proposes_a_trap_is_wrong(history: History) -> None:
    for trap in history.traps:
        texts = list(trap.say) or [f"`{run}`" for wanted in trap.wanted for run in wanted.runs]
        texts += [phrase for side in ("first", "a", "b") for phrase in trap.more.get(side, {}).get("say", ())]
        texts += [" ".join(group[0] for group in trap.wanted[0].needs)] if trap.type == "mass_edit" else []
        texts = [trap.more["offer"]] if trap.type == "declined" else texts
        for text in texts:
            (item,) = judge(history, [proposal(text.replace("{secret}", planted.GITHUB))])
            assert item.verdict in {"trap", "leak", "unknown"}, (trap.id, item)


def test_who_takes_the_order_along_or_makes_things_up_is_wrong(history: History) -> None:
    assert judge(history, [proposal("The moon is made of cheese")])[0].verdict == "unknown"
    task = max(history.tasks, key=len)
    assert judge(history, [proposal(f"{task}. {history.facts[5].say[0]}")])[0].verdict == "carries"
    command = next(fact for fact in history.facts if fact.kind == "workflow")
    assert judge(history, [proposal(f"`{command.more['runs'][0]}`", "command")])[0].verdict == "incidental"


def test_the_opposite_is_not_the_fact() -> None:
    wanted = Wanted((("redis",),), "dont")
    assert wanted.is_met("Redis was rejected")
    assert not wanted.is_met("Use Redis for the queue")
    assert Wanted((("single quote",),), "do").is_met("Use single quotes, never double")
    assert not Wanted((("single quote",),), "do").is_met("Never use single quotes")


def test_a_command_is_not_another_one_that_begins_alike() -> None:
    wanted = Wanted((), "", ("pnpm test",))
    assert wanted.is_met("Tests run with `pnpm test`")
    assert not wanted.is_met("Run `pnpm test:e2e`")
    assert not wanted.is_met("Run `x-pnpm test`")
