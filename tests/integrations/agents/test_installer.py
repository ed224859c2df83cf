"""Installing and uninstalling: everyone's settings survive, byte for byte."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.errors import CmError, RefusedError
from cm_tui.integrations.agents import AGENTS, installer, named
from cm_tui.integrations.agents.agent_files import InstallTarget
from tests.integrations.agents.test_json_edit import INDENTS, OBJECTS, VALUES
from tests.tiers import examples

THEIRS = {
    ".mcp.json": '{"mcpServers": {"theirs": {"command": "x"}}}',
    ".claude.json": '{\n\t"numStartups": 7,\n\t"mcpServers": {}\n}',
    "settings.json": """{
  "permissions": {"allow": ["Bash(ls:*)"]},
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}
    ]
  }
}
""",
    "opencode.json": '// mine\n{\n  "model": "x", // the best\n}\n',
    "mcp.json": '{\r\n    "mcpServers": {\r\n        "theirs": {"url": "http://localhost"}\r\n    }\r\n}\r\n',
    "hooks.json": '{"version": 1, "hooks": {"stop": [{"command": "./mine.sh"}], "Stop": [{"hooks": []}]}}\n',
    "config.toml": '# my settings\nmodel = "o5"   # fast\n\n[mcp_servers.theirs]\ncommand = "x"',
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    (folder / "project").mkdir(parents=True)
    return folder


def place(home: Path, scope: str, *command: str) -> InstallTarget:
    return InstallTarget(scope, home / "project", home, command or ("cm",))  # type: ignore[arg-type]


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        # Shared by everybody's programs: it may stay.
        if path.name != ".config"
    }


def install(agent, where, **options):
    changes = installer.plan(agent, where, install=True, **options)
    installer.apply(agent, where, changes, install=True)
    return changes


def uninstall(agent, where, **options):
    changes = installer.plan(agent, where, install=False, **options)
    installer.apply(agent, where, changes, install=False)
    return changes


BOTH = pytest.mark.parametrize("scope", ["project", "user"])
ALL = pytest.mark.parametrize("name", list(AGENTS))


@BOTH
@ALL
def test_into_nothing_and_back_to_nothing(home: Path, name: str, scope: str):
    where, agent = place(home, scope), named(name)
    before = snapshot(home)
    assert {one.done for one in install(agent, where)} == {"created"}
    assert {one.state for one in installer.status(agent, where)} == {"installed"}
    once = snapshot(home)
    assert {one.done for one in install(agent, where)} == {"unchanged"}
    assert snapshot(home) == once
    assert {one.done for one in uninstall(agent, where)} == {"removed"}
    assert snapshot(home) == before
    assert {one.done for one in uninstall(agent, where)} == {"unchanged"}


@BOTH
@ALL
def test_what_others_wrote_is_untouched(home: Path, name: str, scope: str):
    where, agent = place(home, scope), named(name)
    for part in agent.parts(where):
        if part.path.name in THEIRS:
            part.path.parent.mkdir(parents=True, exist_ok=True)
            part.path.write_bytes(THEIRS[part.path.name].encode())
    before = snapshot(home)
    install(agent, where)
    for part in agent.parts(where):
        if part.path.name in THEIRS:
            lines = {line.strip().rstrip(",") for line in part.path.read_text().splitlines()}
            kept = {line.strip().rstrip(",") for line in THEIRS[part.path.name].splitlines()}
            if len(kept) > 1:
                assert kept - {"}", '"mcpServers": {}'} <= lines
    assert {one.state for one in installer.status(agent, where)} == {"installed"}
    assert {one.done for one in install(agent, where)} == {"unchanged"}
    uninstall(agent, where)
    assert {key: value for key, value in snapshot(home).items() if value is not None} == {
        key: value for key, value in before.items() if value is not None
    }


NOTHINGS = (b"", b" ", b"\n", b"\r\n\r\n", b" \t\n ", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n")
EMPTY_OBJECTS = (b"{}", b"{}\n", b"{ }", b"{\n}\r\n", b"{ /* mine */ }\n", b"// mine\n{}\n", b"{}\n// mine")
REMARKS = (b"# mine", b"# mine\n", b"\n\n# mine\r\n", b"[mcp_servers]\n", b"[mcp_servers]")


def contents_of(part) -> tuple[bytes, ...]:
    """Files that say nothing, as somebody may have them."""
    by_suffix = {".json": EMPTY_OBJECTS, ".toml": REMARKS}
    return (*NOTHINGS, *by_suffix.get(part.path.suffix, ()))


@pytest.mark.few(3)
@BOTH
@ALL
def test_files_that_say_nothing_are_left_as_they_were(home: Path, name: str, scope: str):
    where, agent = place(home, scope), named(name)
    again = place(home, scope, "/elsewhere/cm")
    for part in agent.parts(where):
        for content in contents_of(part):
            part.path.parent.mkdir(parents=True, exist_ok=True)
            part.path.write_bytes(content)
            before = snapshot(home)
            assert {one.done for one in uninstall(agent, where, only=[part.what])} <= {"unchanged"}, content
            assert snapshot(home) == before
            assert installer.status(agent, where)[0].state != "unreadable"
            # Twice, with another command, as after an update of cm that moved.
            for one in (where, again):
                install(agent, one, only=[part.what])
            assert part.path.read_bytes() != content
            uninstall(agent, where, only=[part.what])
            assert snapshot(home) == before, content
            part.path.unlink()


@BOTH
@ALL
def test_an_empty_file_that_an_agent_wrote_again_is_still_there(home: Path, name: str, scope: str):
    """An agent may write its settings in its own way while ours are in them: the file is not ours to remove."""
    where, agent = place(home, scope), named(name)
    for part in agent.parts(where):
        if part.path.suffix not in {".json", ".toml"}:
            continue
        part.path.parent.mkdir(parents=True, exist_ok=True)
        part.path.write_bytes(b"")
        install(agent, where, only=[part.what])
        text = part.path.read_text()
        part.path.write_text(f"{text}\n" if part.path.suffix == ".toml" else json.dumps(json.loads(text)))
        uninstall(agent, where, only=[part.what])
        assert part.path.read_bytes() == b""


JSON_PARTS = [
    (name, index)
    for name in AGENTS
    for index, part in enumerate(named(name).parts(InstallTarget("user", Path("/p"), Path("/h"), ("cm",))))
    if part.path.suffix == ".json"
]


@pytest.mark.parametrize(("name", "index"), JSON_PARTS)
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    theirs=OBJECTS,
    hooks=st.none() | st.dictionaries(st.sampled_from(["Stop", "stop", "Other"]), st.lists(VALUES, max_size=2)),
    servers=st.none() | st.dictionaries(st.sampled_from(["a", "b"]), VALUES),
    indent=INDENTS,
)
def test_any_json_comes_back(home: Path, name: str, index: int, theirs, hooks, servers, indent):
    where, agent = place(home, "user"), named(name)
    part = agent.parts(where)[index]
    value = dict(theirs)
    value |= {} if hooks is None else {"hooks": hooks}
    value |= {} if servers is None else {"mcpServers": servers, "mcp": servers}
    text = json.dumps(value, indent=indent)
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_bytes(text.encode())
    install(agent, where, only=[part.what])
    found = json.loads(part.path.read_text())
    assert all(found[key] == item for key, item in theirs.items() if key not in {"hooks", "mcpServers", "mcp"})
    assert {one.done for one in install(agent, where, only=[part.what])} == {"unchanged"}
    uninstall(agent, where, only=[part.what])
    assert part.path.read_bytes() == text.encode()


@ALL
def test_a_changed_file_loses_only_our_part(home: Path, name: str):
    where, agent = place(home, "user"), named(name)
    part = next(part for part in agent.parts(where) if part.path.suffix == ".json")
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_text("{}")
    install(agent, where)
    later = json.loads(part.path.read_text()) | {"mine": 1}
    part.path.write_text(json.dumps(later))
    uninstall(agent, where)
    found = json.loads(part.path.read_text())
    assert found.pop("mine") == 1
    assert found in ({}, {"version": 1}, {"$schema": "https://opencode.ai/config.json"})


@BOTH
@ALL
def test_another_cm_replaces_the_old_one(home: Path, name: str, scope: str):
    agent = named(name)
    before = snapshot(home)
    install(agent, place(home, scope, "/old place/cm"))
    new = place(home, scope, "/new/cm")
    assert {one.state for one in installer.status(agent, new)} == {"outdated"}
    assert {one.done for one in install(agent, new)} == {"changed"}
    text = "".join(part.path.read_text() for part in agent.parts(new))
    assert "/new/cm" in text
    assert "old place" not in text
    uninstall(agent, new)
    assert snapshot(home) == before


def test_what_a_person_added_to_our_entries_stays(home: Path):
    where, agent = place(home, "user"), named("claude-code")
    install(agent, where)
    servers, hooks = agent.parts(where)
    value = json.loads(servers.path.read_text())
    value["mcpServers"]["cm-tui"]["env"] = {"CM_HOME": "/x"}
    servers.path.write_text(json.dumps(value))
    value = json.loads(hooks.path.read_text())
    value["hooks"]["PostToolUse"][0]["matcher"] = "Write"
    value["hooks"]["PostToolUse"][0]["hooks"].append({"type": "command", "command": "prettier"})
    hooks.path.write_text(json.dumps(value))
    assert {one.done for one in install(agent, where)} == {"unchanged"}
    uninstall(agent, where)
    assert json.loads(hooks.path.read_text()) == {
        "hooks": {"PostToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "prettier"}]}]}
    }


ADDED = ["--tools", "all", "--project", "/x y"]


def add_to_args(text: str, name: str) -> str:
    """As a person would, in the agent's own format."""
    words = ", ".join(json.dumps(word) for word in ADDED)
    return (
        text.replace('"mcp"]', f'"mcp", {words}]')
        if name == "codex"
        else re.sub(r'"mcp"(\s*\])', rf'"mcp", {words}\1', text)
    )


