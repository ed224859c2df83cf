"""The daemon's log: private, and without secrets, also those that an error quotes."""

from __future__ import annotations

import logging
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.daemon.checkup import checks_of
from cm_tui.daemon.daemon_log import errors, log_thread_error, set_up_log

LOGGERS = ("cm_tui", "uvicorn.error")


@pytest.fixture
def log() -> Iterator[Path]:
    before = {name: (list(logging.getLogger(name).handlers), logging.getLogger(name).level) for name in LOGGERS}
    set_up_log()
    yield paths.state_dir() / "daemon.log"
    for name, (handlers, level) in before.items():
        logger = logging.getLogger(name)
        for handler in [one for one in logger.handlers if one not in handlers]:
            handler.close()
            logger.removeHandler(handler)
        logger.setLevel(level)


def fail(words: str) -> None:
    raise ValueError(words)


@pytest.mark.parametrize("name", ["cm_tui.engine.memory.projection", "uvicorn.error"])
def test_a_secret_in_a_logged_error_does_not_reach_the_file(log: Path, name: str):
    secret, password = "ghp_" + "a1B2" * 9, "hunter2" + "hunter2"
    logger = logging.getLogger(name)
    try:
        fail(f"cannot reach https://ada:{password}@example.org with {secret}")
    except ValueError:
        logger.exception("indexing %s", f"/home/ada/{secret}")
    logger.warning("the token %s is refused", secret)
    (check,) = checks_of({"errors": {"count": errors.count, "last": errors.last}})
    assert (check.state, check.finding) == ("failed", "daemon-errors")
    assert check.message.startswith("1 error since it started; the last: indexing /home/ada/")
    assert "cannot reach https://ada:" in check.message
    assert secret not in check.message
    assert password not in check.message
    text = log.read_text(encoding="utf-8")
    assert secret not in text
    assert password not in text
    assert "ValueError: cannot reach https://ada:[redacted: password]@example.org with [redacted: github token]" in text
    assert "Traceback" in text
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_what_ends_a_thread_is_in_the_log_without_secrets(log: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threading, "excepthook", log_thread_error)
    secret = "ghp_" + "a1B2" * 9
    thread = threading.Thread(target=fail, args=(f"no access with {secret}",), name="cm-episode")
    thread.start()
    thread.join()
    text = log.read_text(encoding="utf-8")
    assert "the thread cm-episode ended" in text
    assert "ValueError: no access with [redacted: github token]" in text
    assert errors.count == 1


def test_a_name_that_is_not_utf8_is_logged_as_an_escape(log: Path, capsys: pytest.CaptureFixture[str]):
    logging.getLogger("cm_tui.daemon").info("opened %s", "/home/ada/caf\udce9")
    assert log.read_text(encoding="utf-8").endswith("INFO opened /home/ada/caf\\udce9\n")
    assert capsys.readouterr().err == ""


def test_what_is_no_secret_is_logged_as_it_is(log: Path):
    logging.getLogger("cm_tui.daemon").info("%s is gone", "/home/ada/shop")
    assert log.read_text(encoding="utf-8").endswith("INFO /home/ada/shop is gone\n")
