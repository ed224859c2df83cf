"""The clipboard: the bytes sent, the tool called, and the words about it."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from cm_tui.tui.terminal import clipboard


def tool(folder: Path, name: str, *, rc: int = 0) -> Path:
    """A fake tool that keeps its arguments and input."""
    script = folder / name
    script.write_text(
        f'#!/bin/sh\necho "$@" > {folder}/{name}.args\n/bin/cat > {folder}/{name}.out\nexit {rc}\n', encoding="utf-8"
    )
    script.chmod(0o755)
    return folder / f"{name}.out"


def test_desktop_tool_is_used_where_its_display_is(tmp_path):
    wayland, x = tool(tmp_path, "wl-copy"), tool(tmp_path, "xclip")
    sent: list[str] = []
    done = clipboard.copy("héllo\n", sent.append, {"PATH": str(tmp_path), "DISPLAY": ":0"})
    assert done == clipboard.Copied("Copied with xclip.", sure=True)
    assert x.read_text() == "héllo\n"
    assert (tmp_path / "xclip.args").read_text() == "-selection clipboard\n"
    assert not wayland.exists()
    assert sent == []


def test_failing_tool_falls_to_the_next(tmp_path):
    tool(tmp_path, "xclip", rc=1)
    out = tool(tmp_path, "xsel")
    assert clipboard.copy("a", None, {"PATH": str(tmp_path), "DISPLAY": ":0"}).message == "Copied with xsel."
    assert out.read_text() == "a"


def test_ssh_asks_the_terminal_and_saves(tmp_path):
    tool(tmp_path, "xclip")
    sent: list[str] = []
    done = clipboard.copy("text", sent.append, {"PATH": str(tmp_path), "DISPLAY": ":0", "SSH_TTY": "/dev/pts/1"})
    assert sent == [f"\x1b]52;c;{base64.b64encode(b'text').decode()}\x07"]
    assert done.file.read_text() == "text"
    assert not done.sure
    assert "OSC 52" in done.message
    assert str(done.file) in done.message


def test_tmux_wraps_and_keeps_a_buffer(tmp_path):
    out = tool(tmp_path, "tmux")
    sent: list[str] = []
    done = clipboard.copy("text", sent.append, {"PATH": str(tmp_path), "TMUX": "/tmp/x,1,0"})
    assert sent == ["\x1bPtmux;\x1b\x1b]52;c;dGV4dA==\x07\x1b\\"]
    assert out.read_text() == "text"
    assert "through tmux" in done.message
    assert "buffer" in done.message


def test_screen_gets_pieces_that_join_to_the_whole():
    codes = clipboard.osc52("x" * 1000, {"STY": "1.pts"})
    pieces = re.findall("\x1bP(.*?)\x1b\\\\", codes, re.DOTALL)
    assert all(len(piece) <= 240 for piece in pieces)
    assert "".join(pieces) == clipboard.osc52("x" * 1000, {})


def test_too_large_is_saved_and_said(tmp_path):
    sent: list[str] = []
    done = clipboard.copy("x" * (clipboard.OSC52_LIMIT + 1), sent.append, {"PATH": str(tmp_path)})
    assert sent == []
    assert done.message == f"Saved to {done.file}: 74,995 bytes are too much for the terminal."
    assert len(done.file.read_text()) == clipboard.OSC52_LIMIT + 1
    assert done.file.stat().st_mode & 0o077 == 0


def test_limit_stays_within_what_terminals_take():
    assert len(clipboard.osc52("x" * clipboard.OSC52_LIMIT, {})) <= 100_000


def test_nothing_there_is_said(tmp_path):
    done = clipboard.copy("a", None, {"PATH": str(tmp_path)})
    assert done.message == f"Saved to {done.file}: no clipboard available."


def test_unwritable_state_raises(tmp_path, monkeypatch):
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("CM_HOME", str(blocker))
    with pytest.raises(OSError, match="Not a directory"):
        clipboard.copy("a", None, {"PATH": str(tmp_path)})
    sent: list[str] = []
    done = clipboard.copy("a", sent.append, {"PATH": str(tmp_path)})
    assert sent
    assert (done.sure, done.file) == (False, None)
    assert done.message == "Sent to the terminal (OSC 52); saving a copy failed: Not a directory."
