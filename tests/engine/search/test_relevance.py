"""Relevance: what a score is worth, beside the score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from cm_tui.config import Config
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.search.ranking.rank import KNOTS

POOL = '''class ConnectionPool:
    """Keeps connections that can be used again."""

    def acquire(self, host):
        """Take an idle connection to a host, or open one."""
        waiting = self.idle.get(host)
        return waiting.pop() if waiting else self.open(host)

    def close_idle_connections(self, seconds):
        """Close connections that nobody has used for some seconds."""
        for host, waiting in self.idle.items():
            self.idle[host] = [one for one in waiting if one.age() < seconds]
'''
PARSER = '''def parse_header(line):
    """Split a header line at the first colon."""
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()
'''


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = tmp_path_factory.mktemp("relevance") / "project"
    root.mkdir()
    (root / "pool.py").write_text(POOL)
    (root / "header.py").write_text(PARSER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(root.parent / "home"))
        opened = Engine(root, root.parent / "store", Config())
        list(opened.index())
    yield opened
    opened.close()


def test_the_counted_numbers_never_fall() -> None:
    evidence, share = zip(*KNOTS, strict=True)
    assert all(one < other for one, other in pairwise(evidence))
    assert all(one <= other for one, other in pairwise(share))
    assert 0 <= min(share) <= max(share) <= 1


def test_a_question_about_the_project_is_more_relevant_than_a_foreign_one(engine: Engine) -> None:
    own = engine.search("close idle connections after some seconds")
    foreign = engine.search("colour of a sprite in the third level of the game")
    assert own.hits[0].path == "pool.py"
    best, other = own.hits[0].relevance, foreign.hits[0].relevance
    assert best is not None
    assert other is not None
    assert other < 0.1
    assert 0.3 < best <= 1
    assert not any("weak" in note for note in own.notes)
    assert any("The best hit is weak" in note for note in foreign.notes)


def test_a_least_score_is_a_least_relevance(engine: Engine) -> None:
    profile = engine.profiles()["code"]
    found = engine.search("close idle connections").hits
    relevances = [hit.relevance for hit in found]
    assert None not in relevances
    least = float(np.median([one for one in relevances if one is not None]))
    kept = engine.search("close idle connections", profile=replace(profile, min_score=least)).hits
    assert [hit.passage for hit in kept] == [hit.passage for hit in found if (hit.relevance or 0) >= least]
    assert 0 < len(kept) < len(found)


@pytest.mark.parametrize("mode", ["keyword", "vector"])
def test_one_side_alone_has_no_relevance(engine: Engine, mode: str) -> None:
    found = engine.search("close idle connections", mode=mode)  # type: ignore[arg-type]
    assert found.hits
    assert {hit.relevance for hit in found.hits} == {None}


def test_a_profile_that_was_not_counted_has_none(engine: Engine) -> None:
    profile = replace(engine.profiles()["code"], calibrated=False)
    assert {hit.relevance for hit in engine.search("close idle connections", profile=profile).hits} == {None}
