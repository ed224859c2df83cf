"""What an episode leaves out: agents' settings, the content of files with credentials."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui.engine.memory.projection.recorder import is_agent_settings, record_turn, without_credentials
from cm_tui.engine.memory.projection.turns import Turn
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.integrations.agents import AGENTS
from cm_tui.integrations.agents.agent_files import InstallTarget
from tests.gitrepo import Repo


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_every_file_that_wiring_an_agent_writes_is_known(name: str, tmp_path: Path):
    target = InstallTarget("project", tmp_path, tmp_path / "home", ("cm",))
    for part in AGENTS[name].parts(target):
        assert is_agent_settings(part.path.relative_to(tmp_path).as_posix())


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        (".claude/settings.local.json", True),
        ("packages/web/.mcp.json", True),
        ("opencode.jsonc", True),
        (".cursor/mcp.json", True),
        (".codex/config.toml", True),
        (".claude/commands/review.md", False),
        (".cursor/rules/style.mdc", False),
        ("src/settings.json", False),
        ("docs/opencode.json.md", False),
        ("config.toml", False),
    ],
)
def test_settings_by_their_path(path: str, settings: bool):
    assert is_agent_settings(path) is settings


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "shop")
    for name in ("a.py", ".env", "config/app.pem", "notes.txt"):
        repo.write(name, f"# {name}\n" + "x = 1\n" * 20)
    repo.commit()
    return repo


def test_an_episode_names_no_settings_and_shows_no_credentials(repo: Repo):
    repo.write("a.py", "x = 2\n")
    repo.write(".env", "ANYTHING=at all\n")
    repo.write("config/app.pem", "words of a certificate\n")
    repo.write(".claude/settings.json", "{}\n")
    repo.write(".mcp.json", "{}\n")
    repo.git("add", "--intent-to-add", ".mcp.json")
    stop = Event("1", 1_000.0, "hook.stop", repo.git("rev-parse", "HEAD"), {}, Position(1, 0))
    turn = Turn(Position(1, 0), prompts=["Set it up"], files=[".claude/settings.local.json", "a.py"])
    record = record_turn(repo.root, turn, stop, now=1_000.0)
    assert record is not None
    assert record.files == ("a.py", ".env", "config/app.pem")
    assert "+x = 2" in record.patch
    assert "ANYTHING" not in record.patch
    assert "words of a certificate" not in record.patch
    assert "diff --git a/.env b/.env\n[omitted: .env is a file for credentials]\n" in record.patch
    assert "[omitted: config/app.pem is a file for credentials]" in record.patch


def test_a_file_with_credentials_under_another_name_is_still_one(repo: Repo):
    repo.git("mv", ".env", "env.txt")
    repo.write("env.txt", "# .env\n" + "x = 1\n" * 20 + "ANYTHING=at all\n")
    repo.git("mv", "notes.txt", "id_rsa")
    repo.write("id_rsa", "# notes.txt\n" + "x = 1\n" * 20 + "some words\n")
    repo.git("add", ".")
    patch = repo.git("diff", "HEAD", "--no-color", "-M", "--", ".")
    clean = without_credentials(patch + "\n")
    assert "ANYTHING" not in clean
    assert "some words" not in clean
    assert clean.count("[omitted: ") >= 2


def test_names_that_git_quotes(repo: Repo):
    repo.write('strange "name"/.env', "ANYTHING=at all\n")
    repo.write("a b/.env.local", "OTHER=at all\n")
    repo.git("add", ".")
    clean = without_credentials(repo.git("diff", "HEAD") + "\n")
    assert "at all" not in clean


def test_a_patch_without_credentials_is_as_it_was(repo: Repo):
    repo.write("a.py", "x = 2\n# diff --git a/.env b/.env\n")
    patch = repo.git("diff") + "\n"
    assert without_credentials(patch) == patch
    assert without_credentials("") == ""
    assert without_credentials("no patch at all\n") == "no patch at all\n"
