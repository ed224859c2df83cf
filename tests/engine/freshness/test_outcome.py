"""An index run hands on its paths, so that whoever keeps the index fresh need not ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from tests.engine.freshness.waiting import run_to_end
from tests.gitrepo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.write("a.py", "x = 1\n")
    repo.write("pkg/b.py", "y = 1\n")
    repo.write("picture.bin", "\0\0\0\0")
    repo.commit("one")
    return repo


@pytest.fixture
def engine(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    with Engine.open(repo.root) as engine:
        yield engine


def listed(engine: Engine) -> tuple[set[str], set[str]]:
    return {file.path for file in engine.files().rows}, {file.path for file in engine.skipped().rows}


def test_a_run_ends_with_the_paths_that_the_index_holds_and_those_it_left_out(repo: Repo, engine: Engine) -> None:
    outcome = run_to_end(engine.run_index())
    assert (set(outcome.files), set(outcome.skipped)) == listed(engine)
    assert {"a.py", "pkg/b.py"} == set(outcome.files)
    assert outcome.summary.files == 2


def test_a_run_over_some_paths_ends_with_all_of_them_too(repo: Repo, engine: Engine) -> None:
    run_to_end(engine.run_index())
    repo.write("pkg/new.py", "z = 1\n")
    (repo.root / "a.py").unlink()
    outcome = run_to_end(engine.run_index(paths=["pkg/new.py", "a.py"]))
    assert set(outcome.files) == {"pkg/b.py", "pkg/new.py"}
    assert (set(outcome.files), set(outcome.skipped)) == listed(engine)


def test_a_run_that_finds_nothing_new_does_so_as_well(repo: Repo, engine: Engine) -> None:
    first = run_to_end(engine.run_index())
    again = run_to_end(engine.run_index())
    assert (set(again.files), set(again.skipped)) == (set(first.files), set(first.skipped))
    assert again.summary.changed == 0
