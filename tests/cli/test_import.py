"""`cm import`: folders that are nowhere, all projects of this machine, records that are not understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cm_tui.engine.platform.journal.journal import Journal
from tests.cli.conftest import Shop, git, make_repository
from tests.engine.importers.transcripts import Claude, Codex


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the agents of these tests keep their transcripts."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return tmp_path


def claude(home: Path, folder: Path, session: str = "11111111-aaaa-4aaa-8aaa-111111111111") -> Claude:
    return Claude(home / "CLAUDE_CONFIG_DIR", folder, session)


def repository(root: Path) -> Path:
    """A repository that is no copy of another one."""
    make_repository(root)
    git(root, "remote", "add", "origin", f"https://example.org/{root.name}.git")
    return root


def prompts(shop: Shop, root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("CM_HOME", str(shop.home))
    return [event.data["prompts"][0] for event in Journal.of(root).read() if event.kind == "episode"]


def test_a_folder_that_is_nowhere_is_said(new_shop: Shop, home: Path):
    nowhere = str(home / "typo")
    plan = new_shop.cm("import", "--from", nowhere, "--dry-run")
    assert plan.code == 0
    assert (
        f"no session of Claude Code, Codex, OpenCode, Gemini CLI, Cursor or Copilot CLI took place in {nowhere}, and that folder does not exist"
        in plan.err
    )
    refused = new_shop.cm("import", "--from", nowhere)
    assert refused.code == 3
    assert "that folder does not exist" in refused.err
    assert "--yes" in refused.err
    assert new_shop.cm("import", "--from", nowhere, "--dry-run", "--json").json["unheld"] == [nowhere]
    # A person may know better: sessions of it may turn up.
    assert new_shop.cm("import", "--from", nowhere, "--yes").code == 0


def test_a_folder_that_was_moved_away_needs_no_more_words(new_shop: Shop, home: Path, monkeypatch: pytest.MonkeyPatch):
    gone = home / "gone"
    one = claude(home, gone / "src")
    one.write(one.turn("Where are we?", "There."))
    done = new_shop.cm("import", "--from", str(gone))
    assert (done.code, "1 episode of 1 session recorded" in done.err) == (0, True)
    assert prompts(new_shop, new_shop.root, monkeypatch) == ["Where are we?"]


def test_a_prompt_without_an_answer_and_what_was_looked_at_are_said(new_shop: Shop, home: Path):
    one, other = claude(home, new_shop.root), claude(home, home / "other", "22222222-aaaa-4aaa-8aaa-111111111111")
    one.write([*one.turn("First", "One."), one.asked("Second")])
    other.write(other.turn("Elsewhere", "Yes."))
    (one.file.parent / "export.json").write_text("{}")
    (one.file.parent / "empty.jsonl").write_text("")
    counted = "4 transcripts looked at: 1 of this project, 1 from other projects or missing folders, 1 without a session, 1 could not be read"
    plan = new_shop.cm("import", "--dry-run")
    assert counted in plan.err
    assert "export.json could not be read: it is not a transcript in JSON Lines" in plan.err
    done = new_shop.cm("import")
    assert "2 episodes of 1 session recorded, 1 of them unanswered" in done.err
    assert counted in done.err
    assert "4 transcripts looked at" in new_shop.cm("import", "--all-projects", "--dry-run").err
    (row,) = new_shop.cm("episodes", "list", "--outcome", "unanswered", "--json").json["rows"]
    assert (row["prompts"], row["outcome"]) == (["Second"], "unanswered")
    one.write([one.said("Two.")])
    new_shop.cm("import")
    hidden = new_shop.cm("episodes", row["id"])
    assert "forgotten by the import at " in hidden.out
    assert "its prompts are part of episode " in hidden.out


def test_a_folder_that_is_still_there_keeps_its_sessions(new_shop: Shop, home: Path):
    other = repository(home / "other")
    one = claude(home, other)
    one.write(one.turn("Mine", "Yours."))
    done = new_shop.cm("import", "--from", str(other))
    assert f"{other} still exists, so its sessions are not imported here" in done.err
    assert "nothing new" in done.err


def test_sessions_of_all_projects_go_each_into_its_own(new_shop: Shop, home: Path, monkeypatch: pytest.MonkeyPatch):
    other, private, bare = repository(home / "other"), repository(home / "private"), home / "bare"
    bare.mkdir()
    for number, folder in enumerate((new_shop.root, other / "sub", bare, home / "gone", private)):
        one = claude(home, folder, f"{number}1111111-aaaa-4aaa-8aaa-111111111111")
        one.write(one.turn(f"In {folder.name}", "Done."))
    codex = Codex(home / "CODEX_HOME", other)
    codex.write([codex.meta(), *codex.turn("Also there", "Done.")])
    never = {"CM_MEMORY__NEVER_RECORD": json.dumps([str(private)])}
    plan = new_shop.cm("import", "--all-projects", "--dry-run", "--json", **never).json["plan"]
    assert [(row["root"], row["agents"], row["sessions"], row["new"]) for row in plan["projects"]] == [
        (str(other), ["claude-code", "codex"], 2, 2),
        (str(new_shop.root), ["claude-code"], 1, 1),
    ]
    assert (plan["gone"], plan["never"]) == (2, 1)
    refused = new_shop.cm("import", "--all-projects", **never)
    assert refused.code == 4
    assert "Pass --yes" in refused.err
    assert prompts(new_shop, other, monkeypatch) == []
    done = new_shop.cm("import", "--all-projects", "--yes", **never)
    assert done.code == 0
    assert f"{other}: 2 episodes of 2 sessions recorded" in done.err
    assert sorted(prompts(new_shop, other, monkeypatch)) == ["Also there", "In sub"]
    assert prompts(new_shop, new_shop.root, monkeypatch) == [f"In {new_shop.root.name}"]
    assert prompts(new_shop, private, monkeypatch) == []
    again = new_shop.cm("import", "--all-projects", "--yes", "--json", **never).json
    assert (again["imported"], [row["new"] for row in again["plan"]["projects"]]) == ([], [0, 0])


def test_one_project_that_refuses_leaves_the_others(new_shop: Shop, home: Path, monkeypatch: pytest.MonkeyPatch):
    other = repository(home / "other")
    (other / ".cm").mkdir()
    (other / ".cm" / "config.toml").write_text("[agents]\nrecord = false\n")
    for number, folder in enumerate((other, new_shop.root)):
        one = claude(home, folder, f"{number}1111111-aaaa-4aaa-8aaa-111111111111")
        one.write(one.turn("Hello", "Done."))
    done = new_shop.cm("import", "--all-projects", "--yes")
    assert done.code == 4
    assert "agents.record" in done.err
    assert prompts(new_shop, new_shop.root, monkeypatch) == ["Hello"]


def test_what_was_not_understood_is_shown(own_shop: Shop, home: Path):
    one = claude(home, own_shop.root)
    odd = {"type": "hologram", "sessionId": one.session, "cwd": str(own_shop.root), "beam": "\x1b[2Jlight " * 100}
    one.write([*one.turn("Hello", "Done."), odd])
    done = own_shop.cm("import")
    assert "cm import --unknown" in done.err
    shown = own_shop.cm("import", "--unknown")
    assert "record hologram" in shown.out
    assert "characters more" in shown.out
    assert "\x1b" not in shown.out
    (row,) = own_shop.cm("import", "--unknown", "--json").json["rows"]
    assert json.loads(row["raw"]) == odd
    assert row["id"] in shown.out
    # It is no episode, and no search finds it.
    hits = own_shop.cm("recall", "hologram beam light", "--json").json["hits"]
    assert not any(hit["id"] == row["id"] or "hologram" in json.dumps(hit) for hit in hits)
    assert own_shop.cm("forget", "--erase", row["id"], "--confirm", row["id"]).code == 0
    assert own_shop.cm("import", "--unknown", "--json").json["rows"] == []


def test_what_does_not_go_together_is_said(new_shop: Shop):
    for words in (
        ("--unknown", "--agent", "codex"),
        ("--unknown", "--all-projects"),
        ("--all-projects", "--from", "x"),
    ):
        refused = new_shop.cm("import", *words)
        assert (refused.code, "--unknown accepts only --project" in refused.err) == (2, True), words
