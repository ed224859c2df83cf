"""Erasing takes a secret out of people's words, and leaves alone what cm finds its own things by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.erasure import scan
from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer
from cm_tui.engine.platform.journal.journal import Journal
from tests.engine.erasure.conftest import SECRET, index, turn
from tests.gitrepo import Repo


def own_files() -> dict[Path, bytes]:
    """What cm finds its own things by, and what it holds."""
    files = [*paths.data_dir().rglob("*.json"), *(paths.state_dir() / "hook").rglob("*.json")]
    return {file: file.read_bytes() for file in files}


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("word", "found"),
    [("shopdb", False), ("shopdb", True), ("warehouse7db", False), ("warehouse7db", True), (SECRET, False)],
)
def test_a_password_that_is_the_name_of_the_folder_breaks_nothing(tmp_path: Path, word: str, found: bool):
    repo = Repo(tmp_path / word)
    repo.write("a.py", "def gravel():\n    return 1\n")
    repo.commit()
    with Engine.open(repo.root) as engine:
        events = turn(engine, f'connect with password="{word}"')
        other = turn(engine, "plant a hedge")
        consumer = JournalConsumer(lambda *_: None)
        consumer.on_nudge(engine.root)
        consumer.close()
        index(engine)
        before = own_files()
        assert {"links.json", "project.json", "roots.json", "origins.json"} <= {file.name for file in before}
        assert sum(word.encode() in content for content in before.values()) >= 3
        erased = engine.erase(found=True) if found else engine.erase([events[3].id])
        assert [event.id for event in erased.events] == [event.id for event in events]
        assert own_files() == before
    with Engine.open(repo.root) as again:
        assert [one.id for one in again.episodes().rows] == [other[3].id]
        assert again.status().passages == 2
        assert Journal.of(again.root).folder.is_dir()


def test_the_scan_says_that_a_name_which_looks_like_a_secret_is_left(tmp_path: Path):
    repo = Repo(tmp_path / SECRET)
    repo.write("a.py")
    repo.commit()
    with Engine.open(repo.root) as engine:
        index(engine)
        report = engine.secrets()
    assert report.findings
    assert "is never erased" in " ".join(report.notes)


@pytest.mark.parametrize(
    ("value", "text", "becomes"),
    [
        ("shopdb", "the shopdb of the shop", "the shopdb of the shop"),
        ("shopdb", 'password="shopdb" for shopdb', 'password="[erased]" for shopdb'),
        ("aaaaaaaaaaaa", "an aaaaaaaaaaaa", "an aaaaaaaaaaaa"),
        ("warehouse7", "warehouse7s and my_warehouse7", "warehouse7s and my_warehouse7"),
        ("warehouse7", "(warehouse7), /warehouse7/", "([erased]), /[erased]/"),
        ("warehouse7", r"a\nwarehouse7\nb", r"a\n[erased]\nb"),
        ("+warehouse7=", "x+warehouse7=y", "x[erased]y"),
        (SECRET, f"x{SECRET}y", "x[erased]y"),
    ],
)
def test_a_value_is_replaced_where_it_is_no_part_of_a_word(tmp_path: Path, value: str, text: str, becomes: str):
    file = tmp_path / "remembered.json"
    file.write_text(json.dumps({"last": [text]}))
    assert scan.clean(file, {value}) is (text != becomes)
    assert json.loads(file.read_text()) == {"last": [becomes]}
    log = tmp_path / "daemon.log"
    log.write_text(f"{text}\n")
    scan.clean(log, {value})
    assert log.read_text() == f"{becomes.replace('[erased]', '*' * len(value))}\n"