@ALL
def test_options_that_a_person_gave_the_server_stay(home: Path, name: str):
    scope = "user"
    where, agent = place(home, scope), named(name)
    install(agent, where)
    file = agent.parts(where)[0].path
    text = add_to_args(file.read_text(), name)
    assert "--project" in text
    file.write_text(text)
    assert {one.state for one in installer.status(agent, where)} == {"installed"}
    assert {one.done for one in install(agent, where)} == {"unchanged"}
    # Another cm, and other tools: what the person added besides stays.
    moved = place(home, scope, "/new place/cm")
    install(agent, moved)
    assert server(file, name) == ["/new place/cm", "mcp", *ADDED]
    install(agent, replace(moved, tools="graph,temporal"))
    assert server(file, name) == ["/new place/cm", "mcp", "--project", "/x y", "--tools", "graph,temporal"]
    assert {one.state for one in installer.status(agent, moved)} == {"installed"}
    uninstall(agent, moved)
    assert not file.exists()


def server(file: Path, name: str) -> list[str]:
    """The command line of our server in an agent's file."""
    value = tomllib.loads(file.read_text()) if name == "codex" else json.loads(file.read_text())
    key = {"codex": "mcp_servers", "opencode": "mcp"}.get(name, "mcpServers")
    entry = value[key]["cm-tui"]
    return entry["command"] if name == "opencode" else [entry["command"], *entry["args"]]


