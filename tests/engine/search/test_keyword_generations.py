"""The keyword index while passages change: each answer is that of one generation, as a fresh reader has it."""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.generations import PASSAGE_GENERATION
from cm_tui.engine.search.ranking.keyword import KeywordIndex
from tests.shop import Project
from tests.tiers import examples

WORDS = ("basket", "price", "total", "zebra", "parse")
READERS = 3


@pytest.fixture(autouse=True)
def _threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


edits = st.dictionaries(
    st.sampled_from([f"shop/{name}.py" for name in "abcdef"]),
    st.one_of(st.none(), st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)),
    min_size=1,
    max_size=3,
)

Answer = tuple[int, list[tuple[str, float, list[int], list[list[float]]]]]


def answer(index: KeywordIndex) -> Answer:
    """What the index says of all words, with passages by their ids, and of which generation that is."""
    documents, terms = index.documents_and_terms(WORDS, None)
    return documents.generation, [
        (
            term.text,
            round(term.idf, 6),
            documents.ids[term.postings.documents].tolist(),
            np.asarray(term.postings.counts).tolist(),
        )
        for term in terms
    ]


def text(number: int, words: str | None) -> str | None:
    return None if words is None else f"def f{number}():\n    {words}\n"


def with_project(check: Callable[[Project], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        db = Database(Path(folder))
        try:
            check(Project(db))
        finally:
            db.close()


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(edits, min_size=1, max_size=8), st.integers(0, 4))
def test_what_is_in_memory_equals_a_fresh_index_after_any_edits(steps: list[dict[str, str | None]], at: int) -> None:
    def check(project: Project) -> None:
        kept = KeywordIndex(project.db)
        for number, step in enumerate(steps):
            project.put({path: text(number, words) for path, words in step.items()})
            if number == at:
                kept.read_all()
            assert answer(kept) == answer(KeywordIndex(project.db))

    with_project(check)


@pytest.mark.deep
@settings(max_examples=examples(6, few=2), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(edits, min_size=4, max_size=10))
def test_answers_given_while_passages_change_are_those_of_their_generation(steps: list[dict[str, str | None]]) -> None:
    def check(project: Project) -> None:
        project.put({f"shop/{number}.py": text(number, f"basket price {WORDS[number % 5]}") for number in range(40)})
        shared = KeywordIndex(project.db)
        expected = dict([answer(KeywordIndex(project.db))])
        over, problems, given_answers = threading.Event(), [], []

        def ask() -> None:
            while not over.is_set():
                try:
                    given_answers.append(answer(shared))
                except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure of this test
                    problems.append(error)
                    return

        readers = [threading.Thread(target=ask) for _ in range(READERS)]
        for reader in readers:
            reader.start()
        for number, step in enumerate(steps):
            with project.db.generations.changing():
                project.put({path: text(number, words) for path, words in step.items()})
            expected |= dict([answer(KeywordIndex(project.db))])
        over.set()
        for reader in readers:
            reader.join()
        assert not problems
        for generation, found in given_answers:
            assert found == expected[generation]

    with_project(check)


@pytest.mark.parametrize("moment", ["_load", "_fetch"])
def test_a_change_in_the_middle_of_an_answer_is_not_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    db = Database(tmp_path)
    project = Project(db)
    project.put({f"shop/{name}.py": text(0, "basket price") for name in "abc"})
    expected = answer(KeywordIndex(db))
    index, original = KeywordIndex(db), getattr(KeywordIndex, moment)

    def change_first(*arguments: object) -> object:
        monkeypatch.setattr(KeywordIndex, moment, original)
        changing = threading.Thread(
            target=project.put, args=({"shop/a.py": None, "shop/z.py": text(1, "basket basket zebra")},)
        )
        changing.start()
        changing.join()
        return original(*arguments)

    monkeypatch.setattr(KeywordIndex, moment, change_first)
    assert answer(index) == expected
    assert answer(index) == answer(KeywordIndex(db))
    db.close()


def test_a_generation_with_the_same_passages_is_not_loaded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(project: Project) -> None:
        project.put({"shop/a.py": text(1, "basket price")})
        index, loads = KeywordIndex(project.db), list[int]()
        load = KeywordIndex._load
        monkeypatch.setattr(KeywordIndex, "_load", lambda self, number: loads.append(number) or load(self, number))
        first, words = answer(index)
        with project.db.generations.changing(), project.db.transaction():
            project.db.set_meta(PASSAGE_GENERATION, str(project.db.number(PASSAGE_GENERATION) + 1))
        assert answer(index) == (first + 1, words)
        assert len(loads) == 1
        project.put({"shop/a.py": text(1, "zebra")})
        assert answer(index) == answer(KeywordIndex(project.db))

    with_project(check)
