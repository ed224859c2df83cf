"""Vectors that a team shares through a branch: embedded once, usable by descendants, refused where they do not fit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.code.index import team_vectors
from cm_tui.engine.code.index.team_vectors import BRANCH
from cm_tui.engine.platform.git import orphan_branch
from cm_tui.engine.search.embed.bundled import BundledProvider
from cm_tui.engine.search.vectors.embedder import Embedder
from cm_tui.errors import CmError, NotFoundError, RefusedError
from tests.gitrepo import Repo

CART = "def total(cart):\n    return sum(cart)\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "app")
    made.write("shop/cart.py", CART)
    made.write("shop/tax.py", "def tax(cents):\n    return cents * 19 // 100\n")
    made.commit("first", at=1_700_000_000)
    return made


@pytest.fixture
def embedded() -> Iterator[list[str]]:
    """Names of all that is embedded."""
    names: list[str] = []
    embed = Embedder.embed

    def noted(self: Embedder, work: dict[str, str]) -> None:
        names.extend(work)
        embed(self, work)

    with mock.patch.object(Embedder, "embed", noted):
        yield names


def published(repo: Repo) -> str:
    with Engine.open(repo.root) as engine:
        list(engine.index())
        engine.publish_vectors()
    return repo.git("rev-parse", BRANCH).strip()


def clone_of(repo: Repo, folder: Path) -> Repo:
    made = Repo(folder, init=False)
    made.git("clone", "-q", str(repo.root), ".")
    return made


def in_another_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CM_HOME", str(tmp_path / "another"))


def test_a_clone_embeds_only_what_differs(
    repo: Repo, tmp_path: Path, embedded: list[str], monkeypatch: pytest.MonkeyPatch
):
    published(repo)
    in_another_home(monkeypatch, tmp_path)
    clone = clone_of(repo, tmp_path / "clone")
    clone.write("shop/cart.py", CART + "\n\ndef empty(cart):\n    cart.clear()\n")
    clone.commit("second", at=1_700_000_001)
    embedded.clear()
    with Engine.open(clone.root) as engine:
        found = engine.pull_vectors()
        assert (found.files, found.damaged, found.behind) == (1, 0, 1)
        list(engine.index())
        assert 0 < len(embedded) <= 2, "the changed file alone"
        assert engine.search("sum of a cart").hits
        assert [one.usable for one in engine.team_vectors()] == [True]


def test_equal_data_gives_equal_commits_and_the_oldest_go(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(orphan_branch, "KEPT", 2)
    first = published(repo)
    assert published(repo) == first
    clone = clone_of(repo, tmp_path / "clone")
    in_another_home(monkeypatch, tmp_path)
    assert published(clone) == first
    with Engine.open(clone.root) as engine:
        for number in range(2):
            clone.write("shop/tax.py", f"def tax(cents):\n    return cents * {number} // 100\n")
            clone.commit(f"change {number}", at=1_700_000_001 + number)
            list(engine.index())
            engine.publish_vectors()
        versions = engine.team_vectors()
    assert len(versions) == 2 == int(clone.git("rev-list", "--count", BRANCH))
    assert versions[0].of == clone.git("rev-parse", "HEAD").strip()
    assert clone.git("status", "--short") == "", "nothing is checked out"
    files = clone.git("ls-tree", "-r", "--name-only", BRANCH).split()
    assert not [name for name in files if "shop" in name or str(clone.root) in name]


def test_what_does_not_fit_is_refused_or_made_here(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with Engine.open(repo.root) as engine:
        with pytest.raises(NotFoundError, match="Branch not found"):
            engine.pull_vectors()
        with pytest.raises(RefusedError, match="No vector is stored yet"):
            engine.publish_vectors()
    published(repo)
    repo.git("switch", "-qc", "feature")
    with Engine.open(repo.root) as engine, pytest.raises(RefusedError, match="from the default branch, main"):
        engine.publish_vectors()
    in_another_home(monkeypatch, tmp_path)
    packed = team_vectors._packed
    monkeypatch.setattr(team_vectors, "_packed", lambda rows: packed(rows)[:-1])
    repo.git("switch", "-q", "main")
    with Engine.open(repo.root) as engine:
        list(engine.index())
        engine.publish_vectors()
    monkeypatch.setenv("CM_HOME", str(tmp_path / "third"))
    with Engine.open(repo.root) as engine:
        found = engine.pull_vectors()
        assert (found.vectors, found.damaged) == (0, 3), "each file has its digest"
    monkeypatch.setattr(
        team_vectors, "json", mock.Mock(wraps=json, dumps=lambda *_, **__: '{"format": 1, "model": "x/y"}')
    )
    repo.write("shop/more.py", "def more():\n    pass\n")
    repo.git("branch", "-D", BRANCH)
    repo.commit("third", at=1_700_000_002)
    with Engine.open(repo.root) as engine:
        list(engine.index())
        engine.publish_vectors()
        with pytest.raises(RefusedError, match="are of x/y"):
            engine.pull_vectors()
        assert [replace(one, time=0).usable for one in engine.team_vectors()] == [False]


@pytest.mark.parametrize("body", [b"", b"\1\0", b"\1\0\2\0a", b"\0\0\1\0a", b"\1\0\1\0ab" * 3])
def test_a_file_of_anything_is_damaged(body: bytes):
    digest = team_vectors.blake2b(body, digest_size=16).digest()
    read = team_vectors._unpacked(digest + body, 2)
    if body:
        with pytest.raises(ValueError, match=r"truncated|length"):
            list(read)
    with pytest.raises(ValueError, match="digest"):
        list(team_vectors._unpacked(b"\0" * 16 + body, 2))


def test_without_git_there_is_nothing_to_share(tmp_path: Path):
    (tmp_path / "a.py").write_text(CART)
    with Engine.open(tmp_path) as engine, pytest.raises(RefusedError, match="shared through git"):
        engine.publish_vectors()


def test_a_branch_of_that_name_with_other_work_is_not_overwritten(repo: Repo):
    repo.git("switch", "-qc", BRANCH)
    own = repo.commit("my own work")
    repo.git("switch", "-q", "main")
    with Engine.open(repo.root) as engine:
        list(engine.index())
        with pytest.raises(RefusedError, match="has other commits"):
            engine.publish_vectors()
    assert repo.git("rev-parse", BRANCH).strip() == own


def test_a_model_of_unknown_dimensions_takes_no_vectors_of_another_length(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    packed = team_vectors._packed
    monkeypatch.setattr(team_vectors, "_packed", lambda rows: packed((name, vector[:7]) for name, vector in rows))
    published(repo)
    in_another_home(monkeypatch, tmp_path)
    monkeypatch.setattr(BundledProvider, "dimensions", 0)
    with Engine.open(repo.root) as engine:
        found = engine.pull_vectors()
        assert (found.vectors, found.damaged) == (0, 3)
        list(engine.index())
        assert engine.pull_vectors().vectors == 0, "by those that are stored"
        assert engine.search("sum of a cart").hits


def test_more_than_fits_into_memory_is_refused(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    published(repo)
    in_another_home(monkeypatch, tmp_path)
    monkeypatch.setattr(team_vectors, "_MOST_BYTES", 500)
    with Engine.open(repo.root) as engine, pytest.raises(RefusedError, match="take more than"):
        engine.pull_vectors()


@pytest.mark.parametrize("is_new", [True, False])
def test_what_was_written_to_the_branch_meanwhile_is_kept(repo: Repo, is_new: bool, monkeypatch: pytest.MonkeyPatch):
    if not is_new:
        published(repo)
        repo.write("shop/more.py", "def more():\n    pass\n")
        repo.commit("second", at=1_700_000_001)
    signature = orphan_branch.pygit2.Signature

    def written_meanwhile(*values: object) -> object:
        repo.git("update-ref", f"refs/heads/{BRANCH}", "HEAD")
        return signature(*values)

    with Engine.open(repo.root) as engine:
        list(engine.index())
        monkeypatch.setattr(orphan_branch.pygit2, "Signature", written_meanwhile)
        with pytest.raises(CmError, match="cannot be written"):
            engine.publish_vectors()
    assert repo.git("rev-parse", BRANCH) == repo.git("rev-parse", "HEAD")