def test_settings_of_a_person_in_our_toml_table_stay(home: Path):
    where, agent = place(home, "user"), named("codex")
    install(agent, where)
    config = home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace("# <<<", 'startup_timeout_sec = 30 # slow\nenv = { A = "1" }\n# <<<'))
    assert {one.done for one in install(agent, where)} == {"unchanged"}
    assert {one.done for one in install(agent, place(home, "user", "/new/cm"))} == {"changed"}
    assert "startup_timeout_sec = 30 # slow" in config.read_text()
    entry = tomllib.loads(config.read_text())["mcp_servers"]["cm-tui"]
    assert entry == {"command": "/new/cm", "args": ["mcp"], "startup_timeout_sec": 30, "env": {"A": "1"}}
    config.write_text(config.read_text().replace('["mcp"]', '[\n"mcp",\n]'))
    before = config.read_text()
    with pytest.raises(RefusedError, match="line by line"):
        install(agent, replace(where, tools="all"))
    assert config.read_text() == before
    uninstall(agent, where)
    assert not config.exists()


def test_a_server_that_was_switched_off_stays_off(home: Path):
    where, agent = place(home, "project"), named("opencode")
    install(agent, where)
    config = agent.parts(where)[0].path
    config.write_text(config.read_text().replace('"enabled": true', '"enabled": false'))
    assert {one.done for one in install(agent, where)} == {"unchanged"}


