"""A damaged store: `cm doctor` names the damage, every command says the same, and one command mends it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from cm_tui.cli import index as index_commands
from cm_tui.engine.doctor import installation
from tests import damage as ways
from tests.cli.conftest import Result, Shop, ShopTemplate
from tests.damage import Place

QUESTIONS = (
    ("search", "cart", "--json"),
    ("callers", "add_tax", "--json"),
    ("symbols", "--json"),
    ("status", "--json"),
    ("pack", "cart", "--json"),
    ("at", "HEAD", "--json"),
)
REBUILD, INDEX = "cm rebuild", "cm index"
THOROUGHLY = frozenset({"cut to 80 %", "a block zeroed", "a newer schema", "a table lost"})
"""Damage of each depth: every question is asked of it, and again after it was mended."""


class Damaged(Shop):
    """A project that is put back after each test."""

    @property
    def place(self) -> Place:
        return Place(self.root, self.home)

    def findings(self, *words: str) -> dict[str, dict[str, str]]:
        """What `cm doctor` finds, by its name."""
        done = self.cm("doctor", "--json", *words)
        found = {check["finding"]: check for check in done.json["checks"] if check["finding"]}
        assert done.code == int(any(check["state"] == "failed" for check in done.json["checks"]))
        return found

    def answers(self) -> dict[str, object]:
        """What questions are answered, without times."""
        return {words[0]: _plain(self.cm(*words)) for words in QUESTIONS if words[0] != "status"}


def _plain(done: Result) -> object:
    if done.code:
        return done.err
    found = done.json
    if isinstance(found, dict):
        found = {key: value for key, value in found.items() if key not in ("took_ms", "notes")}
    return found


@pytest.fixture(scope="module")
def answers(template: ShopTemplate) -> dict[str, object]:
    """Of the store before it was damaged."""
    with pytest.MonkeyPatch.context() as patch:
        shop = template.put_back(patch)
        return Damaged(shop.root, shop.home).answers()


@pytest.fixture
def shop(answers: dict[str, object], own_shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Damaged:
    # What is installed takes longer to check than all the rest.
    monkeypatch.setattr(installation, "examine_installation", lambda: iter(()))
    return Damaged(own_shop.root, own_shop.home)


def test_a_whole_store_has_no_finding(shop: Damaged):
    assert shop.findings() == {}
    assert shop.findings("--full") == {}


def test_a_deeper_check_compares_keywords_vectors_and_files_of_head(shop: Damaged):
    ways.sql("UPDATE fts_main_passage.dict SET df = df + 1 WHERE termid = 3")(shop.place)
    assert shop.findings() == {}
    assert "rows-contradictory" in shop.findings("--full")
    assert shop.cm("rebuild").code == 0
    assert shop.findings("--full") == {}
    blob = subprocess.run(
        ["git", "rev-parse", "HEAD:shop/money.py"], cwd=shop.root, check=True, capture_output=True, text=True
    ).stdout.strip()
    (shop.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert shop.findings() == {}
    found = shop.findings("--full")["git-objects-missing"]
    assert "git fsck" in found["mend"]
    assert blob[:12] in found["message"]


@pytest.mark.few(4)
@pytest.mark.parametrize("name", ways.OF_THE_STORE)
def test_damage_is_named_and_mended_by_a_rebuild(shop: Damaged, answers: dict[str, object], name: str):
    damage, finding = ways.OF_THE_STORE[name]
    damage(shop.place)
    found = shop.findings()
    assert finding in found, found
    assert found[finding]["state"] == "failed"
    assert REBUILD in found[finding]["mend"]
    if not finding.startswith("rows-"):
        # Whoever asks cannot know which rows should be there as well.
        questions = (*QUESTIONS, ("index",)) if name in THOROUGHLY else QUESTIONS[:2]
        met = [said_or_answered(shop, words, found[finding]["mend"], answers) for words in questions]
        assert any(met)
    assert shop.cm("rebuild").code == 0
    assert shop.findings() == {}
    if name in THOROUGHLY:
        assert shop.answers() == answers


def said_or_answered(shop: Damaged, words: tuple[str, ...], mend: str, answers: dict[str, object]) -> bool:
    """Whether the words met the damage, which they have to name; where it does not lie, they are answered as ever."""
    done = shop.cm(*words)
    if done.code:
        assert done.code == 1, (words, done.err)
        assert mend in done.err, (words, done.err)
        assert str(shop.place.file) in done.err
    elif words[0] in answers:
        assert _plain(done) == answers[words[0]], words
    return done.code != 0


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ways.BY_INDEXING)
def test_damage_is_named_and_mended_by_an_index_run(
    shop: Damaged, answers: dict[str, object], name: str, tmp_path: Path
):
    damage, finding = ways.BY_INDEXING[name]
    damage(shop.place)
    # The check opens the vectors, and so mends them; so does a question, which says what it found in place of a log.
    ways.keep(shop.place, tmp_path / "damaged")
    found = shop.findings()
    assert finding in found, found
    assert INDEX in found[finding]["mend"]
    if "log" in name:
        ways.restore(shop.place, tmp_path / "damaged")
        assert "log" in " ".join(shop.cm("status", "--json").json["notes"])
        done = shop.cm("definitions", "came_late", "--json")
        assert done.code == 0
        assert "log of its last changes is missing" in done.err
        assert done.json["total"] == 1
        assert "missing" not in shop.cm("definitions", "came_late").err
    ways.restore(shop.place, tmp_path / "damaged")
    assert shop.cm("index").code == 0
    assert shop.findings() == {}
    if "log" in name:
        assert shop.cm("definitions", "came_late").code == 0
    else:
        assert shop.answers() == answers


def test_a_broken_head_is_named_and_mended(shop: Damaged, answers: dict[str, object]):
    for text in ("", "\0garbage!", "ref: heads/main"):
        ways.garbage_in_head(text)(shop.place)
        found = shop.findings()
        assert found["git-head-damaged"]["state"] == "failed"
        mend = found["git-head-damaged"]["mend"]
        before = shop.place.file.read_bytes()
        for words in (*QUESTIONS, ("index",), ("rebuild",), ("reset", "--yes")):
            done = shop.cm(*words)
            assert done.code == 4, (words, done)
            assert mend in done.err
            assert str(shop.root / ".git" / "HEAD") in done.err
        assert shop.place.file.read_bytes() == before
        command = mend.split("`")[1]
        subprocess.run(["sh", "-c", command], check=True)
        subprocess.run(["git", "status"], cwd=shop.root, check=True, capture_output=True)
        assert shop.findings() == {}
    assert shop.answers() == answers


def test_a_rebuild_that_cannot_succeed_leaves_the_store_alone(shop: Damaged):
    before = shop.place.file.read_bytes()
    (shop.root / ".git" / "HEAD").write_text("1234567890" * 4 + "\n")
    done = shop.cm("rebuild")
    assert done.code == 1
    assert "git fsck" in done.err
    assert shop.place.file.read_bytes() == before
    (shop.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    settings = shop.root / ".cm" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("[search\n")
    assert shop.cm("rebuild").code == 2
    assert shop.place.file.read_bytes() == before


def test_a_rebuild_keeps_what_people_wrote(shop: Damaged):
    written = {
        shop.place.store / "marks.json": json.dumps({"looked": "1" * 40}),
        shop.home / "data" / "journal" / shop.place.store.name / "000001.jsonl": '{"kind": "note"}\n',
        shop.home / "data" / "trust.json": json.dumps({}),
        shop.home / "config" / "config.toml": "[history]\nenabled = true\n",
        shop.root / ".cm" / "config.toml": '[index]\nexclude = ["*.min.js"]\n',
    }
    for file, text in written.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    ways.zero_block(5)(shop.place)
    assert shop.cm("rebuild").code == 0
    assert {file: file.read_text() for file in written} == written


def test_a_rebuild_that_takes_long_asks_first(
    shop: Damaged, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(index_commands, "_LONG_SECONDS", 0.0)
    before = shop.place.file.stat().st_mtime_ns
    monkeypatch.setattr(index_commands, "_is_interactive", lambda: True)
    done = shop.cm("rebuild", stdin="n\n")
    assert done.code == 1
    assert "files are read again" in done.err
    assert "journal" in done.err
    assert shop.place.file.stat().st_mtime_ns == before
    assert shop.cm("rebuild", stdin="y\n").code == 0
    assert shop.place.file.stat().st_mtime_ns != before
    assert "files are read again" not in shop.cm("rebuild", "--yes").err
    monkeypatch.setattr(index_commands, "_is_interactive", lambda: False)
    done = shop.cm("rebuild")
    assert done.code == 0
    assert "files are read again" in done.err
