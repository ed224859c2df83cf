"""`cm rescue`: says what is deleted soon, copies after a yes, and lengthens the agent's own setting after a yes."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Shop
from tests.engine.importers.transcripts import Claude, Codex

DAY = 86_400


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the agents of these tests keep their transcripts."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return tmp_path


def sessions(shop: Shop, home: Path) -> Claude:
    """Two sessions of Claude Code, one of which is deleted in two days, and one of Codex."""
    old = Claude(home / "CLAUDE_CONFIG_DIR", shop.root)
    at = time.time() - 28 * DAY
    os.utime(old.write(old.turn("First", "One."), old=False), (at, at))
    young = Claude(home / "CLAUDE_CONFIG_DIR", home / "elsewhere", "99999999-aaaa-4aaa-8aaa-111111111111")
    young.write(young.turn("Else", "Where."), old=False)
    codex = Codex(home / "CODEX_HOME", shop.root)
    codex.write([codex.meta(), *codex.turn("Second", "Two.")])
    return old


def copies(shop: Shop) -> list[Path]:
    return sorted((shop.home / "state" / "rescue").rglob("*.jsonl.gz"))


def test_it_says_what_is_deleted_soon_and_copies_after_a_yes(new_shop: Shop, home: Path):
    old = sessions(new_shop, home)
    shown = new_shop.cm("rescue", "--dry-run")
    assert shown.code == 0
    assert (
        "Claude Code  2 sessions, deleted after 30 days without a change: 1 within 5 days; 2 files to copy" in shown.out
    )
    assert "Codex        1 session, not deleted by the agent; 1 file to copy" in shown.out
    assert "3 sessions, 1 is deleted within 5 days" in shown.err
    refused = new_shop.cm("rescue")
    assert (refused.code, "--yes" in refused.err) == (4, True)
    assert not (new_shop.home / "state" / "rescue").exists()
    done = new_shop.cm("rescue", "--yes")
    assert (done.code, "3 transcripts copied" in done.err) == (0, True)
    assert len(copies(new_shop)) == 3
    again = new_shop.cm("rescue", "--yes", "--json").json
    assert (again["rescued"]["copied"], again["rescued"]["kept"], again["plan"]["sources"][0]["unsaved"]) == (0, 3, 0)
    old.file.unlink()
    assert "2 episodes of 2 sessions recorded" in new_shop.cm("import").err


def test_a_dry_run_names_what_is_refused(new_shop: Shop, home: Path):
    sessions(new_shop, home)
    never = {"CM_MEMORY__NEVER_RECORD": json.dumps([str(new_shop.root)])}
    assert "not copied: 2 transcripts: this folder is never recorded" in new_shop.cm("rescue", "--dry-run", **never).err
    shown = new_shop.cm("rescue", "--dry-run", "--json", **never).json
    assert shown["withheld"] == {"this folder is never recorded": 2}
    assert new_shop.cm("rescue", "--yes", "--json", **never).json["rescued"]["withheld"] == shown["withheld"]


def test_of_one_project(new_shop: Shop, home: Path):
    sessions(new_shop, home)
    plan = new_shop.cm("rescue", "--project", str(new_shop.root), "--dry-run", "--json").json["plan"]
    assert [(one["agent"], one["sessions"]) for one in plan["sources"]] == [("claude-code", 1), ("codex", 1)]
    new_shop.cm("rescue", "--project", str(new_shop.root), "--yes")
    assert len(copies(new_shop)) == 2


def test_without_transcripts_nothing_is_asked(new_shop: Shop, home: Path):
    done = new_shop.cm("rescue")
    assert (done.code, "no transcript" in done.err) == (0, True)
    assert new_shop.cm("rescue", "--json").json["rescued"] is None


def test_doctor_names_what_is_deleted_soon(new_shop: Shop, home: Path):
    sessions(new_shop, home)
    checks = {one["name"]: one for one in new_shop.cm("doctor", "--json").json["checks"]}
    assert checks["transcripts"]["state"] == "warning"
    assert checks["transcripts"]["message"].startswith("1 session is deleted by the agent within 5 days")
    assert "cm rescue" in checks["transcripts"]["mend"]
    new_shop.cm("rescue", "--yes")
    checks = {one["name"]: one for one in new_shop.cm("doctor", "--json").json["checks"]}
    assert checks["transcripts"]["state"] == "ok"


SETTINGS = '{\n\t"model": "opus", // mine\n\t"hooks": {}\n}\n'


def test_keeping_longer_shows_a_diff_and_writes_after_a_yes(new_shop: Shop, home: Path):
    folder = home / "CLAUDE_CONFIG_DIR"
    file = folder / "settings.json"
    assert new_shop.cm("rescue", "--keep-longer").code == 3
    folder.mkdir()
    file.write_text(SETTINGS)
    shown = new_shop.cm("rescue", "--keep-longer", "--dry-run")
    assert '+\t"cleanupPeriodDays": 3650' in shown.out
    assert "would change" in shown.err
    assert new_shop.cm("rescue", "--keep-longer").code == 4
    assert file.read_text() == SETTINGS
    assert new_shop.cm("rescue", "--keep-longer", "--yes", "--days", "400").code == 0
    assert file.read_text() == SETTINGS.replace("{}\n", '{},\n\t"cleanupPeriodDays": 400\n')
    again = new_shop.cm("rescue", "--keep-longer", "--days", "90", "--json").json
    assert [one["done"] for one in again["files"]] == ["unchanged"]


@pytest.mark.parametrize(("text", "said"), [("{ no json", "expected"), ('{"cleanupPeriodDays": 0}', "is 0")])
def test_a_file_that_must_not_be_changed_is_refused(new_shop: Shop, home: Path, text: str, said: str):
    file = home / "CLAUDE_CONFIG_DIR" / "settings.json"
    file.parent.mkdir()
    file.write_text(text)
    refused = new_shop.cm("rescue", "--keep-longer", "--yes")
    assert (refused.code, said in refused.err) == (4, True)
    assert file.read_text() == text


def test_options_that_do_not_go_together(new_shop: Shop, home: Path):
    assert new_shop.cm("rescue", "--days", "90").code == 2
    assert new_shop.cm("rescue", "--keep-longer", "--project", str(new_shop.root)).code == 2
