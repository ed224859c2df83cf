"""Wordings put together in a real store: in whatever order they come to light, they come to the same facts."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.narrator import grouping
from cm_tui.engine.memory.narrator.cues import lasting
from cm_tui.engine.memory.narrator.tables import NarratorTables
from cm_tui.engine.memory.narrator.turn import Observation, Turn
from cm_tui.engine.memory.narrator.wording import normal, polarity
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from tests.engine.narrator.passes import DAY, new_project, opened, passed, proposed, put, use

NOW = time.time()
SAYINGS = (
    "always rebase feature branches", "never rebase feature branches", "feature branches are rebased every morning", "rebase each feature branch",
    "indent makefiles with tabs", "makefiles are indented with tabs", "indent makefiles with spaces", "tabs are for makefiles, never spaces",
    "kafka carries invoices", "invoices are carried by kafka", "kafka carries parcels", "parcels and invoices go over kafka", "parcels go over kafka daily",
    "lines have 80 characters", "lines have 100 characters", "a line has at most 80 characters",
)  # fmt: skip


def sentences(turn: Turn) -> Iterable[Observation]:
    """Take each prompt for something that was said plainly, questions aside."""
    for prompt in (one for one in turn.record.prompts if not one.endswith("?")):
        terms = normal(prompt)
        claim = " ".join(terms if polarity(prompt) > 0 else ("not", *terms))
        kind = "rejected" if prompt.startswith("ruled out") else "statement"
        yield Observation(kind, "", claim, prompt, prompt, 0.95, terms=terms)


def vectors(texts: Sequence[str]) -> Any:
    """Return unit vectors by which texts are alike that have words in common."""
    rows = np.full((len(texts), 384), 0.05, np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in normal(text):
            row[int.from_bytes(blake2b(word.encode(), digest_size=2).digest(), "big") % 384] += 1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts that got vectors, which are made up."""
    seen: list[str] = []

    def embed(_: Engine, texts: Sequence[str]) -> Any:
        seen.extend(texts)
        return vectors(texts)

    use(monkeypatch, sentences)
    monkeypatch.setattr(Engine, "_embed", embed)
    return seen


@pytest.fixture
def engine(tmp_path: Path, embedded: list[str]) -> Iterator[Engine]:
    yield from opened(new_project(tmp_path / "project"))


def turn(days_ago: float, prompt: str, session: str = "", prompts: tuple[str, ...] = ()) -> EpisodeRecord:
    at = NOW - days_ago * DAY
    return EpisodeRecord(agent="codex", session=session or f"s{days_ago}", prompts=prompts or (prompt,), at=at)


def work(seed: int, count: int = 40) -> list[tuple[int, EpisodeRecord]]:
    """Return what was said over some weeks, by number."""
    chance = random.Random(seed)
    return [(n, turn(60 - n, chance.choice(SAYINGS), f"s{chance.randrange(20)}")) for n in range(count)]


def state(engine: Engine) -> dict[str, object]:
    """Return what was put together, and what is proposed of it."""
    tables = NarratorTables(engine._episodes.tables)
    there = "(SELECT grp FROM narrator_group)"
    seen = "fact IN (SELECT fact FROM narrator_seen)"
    return {
        "facts": tables.rows(
            f"SELECT text, grp, topic, since, round(sense, 4) FROM narrator_fact WHERE {seen} ORDER BY ALL"
        ),
        "groups": tables.rows("SELECT grp, support, sessions, subject, first, last FROM narrator_group ORDER BY ALL"),
        "near": tables.rows(
            f"SELECT DISTINCT one, other FROM narrator_near WHERE one IN {there} AND other IN {there} ORDER BY ALL"
        ),
        "proposals": proposed(engine),
    }


def groups(engine: Engine) -> set[frozenset[str]]:
    found: dict[int, set[str]] = {}
    for text, group in NarratorTables(engine._episodes.tables).rows("SELECT text, grp FROM narrator_fact"):
        found.setdefault(group, set()).add(text)
    return {frozenset(texts) for texts in found.values()}


def anew(path: Path, records: Iterable[tuple[int, EpisodeRecord]]) -> dict[str, object]:
    """Return what another project comes to, that has all of these from the beginning."""
    for other in opened(new_project(path)):
        put(other.root, records)
        passed(other)
        return state(other)
    raise AssertionError


