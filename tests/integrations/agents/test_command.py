"""`cm agent` as a person runs it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from cm_tui.integrations.agents import AGENTS
from tests.cli.conftest import Shop, make_repository


@pytest.fixture
def user(tmp_path: Path) -> Shop:
    root = tmp_path / "repo"
    root.mkdir()
    make_repository(root)
    return Shop(root, tmp_path / "cm")


def cm(user: Shop, *words: str):
    home = user.root.parent
    moved = {"CODEX_HOME": "", "CLAUDE_CONFIG_DIR": "", "XDG_CONFIG_HOME": ""}
    return user.cm(*words, HOME=str(home), USERPROFILE=str(home), **moved)


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("name", list(AGENTS))
def test_install_status_uninstall(user: Shop, name: str, scope: str):
    shown = cm(user, "agent", "install", name, "--scope", scope, "--dry-run")
    assert shown.code == 0, shown.err
    assert "+++ " in shown.out
    assert "/dev/null" in shown.out
    assert {row["state"] for row in cm(user, "agent", "status", name, "--json").json["rows"]} == {"absent"}

    done = cm(user, "agent", "install", name, "--scope", scope, "--json")
    assert done.code == 0, done.err
    assert [file["done"] for file in done.json["files"]] == ["created", "created"]
    assert done.json["notes"]
    base = user.root if scope == "project" else user.root.parent
    assert all(Path(file["path"]).is_relative_to(base) for file in done.json["files"])
    states = {
        (row["scope"], row["state"])
        for row in cm(user, "agent", "status", "--json").json["rows"]
        if row["agent"] == name
    }
    assert states == {(scope, "installed"), ({"project": "user", "user": "project"}[scope], "absent")}

    gone = cm(user, "agent", "uninstall", name, "--scope", scope)
    assert gone.code == 0, gone.err
    assert gone.err.count("removed") == 2
    status = subprocess.run(["git", "status", "--porcelain"], cwd=user.root, check=True, capture_output=True, text=True)
    assert status.stdout == ""


def test_parts_can_be_left_out(user: Shop):
    done = cm(user, "agent", "install", "cursor", "--no-hooks", "--json").json
    assert [file["what"] for file in done["files"]] == ["mcp"]
    done = cm(user, "agent", "install", "cursor", "--no-mcp", "--json").json
    assert [file["what"] for file in done["files"]] == ["hooks"]
    assert cm(user, "agent", "install", "cursor", "--no-mcp", "--no-hooks").code == 2


def test_what_is_only_shown_says_so(user: Shop):
    shown = cm(user, "agent", "install", "cursor", "--dry-run")
    assert shown.err.count("would create") == 2
    assert "created" not in shown.err
    assert "Open a new chat" not in shown.err
    assert cm(user, "agent", "install", "cursor", "--dry-run", "--json").json["notes"] == []
    assert "Open a new chat" in cm(user, "agent", "install", "cursor").err
    assert cm(user, "agent", "uninstall", "cursor", "--dry-run").err.count("would remove") == 2
    assert cm(user, "agent", "install", "cursor", "--dry-run").err.count("unchanged") == 2


def test_the_tools_can_be_chosen(user: Shop):
    assert cm(user, "agent", "install", "claude-code", "--tools", "graph, memory_get").code == 0
    entry = json.loads((user.root / ".mcp.json").read_text())["mcpServers"]["cm-tui"]
    assert entry["args"][-3:] == ["mcp", "--tools", "graph,memory_get"]
    assert cm(user, "agent", "install", "claude-code", "--json").json["files"][0]["done"] == "unchanged"
    for words in (("--tools", "nonsense"), ("--tools", ","), ("--tools", "all", "--no-mcp")):
        assert cm(user, "agent", "install", "claude-code", *words).code == 2


def test_what_a_repository_added_to_our_entry_is_dropped_and_said(user: Shop):
    file = user.root / ".mcp.json"
    words = ["mcp", "--root", "/", "--tools", "graph,nonsense"]
    entry = {"command": "cm", "args": words, "env": {"PYTHONPATH": "./evil"}}
    file.write_text(json.dumps({"mcpServers": {"cm-tui": entry}}))
    assert "widened: --root /, --tools graph,nonsense, env PYTHONPATH" in cm(user, "agent", "status", "claude-code").out
    said = "dropped from .mcp.json: --root /, --tools graph,nonsense, env PYTHONPATH: add them to your own settings"
    assert f"would be {said}" in cm(user, "agent", "install", "claude-code", "--dry-run").err
    assert "./evil" in file.read_text()
    done = cm(user, "agent", "install", "claude-code", "--no-hooks")
    assert said in done.err
    assert json.loads(file.read_text())["mcpServers"]["cm-tui"]["args"][-1] == "mcp"
    assert "evil" not in file.read_text()
    assert "dropped" not in cm(user, "agent", "install", "claude-code", "--no-hooks").err


@pytest.fixture
def plain(tmp_path: Path) -> Shop:
    """A folder without git."""
    root = tmp_path / "plain"
    (root / "sub").mkdir(parents=True)
    (root / "a.py").write_text("def add_tax():\n    pass\n")
    return Shop(root, tmp_path / "cm")


def test_a_project_without_git_is_marked_for_the_hooks(plain: Shop):
    before = sorted(plain.root.rglob("*"))
    shown = cm(plain, "agent", "install", "cursor", "--dry-run")
    assert "would create" in shown.err
    assert str(plain.root / ".cm") in shown.err
    assert sorted(plain.root.rglob("*")) == before
    done = cm(plain, "agent", "install", "cursor")
    assert "This folder has no git" in done.err
    assert cm(plain, "agent", "install", "codex", "--json").json["files"][-1]["what"] == "hooks"
    said = json.dumps({"conversation_id": "s", "cwd": str(plain.root / "sub"), "prompt": "How is tax added?"})
    for event in ("prompt", "stop"):
        assert plain.cm("hook", event, "--agent", "cursor", stdin=said).err == ""
    edit = json.dumps({"conversation_id": "s", "cwd": str(plain.root), "file_path": "sub/b.py"})
    assert plain.cm("hook", "edit", "--agent", "cursor", stdin=edit).err == ""
    (journal,) = (plain.home / "data" / "journal").glob("*/000001.jsonl")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [line["kind"] for line in lines] == ["hook.prompt", "hook.stop", "hook.edit"]
    assert {line["data"]["root"] for line in lines} == {str(plain.root.resolve())}
    assert (plain.root / ".cm").is_dir()
    cm(plain, "agent", "uninstall", "cursor")
    assert (plain.root / ".cm").is_dir(), "another agent is wired still"
    cm(plain, "agent", "uninstall", "codex")
    assert sorted(plain.root.rglob("*")) == before


def test_a_marker_that_a_person_made_or_uses_stays(plain: Shop):
    (plain.root / ".cm").mkdir()
    cm(plain, "agent", "install", "cursor")
    cm(plain, "agent", "uninstall", "cursor")
    assert (plain.root / ".cm").is_dir()
    (plain.root / ".cm").rmdir()
    cm(plain, "agent", "install", "cursor")
    (plain.root / ".cm" / "config.toml").write_text("")
    cm(plain, "agent", "uninstall", "cursor")
    assert (plain.root / ".cm" / "config.toml").exists()


def test_from_a_folder_inside_the_project(user: Shop):
    (user.root / "shop").mkdir(exist_ok=True)
    home = str(user.root.parent)
    done = user.cm("agent", "install", "cursor", "--json", cwd=user.root / "shop", HOME=home, USERPROFILE=home)
    assert {Path(file["path"]).parent for file in done.json["files"]} == {user.root / ".cursor"}


def test_words_that_make_no_sense(user: Shop):
    unknown = cm(user, "agent", "install", "emacs")
    assert unknown.code == 2
    assert "claude-code" in unknown.err
    assert cm(user, "agent", "install", "codex", "--scope", "galaxy").code == 2
    assert cm(user, "agent", "install", "codex", "--project", str(user.root / "nowhere")).code == 3
    home = user.root.parent
    assert user.cm("agent", "install", "codex", cwd=home, HOME=str(home), USERPROFILE=str(home)).code == 4


def test_a_file_that_cannot_be_read_is_named(user: Shop):
    (user.root / ".mcp.json").write_text('{\n  "mcpServers": {\n')
    refused = cm(user, "agent", "install", "claude-code")
    assert refused.code == 4
    assert ".mcp.json: line 3, column 1" in refused.err
    assert not (user.root / ".claude").exists()
    assert "unreadable" in cm(user, "agent", "status", "claude-code").out


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_opencode_plugin_runs_hooks_and_adds_what_they_answer(user: Shop):
    assert cm(user, "agent", "install", "opencode").code == 0
    plugin = user.root / ".opencode" / "plugins" / "cm-tui.js"
    spy = user.root.parent / "spy.mjs"
    log = user.root.parent / "log.jsonl"
    spy.write_text(
        """import fs from "node:fs"