@BOTH
@ALL
def test_a_read_only_file_is_refused_before_anything_is_written(home: Path, name: str, scope: str):
    where, agent = place(home, scope), named(name)
    last = agent.parts(where)[1].path
    for part in agent.parts(where):
        part.path.parent.mkdir(parents=True, exist_ok=True)
    install(agent, where)
    last.chmod(0o444)
    before = snapshot(home)
    with pytest.raises(RefusedError, match="read-only") as refused:
        install(agent, place(home, scope, "/new/cm"))
    assert str(last) in refused.value.message
    with pytest.raises(RefusedError, match="read-only"):
        uninstall(agent, where)
    assert snapshot(home) == before
    assert {one.done for one in install(agent, where)} == {"unchanged"}
    last.chmod(0o644)
    uninstall(agent, where)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("claude-code", b'{\n  "a": 1\n  "b": 2}', "line 3, column 3"),
        ("opencode", b"nope", "line 1, column 1"),
        ("cursor", b'{"mcpServers": [1]}', "mcpServers is not an object"),
        ("cursor", b'{\n"a": "\xff"}', "line 2, column 7"),
        ("codex", b'a = 1\nb = "', "line 2"),
        ("codex", b'[mcp_servers.cm-tui]\ncommand = "mine"\n', "outside the lines written by cm"),
        ("codex", b"mcp_servers = {}\n", "not TOML"),
    ],
)
def test_what_cannot_be_understood_is_refused_and_left(home: Path, name: str, content: bytes, said: str):
    where, agent = place(home, "user"), named(name)
    part = agent.parts(where)[0]
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_bytes(content)
    before = snapshot(home)
    with pytest.raises(RefusedError, match=said) as failed:
        install(agent, where)
    assert str(part.path) in failed.value.message
    assert snapshot(home) == before
    assert "unreadable" in {one.state for one in installer.status(agent, where)}


def test_a_foreign_plugin_file_is_refused_and_never_removed(home: Path):
    where, agent = place(home, "user"), named("opencode")
    plugin = agent.parts(where)[1].path
    plugin.parent.mkdir(parents=True)
    plugin.write_text("export const Mine = 1\n")
    with pytest.raises(RefusedError, match="not written by cm"):
        install(agent, where)
    assert not agent.parts(where)[0].path.exists()
    uninstall(agent, where)
    assert plugin.read_text() == "export const Mine = 1\n"