def test_wordings_of_one_fact_are_put_together_and_each_has_its_vector_made_once(
    engine: Engine, embedded: list[str]
) -> None:
    put(engine.root, [(1, turn(9, SAYINGS[8])), (2, turn(8, SAYINGS[9])), (3, turn(7, SAYINGS[4]))])
    passed(engine)
    assert groups(engine) == {frozenset(SAYINGS[8:10]), frozenset([SAYINGS[4]])}
    put(engine.root, [(4, turn(6, SAYINGS[5])), (5, turn(5, f"{SAYINGS[8]}!"))])
    passed(engine)
    assert groups(engine) == {frozenset([*SAYINGS[8:10], f"{SAYINGS[8]}!"]), frozenset(SAYINGS[4:6])}
    assert sorted(embedded) == sorted([*SAYINGS[8:10], *SAYINGS[4:6], f"{SAYINGS[8]}!"])
    kafka, makefiles = proposed(engine)
    assert (kafka.support, kafka.sessions, makefiles.support) == (3, 3, 2)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(2))
def test_slices_come_to_the_same_as_all_at_once(tmp_path: Path, engine: Engine, seed: int) -> None:
    said = work(seed)
    whole = anew(tmp_path / "whole", said)
    assert len(whole["proposals"]) > 1  # type: ignore[arg-type]
    for start in range(0, len(said), 9):
        put(engine.root, said[start : start + 9])
        passed(engine)
    assert state(engine) == whole


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(3, 4))
def test_whatever_is_imported_later_comes_to_the_same(tmp_path: Path, engine: Engine, seed: int) -> None:
    said = work(seed)
    shuffled = random.Random(seed).sample(said, len(said))
    for start in range(0, len(said), 13):
        put(engine.root, shuffled[start : start + 13])
        passed(engine)
    assert state(engine) == anew(tmp_path / "whole", said)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(5, 7))
def test_what_is_forgotten_leaves_no_trace(tmp_path: Path, engine: Engine, seed: int) -> None:
    said = work(seed, 24)
    ids = put(engine.root, said)
    passed(engine)
    chance = random.Random(seed)
    # The first one leads a fact; others stand in the middle of one, or alone.
    gone = {0, *chance.sample(range(24), 5)}
    for number in sorted(gone):
        engine.forget_memory(ids[number])
    passed(engine)
    assert state(engine) == anew(tmp_path / "whole", [one for one in said if one[0] not in gone])
    for number in gone:
        engine.forget_memory(ids[number], undo=True)
    passed(engine)
    assert state(engine) == anew(tmp_path / "all", said)


def test_a_wording_that_joined_by_one_that_is_forgotten_stands_alone_again(tmp_path: Path, engine: Engine) -> None:
    first, between, last = "alpha beta gamma", "beta gamma delta epsilon", "delta epsilon zeta beta"
    said = [(1, turn(9, first)), (2, turn(8, between)), (3, turn(7, last))]
    ids = put(engine.root, said)
    passed(engine)
    assert groups(engine) == {frozenset([first, between, last])}
    engine.forget_memory(ids[1])
    passed(engine)
    assert groups(engine) == {frozenset([first]), frozenset([last])}
    assert state(engine) == anew(tmp_path / "whole", [said[0], said[2]])