const data = fs.readFileSync(0, "utf8")
const event = process.argv[process.argv.indexOf("hook") + 1]
fs.appendFileSync(process.env.SPY_LOG, JSON.stringify({ event, args: process.argv.slice(2), data: JSON.parse(data) }) + "\\n")
if (event === "prompt") process.stdout.write(JSON.stringify({ context: "from memory" }))
if (event === "edit") { process.stdout.write("{nonsense"); process.exitCode = 3 }
"""
    )
    text = plugin.read_text()
    start = text.index("const CM = ") + len("const CM = ")
    text = text[:start] + json.dumps(["node", str(spy)]) + text[text.index("\n", start) :]
    (user.root.parent / "plugin.mjs").write_text(text)
    drive = user.root.parent / "drive.mjs"
    drive.write_text(
        """import { CmTui } from "./plugin.mjs"
const hooks = await CmTui({ directory: process.cwd(), worktree: "/" })
const system = ["base"]
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s1" } } } })
await hooks.event({ event: { type: "session.created", properties: { info: { id: "sub", parentID: "s1" } } } })
await hooks["chat.message"]({ sessionID: "sub" }, { parts: [{ type: "text", text: "by the agent" }] })
await hooks["chat.message"]({ sessionID: "s1" }, { parts: [{ type: "text", text: "How is tax added?" }, { type: "text", synthetic: true, text: "no" }] })
await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, { system })
await hooks["experimental.chat.system.transform"]({ sessionID: "other" }, { system })
await hooks["tool.execute.after"]({ tool: "read", sessionID: "s1", args: {} }, {})
await hooks["tool.execute.after"]({ tool: "edit", sessionID: "s1", args: { filePath: "a.py" } }, {})
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } })
console.log(JSON.stringify(system))
"""
    )
    ran = subprocess.run(
        ["node", str(drive)],
        cwd=user.root,
        capture_output=True,
        text=True,
        check=False,
        env={**__import__("os").environ, "SPY_LOG": str(log)},
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == ["base", "from memory"]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["session-start", "prompt", "edit", "stop"]
    assert lines[1]["data"] == {"session_id": "s1", "cwd": str(user.root), "prompt": "How is tax added?"}
    assert lines[2]["data"]["tool_input"] == {"filePath": "a.py"}
    assert lines[1]["args"] == ["hook", "prompt", "--agent", "opencode"]
