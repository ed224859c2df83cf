"""A folder that merely claims a project gets none of its memory until a person links it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.engine.api import links, projects, recording
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.context.layers.blobs import Blobs
from cm_tui.engine.doctor.installation import examine_project
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.recording.gate import PastGate
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import RefusedError, UsageError
from tests.cli.conftest import Shop
from tests.gitrepo import Repo

FAR = 4e9
"""A time in the year 2096."""
PROMPT = "why do we round prices in Ruritania"


def said(prompt: str, root: Path) -> dict[str, object]:
    return {"type": "task", "agent": "codex", "session": "s", "prompts": [prompt], "root": str(root)}


@pytest.fixture(autouse=True)
def without_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked for stands in the texts as it is asked for."""
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")


@pytest.fixture
def mine(tmp_path: Path) -> Repo:
    """A repository with a memory: an index, and an episode in its journal."""
    repo = Repo(tmp_path / "mine")
    repo.write("shop.py", "def pay():\n    return 'receipt'\n")
    repo.commit("Open the shop")
    repo.git("remote", "add", "origin", "https://example.org/me/shop.git")
    Journal.of(repo.root).append("episode", said(PROMPT, repo.root))
    index(repo.root)
    return repo


def index(root: Path) -> None:
    with Engine.open(root) as engine:
        list(engine.index())


def remembered(root: Path) -> list[str]:
    """What a checkout is told: episodes in its list, and what a search of the memory finds."""
    index(root)
    with Engine.open(root) as engine:
        listed = [prompt for episode in engine.episodes().rows for prompt in episode.prompts]
        found = [hit for hit in engine.search("Ruritania", profile="memory").hits if hit.source == "episode"]
        assert bool(listed) == bool(found)
        return listed


def notes(root: Path) -> str:
    with Engine.open(root) as engine:
        return " ".join(engine.status().notes)


def clones(mine: Repo, tmp_path: Path) -> dict[str, Path]:
    """Every way to claim that project."""
    copy = Path(shutil.copytree(mine.root, tmp_path / "copy"))
    mine.git("clone", "-q", str(mine.root), str(tmp_path / "local clone"))
    fork = Repo(tmp_path / "other code, same remote")
    fork.write("evil.py", "print('x')\n")
    fork.commit("Other code")
    fork.git("remote", "add", "origin", "git@example.org:me/shop")
    pointer = tmp_path / "pointer"
    pointer.mkdir()
    (pointer / ".git").write_text(f"gitdir: {mine.root / '.git'}\n")
    return {"copy": copy, "clone": tmp_path / "local clone", "fork": fork.root, "pointer": pointer}


def test_who_merely_claims_it_gets_nothing(mine: Repo, tmp_path: Path):
    assert remembered(mine.root) == [PROMPT]
    for what, root in clones(mine, tmp_path).items():
        assert remembered(root) == [], what
        assert Journal.of(root).folder != Journal.of(mine.root).folder, what
        assert projects.store_of(root) != projects.store_of(mine.root), what
        assert "cm link" in notes(root), what
    assert "cm link" not in notes(mine.root)
    assert remembered(mine.root) == [PROMPT]


def test_worktrees_are_one_checkout(mine: Repo, tmp_path: Path):
    mine.git("worktree", "add", "-q", str(tmp_path / "tree"))
    assert remembered(tmp_path / "tree") == [PROMPT]
    assert links.memory_link(tmp_path / "tree").shared_with == ()


def test_a_person_links_and_parts(mine: Repo, tmp_path: Path):
    other = tmp_path / "clone"
    mine.git("clone", "-q", str(mine.root), str(other))
    Journal.of(other).append("episode", said("asked in the clone of Ruritania", other))
    own = Journal.of(other).folder
    assert links.memory_link(other).shared_with == (str(mine.root),)
    link = links.link(links.memory_link(other))
    assert link.linked
    assert not own.exists(), "what it held was taken along"
    assert sorted(remembered(other)) == sorted([PROMPT, "asked in the clone of Ruritania"])
    assert len(remembered(mine.root)) == 2
    with pytest.raises(UsageError):
        links.link(links.memory_link(other))
    links.unlink(other)
    assert remembered(other) == []
    assert len(remembered(mine.root)) == 2


def test_the_first_to_ask_owns_nothing_by_that(mine: Repo, tmp_path: Path):
    """A question leaves nothing behind; who writes first owns."""
    first, second = Repo(tmp_path / "first"), Repo(tmp_path / "second")
    for repo in (first, second):
        repo.write("a.py", "x = 1\n")
        repo.commit("a")
        repo.git("remote", "add", "origin", "https://example.org/new.git")
    assert Journal.of(first.root).folder == Journal.of(second.root).folder
    Journal.of(second.root).append("episode", said(PROMPT, second.root))
    assert Journal.of(first.root).folder != Journal.of(second.root).folder
    assert remembered(first.root) == []