def test_vectors_tell_nothing_about_sentences_in_other_languages(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubtful = lasting()._replace(sense=(0.0,) * 384, sense_bias=-50.0)
    monkeypatch.setattr(grouping, "lasting", lambda: doubtful)
    put(engine.root, [(1, turn(9, "siempre usa tabuladores")), (2, turn(8, "always use hatch"))])
    passed(engine)
    assert [one.text for one in proposed(engine)] == ["siempre usa tabuladores"]


def test_what_was_said_once_is_kept_back_while_something_like_it_is_said_more_often(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Made-up vectors say nothing about how lasting a sentence sounds.
    silent = lasting()._replace(sense=(0.0,) * 384, sense_bias=0.0)
    monkeypatch.setattr(grouping, "lasting", lambda: silent)
    once, again = "alpha eta theta iota", "alpha beta gamma delta"
    _, _, id_ = put(
        engine.root, [(1, turn(20, once)), (2, turn(10, again)), (3, turn(9, again, prompts=("why?", again)))]
    )
    passed(engine)
    assert [one.text for one in proposed(engine)] == [again]
    engine.forget_memory(id_)
    passed(engine)
    assert [one.text for one in proposed(engine)] == [once]
    engine.forget_memory(id_, undo=True)
    passed(engine)
    assert [one.text for one in proposed(engine)] == [again]


@pytest.mark.parametrize(
    ("again", "is_kept_back"), [("alpha beta gamma delta", False), ("never alpha beta gamma", True)]
)
def test_a_rejection_repeats_no_affirmation(engine: Engine, again: str, is_kept_back: bool) -> None:
    once = "ruled out: alpha eta theta iota"
    put(engine.root, [(1, turn(20, once)), (2, turn(10, again)), (3, turn(9, again, prompts=("why?", again)))])
    passed(engine)
    assert state(engine)["near"], "they are alike"
    assert {one.text for one in proposed(engine)} == ({again} if is_kept_back else {once, again})


def test_without_a_model_words_alone_tell_and_the_pass_says_so(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "_embed", lambda *_: None)
    put(engine.root, [(1, turn(9, SAYINGS[8])), (2, turn(8, SAYINGS[9])), (3, turn(7, SAYINGS[4]))])
    (note,) = passed(engine).notes
    assert "no model for prose" in note
    assert groups(engine) == {frozenset(SAYINGS[8:10]), frozenset([SAYINGS[4]])}
    assert passed(engine).notes == ()


def test_a_model_that_comes_later_compares_with_what_was_grouped_without_one(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [lambda _: None, vectors]
    monkeypatch.setattr(Engine, "_embed", lambda _, texts: models[0](texts))
    put(engine.root, [(1, turn(9, SAYINGS[8])), (2, turn(8, SAYINGS[4]))])
    passed(engine)
    models.pop(0)
    put(engine.root, [(3, turn(7, SAYINGS[9]))])
    assert passed(engine).notes == ()
    assert groups(engine) == {frozenset(SAYINGS[8:10]), frozenset([SAYINGS[4]])}


def test_slices_come_to_the_same_without_a_model(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "_embed", lambda *_: None)
    said = work(10)
    for part in (said[:25], said[25:]):
        put(engine.root, part)
        passed(engine)
    assert state(engine) == anew(tmp_path / "whole", said)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("rest", "occasions"), [("", 3), (("why is the export of this customer empty? " * 8).strip(), 1)]
)
def test_the_same_long_prompt_in_several_sessions_counts_once(engine: Engine, rest: str, occasions: int) -> None:
    more = (rest,) if rest else ()
    put(engine.root, [(n, turn(9 - n, "", f"s{n}", (SAYINGS[8], *more))) for n in range(3)])
    passed(engine)
    sql = "SELECT support, sessions, occasions FROM narrator_group"
    assert engine._narrator._tables.rows(sql) == [(3, 3, occasions)]
    (one,) = proposed(engine)
    assert one.sessions == 3, "what is shown is what there is"
    put(engine.root, [(7, turn(1, SAYINGS[9], "s7"))])
    passed(engine)
    assert engine._narrator._tables.rows(sql) == [(4, 4, occasions + 1)]


def test_what_is_said_twice_in_one_session_was_said_in_one(engine: Engine) -> None:
    put(engine.root, [(1, turn(9, SAYINGS[8], "s")), (2, turn(8, SAYINGS[9], "s"))])
    passed(engine)
    ((_, support, sessions, *_),) = state(engine)["groups"]  # type: ignore[misc]
    assert (support, sessions) == (2, 1)


def test_opposite_sayings_are_two_claims_and_neither_is_sure_while_both_are_said(engine: Engine) -> None:
    always, never, _, again = SAYINGS[:4]
    put(engine.root, [(1, turn(20, always)), (2, turn(19, again))])
    passed(engine)
    assert [one.text for one in proposed(engine)] == [always]
    put(engine.root, [(3, turn(10, never)), (4, turn(9, always)), (5, turn(8, never, "s8"))])
    passed(engine)
    assert {frozenset([never]), frozenset([always, again])} == groups(engine)
    assert proposed(engine) == []
    (topic,) = {subject for _, _, _, subject, *_ in state(engine)["groups"]}  # type: ignore[attr-defined]
    assert topic


def test_the_last_word_counts_where_all_else_was_said_before(engine: Engine) -> None:
    always, never, _, again = SAYINGS[:4]
    put(
        engine.root,
        [(1, turn(20, always)), (2, turn(19, again)), (3, turn(5, never)), (4, turn(4, f"{never}, please"))],
    )
    passed(engine)
    assert [one.text for one in proposed(engine)] == [never]
