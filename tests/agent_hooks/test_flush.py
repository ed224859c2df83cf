"""The reminder comes when few tokens are left, once per compaction, and never where nothing may be written."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cm_tui.agent_hooks import command, flush
from cm_tui.agent_hooks.flush import Usage
from cm_tui.engine.api import recording

LIMIT = 200_000 - 20_000 - 4_000


def claude_line(tokens: int, **more: Any) -> dict[str, Any]:
    usage = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 1_000,
        "cache_read_input_tokens": tokens - 1_104,
        "output_tokens": 100,
    }
    return {"type": "assistant", "sessionId": "s1", "message": {"role": "assistant", "usage": usage}, **more}


def codex_line(tokens: int, window: int | None = 272_000) -> dict[str, Any]:
    info = {
        "total_token_usage": {"total_tokens": 9_999_999},
        "last_token_usage": {"total_tokens": tokens},
        "model_context_window": window,
    }
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg", "payload": {"type": "token_count", "info": info}}


def transcript(tmp_path: Path, *lines: Mapping[str, Any]) -> str:
    file = tmp_path / "session.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


@pytest.mark.parametrize(
    ("usage", "due"),
    [
        (Usage(LIMIT - 1), False), (Usage(LIMIT), True), (Usage(LIMIT, 272_000), False),
        (Usage(272_000 - 24_000, 272_000), True), (Usage(5, 20_000), False),
    ],
)  # fmt: skip
def test_the_threshold_is_exact(usage: Usage, *, due: bool):
    assert flush.is_due(usage, window=200_000, reserve=20_000, soft=4_000) is due


def test_tokens_are_those_of_the_last_answer(tmp_path: Path):
    said = {"type": "user", "message": {"role": "user", "content": "tokens"}}
    aside = claude_line(7_000, isSidechain=True)
    assert flush.usage_of(transcript(tmp_path, claude_line(9_000), claude_line(5_000), aside, said)) == Usage(5_000)
    assert flush.usage_of(transcript(tmp_path, codex_line(8_000), codex_line(6_000))) == Usage(6_000, 272_000)
    assert flush.usage_of(transcript(tmp_path, codex_line(6_000, None))) == Usage(6_000)
    boundary = {"type": "system", "subtype": "compact_boundary"}
    assert flush.usage_of(transcript(tmp_path, claude_line(190_000), boundary)) is None


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe{", b"[" * 9_000, b'{"message": {"usage": "token"}}\n', b'{"token": 1}\n', b"5\n"]
)
def test_whatever_a_transcript_says_is_a_number_or_nothing(tmp_path: Path, content: bytes):
    file = tmp_path / "x.jsonl"
    file.write_bytes(content)
    assert flush.usage_of(str(file)) is None
    assert flush.usage_of(str(tmp_path)) is None
    os.mkfifo(tmp_path / "pipe")
    assert flush.usage_of(str(tmp_path / "pipe")) is None


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return root


def hook(monkeypatch: pytest.MonkeyPatch, shop: Path, event: str, agent: str = "claude-code", **data: Any) -> str:
    payload = {"session_id": "s1", "cwd": str(shop), **data}
    monkeypatch.setattr(command.stdin, "read", lambda: json.dumps(payload).encode())
    monkeypatch.setattr(command, "_start_daemon", lambda _: None)
    return command.run(command.Words(event, agent, ()))


def test_it_comes_once_per_compaction(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def stop(tokens: int, **more: Any) -> str:
        return hook(monkeypatch, shop, "stop", transcript_path=transcript(tmp_path, claude_line(tokens)), **more)

    assert stop(LIMIT - 1) == ""
    said = json.loads(stop(LIMIT))
    assert said["decision"] == "block"
    assert "NO_REPLY" in said["reason"]
    assert stop(LIMIT + 5_000) == ""
    hook(monkeypatch, shop, "session-start", source="compact")
    assert stop(LIMIT)
    assert stop(LIMIT) == ""
    assert stop(30_000) == "", "it was compacted, whoever told of it"
    assert stop(LIMIT)


def test_codex_tells_its_own_window(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def stop(tokens: int, agent: str) -> str:
        file = transcript(tmp_path, codex_line(tokens))
        return hook(monkeypatch, shop, "stop", agent, session_id=agent, transcript_path=file, turn_id="t", model="m")

    assert stop(LIMIT, "codex") == ""
    assert json.loads(stop(272_000 - 24_000, "codex"))["decision"] == "block"
    assert stop(272_000 - 24_000, "cursor") == "", "nobody promises that it would go on"


@pytest.mark.parametrize(
    "more", [{"permission_mode": "plan"}, {"stop_hook_active": True}, {"transcript_path": "x"}, {"session_id": ""}]
)
def test_it_is_left_out_where_nothing_can_be_written(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
):
    said = {"transcript_path": transcript(tmp_path, claude_line(LIMIT)), **more}
    assert hook(monkeypatch, shop, "stop", **said) == ""


def test_it_is_left_out_in_a_pause_and_where_it_is_off(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = transcript(tmp_path, claude_line(LIMIT))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert hook(monkeypatch, shop, "stop", transcript_path=file) == ""
    monkeypatch.undo()
    monkeypatch.setenv("CM_AGENTS__FLUSH", "false")
    assert hook(monkeypatch, shop, "stop", transcript_path=file) == ""
    monkeypatch.setenv("CM_AGENTS__FLUSH", "true")
    monkeypatch.setenv("CM_AGENTS__WINDOW", "300000")
    assert hook(monkeypatch, shop, "stop", transcript_path=file) == ""
    monkeypatch.delenv("CM_AGENTS__WINDOW")
    recording.pause(shop)
    assert hook(monkeypatch, shop, "stop", transcript_path=file) == ""
    recording.resume(shop)
    assert hook(monkeypatch, shop, "stop", transcript_path=file)
