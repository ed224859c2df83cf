"""`cm pause`, `cm resume`, `cm backup`, `cm restore`, `cm projects`: words, JSON, streams and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui.engine.memory.recording import gate
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.journal.location import folder_of
from tests.cli.conftest import Shop

EPISODE = {"prompts": ["why?"], "agent": "codex", "session": "s-1"}


@pytest.fixture
def recorded(own_shop: Shop) -> Shop:
    Journal.of(own_shop.root).append("episode", EPISODE)
    return own_shop


def test_pause_and_resume(new_shop: Shop):
    done = new_shop.cm("pause", "2h", "--json")
    assert done.json == {
        "state": "paused", "root": str(new_shop.root), "since": done.json["since"], "until": done.json["until"],
        "everywhere": False, "sessions": [],
    }  # fmt: skip
    assert done.json["until"] - done.json["since"] == pytest.approx(7_200, abs=1)
    assert "nothing is recorded in this project until" in new_shop.cm("pause", "--show").out
    done = new_shop.cm("resume")
    assert (done.code, done.out) == (0, "What agents do is recorded.\n")
    assert new_shop.cm("resume", "--json").json["state"] == "on"


def test_a_pause_that_began_in_the_future_is_kept_and_reported(new_shop: Shop):
    began = 4_000_000_000.0
    gate.begin(folder_of(new_shop.root).name, began + 60, now=began)
    told = new_shop.cm("pause", "--show").out
    assert "until 2096-" in told
    assert "It began in the future" in told
    assert new_shop.cm("pause", "--show", "--json").json["state"] == "paused"
    assert "future" not in new_shop.cm("pause", "2h").out


def test_pause_everywhere_needs_no_project(new_shop: Shop, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    assert "in any project until `cm resume`" in new_shop.cm("pause", "--everywhere", cwd=outside).out
    assert "`cm resume --everywhere`" in new_shop.cm("resume").err
    assert new_shop.cm("resume", "--everywhere", "--json", cwd=outside).json["state"] == "on"


WRONG = (
    (("pause", "soon"), 2),
    (("pause", "9d", "--show"), 2),
    (("pause", "--session", "x", "--everywhere"), 2),
    (("resume", "--session", "x", "--everywhere"), 2),
    (("pause", "--session", "last"), 3),
    (("pause", "--project", "/no/such/folder"), 3),
    (("backup", "/no/such/folder/file"), 3),
    (("backup", "/"), 2),
    (("restore", "/no/such/file"), 3),
    (("restore", __file__), 4),
)


def test_words_that_make_no_sense(new_shop: Shop):
    for words, code in WRONG:
        done = new_shop.cm(*words)
        assert (done.code, done.out) == (code, ""), words
        assert done.err.startswith("cm: "), words


def test_a_session_is_never_recorded(recorded: Shop):
    assert recorded.cm("pause", "--session", "last", "--json").json["sessions"] == ["s-1"]
    assert "never recorded: s-1" in recorded.cm("pause", "--show").err
    assert "is recorded again" in recorded.cm("resume", "--session", "session/s-1").err


def test_a_session_that_is_not_known_has_to_be_meant(recorded: Shop):
    for word, said in (("pause", "Session not found: 'nosuch'"), ("resume", "No session 'nosuch' is excluded")):
        done = recorded.cm(word, "--session", "nosuch")
        assert (done.code, done.out, said in done.err) == (3, "", True)
    assert recorded.cm("pause", "--show", "--json").json["sessions"] == []
    assert recorded.cm("pause", "--session", "nosuch", "--unknown", "--json").json["sessions"] == ["nosuch"]
    assert "Session nosuch is recorded again" in recorded.cm("resume", "--session", "nosu").err
    assert recorded.cm("pause", "--unknown").code == 2


def test_a_name_of_a_session_cannot_reach_the_terminal(recorded: Shop):
    recorded.cm("pause", "--session", "\x1b[2Jx", "--unknown")
    done = recorded.cm("pause", "--show")
    assert "\x1b" not in done.out + done.err


def test_backup_and_restore(recorded: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "shop.backup"
    plan = recorded.cm("backup", str(file), "--dry-run", "--json").json
    assert [one["events"] for one in plan["projects"]] == [1]
    assert not file.exists()
    assert recorded.cm("backup", str(file)).code == 0
    done = recorded.cm("backup", str(file))
    assert done.code == 4
    assert "--yes" in done.err
    made = recorded.cm("backup", str(file), "--all", "--yes", "--json").json
    assert made["bytes"] == file.stat().st_size
    assert recorded.cm("restore", str(file)).code == 0, "nothing is new: nothing is asked"
    elsewhere = Shop(recorded.root, tmp_path / "elsewhere")
    monkeypatch.setenv("CM_HOME", str(elsewhere.home))
    assert elsewhere.cm("restore", str(file)).code == 4
    assert "1 of 1 event new  into this project" in elsewhere.cm("restore", str(file), "--dry-run").out
    assert not list(Journal.of(recorded.root).read())
    report = elsewhere.cm("restore", str(file), "--yes", "--json").json
    assert [(one["id"], one["new"], one["here"]) for one in report["projects"]] == [
        (made["projects"][0]["id"], 1, True)
    ]
    assert [event.data for event in Journal.of(recorded.root).read()] == [{**EPISODE, "restored": True}]


def test_status_says_of_a_pause_and_what_is_held_back(own_shop: Shop):
    assert own_shop.cm("status", "--json").json["recording"]["state"] == "on"
    assert "recording What agents do is recorded." in own_shop.cm("status").out
    until = own_shop.cm("pause", "2h", "--json").json["until"]
    (own_shop.root / "held.py").write_text("x = 1\n")
    found = own_shop.cm("status", "--json").json["recording"]
    assert (found["state"], found["until"], found["by"], found["everywhere"]) == ("paused", until, "person", False)
    assert found["held_back"] == ["held.py"]
    told = own_shop.cm("status").out
    assert "Recording is paused: nothing is recorded in this project until" in told
    assert "paused by a person since" in told
    assert "excluded from patches because they changed during a pause: held.py" in told
    own_shop.cm("resume")
    assert own_shop.cm("status", "--json").json["recording"]["held_back"] == ["held.py"]
    paused = own_shop.home / "data/recording/paused.json"
    next(own_shop.home.rglob("paused.json"), paused).write_text("damage")
    assert own_shop.cm("status", "--json").json["recording"]["state"] == "unknown"
    assert "recording nothing is recorded:" in own_shop.cm("status").out


def test_the_archive_is_listed_shown_backed_up_and_restored(
    recorded: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (row,) = recorded.cm("episodes", "list", "--json").json["rows"]
    assert recorded.cm("episodes", "list", "--archived", "--json").json["rows"] == []
    assert "1 episode would go" in recorded.cm("episodes", "retention", "--older-than", "0").err
    assert recorded.cm("episodes", "list", "--json").json["total"] == 1, "a report moves nothing"
    assert recorded.cm("episodes", "retention", "--apply", "--older-than", "0", "--yes").code == 0
    assert recorded.cm("episodes", "list", "--archived", "--state", "forgotten").code == 2
    file = tmp_path / "shop.backup"
    assert "1 episode of the archive" in recorded.cm("backup", str(file)).out
    elsewhere = Shop(recorded.root, tmp_path / "elsewhere")
    monkeypatch.setenv("CM_HOME", str(elsewhere.home))
    assert "1 of 1 episode of the archive new" in elsewhere.cm("restore", str(file), "--all", "--dry-run").out
    done = elsewhere.cm("restore", str(file), "--yes", "--json")
    assert (done.json["projects"][0]["new_archived"], done.err) == (1, "")
    assert elsewhere.cm("index").code == 0
    for shop in (recorded, elsewhere):
        assert row["id"][:12] in shop.cm("episodes", "list", "--archived").out
        assert shop.cm("episodes", "list", "--archived", "--json").json["rows"][0]["id"] == row["id"]
        assert "why?" in shop.cm("episodes", "show", row["id"]).out
        assert shop.cm("episodes", "show", row["id"], "--json").json["state"] == "archived"
        assert shop.cm("episodes", "purge", row["id"]).code == 4, "no terminal to ask in"
        assert "1 episode would be deleted" in shop.cm("episodes", "purge", row["id"], "--dry-run").err
        assert shop.cm("episodes", "purge", row["id"], "--yes").code == 0
        assert shop.cm("episodes", "list", "--archived", "--json").json["rows"] == []
        assert shop.cm("episodes", "show", row["id"]).code == 3


def test_a_project_without_an_index_goes_by_its_folder(new_shop: Shop):
    Journal.of(new_shop.root).append("episode", EPISODE)
    (row,) = new_shop.cm("projects", "--json").json["rows"]
    assert (row["indexed"], row["name"]) == (False, new_shop.root.name)


def test_projects(recorded: Shop, tmp_path: Path):
    (row,) = recorded.cm("projects", "--json").json["rows"]
    assert (row["roots"], row["gone"], row["indexed"], row["recorded"]) == ([str(recorded.root)], [], True, True)
    assert row["identity"].startswith("root-commit:")
    assert str(recorded.root) in recorded.cm("projects", "--match", "SHOP").out
    assert recorded.cm("projects", "--match", "nonsense", "--json").json == {"rows": [], "total": 0}
    moved = recorded.root.rename(tmp_path / "moved")
    (row,) = recorded.cm("projects", "--json", cwd=moved).json["rows"]
    assert (row["roots"], row["gone"]) == ([], [str(recorded.root)])
    assert "(missing; run `cm link`" in recorded.cm("projects", cwd=moved).out
