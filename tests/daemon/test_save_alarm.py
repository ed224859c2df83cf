"""Waiting ends when something is saved, and takes its time where the system cannot tell."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from unittest import mock

from cm_tui.daemon.save_alarm import SaveAlarm


def test_a_save_ends_it(tmp_path: Path):
    alarm = SaveAlarm(threading.Event())
    alarm.watch([tmp_path])
    timer = threading.Timer(0.2, lambda: (tmp_path / "a.md").write_text("saved"))
    timer.start()
    began = time.monotonic()
    assert not alarm.wait(60)
    assert time.monotonic() - began < 50
    timer.join()
    alarm.close()


def test_a_watch_that_breaks_is_not_asked_again_and_time_passes(tmp_path: Path):
    alarm = SaveAlarm(threading.Event())
    alarm.watch([tmp_path])
    broken = mock.Mock(**{"watch.side_effect": RuntimeError})
    alarm._events = broken
    for _ in range(3):
        began = time.monotonic()
        assert not alarm.wait(0.05)
        assert time.monotonic() - began >= 0.05
        alarm.watch([tmp_path])
    broken.watch.assert_called_once()


def test_the_end_ends_it(tmp_path: Path):
    end = threading.Event()
    end.set()
    alarm = SaveAlarm(end)
    assert alarm.wait(60)
    alarm.watch([tmp_path])
    assert alarm.wait(60)
    alarm.close()
