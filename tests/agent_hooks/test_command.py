"""`cm hook` as agents and git run it: each agent's own JSON, and everything that may be wrong; once as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from cm_tui.agent_hooks import command, session_state, stdin
from cm_tui.daemon import endpoint
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from tests.agent_hooks.test_payload import PATCH
from tests.cli.in_process import run_here
from tests.gitrepo import Repo

BEFORE_TYPER = {
    "typer",
    "click",
    "rich",
    "pydantic",
    "textual",
    "duckdb",
    "numpy",
    "pygit2",
    "filelock",
    "http.client",
    "asyncio",
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "shop repo")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    return repo


class Done(NamedTuple):
    """A finished hook."""

    returncode: int
    stdout: bytes
    stderr: bytes


def hook(*words: str, said: object = None, raw: bytes | None = None, cwd: Path, **environment: str) -> Done:
    """Run a hook inside this process."""
    data = raw if raw is not None else b"" if said is None else json.dumps(said).encode()
    code, out, err = run_here(("hook", *words), cwd=cwd, environment=environment, stdin=data)
    return checked(Done(code, out.encode(), err.encode()))


def process(*words: str, said: object, cwd: Path) -> Done:
    """Run a hook as agents and git do."""
    done = subprocess.run(
        [sys.executable, "-m", "cm_tui", "hook", *words],
        cwd=cwd, input=json.dumps(said).encode(), capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    return checked(Done(done.returncode, done.stdout, done.stderr))


def checked(done: Done) -> Done:
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") <= 1
    return done


def events(repo: Repo) -> list[Event]:
    return list(Journal.of(repo.root).read())


@pytest.mark.process
def test_a_process_writes_down_what_it_is_piped(repo: Repo, tmp_path: Path):
    prompt = {"session_id": "s", "cwd": str(repo.root), "prompt": "How is tax added?"}
    assert process("prompt", "--agent", "codex", said=prompt, cwd=tmp_path) == Done(0, b"", b"")
    assert [one.data["prompt"] for one in events(repo)] == ["How is tax added?"]


@pytest.mark.parametrize("agent", ["claude-code", "codex", "cursor", "opencode"])
def test_a_session_is_written_down(repo: Repo, agent: str, tmp_path: Path):
    head = repo.git("rev-parse", "HEAD")
    who = {"conversation_id": "s", "workspace_roots": [str(repo.root)]} if agent == "cursor" else {}
    who = who or {"session_id": "s", "cwd": str(repo.root)}
    edit = {
        "claude-code": {"tool_name": "Write", "tool_input": {"file_path": str(repo.root / "a.py"), "content": "x"}},
        "codex": {"tool_name": "apply_patch", "tool_input": {"command": PATCH}},
        "cursor": {"file_path": str(repo.root / "a.py"), "edits": []},
        "opencode": {"tool_name": "edit", "tool_input": {"filePath": "a.py"}},
    }[agent]
    for event, said in (
        ("session-start", {"source": "startup"}),
        ("prompt", {"prompt": "How is tax added?"}),
        ("edit", edit),
        ("stop", {}),
    ):
        # Nobody starts a daemon here: tests forbid it by the environment.
        done = hook(event, "--agent", agent, said={**who, **said}, cwd=tmp_path)
        assert done.stdout == b""
        assert done.stderr == b""
    found = events(repo)
    assert [one.kind for one in found] == ["hook.session-start", "hook.prompt", "hook.edit", "hook.stop"]
    assert {one.head for one in found} == {head}
    assert {(one.data["agent"], one.data["session"], one.data["root"]) for one in found} == {
        (agent, "s", str(repo.root.resolve()))
    }
    assert found[1].data["prompt"] == "How is tax added?"
    paths = ["shop/cart.py", "shop/basket.py", "weird name [x].py", "old.py"] if agent == "codex" else ["a.py"]
    assert found[2].data["paths"] == paths


def test_git_hooks(repo: Repo):
    old, new = repo.git("rev-parse", "HEAD"), repo.commit("next")
    hook("git", "post-checkout", old, new, "1", cwd=repo.root)
    hook("git", "post-commit", cwd=repo.root)
    hook("git", "post-rewrite", "rebase", cwd=repo.root)
    first, second, third = events(repo)
    assert {first.kind, second.kind, third.kind} == {"hook.git"}
    assert (first.data["hook"], first.data["old"], first.data["new"]) == ("post-checkout", old, new)
    assert (second.data["hook"], second.head) == ("post-commit", new)
    assert third.data["arguments"] == ["rebase"]


def test_secrets_are_gone_before_anything_is_stored(repo: Repo, cm_home: Path):
    secret = "ghp_" + "a1B2" * 9
    hook("prompt", said={"cwd": str(repo.root), "session_id": "s", "prompt": f"why does {secret} fail"}, cwd=repo.root)
    (found,) = events(repo)
    assert found.data["prompt"] == "why does [redacted: github token] fail"
    assert found.data["redacted"] == 1
    assert not [file for file in cm_home.rglob("*") if file.is_file() and secret.encode() in file.read_bytes()]


RAW = (
    b"",
    b"nonsense",
    b"[]",
    b"\xff\xfe",
    b'{"cwd": "/no/such\\u0000folder"}',
    b'{"tool_input": {"path": "\\u0000"}}',
)


@pytest.mark.parametrize("event", ["prompt", "edit", "session-start", "stop"])
def test_malformed_input_is_survived(repo: Repo, tmp_path: Path, event: str):
    outside = tmp_path / "outside"
    outside.mkdir()
    for raw in RAW:
        done = hook(event, "--agent", "codex", raw=raw, cwd=outside)
        assert done.stdout == b"", raw
        assert bool(done.stderr) == (raw in {b"nonsense", b"[]", b"\xff\xfe"}), raw


def test_giant_input_is_survived(repo: Repo):
    said = {"cwd": str(repo.root), "tool_input": {"file_path": "a.py", "content": "x" * 8_000_000}}
    assert hook("edit", said=said, cwd=repo.root).stderr == b""
    assert events(repo)[0].data["paths"] == ["a.py"]
    done = hook("edit", raw=b"x" * 17_000_000, cwd=repo.root)
    assert b"17,000,000 bytes" in done.stderr
    prompt = {"cwd": str(repo.root), "prompt": "\u00e9" * 2_000_000}
    assert hook("prompt", said=prompt, cwd=repo.root).stderr == b""
    assert len(events(repo)[1].data["prompt"]) == 32_000


def test_odd_input_is_survived(repo: Repo):
    for raw in (b"[" * 10_000_000, b'{"a":' * 2_000_000, b"9" * 10_000_000, b'{"a": ' + b"9" * 10_000_000 + b"}"):
        assert b"not JSON" in hook("prompt", raw=raw, cwd=repo.root).stderr
    odd = b'{"session_id": NaN, "cwd": -Infinity, "prompt": Infinity, "tool_input": {"path": NaN}, "source": NaN}'
    for event in ("prompt", "edit", "session-start"):
        assert hook(event, raw=odd, cwd=repo.root).stderr == b""
    (found,) = events(repo)
    assert (found.kind, found.data["session"], found.data["source"]) == ("hook.session-start", "", "")


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_a_pipe_in_the_place_of_the_projects_settings_is_not_waited_for(repo: Repo):
    (repo.root / ".cm").mkdir()
    os.mkfifo(repo.root / ".cm" / "config.toml")
    said = {"cwd": str(repo.root), "prompt": "How is tax added?"}
    assert hook("prompt", said=said, cwd=repo.root).stderr == b""
    assert [one.kind for one in events(repo)] == ["hook.prompt"]


@pytest.mark.parametrize("event", ["prompt", "stop"])
def test_a_hostile_blob_is_written_down_in_time(repo: Repo, event: str):
    blob = "0f" * 32_000
    name = "prompt" if event == "prompt" else "last_assistant_message"
    for text in (f"the token {blob}", f"{blob} token=", f"token={blob}", "token=" * 10_000):
        hook(event, said={"cwd": str(repo.root), name: text}, cwd=repo.root)
    found = events(repo)
    assert [one.kind for one in found] == [f"hook.{event}"] * 4
    said = [one.data["prompt" if event == "prompt" else "answer"] for one in found]
    assert [len(one) for one in said[:2]] == [32_000] * 2
    assert said[2] == "token=[redacted: token]"


def test_a_hostile_patch_is_read_in_time(repo: Repo):
    patch = "*** Add File: a" + " " * 300_000 + "b\n*** Add File: c.py \n"
    hook("edit", said={"cwd": str(repo.root), "tool_input": {"command": patch}}, cwd=repo.root)
    (found,) = events(repo)
    assert found.data["paths"][1] == "c.py"


def test_a_secret_where_a_prompt_is_cut_is_gone(repo: Repo):
    prompt = "why? " * 6_395 + "ghp_" + "a1B2" * 9 + " more" * 1_000
    hook("prompt", said={"cwd": str(repo.root), "prompt": prompt}, cwd=repo.root)
    (found,) = events(repo)
    assert found.data["prompt"].endswith("why? [redacted: github token]")
    assert found.data["redacted"] == 1


@pytest.mark.process
def test_stdin_that_is_closed(repo: Repo):
    words = [sys.executable, "-m", "cm_tui", "hook", "stop"]
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *words], cwd=repo.root, capture_output=True, check=False, timeout=60
    )
    assert (closed.returncode, closed.stderr) == (0, b"")


def test_stdin_that_never_ends(monkeypatch: pytest.MonkeyPatch):
    reader, writer = os.pipe()
    with open(reader) as open_end, open(writer, "w"):  # noqa: PTH123 - descriptors
        monkeypatch.setattr(sys, "stdin", open_end)
        with pytest.raises(OSError, match="did not end in time"):
            stdin.read(seconds=0)


@pytest.mark.parametrize("words", [(), ("nonsense",), ("--agent",), ("--agent", "codex")])
def test_words_that_make_no_sense(repo: Repo, words: tuple[str, ...]):
    assert b"usage: cm hook" in hook(*words, cwd=repo.root).stderr


def test_outside_of_a_project_nothing_happens(tmp_path: Path, cm_home: Path):
    done = hook("prompt", said={"cwd": str(tmp_path), "prompt": "How is tax added?"}, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert not (cm_home / "data").exists()


@pytest.mark.process
def test_an_index_makes_a_folder_without_git_a_project(tmp_path: Path, cm_home: Path):
    folder = tmp_path / "no git here"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.py").write_text("x = 1\n")
    said = {"cwd": str(folder / "sub"), "session_id": "s", "prompt": "How is tax added?"}
    hook("prompt", said=said, cwd=tmp_path)
    with Engine.open(folder) as engine:
        for _ in engine.index():
            pass
    hook("prompt", said=said, cwd=tmp_path)
    hook("edit", said={**said, "file_path": "a.py"}, cwd=tmp_path)
    hook("edit", said={**said, "file_path": str(tmp_path / "outside.py")}, cwd=tmp_path)
    hook("stop", said=said, cwd=tmp_path)
    found = list(Journal.of(folder).read())
    assert [one.kind for one in found] == ["hook.prompt", "hook.edit", "hook.stop"]
    assert found[1].data["paths"] == ["sub/a.py"]
    assert {one.data["root"] for one in found} == {str(folder.resolve())}
    assert not BEFORE_TYPER & imported(said, folder)


def test_edits_outside_of_the_project_belong_to_their_own(repo: Repo, tmp_path: Path):
    other = Repo(tmp_path / "other")
    other.write("b.py", "y")
    other.commit()
    for path in (other.root / "b.py", tmp_path / "nowhere.py", "../other/c.py"):
        hook("edit", said={"cwd": str(repo.root), "file_path": str(path)}, cwd=repo.root)
    assert events(repo) == []
    assert [one.data["paths"] for one in events(other)] == [["b.py"], ["c.py"]]


def test_recording_can_be_switched_off(repo: Repo, cm_home: Path):
    said = {"cwd": str(repo.root), "prompt": "How is tax added?"}
    hook("prompt", said=said, cwd=repo.root, CM_AGENTS__RECORD="false")
    repo.write(".cm/config.toml", "[agents]\nrecord = false\n")
    hook("prompt", said=said, cwd=repo.root)
    hook("stop", said=said, cwd=repo.root)
    assert events(repo) == []
    hook("edit", said={**said, "file_path": "a.py"}, cwd=repo.root)
    assert [one.kind for one in events(repo)] == ["hook.edit"]
    repo.write(".cm/config.toml", "not = [toml agents")
    assert hook("prompt", said=said, cwd=repo.root).stderr == b""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_journal_that_cannot_be_written(repo: Repo, cm_home: Path):
    cm_home.chmod(0o500)
    try:
        assert b"cannot be used" in hook("stop", said={"cwd": str(repo.root)}, cwd=repo.root).stderr
    finally:
        cm_home.chmod(0o700)


def test_a_journal_in_the_way_is_told_in_one_line(repo: Repo, cm_home: Path):
    (cm_home / "data").write_text("a file where a folder is needed")
    assert hook("stop", said={"cwd": str(repo.root)}, cwd=repo.root).stderr.startswith(b"cm hook: ")


def imported(said: object, cwd: Path) -> set[str]:
    """The modules that a prompt's hook imports."""
    code = (
        "import sys, runpy; sys.argv = ['cm', 'hook', 'prompt', '--agent', 'codex']\n"
        "try: runpy.run_module('cm_tui', run_name='__main__')\n"
        "except SystemExit as done: assert done.code == 0\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, input=json.dumps(said), capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


@pytest.mark.process
def test_a_hook_imports_next_to_nothing(repo: Repo):
    said = {"cwd": str(repo.root), "session_id": "s", "prompt": "How is tax added?"}
    hook("stop", said=said, cwd=repo.root)  # the project's identity is known from now on
    assert not BEFORE_TYPER & imported(said, repo.root)
    assert len(events(repo)) == 2


def test_help_is_there(repo: Repo):
    assert b"always ends with 0" in hook("--help", cwd=repo.root).stdout.lower()


@pytest.mark.process
def test_the_way_into_the_journal_imports_no_library(repo: Repo):
    said = {"cwd": str(repo.root), "session_id": "s", "prompt": "How is tax added?"}
    hook("stop", said=said, cwd=repo.root)
    ours = {name for name in imported(said, repo.root) if name.startswith("cm_tui.engine.")}
    packages = {".".join(name.split(".")[2:4]) for name in ours if name.count(".") > 3} | {"api"}
    assert packages == {"api", "memory.recording", "platform.git", "platform.journal", "platform.redaction"}
    assert {"cm_tui.engine.api.events", "cm_tui.engine.platform.redaction.redact"} <= ours


def test_a_prompt_is_patient_with_a_new_daemon(monkeypatch: pytest.MonkeyPatch):
    def age(seconds: float) -> None:
        daemon = endpoint.DaemonInfo(1, "0", 1, 1_000.0, "")
        monkeypatch.setattr(endpoint, "daemon_info", lambda: daemon)
        monkeypatch.setattr(command.time, "time", lambda: 1_000.0 + seconds)

    for seconds, expected in ((0.0, 4.5), (9.0, 4.5), (11.0, 1.5), (-50.0, 1.5)):
        age(seconds)
        assert command.patience(1.5) == expected, seconds
    age(1.0)
    assert [command.patience(one) for one in (0.0, 0.1, 5.0, 10.0)] == [0.0, pytest.approx(0.3), 8.0, 10.0]


def test_a_prompt_waits_only_while_a_daemon_is_starting(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CM_HOME", str(tmp_path / "home"))
    said = {"session_id": "s", "cwd": str(repo.root), "prompt": "how is tax added to the cart"}
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            session_state.drop_starter()

    monkeypatch.setattr(command.time, "sleep", pause)
    hook("prompt", said=said, cwd=repo.root)
    assert not pauses, "nothing was started"
    session_state.put_starter(os.getpid())
    hook("prompt", said=said, cwd=repo.root)
    assert len(pauses) == 3, "until the process that starts it has ended, with or without a daemon"
    ended = subprocess.Popen(["true"])
    ended.wait()
    for text in (str(ended.pid), "", "x", "9" * 400):
        session_state.put_starter(os.getpid())
        (tmp_path / "home" / "state" / "sessions" / "starter").write_text(text)
        hook("prompt", said=said, cwd=repo.root)
    session_state.put_starter(os.getpid())
    os.utime(tmp_path / "home" / "state" / "sessions" / "starter", (1, 1))
    hook("prompt", said=said, cwd=repo.root)
    assert len(pauses) == 3, "a process that was killed, a damaged record, one of long ago"
