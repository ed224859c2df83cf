"""A project that a hook tells of is asked something, once in a while, before its agent asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cm_tui.daemon.warm_up import AGAIN_S, WarmUp
from cm_tui.errors import NotIndexedError
from tests.fake_clock import FakeClock


class Asked:
    """Stands for the way to projects, and writes down what is asked."""

    def __init__(self, indexed: bool) -> None:
        self.indexed = indexed
        self.questions: list[str] = []

    def call(self, name: str, where: Any, arguments: Any) -> None:
        del where, arguments
        self.questions.append(name)
        if not self.indexed:
            raise NotIndexedError("There is no index.")


@pytest.mark.parametrize(("indexed", "questions"), [(True, ["stale_reason", "assemble"]), (False, ["stale_reason"])])
def test_it_is_asked_once_in_a_while(tmp_path: Path, indexed: bool, questions: list[str]):
    clock, asked = FakeClock(), Asked(indexed)
    warm_up = WarmUp(clock)
    warm_up.on_nudge(tmp_path)
    warm_up.start(asked)  # type: ignore[arg-type] # what it asks is written down
    for seconds in (0.0, 1.0, AGAIN_S - 2):
        clock.advance(seconds)
        warm_up.on_nudge(tmp_path)
        _wait(warm_up)
    assert asked.questions == questions
    clock.advance(1.0)
    warm_up.on_nudge(tmp_path)
    warm_up.close()
    assert asked.questions == questions * 2


def test_who_wants_no_context_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CM_AGENTS__BUDGET", "0")
    asked, warm_up = Asked(True), WarmUp()
    warm_up.start(asked)  # type: ignore[arg-type]
    warm_up.on_nudge(tmp_path)
    warm_up.close()
    assert asked.questions == []


def _wait(warm_up: WarmUp) -> None:
    thread = warm_up._thread
    if thread is not None:
        thread.join()