def test_opencode_configuration_with_comments_is_used_where_it_is(home: Path):
    where, agent = place(home, "project"), named("opencode")
    config = where.root / "opencode.jsonc"
    config.write_text('{\n  // mine\n  "model": "x"\n}\n')
    before = snapshot(home)
    install(agent, where)
    assert '"cm-tui"' in config.read_text()
    assert not (where.root / "opencode.json").exists()
    uninstall(agent, where)
    assert snapshot(home) == before


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_out_of_the_project_is_refused(home: Path):
    where, agent = place(home, "project"), named("claude-code")
    outside = home / "outside.json"
    outside.write_text("{}\n")
    (where.root / ".mcp.json").symlink_to(outside)
    with pytest.raises(RefusedError, match="points outside the project"):
        install(agent, where)
    assert outside.read_text() == "{}\n"
    assert not (where.root / ".claude").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_linked_file_is_followed_not_replaced(home: Path):
    where, agent = place(home, "user"), named("codex")
    dotfiles = home / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "config.toml").write_text("model = 'x'\n")
    (dotfiles / "config.toml").chmod(0o640)
    (home / ".codex").mkdir()
    link = home / ".codex" / "config.toml"
    link.symlink_to(dotfiles / "config.toml")
    install(agent, where)
    assert link.is_symlink()
    assert tomllib.loads((dotfiles / "config.toml").read_text())["mcp_servers"]["cm-tui"] == {
        "command": "cm",
        "args": ["mcp"],
    }
    assert (dotfiles / "config.toml").stat().st_mode & 0o777 == 0o640
    assert (home / ".codex" / "hooks.json").stat().st_mode & 0o777 == 0o600
    uninstall(agent, where)
    assert (dotfiles / "config.toml").read_text() == "model = 'x'\n"
    assert link.is_symlink()
    assert sorted(path.name for path in dotfiles.iterdir()) == ["config.toml"]


def test_settings_written_into_our_toml_block_are_not_lost(home: Path):
    where, agent = place(home, "user"), named("codex")
    install(agent, where)
    config = home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace("# <<<", "[projects.x]\ntrust_level = 'trusted'\n# <<<"))
    with pytest.raises(RefusedError, match="other settings are between"):
        uninstall(agent, where)
    assert "trusted" in config.read_text()


def test_codex_may_write_behind_our_block(home: Path):
    where, agent = place(home, "user"), named("codex")
    install(agent, where)
    config = home / ".codex" / "config.toml"
    config.write_text(config.read_text() + "\n[projects.x]\ntrust_level = 'trusted'\n")
    assert {one.done for one in install(agent, where)} == {"unchanged"}
    uninstall(agent, where)
    assert config.read_text() == "\n[projects.x]\ntrust_level = 'trusted'\n"


def test_a_file_changed_since_the_plan_is_not_overwritten(home: Path):
    where, agent = place(home, "user"), named("cursor")
    changes = installer.plan(agent, where, install=True)
    file = agent.parts(where)[0].path
    file.parent.mkdir(parents=True)
    file.write_text('{"new": 1}')
    with pytest.raises(RefusedError, match="changed meanwhile"):
        installer.apply(agent, where, changes, install=True)
    assert file.read_text() == '{"new": 1}'


def test_what_an_agent_saves_while_its_file_is_written_stays(home: Path, monkeypatch: pytest.MonkeyPatch):
    where, agent = place(home, "user"), named("claude-code")
    file = agent.parts(where)[0].path
    file.write_text('{"numStartups": 1}')
    changes = installer.plan(agent, where, install=True)
    make = installer.shared_dir
    monkeypatch.setattr(installer, "shared_dir", lambda folder: file.write_text('{"numStartups": 2}') and make(folder))
    with pytest.raises(RefusedError, match="changed meanwhile"):
        installer.apply(agent, where, changes, install=True)
    assert file.read_text() == '{"numStartups": 2}'


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(home: Path):
    where, agent = place(home, "user"), named("cursor")
    home.chmod(0o500)
    try:
        with pytest.raises(CmError, match="Cannot write"):
            install(agent, where)
    finally:
        home.chmod(0o700)


def test_environment_moves_the_users_files(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name, variable in (
        ("codex", "CODEX_HOME"),
        ("claude-code", "CLAUDE_CONFIG_DIR"),
        ("opencode", "XDG_CONFIG_HOME"),
    ):
        monkeypatch.setenv(variable, str(tmp_path / name))
        paths = [part.path for part in named(name).parts(place(home, "user"))]
        assert all(path.is_relative_to(tmp_path / name) for path in paths)
