"""Standard streams that are closed, broken or full: the work is done, and there is no internal error."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from cm_tui.cli import output
from cm_tui.daemon import bootstrap
from cm_tui.model import Progress
from cm_tui.model.text import cut_names
from tests.cli.conftest import Shop

CODES = {"": 0, ">&-": 0, "2>&-": 0, "<&-": 0, "<&- >&- 2>&-": 0, "2>/dev/full": 0, ">/dev/full": 1, "1</dev/null": 1}


def ended(shop: Shop, words: str, streams: str) -> subprocess.CompletedProcess[str]:
    line = f"{shlex.quote(sys.executable)} -m cm_tui {words} {streams}"
    environment = {**os.environ, "CM_HOME": str(shop.home)}
    return subprocess.run(
        ["sh", "-c", line], cwd=shop.root, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only some systems have a device that is always full")  # noqa: PTH110
@pytest.mark.few(5)
@pytest.mark.parametrize("streams", CODES)
def test_a_command_ends_well_whatever_its_streams_are(shop: Shop, streams: str):
    done = ended(shop, "--json symbols", streams)
    assert done.returncode == CODES[streams], done.stderr
    assert "Internal error" not in done.stderr
    assert "Traceback" not in done.stderr
    assert ("Cannot write the output" in done.stderr) == bool(CODES[streams])


@pytest.mark.parametrize(
    ("words", "streams"),
    [
        ("hook session-start", "<&- >&- 2>&-"),
        ("mcp", "<&- >&- 2>&-"),
        ("serve --status", ">/dev/full 2>/dev/full"),
        ("--version", ">/dev/full 2>/dev/full"),
    ],
)
def test_every_kind_of_command_ends_without_streams(shop: Shop, words: str, streams: str):
    assert ended(shop, words, streams).returncode in (0, 1)


def test_a_closed_stream_does_not_become_a_file(shop: Shop):
    """What is printed would end up in the first file that is opened."""
    report = "import os, cm_tui.__main__ as m; m.open_standard_streams(); print(1); n = os.open('x', os.O_CREAT | os.O_RDWR); "
    line = f"{shlex.quote(sys.executable)} -c {shlex.quote(report + 'os._exit(n)')} <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", line], cwd=shop.home, timeout=60, check=False).returncode > 2


class Broken(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, _: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize("live", [False, True])
def test_work_goes_on_though_nobody_reads_its_progress(monkeypatch: pytest.MonkeyPatch, live: bool):
    broken = Broken()
    monkeypatch.setattr(broken, "isatty", lambda: live)
    monkeypatch.setattr(sys, "stderr", broken)
    steps = [Progress("scan", 0, 2), Progress("scan", 2, 2)]
    assert len(list(output._with_progress(steps))) == 2


@pytest.mark.parametrize("live", [False, True])
def test_work_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch, live: bool):
    told, reported = io.StringIO(), threading.Event()
    monkeypatch.setattr(told, "isatty", lambda: live)
    monkeypatch.setattr(sys, "stderr", told)
    monkeypatch.setattr(output, "_LATE", 0.0)
    waiting = output._waiting

    def wait(*, live: bool) -> None:
        waiting(live=live)
        reported.set()

    monkeypatch.setattr(output, "_waiting", wait)

    def steps() -> Iterator[Progress]:
        assert reported.wait(60)
        yield Progress("scan", 1, 1)

    assert output.follow(steps()) is None
    assert told.getvalue().count("Waiting to start; Health in `cm` lists running jobs.") == 1


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("short", 5),
        ("a/" * 100, 200),
        ("x" * 280, 280),
        (f"No file {'x' * 100_000} here: {'x' * 100_000}.", 550),
        (f"{'x y ' * 50_000}", 4000),
        ("é" * 100_000, 241),
    ],
)
def test_names_without_end_are_cut(text: str, length: int):
    cut = cut_names(text)
    assert len(cut) <= length
    assert (cut == text) == (len(text) <= length)
    assert cut == text or "…" in cut


@pytest.mark.parametrize(
    ("text", "code", "has_room", "said"),
    [
        ("", 1, False, "is full"),
        ("cm: Internal error", 1, False, "is full"),
        ("cm: no module", 1, True, "The daemon could not start: cm: no module"),
        ("", 1, True, "exit code 1 without a message"),
        ("", -9, True, "signal 9"),
    ],
)
def test_a_daemon_that_does_not_start_says_why(
    monkeypatch: pytest.MonkeyPatch, text: str, code: int, has_room: bool, said: str
):
    monkeypatch.setattr(bootstrap, "_has_room", lambda: has_room)
    problem, hint = bootstrap._failure(text, code)
    assert said in problem
    assert hint
