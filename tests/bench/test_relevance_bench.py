"""Counting how likely a hit is in the right place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pygit2
import pytest

from cm_tui.errors import UsageError
from tests.bench import relevance
from tests.bench.relevance import Sample, fit, held_out


def samples(count: int = 4000) -> list[Sample]:
    """Hits that are right as often as a known curve says."""
    random = np.random.default_rng(7)
    score, cosine = random.uniform(0, 2, count), random.uniform(0, 0.6, count)
    chance = 1 / (1 + np.exp(-(2 * score + 6 * cosine - 5)))
    right = random.uniform(size=count) < chance
    return [
        Sample(f"shop{number % 5}", float(one), float(other), bool(is_right))
        for number, (one, other, is_right) in enumerate(zip(score, cosine, right, strict=True))
    ]


def test_what_was_put_in_is_found_again() -> None:
    curve = fit(samples())
    assert curve.likeness == pytest.approx(3, abs=0.5)
    assert (np.diff(curve.share) >= 0).all()
    expected, right = held_out(samples())
    for low in np.arange(0, 1, 0.2):
        here = (expected >= low) & (expected < low + 0.2)
        if here.sum() > 100:
            assert expected[here].mean() == pytest.approx(right[here].mean(), abs=0.07)


def test_two_repositories_are_asked_each_others_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = [repository(tmp_path / name, name) for name in ("carts", "planets")]
    assert relevance.main([*map(str, places), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"likeness", "knots", "held_out"} == set(found)


def test_one_repository_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no foreign questions"):
        relevance.main([str(repository(tmp_path / "carts", "carts"))])


def repository(root: Path, word: str) -> Path:
    """A repository with functions that are described in words of their own."""
    repo = pygit2.init_repository(root, initial_head="main")
    person = pygit2.Signature("A", "a@example.org", 1_700_000_000, 0)
    body = "\n\n".join(
        f'def {word}_{verb}(things, limit):\n    """Goes through all {word} in order to {verb} each of them once."""\n'
        f"    found = [one for one in things if one.{verb}]\n    return found[:limit]"
        for verb in ("collect", "compare", "measure", "publish", "remove", "sort")
    )
    (root / f"{word}.py").write_text(body + "\n")
    repo.index.add(f"{word}.py")
    repo.index.write()
    repo.create_commit("HEAD", person, person, "First version", repo.index.write_tree(), [])
    return root
