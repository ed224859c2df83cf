"""A project that a hook tells of is asked something, once in a while, before its agent asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cm_tui.daemon.warm_up import AGAIN_S, WarmUp
from cm_tui.errors import NotIndexedError
from tests.fake_clock import FakeClock


class Asked:
    """Stands for the way to projects, their engine and other requests, and writes down what is asked."""

    def __init__(self, indexed: bool) -> None:
        self.indexed = indexed
        self.questions: list[str] = []
        self.pool = self.turns = self.engine = self

    @contextmanager
    def acquire(self, where: Any, *, create: bool) -> Iterator[Asked]:
        assert (where.own_index, create) == (True, False)
        yield self

    def prepare_session(self) -> None:
        self.questions.append("begin")

    def give_way(self, seconds: float) -> None:
        assert seconds <= 5
        self.questions.append("way")

    def call(self, name: str, where: Any, arguments: Any, *, client: str) -> None:
        del where, arguments, client
        self.questions.append(name)
        if not self.indexed:
            raise NotIndexedError("There is no index.")


FIRST = ["stale_reason", "definitions", "way", "begin", "pack", "way"]
"""What a prompt needs comes before anything else, but after a prompt that is there already."""


@pytest.mark.parametrize(("indexed", "questions"), [(True, [*FIRST, "assemble"]), (False, ["stale_reason"])])
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


def test_no_language_model_is_asked_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CM_CONTEXT__MODEL__ENABLED", "true")
    asked, warm_up = Asked(True), WarmUp()
    warm_up.start(asked)  # type: ignore[arg-type]
    warm_up.on_nudge(tmp_path)
    warm_up.close()
    assert asked.questions == FIRST


def test_files_that_say_what_a_prompt_is_given_are_asked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("cm_tui.daemon.warm_up.has_definitions", lambda root: root == tmp_path)
    asked, warm_up = Asked(True), WarmUp()
    warm_up.start(asked)  # type: ignore[arg-type]
    warm_up.on_nudge(tmp_path)
    warm_up.close()
    assert asked.questions == ["stale_reason", "definitions", "way", "begin", "assemble"]


def _wait(warm_up: WarmUp) -> None:
    thread = warm_up._thread
    if thread is not None:
        thread.join()
