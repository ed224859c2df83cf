"""Recall: what was said is found by meaning, with what stands around it, and beside code without moving it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.search.embed.prose_process import ProseProcesses
from cm_tui.engine.search.vectors.index import VectorIndex
from cm_tui.errors import NotFoundError
from cm_tui.model import EpisodeFilter, Step
from tests.gitrepo import Repo

DAY = 86_400.0
BEGAN = 1_770_000_000.0
SESSIONS = {
    "cache": [
        ("Support says that parcels went to old addresses.", "Reverted commit 4be1d2c: the address cache was stale."),
        ("What has to change before it comes back?", "The key has to hold the revision of the address."),
    ],
    "queue": [
        ("Which queue shall we use for webhooks?", "Postgres with SKIP LOCKED; nobody has to operate a broker."),
        ("Write the worker.", "It polls four times a second and deletes what was delivered."),
    ],
    "labels": [("The labels print at the wrong size.", "They are sent as ZPL now. 标签尺寸不对。")],
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def opened(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(home))
        root = _recorded(tmp_path_factory.mktemp("recall"))
        with Engine.open(root) as engine:
            for _ in engine.index():
                pass
            yield engine


@pytest.fixture
def engine(opened: Engine, home: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """One index for all questions: each test asks in the home that it was made in."""
    monkeypatch.setenv("CM_HOME", str(home))
    return opened


def _recorded(folder: Path) -> Path:
    repo = Repo(folder / "repo")
    repo.write("worker.py", "def deliver_webhooks(queue):\n    return queue.take(50)\n")
    repo.commit()
    journal = Journal.of(repo.root)
    for day, (session, turns) in enumerate(SESSIONS.items()):
        for place, (asked, answered) in enumerate(turns, start=1):
            record = EpisodeRecord(
                agent="codex" if session == "queue" else "claude-code", session=session, prompts=(asked,),
                answer=answered, turn=place, at=BEGAN + day * DAY + place, tags=("bug",) if place == 1 else (),
                steps=(Step("tool", "make labels", "Bash", "exit 1", failed=True), Step("thought", "zygote")),
            )  # fmt: skip
            journal.append("episode", record.to_event_data())
    return repo.root


def texts(engine: Engine, question: str, limit: int = 10, where: EpisodeFilter | None = None) -> list[str]:
    return [engine.source(hit.path).text for hit in engine.recall(question, limit=limit, where=where).hits]


def test_what_was_said_is_found_by_meaning(engine: Engine):
    result = engine.recall("why did we undo remembering where customers live")
    assert result.mode == "hybrid"
    assert result.profile == "recall"
    assert "Reverted commit" in engine.source(result.hits[0].path).text
    assert result.hits[0].time == int(BEGAN + 1)
    for hit in result.hits:
        assert sum(part.contribution for part in hit.parts) == pytest.approx(hit.score)


def test_a_turn_says_who_spoke_and_what_was_done(engine: Engine):
    text = texts(engine, "which queue for webhooks", 1)[0]
    assert text.startswith("User: Which queue shall we use for webhooks?\n\ncodex: Postgres with SKIP LOCKED")
    assert "[Bash failed] make labels → exit 1" in text
    assert "zygote" not in text


def test_the_turns_around_lend_weight(engine: Engine):
    first, hit = engine.recall("webhooks queue", limit=2).hits
    assert engine.source(hit.path).text.startswith("User: Write the worker.")
    assert any(part.name == "context" and "as a turn of" in part.detail for part in hit.parts)
    alone = replace(engine.profiles()["recall"], thread=0.0, neighbours=0.0)
    scores = {one.path: one.score for one in engine.search("webhooks queue", profile=alone, limit=50).hits}
    assert scores.get(hit.path, 0.0) / scores[first.path] < hit.score / first.score


def test_more_results_never_change_the_first(engine: Engine):
    for question in ("cache of addresses", "worker", "labels 标签"):
        every = [hit.path for hit in engine.recall(question, limit=50).hits]
        for limit in range(1, len(every)):
            assert [hit.path for hit in engine.recall(question, limit=limit).hits] == every[:limit]


def test_scripts_without_spaces_are_found(engine: Engine):
    assert "ZPL" in texts(engine, "尺寸", 1)[0]


def test_only_what_fits_is_asked(engine: Engine):
    assert all("codex:" in text for text in texts(engine, "labels", where=EpisodeFilter(agents=("codex",))))
    assert len(texts(engine, "labels", where=EpisodeFilter(session="cache"))) == 2
    assert len(texts(engine, "the", where=EpisodeFilter(tags=("bug",)))) == 3
    late = EpisodeFilter(since=BEGAN + 2 * DAY)
    assert ["ZPL" in text for text in texts(engine, "address", where=late)] == [True]
    with pytest.raises(NotFoundError, match="Session not found: 'no such'"):
        engine.recall("address", where=EpisodeFilter(session="no such"))


def test_what_was_said_comes_beside_code_and_moves_none_of_it(engine: Engine):
    with_memory = engine.search("webhooks queue", limit=1)
    assert [hit.path for hit in with_memory.hits] == ["worker.py"]
    assert 1 <= len(with_memory.beside) <= 5
    assert "SKIP LOCKED" in engine.source(with_memory.beside[0].path).text
    alone = engine.search("webhooks queue", profile=_without(engine), limit=1)
    assert alone.beside == ()
    assert alone.hits == with_memory.hits
    assert engine.search("webhooks queue", limit=50).beside == with_memory.beside
    again = engine.rank(engine.retrieve("webhooks queue"), engine.profiles()["code"], limit=1)
    assert (again.hits, again.beside) == (with_memory.hits, with_memory.beside)


def test_what_has_nothing_to_do_with_it_stays_away(engine: Engine):
    assert engine.recall("quaternion interpolation").hits == ()
    assert engine.search("quaternion interpolation").beside == ()


def test_a_pack_brings_what_was_said(engine: Engine):
    pack = engine.pack("how are webhooks delivered from the queue", budget=2000)
    assert "SKIP LOCKED" in pack.markdown
    assert "episode, " in pack.markdown
    assert "worker.py" in pack.markdown


def test_one_common_word_brings_no_memory_into_a_pack(engine: Engine):
    question = "queue that rotates quaternion matrices by interpolation"
    assert engine.search(question).beside, "the word is in a memory"
    assert "episode, " not in engine.pack(question, budget=2000).markdown


def test_what_is_recorded_now_is_recalled_now(engine: Engine):
    data = EpisodeRecord(agent="codex", session="late", prompts=("Paint the depot violet.",)).to_event_data()
    id_ = Journal.of(engine.root).append("episode", data).id
    assert engine.recall("violet depot", limit=1).hits[0].path == f"episode/{id_}"
    engine.forget_memory(id_)
    assert all(hit.path != f"episode/{id_}" for hit in engine.recall("violet depot").hits)


def _without(engine: Engine):
    return replace(engine.profiles()["code"], beside="")


def test_an_unknown_profile_beside_is_refused(tmp_path: Path):
    from cm_tui.engine.search.ranking import profiles
    from cm_tui.errors import ConfigError

    with pytest.raises(ConfigError, match="no profile 'nothing'"):
        profiles.load({"code": {"beside": "nothing"}})


def test_the_model_of_memory_is_begun_where_it_will_be_waited_for(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    begun: list[bool] = []
    monkeypatch.setattr(ProseProcesses, "has_ended", True)
    monkeypatch.setattr(ProseProcesses, "begin", lambda _: begun.append(True))
    engine.search("address cache", mode="keyword")
    engine.search("address cache", profile=replace(engine.profiles()["code"], beside=""))
    assert not begun
    engine.search("address cache")
    engine.pack("address cache")
    assert len(begun) == 2
    monkeypatch.setattr(VectorIndex, "coverage", lambda _: (0, 7))
    engine.pack("address cache")
    assert len(begun) == 2, "no memory has a vector"
