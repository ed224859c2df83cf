"""Episodes: read from the journal, found by words, laid on the line of a real repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.episodes import episode_index
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import EpisodeFilter
from tests.gitrepo import Repo
from tests.templates import Template, index


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """Two commits, indexed."""

    def make(root: Path) -> None:
        repo = Repo(root)
        for number in (1, 2):
            repo.write("a.py", f"def f():\n    return {number}\n")
            repo.commit(f"commit {number}")

    return Template(tmp_path_factory.mktemp("episodes"), make)


@pytest.fixture
def repo(prepared: Template, cm_home: Path) -> Repo:
    return Repo(prepared.put_back(cm_home), init=False)


@pytest.fixture
def engine(repo: Repo) -> Iterator[Engine]:
    with Engine.open(repo.root) as engine:
        yield engine


def record(engine: Engine, head: str | None, **data: Any) -> Event:
    said = {"agent": "codex", "session": "s1", "prompts": ["make it three"], "root": str(engine.root)}
    return Journal.of(engine.root).append("episode", {**said, **data}, head=head)


def test_an_episode_is_found_whole_at_the_commit_it_saw(engine: Engine, repo: Repo):
    first, second = (repo.git("rev-parse", name) for name in ("HEAD~1", "HEAD"))
    patch = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n"
    event = record(engine, second, base=first, patch=patch, patch_cut=True, redacted=2, files=["a.py"], answer="done")
    listed = engine.episodes().rows[0]
    assert (listed.id, listed.sha, listed.head, listed.patch, listed.patch_lines) == (event.id, first, second, "", 5)
    assert listed.moment is not None
    assert (listed.moment.ordinal, listed.moment.subject, listed.why) == (1, "commit 1", "")
    for name in (event.id, event.id[:10], event.id.upper(), "last"):
        whole = engine.episode(name)
        assert whole.patch == patch
        assert (whole.patch_cut, whole.redacted, whole.files, whole.answer) == (True, 2, ("a.py",), "done")
        assert whole.prompts == ("make it three",)
    assert engine.episode_moments() == (1,)


def test_the_newest_come_first_page_by_page_and_are_found_by_words(engine: Engine, repo: Repo):
    head = repo.git("rev-parse", "HEAD")
    for number in range(7):
        record(engine, head, prompts=[f"prompt {number}", "Ünïcode" if number % 2 else "plain"], session=f"s{number}")
    page = engine.episodes(limit=3)
    assert page.total == 7
    assert [one.prompts[0] for one in page.rows] == ["prompt 6", "prompt 5", "prompt 4"]
    rest = engine.episodes(before=page.rows[-1].id)
    assert [one.prompts[0] for one in rest.rows] == ["prompt 3", "prompt 2", "prompt 1", "prompt 0"]
    assert rest.total == 7
    odd = engine.episodes(match="ünïcode CODEX", limit=2)
    assert [one.session for one in odd.rows] == ["s5", "s3"]
    assert [one.session for one in engine.episodes(match="ünïcode", before=odd.rows[-1].id).rows] == ["s1"]
    assert engine.episodes(match="#2").total == 7
    assert engine.episodes(match=head[:8]).total == 7
    assert engine.episodes(match="#1").total == 0


def test_a_session_is_called_the_same_whatever_of_it_is_asked_for(engine: Engine, repo: Repo):
    head = repo.git("rev-parse", "HEAD")
    for prompt in ("Journal locking", "use the lock", "and test it"):
        record(engine, head, prompts=[prompt], session="s", tools=["Edit"] if "lock" in prompt else [])
    record(engine, head, prompts=["other"], session="t")
    record(engine, head, prompts=["more"], session="t", title="Named later")
    for where in (EpisodeFilter(), EpisodeFilter(text="use"), EpisodeFilter(text="lock", tools=("Edit",))):
        found = {one.id: one for one in engine.sessions(where=where).rows}
        assert found["s"].title == "Journal locking"
    assert engine.sessions(where=EpisodeFilter(text="other")).rows[0].title == "Named later"
    record(engine, head, session="t", title="Mine", actor="person")
    record(engine, head, session="t", title="An agent's")
    assert engine.sessions(where=EpisodeFilter(text="other")).rows[0].title == "Mine"
    first = engine.episodes(match="journal").rows[0].id
    engine.forget_memory(first)
    assert engine.sessions(where=EpisodeFilter(text="test")).rows[0].title == "use the lock", (
        "what is forgotten is not told"
    )
    assert engine.sessions(where=EpisodeFilter(state="forgotten")).rows[0].title == "Journal locking"


def test_new_ones_are_read_on_by_an_open_door(engine: Engine, repo: Repo):
    assert engine.episodes().rows == ()
    record(engine, repo.git("rev-parse", "HEAD"))
    assert engine.episodes().total == 1
    repo.commit("commit 3")
    record(engine, repo.git("rev-parse", "HEAD"))
    assert [one.moment.place for one in engine.episodes().rows] == ["off the mainline, 1 commit after #2", "#2"]
    index(engine)
    assert engine.episode_moments() == (2, 3)


def test_what_cannot_be_replayed_says_why(engine: Engine, repo: Repo):
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    aside = repo.commit("aside")
    repo.git("checkout", "-q", "main")
    for head in (None, "f" * 40, aside):
        record(engine, head)
    off, gone, none = engine.episodes().rows
    assert [one.moment for one in (gone, none)] == [None, None]
    assert (off.moment.sha, off.moment.place, off.why) == (aside, "off the mainline, 1 commit after #1", "")
    assert "not in this repository" in gone.why
    assert "no commit recorded" in none.why
    early = record(engine, None, actor="import")
    assert "older than the commits of this repository" in engine.episode(early.id).why
    whole = engine.episode(off.id)
    assert (whole.moment, whole.why) == (off.moment, "")
    assert engine.episode(gone.id).moment is None
    assert engine.episode(none.id).moment is None
    assert engine.episode_moments() == ()


def test_a_commit_that_is_amended_away_stays_readable_until_git_removes_it(engine: Engine, repo: Repo):
    old = repo.git("rev-parse", "HEAD")
    event = record(engine, old)
    repo.git("commit", "-q", "--amend", "-m", "another")
    index(engine)
    assert engine.episode(event.id).moment.ordinal == 1
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    engine.close()
    with Engine.open(repo.root) as again:
        assert again.episode(event.id).moment is None
        assert "rewritten" in again.episodes().rows[0].why


def test_a_project_without_git_has_episodes_that_are_not_replayed(tmp_path):
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/a.py").write_text("x = 1\n")
    with Engine.open(tmp_path / "plain") as engine:
        index(engine)
        event = record(engine, None, patch="")
        record(engine, "a" * 40)
        assert [bool(one.why) for one in engine.episodes().rows] == [True, True]
        assert engine.episode(event.id).prompts == ("make it three",)


@pytest.mark.parametrize(
    "data",
    [
        {"prompts": None, "files": "x", "patch": 7, "base": "--help", "redacted": "no"},
        {"prompts": [1, "kept", None], "agent": ["x"], "session": {}, "root": 3, "answer": None},
        {"prompts": ["\x1b[2J\x00\udcff"], "base": "../../x"},
    ],
)
def test_a_strange_journal_is_read_as_far_as_it_makes_sense(engine: Engine, data: dict[str, Any]):
    event = record(engine, "HEAD; rm -rf", **data)
    episode = engine.episode(event.id)
    assert episode.sha == ""
    assert all(isinstance(prompt, str) for prompt in episode.prompts)
    assert engine.episodes(match=event.id).total == 1


def test_a_part_of_an_id_finds_its_episode(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(episode_index, "PART", 2)
    first, second, third = (record(engine, None, prompts=[f"boulder {number}"]).id for number in range(3))
    for id_ in (first, second, third):
        found = engine.episodes(match=f"{id_[4:]} BOULDER").rows
        assert [one.id for one in found] == [id_]
    assert engine.episodes(match=f"{first[4:]} lighthouse").total == 0
    words = engine._episodes.tables.rows("SELECT word FROM episode_word UNION ALL SELECT words FROM episode_text")
    assert not any(id_ in text for (text,) in words for id_ in (first, second, third)), "ids are no words"


def test_names_of_nothing_and_of_several(engine: Engine, repo: Repo):
    with pytest.raises(NotFoundError):
        engine.episode("last")
    for _ in range(2):
        record(engine, repo.git("rev-parse", "HEAD"))
    for name in ("", "zzzz", "\x1b[31m", "1:2"):
        with pytest.raises(NotFoundError):
            engine.episode(name)
    with pytest.raises(UsageError, match="2 episodes"):
        engine.episode(engine.episodes().rows[0].id[:4])


def test_turns_that_nobody_recorded_yet_are_counted(engine: Engine):
    journal, who = Journal.of(engine.root), {"root": str(engine.root), "session": "s"}
    journal.append("hook.stop", who)
    assert engine.episodes().note == ""
    journal.append("hook.prompt", {**who, "prompt": "do"})
    assert engine.episodes().note == ""
    stop = journal.append("hook.stop", who)
    assert "1 turn of a session waits for the daemon" in engine.episodes().note
    record(engine, None, stop=stop.id)
    assert engine.episodes().note == ""
