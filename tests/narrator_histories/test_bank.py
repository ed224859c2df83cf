"""The generator keeps to its own rules, and the judge tells right from wrong."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import NarratedProposal
from tests import planted
from tests.narrator_histories import bank as banks
from tests.narrator_histories.bank import SAID, Fact, Wanted
from tests.narrator_histories.history import History, build
from tests.narrator_histories.scoring import Score, judge

BANKS = [name for name in ("dev", "heldout") if banks.exists(name)]
NOW = 1_780_000_000.0


@pytest.mark.deep
@pytest.mark.parametrize("name", BANKS)
def test_a_bank_keeps_to_its_rules(name: str) -> None:
    assert list(banks.problems(banks.load(name))) == []


def test_both_banks_say_other_things() -> None:
    if "heldout" not in BANKS:
        pytest.skip("the other bank is not here yet")
    ours, theirs = banks.load("dev"), banks.load("heldout")
    phrases = {banks.plain(phrase) for fact in ours.facts for phrase in fact.say}
    assert not [p for fact in theirs.facts for p in fact.say if banks.plain(p) in phrases]
    assert not {fact.id for fact in ours.facts} & {fact.id for fact in theirs.facts}


def test_the_bank_is_large_enough_that_seeds_differ() -> None:
    assert len(banks.load("dev").facts) >= 200
    one, other = (build(banks.load("dev"), seed) for seed in (1, 1 + len(banks.load("dev").ecosystems)))
    assert len({fact.id for fact in one.facts} & {fact.id for fact in other.facts}) < 70


@pytest.fixture(scope="module", params=range(1, 7))
def history(request: pytest.FixtureRequest) -> History:
    return build(banks.load("dev"), request.param)


@pytest.mark.few(2)
def test_a_history_has_its_facts_and_traps_and_is_the_same_for_the_same_seed(history: History) -> None:
    assert (len(history.facts), len(history.traps)) == (80, 40)
    again = build(banks.load("dev"), history.seed)
    records = history.records(Path("/r"), NOW)
    assert [record for record, _ in records] == [record for record, _ in again.records(Path("/r"), NOW)]
    assert 300 <= len(records) <= 600
    assert 60 <= len(history.sessions) <= 130
    assert NOW - 366 * 86_400 < records[0][0].at < records[-1][0].at < NOW


def test_what_is_shown_is_shown_in_three_sessions(history: History) -> None:
    runs = {
        session.id: "\n".join(
            banks.plain(step.text) for turn in session.turns for step in turn.steps if not step.failed
        )
        for session in history.sessions
    }
    for fact in history.facts:
        if fact.kind in {"command", "workflow", "fix"}:
            wanted = Wanted((), "", fact.wanted.runs)
            assert sum(wanted.is_met(text) for text in runs.values()) >= 3, fact.id


def test_what_was_reversed_is_said_before(history: History) -> None:
    turns = history.records(Path("/r"), NOW)
    for trap in (trap for trap in history.traps if trap.type == "reversed"):
        later = next(fact for fact in history.facts if fact.id == f"{trap.id}-later")
        first = [
            n
            for n, (r, _) in enumerate(turns)
            if any(p.lower()[1:-1] in r.prompts[0].lower() for p in trap.more["first"]["say"])
        ]
        after = [n for n, (r, _) in enumerate(turns) if any(p.lower()[1:-1] in r.prompts[0].lower() for p in later.say)]
        assert first
        assert max(first) < min(after)


def test_secrets_of_prompts_are_taken_out_as_they_are_recorded(history: History) -> None:
    assert history.secrets
    for record, _ in history.records(Path("/r"), NOW):
        assert not planted.leaked(redact(record.prompts[0]).text)


def test_ordinary_orders_do_not_become_a_pattern() -> None:
    tasks = Counter(turn.task for session in build(banks.load("dev"), 3).sessions for turn in session.turns)
    assert max(tasks.values()) <= 2


def test_ordinary_work_shows_no_pattern_but_those_that_are_planted(history: History) -> None:
    sessions: dict[str, set[str]] = defaultdict(set)
    pairs: Counter[tuple[str, ...]] = Counter()
    for session in history.sessions:
        for turn in session.turns:
            for step in turn.steps:
                if step.tool == "Bash" and not step.failed:
                    sessions[banks.plain(step.text.removeprefix("cd {root} && ").removesuffix(" 2>&1 | tail -20"))].add(
                        session.id
                    )
            pairs.update(combinations(sorted(turn.files), 2))
    runs = [run for fact in history.facts if fact.kind == "command" for run in fact.wanted.runs] + history.incidental
    runs += [run for trap in history.traps for wanted in trap.wanted for run in wanted.runs]
    known = [Wanted((), "", (run,)) for run in runs]
    looking = ("git ", "ls", "pwd", "find ", "cat ", "head ", "wc ", "rg ")
    many = [run for run, found in sessions.items() if len(found) > 2 and not run.startswith(looking)]
    assert [run for run in many if not any(wanted.is_met(run) for wanted in known)] == []
    planted_pairs = {tuple(sorted(fact.more["files"])) for fact in history.facts if fact.kind == "cochange"}
    assert {pair for pair, count in pairs.items() if count > 2} == planted_pairs


def proposal(text: str, kind: str = "statement", **fields: object) -> NarratedProposal:
    made = NarratedProposal(
        "nabcdef", "statement", "add", text, "", "project", "", "", "new", "", "", 2, 2, 0, 1, 0.9, (), "waiting", ""
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
