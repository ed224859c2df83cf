"""What is done to an index before an answer: decided in one place, whoever asks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from cm_tui.daemon.dispatcher import IndexCheck
from cm_tui.daemon.project_pool import ProjectRef
from cm_tui.errors import NotIndexedError
from cm_tui.model import Need


class Index(IndexCheck):
    """The check of an index that writes down what it is asked."""

    def __init__(
        self, *, stale: str | None = "", running: bool = False, behind: list[str | None] | None = None
    ) -> None:
        jobs = [SimpleNamespace(state="running", searchable=False)] if running else []
        parts: dict[str, Any] = {
            "pool": SimpleNamespace(locate=lambda _: (Path("/p"), Path("/s"))),
            "work": SimpleNamespace(own_jobs=lambda *_: jobs),
            "syncs": SimpleNamespace(begin=lambda *_: self.asked.append("keep")),
        }
        super().__init__(ProjectRef("/p"), **parts, wait_s=0)
        self._stale = stale
        self._behind = behind or []
        self.asked: list[str] = []

    def stale_reason(self) -> str:
        self.asked.append("stale")
        if self._stale is None:
            raise NotIndexedError("no index")
        return self._stale

    def _bring_to_head(self, reason: str) -> str:
        self.asked.append("head")
        return f"{reason}; done."

    def _check_files(self) -> str | None:
        self.asked.append("files")
        return self._behind.pop(0) if self._behind else None


@pytest.mark.parametrize("need", get_args(Need))
def test_only_what_needs_it_looks_at_the_index(need: Need) -> None:
    index = Index()
    assert index.prepare(need) == ""
    expected = {"files": ["files", "stale", "keep", "files"], "head": ["stale", "keep"]}
    assert index.asked == expected.get(need, [])


def test_nobody_waits_for_a_run_that_is_on() -> None:
    index = Index(stale="HEAD moved", running=True)
    assert index.prepare("files") == "An index run is in progress; results are from before it."
    assert index.asked == []


def test_what_is_watched_is_not_compared_with_head_again() -> None:
    index = Index(stale="HEAD moved", behind=["The index is behind: x."])
    assert index.prepare("files") == "The index is behind: x."
    assert index.asked == ["files"]


def test_a_moved_head_is_followed_first_and_then_the_files() -> None:
    index = Index(stale="HEAD moved", behind=[None, "y is behind."])
    assert index.prepare("files") == "HEAD moved; done. y is behind."
    assert index.asked == ["files", "stale", "head", "keep", "files"]


def test_files_that_somebody_looks_at_are_left_alone() -> None:
    index = Index(stale="HEAD moved", behind=["y is behind."])
    assert index.prepare("head") == "HEAD moved; done."
    assert "files" not in index.asked


def test_what_is_not_indexed_has_no_answers_and_is_not_kept() -> None:
    index = Index(stale=None)
    assert index.prepare("head") == ""
    assert "keep" not in index.asked
