"""Mentions that were kept up, change by change, are those that are found anew."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.api import engine_base
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.mentions import mention_index, mention_rows
from cm_tui.engine.memory.mentions.report import SOON
from tests.gitrepo import Repo
from tests.tiers import examples

NAMES = ("load_one", "save_one", "drop_one", "Keeper", "Sender")
FILES = ("src/a.py", "src/b.py", "lib/c.py")
STEPS = st.lists(
    st.sampled_from(("write", "write", "empty", "move", "commit", "commit", "pass", "index", "read", "note", "back")), min_size=4, max_size=14
)  # fmt: skip


def told(engine: Engine) -> list[tuple[Any, ...]]:
    """All that is kept of mentions, without numbers that are given anew."""
    engine._mentions.sync()
    return engine._db.rows(
        "SELECT i.path, i.ord, m.line, m.kinds, m.text, m.kind, m.state, m.path, m.start_line, m.became, m.ord "
        "FROM mention m JOIN mention_item i ON i.id = m.item ORDER BY ALL"
    )


def do(step: str, repo: Repo, engine: Engine, chance: random.Random) -> None:
    file = chance.choice(FILES)
    if step == "write":
        body = "".join(
            f"def {name}(x):\n    y = {chance.choice(NAMES)}(x) + {chance.randrange(2)}\n    return y\n\n\n"
            for name in chance.sample(NAMES, 2)
        )
        repo.write(file, body)
    elif step == "empty":
        (repo.root / file).unlink(missing_ok=True)
    elif step == "move" and (repo.root / file).exists():
        (repo.root / "lib").mkdir(exist_ok=True)
        (repo.root / file).rename(repo.root / file.replace("src/", "lib/"))
    elif step in ("commit", "pass"):
        for _ in range(SOON + 1 if step == "pass" else 1):
            repo.commit("step")
    elif step == "index":
        list(engine.index())
    elif step == "read":
        list(engine.index())
        list(engine.backfill(depth=1_000))
    elif step == "note":
        said = " and ".join(f"`{name}`" for name in chance.sample([*NAMES, *FILES, "src/", "Other.thing_there"], 4))
        engine.remember(f"{said} in {chance.random()}")
    elif step == "back" and int(repo.git("rev-list", "--count", "HEAD")) > 2:
        repo.git("reset", "-q", "--hard", "HEAD~1")


@settings(max_examples=examples(12, few=4), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, seed=st.integers(0, 10_000))
def test_kept_up_they_are_those_of_a_store_made_anew(
    steps: list[str], seed: int, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder: Path = tmp_path_factory.mktemp("kept")
    monkeypatch.setenv("CM_HOME", str(folder / "home"))
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    chance = random.Random(seed)
    repo = Repo(folder / "app")
    repo.write("src/a.py", "def load_one(x):\n    return x\n")
    repo.write(".gitignore", ".cm\n")
    repo.commit("begin")
    with closing(Engine.open(repo.root)) as engine:
        list(engine.index())
        for step in steps:
            do(step, repo, engine, chance)
        do("read", repo, engine, chance)
        kept = told(engine)
        list(engine.rebuild())
        list(engine.backfill(depth=1_000))
        assert told(engine) == kept


def remembered(engine: Engine, number: int) -> None:
    for one in range(number):
        engine.remember(f"`src/a.py` number {one} of {number}")
    engine._read_journal()


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    repo = Repo(tmp_path / "app")
    repo.write("src/a.py", "def load_one(x):\n    return x\n")
    repo.commit("begin")
    with closing(Engine.open(repo.root)) as engine:
        list(engine.index())
        yield engine


def test_a_long_backlog_is_listed_once_and_left_to_background_work(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mention_index, "_MOST_AT_ONCE", 4)
    monkeypatch.setattr(mention_index, "_LISTED", 5)
    monkeypatch.setattr(mention_index, "_PIECE", 2)
    listed = list[int]()
    whole = mention_rows.changed_items
    monkeypatch.setattr(mention_rows, "changed_items", lambda db, most: listed.append(most) or whole(db, most))
    engine._mentions.sync()
    remembered(engine, 7)
    assert engine.search("number", profile="recall").hits
    assert engine._db.value("SELECT count(*) FROM mention_item") == 0, "a search does not wait for a long backlog"
    assert engine.has_unread_names()
    listed.clear()
    assert [step.stage for step in engine.embed_recorded()] == ["names"] * 4
    assert engine._db.value("SELECT count(*) FROM mention_item") == 7
    assert len(listed) == 1, "more than are listed at once are listed again, not for each piece"
    assert not engine.has_unread_names()
    remembered(engine, 2)
    engine.search("number", profile="recall")
    assert engine._db.value("SELECT count(*) FROM mention_item") == 9, "a few are read with the question"


def test_a_failed_piece_is_read_again(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    remembered(engine, 3)
    with monkeypatch.context() as patch:
        patch.setattr(mention_rows, "remember_files", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            engine._mentions.sync()
    assert engine._db.value("SELECT count(*) FROM mention_item") == 0
    engine._mentions.sync()
    assert engine._db.value("SELECT count(*) FROM mention_item") == 3


def test_names_are_read_although_the_journal_took_longer_than_they_may(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    due = engine._mentions_are_due

    def reading_the_journal() -> bool:
        now[0] += 1_000.0
        return due()

    remembered(engine, 3)
    monkeypatch.setattr(engine_base.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(engine, "_mentions_are_due", reading_the_journal)
    engine._follow_mentions_in_slices(None)
    assert engine._db.value("SELECT count(*) FROM mention_item") == 3