def test_memory_of_an_earlier_version_stays_with_its_folders(mine: Repo, tmp_path: Path):
    linked = tmp_path / "clone"
    mine.git("clone", "-q", str(mine.root), str(linked))
    links.link(links.memory_link(linked))
    Journal.of(linked)
    paths.links_file().unlink()
    known = json.loads((paths.data_dir() / "journal" / "roots.json").read_text())
    assert {str(mine.root), str(linked)} <= set(known)
    late = clones(mine, tmp_path)["copy"]
    assert remembered(late) == []
    assert remembered(mine.root) == [PROMPT]
    assert remembered(linked) == [PROMPT]


def test_linking_twice_copies_nothing_twice(mine: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    other = tmp_path / "clone"
    mine.git("clone", "-q", str(mine.root), str(other))
    Journal.of(other).append("episode", said("asked in the clone", other))

    real = links.checkout_links.link

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(links.checkout_links, "link", killed)
    with pytest.raises(KeyboardInterrupt):
        links.link(links.memory_link(other))
    monkeypatch.setattr(links.checkout_links, "link", real)
    links.link(links.memory_link(other))
    prompts = [event.data["prompts"][0] for event in Journal.of(mine.root).read()]
    assert sorted(prompts) == sorted([PROMPT, "asked in the clone"])


def test_what_was_shown_is_what_is_linked(mine: Repo, tmp_path: Path):
    other = tmp_path / "clone"
    mine.git("clone", "-q", str(mine.root), str(other))
    shown = links.memory_link(other)
    Repo(other, init=False).git("remote", "set-url", "origin", "https://example.org/me/secrets.git")
    with pytest.raises(RefusedError, match="changed since"):
        links.link(shown)
    assert remembered(other) == []


def test_a_moved_repository_takes_its_memory_along_and_leaves_none_behind(mine: Repo, tmp_path: Path):
    moved = mine.root.rename(tmp_path / "moved")
    assert remembered(moved) == []
    shown = links.memory_link(moved)
    assert shown.gone == shown.shared_with == (str(mine.root),)
    links.link(shown)
    assert remembered(moved) == [PROMPT]
    stranger = Repo(mine.root)
    stranger.commit("something else, in the same place")
    stranger.git("remote", "add", "origin", "https://example.org/me/shop.git")
    assert remembered(stranger.root) == []


def test_what_an_earlier_version_lost_is_offered_with_what_it_holds(tmp_path: Path):
    repo = Repo(tmp_path / "app")
    Journal.of(repo.root).append("episode", said(PROMPT, repo.root))
    with Engine.open(repo.root) as engine:
        engine.remember("written on the first day")
    recording.pause(repo.root)
    known = json.loads(paths.links_file().read_text())
    del known["checkouts"]
    paths.links_file().write_text(json.dumps(known))
    repo.commit("one")
    with Engine.open(repo.root) as engine:
        assert [one.held for one in engine.entries().rows] == [True]
    assert "another memory" in notes(repo.root)
    assert any("another memory" in check.message for check in examine_project(repo.root))
    shown = links.memory_link(repo.root)
    (earlier,) = shown.earlier
    assert (earlier.entries, earlier.notes, earlier.episodes, earlier.other_repository) == (1, 0, 1, False)
    done = links.take_along(shown, earlier)
    assert done.earlier == ()
    with Engine.open(repo.root) as engine:
        assert [one.held for one in engine.entries().rows] == [False]
    assert recording.recording_state(repo.root).state == "paused", "a pause does not end by itself"
    assert remembered(repo.root) == [PROMPT]
    assert "another memory" not in notes(repo.root)
    assert not (paths.data_dir() / "journal" / earlier.project).exists()
    with pytest.raises(RefusedError, match="changed since"):
        links.take_along(shown, earlier)


def test_another_repository_in_the_same_place_is_offered_what_was_there(mine: Repo, tmp_path: Path):
    kept = shutil.copytree(mine.root, tmp_path / "kept")
    shutil.rmtree(mine.root)
    shutil.copytree(kept, mine.root)
    assert remembered(mine.root) == []
    shown = links.memory_link(mine.root)
    assert (shown.linked, shown.shared_with, shown.gone) == (False, (str(mine.root),), (str(mine.root),))
    Repo(mine.root, init=False).git("remote", "remove", "origin")
    shown = links.memory_link(mine.root)
    (earlier,) = shown.earlier
    assert (shown.linked, earlier.episodes, earlier.other_repository) == (True, 1, True)
    assert "another memory" not in notes(mine.root)
    links.take_along(shown, earlier)
    assert remembered(mine.root) == [PROMPT]


def test_what_both_memories_have_stays_as_it_is_however_long(mine: Repo):
    own = Journal.of(mine.root).folder
    other = own.with_name("earlier-0123456789ab")
    for folder, size in ((own, 64_000_001), (other, 5)):
        (folder / "blobs").mkdir(parents=True)
        (folder / "blobs/of-both").touch()
        os.truncate(folder / "blobs/of-both", size)
    (other / "blobs/of-one").write_text("one")
    links._take_over(other.name, own.name)
    assert (own / "blobs/of-both").stat().st_size == 64_000_001
    assert (own / "blobs/of-one").read_text() == "one"


def test_a_memory_that_others_have_too_stays_theirs(mine: Repo, tmp_path: Path):
    other = tmp_path / "clone"
    mine.git("clone", "-q", str(mine.root), str(other))
    links.link(links.memory_link(other))
    shutil.rmtree(mine.root)
    again = Repo(mine.root)
    again.commit("something else")
    assert remembered(again.root) == []
    shown = links.memory_link(again.root)
    links.take_along(shown, shown.earlier[0])
    assert remembered(again.root) == remembered(other) == [PROMPT]
    assert links.memory_link(again.root).earlier == ()


@pytest.mark.parametrize("how", ["link", "take along"])
def test_who_goes_leaves_memory_pause_and_trust_to_the_others(mine: Repo, tmp_path: Path, how: str):
    other = tmp_path / "clone"
    mine.git("clone", "-q", str(mine.root), str(other))
    links.link(links.memory_link(other))
    with Engine.open(other) as engine:
        engine.remember("written in the clone")
    recording.pause(other)
    elsewhere = Repo(tmp_path / "elsewhere")
    elsewhere.commit("one")
    elsewhere.git("remote", "add", "origin", "https://example.org/other/shop.git")
    Journal.of(elsewhere.root).append("episode", said("of the other project", elsewhere.root))
    if how == "link":
        mine.git("remote", "set-url", "origin", "https://example.org/other/shop.git")
        links.link(links.memory_link(mine.root))
    else:
        shutil.rmtree(mine.root)
        Repo(mine.root).commit("something else")
        shown = links.memory_link(mine.root)
        links.take_along(shown, shown.earlier[0])
    assert PROMPT in remembered(mine.root)
    assert remembered(other) == [PROMPT]
    with Engine.open(other) as engine:
        assert [one.held for one in engine.entries().rows] == [False]
    assert recording.recording_state(other).state == recording.recording_state(mine.root).state == "paused"


def test_what_is_written_while_a_checkout_is_linked_goes_along(
    mine: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    other = tmp_path / "clone"
    mine.git("clone", "-q", str(mine.root), str(other))
    own = Journal.of(other)
    own.append("episode", said("asked in the clone", other))
    texts = [Blobs(root).write(root.name.encode()) for root in (mine.root, other)]
    real = links.checkout_links.link

    def slowly(*words: str) -> None:
        own.append("episode", said("asked meanwhile", other))
        real(*words)

    monkeypatch.setattr(links.checkout_links, "link", slowly)
    links.link(links.memory_link(other))
    prompts = [event.data["prompts"][0] for event in Journal.of(mine.root).read()]
    assert sorted(prompts) == sorted([PROMPT, "asked in the clone", "asked meanwhile"])
    assert [Blobs(mine.root).read(text) for text in texts] == [b"mine", b"clone"]
    assert not own.folder.exists()


def test_a_pause_that_ended_counts_for_the_memory_that_goes_on(mine: Repo, tmp_path: Path):
    other = tmp_path / "clone"
    mine.git("clone", "-q", str(mine.root), str(other))
    own = Journal.of(other)
    own.append("episode", said("asked in the clone", other))
    gate.begin(own.folder.name, None, now=1_000.0)
    gate.end(own.folder.name, now=2_000.0)
    gate.begin(own.folder.name, FAR)
    recording.pause(mine.root)
    links.link(links.memory_link(other))
    assert PastGate(mine.root).why_not("s", (1_500.0,))
    assert not PastGate(mine.root).why_not("s", (2_500.0,))
    (pause,) = gate.read().pauses
    assert (pause.project, pause.until) == (Journal.of(mine.root).folder.name, None)


def test_a_pause_before_anything_was_recorded_stays_on(tmp_path: Path):
    repo = Repo(tmp_path / "app")
    recording.pause(repo.root)
    repo.commit("one")
    repo.git("remote", "add", "origin", "https://example.org/me/app.git")
    assert recording.recording_state(repo.root).state == "paused"


def test_git_says_something_else_and_the_memory_stays(mine: Repo, tmp_path: Path):
    elsewhere = Repo(tmp_path / "elsewhere")
    elsewhere.commit("one")
    elsewhere.git("remote", "add", "origin", "https://example.org/other/shop.git")
    Journal.of(elsewhere.root).append("episode", said("of the other project", elsewhere.root))
    mine.git("remote", "set-url", "origin", "https://example.org/other/shop.git")
    assert remembered(mine.root) == [PROMPT]
    assert "cm link" in notes(mine.root)
    shown = links.memory_link(mine.root)
    assert (shown.linked, shown.shared_with) == (False, (str(elsewhere.root),))
    links.link(shown)
    assert sorted(remembered(mine.root)) == sorted([PROMPT, "of the other project"])
    links.unlink(mine.root)
    assert remembered(mine.root) == []


def test_the_link_as_json(mine: Repo, cm_home: Path):
    assert Shop(mine.root, cm_home).cm("link", "--show", "--json").json["linked"] is True
