"""What tests of more than one layer need."""

from __future__ import annotations

import threading

import pytest
import watchfiles
from watchfiles._rust_notify import RustNotify

from cm_tui.engine.code.freshness import watcher


class _Sleepy:
    """Gives events to whoever asks, but not to the thread that watches."""

    def __init__(self, *settings) -> None:
        self._events = RustNotify(*settings)

    def watch(self, debounce_ms, step_ms, timeout_ms, stop_event):
        is_watching = threading.current_thread().name == watcher.THREAD
        return "timeout" if is_watching else self._events.watch(debounce_ms, step_ms, timeout_ms, stop_event)

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self._events.close()


@pytest.fixture
def sleepy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every watcher is slow to take the events that the system has for it."""
    monkeypatch.setattr(watchfiles._rust_notify, "RustNotify", _Sleepy)
