"""Names, subjects and source are whatever others wrote: a terminal is shown text, and JSON has all of it."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

from cm_tui.cli.app import run
from tests.cli.conftest import Shop, git

Run = Callable[..., tuple[int, str, str]]

NEWLINE = "shop/forged\n1 file, all is well.py"
ESCAPE = "shop/esc\x1b[31mape \x9b7m`.py"
HEADING = "Red \x1b[31malert\x07"
SUBJECT = "Sell \x1b]0;owned\x07 \u202eslla \ufeff\u200b"
HIDDEN = "\ufeff\u200b\u2062\u00ad\U000e0041"
CONTROL = re.compile(f"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069{HIDDEN}]")
FILES = {
    NEWLINE: "def forged(price):\n\treturn helper(price)\n\n\ndef helper(price):\n    return price\n",
    ESCAPE: f"def escape():\n    return helper('\x1b[2J{HIDDEN}')\n\n\nfrom shop.money import add_tax\n",
    "notes.md": f"# {HEADING}\n\nA bell \x07 and a title \x1b]0;owned\x07 in the text {HIDDEN}\n",
    "half\nparsed.min.js": "x=1;" * 50,
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A repository whose names and subjects hold what a terminal obeys; indexed, with its past."""
    base = tmp_path_factory.mktemp("odd")
    root = base / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for name, text in {"shop/money.py": "def add_tax(cents):\n    return cents\n", **FILES}.items():
        file = root / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    git(root, "add", "-A")
    git(root, "-c", "user.name=Ada\x1b[1m", "commit", "-qm", SUBJECT)
    shop = Shop(root, base / "home")
    done = shop.cm("index")
    assert done.code == 0, done.err
    assert_harmless(done.out + done.err)
    return shop


@pytest.fixture
def inside(odd: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`cm` in this process, which is quicker: its exit code, stdout and stderr."""
    monkeypatch.chdir(odd.root)
    monkeypatch.setenv("CM_HOME", str(odd.home))

    def cm(*words: str) -> tuple[int, str, str]:
        code = run(words)
        return code, *capsys.readouterr()

    return cm


def assert_harmless(text: str) -> None:
    assert CONTROL.findall(text) == []


@pytest.mark.parametrize(
    "words",
    [
        "symbols", "symbols --match forged", "definitions helper", "callers helper", "callees forged", "importers shop.money",
        "search helper --explain", "search helper --by file --explain", "search title", "skipped", "status", "drift", "drift --since HEAD", "at HEAD",
        "at HEAD files", "life helper", "history line", "history status", "pack helper", "index --full --dry-run",
        "index --full", "doctor", "agent status", "git-hooks status", "autostart status", "callers helper --at HEAD",
    ],
)  # fmt: skip
def test_no_command_lets_a_control_character_through(inside: Run, words: str):
    code, out, err = inside(*words.split())
    assert code == 0, err
    # The source of a pack and of a snippet keeps its tabs.
    assert_harmless((out + err).replace("\t", " "))


@pytest.mark.parametrize("words", ["symbols", "callers helper", "at HEAD files", "history line", "skipped"])
def test_a_row_is_a_line(inside: Run, words: str):
    rows = json.loads(inside(*words.split(), "--json")[1])["rows"]
    assert len(inside(*words.split())[1].splitlines()) == len(rows) > 0


def test_names_in_errors_are_harmless_too(inside: Run):
    for words in (["dependencies", "no\x1b[31m\nsuch.py"], ["definitions", "no\x1b[31m\nsuch"], ["at", "no\x1b\nsuch"]):
        code, _, err = inside(*words)
        assert code in (2, 3)
        assert_harmless(err)
        assert len(err.splitlines()) <= 2


def test_json_has_the_true_text_in_harmless_letters(odd: Shop):
    symbols = odd.cm("symbols", "--json")
    assert_harmless(symbols.out)
    rows = {(row["path"], row["qualname"]) for row in symbols.json["rows"]}
    assert {(NEWLINE, "forged"), (ESCAPE, "escape"), ("notes.md", HEADING)} <= rows
    moments = odd.cm("history", "line", "--json")
    assert_harmless(moments.out)
    assert moments.json["rows"][0]["subject"] == SUBJECT


@pytest.mark.process
def test_on_a_terminal_only_our_own_colours_are_there(odd: Shop):
    leader, follower = pty.openpty()
    words = [sys.executable, "-m", "cm_tui", "search", "escape"]
    process = subprocess.Popen(
        words, cwd=odd.root, env={**os.environ, "CM_HOME": str(odd.home), "TERM": "xterm"}, stdout=follower, stderr=follower
    )  # fmt: skip
    os.close(follower)
    shown = b""
    try:
        while piece := os.read(leader, 65536):
            shown += piece
    except OSError:
        pass  # how Linux says that the other end is closed
    os.close(leader)
    assert process.wait() == 0
    text = shown.decode().replace("\r\n", "\n")
    assert "\x1b[1mshop/esc [31mape  7m`.py:1" in text
    assert_harmless(text.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\t", " "))


def test_nothing_breaks_out_of_its_line_in_a_pack(odd: Shop):
    packed = odd.cm("pack", "forged escape helper").out
    headings = [line for line in packed.splitlines() if line.startswith("###")]
    assert any("`shop/forged 1 file, all is well.py:" in line for line in headings)
    assert any("``shop/esc [31mape 7m`.py:" in line for line in headings)
    assert "\treturn helper(price)" in packed


def test_a_live_bar_shows_no_control_characters(odd: Shop, capsys: pytest.CaptureFixture[str], monkeypatch):
    from cm_tui.cli import output
    from cm_tui.model import Progress

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    output.follow([Progress("parse", 1, 2, f"{NEWLINE}\x1b[2J")])
    said = capsys.readouterr().err.replace("\r\x1b[K", "")
    assert "forged 1 file" in said
    assert_harmless(said)
