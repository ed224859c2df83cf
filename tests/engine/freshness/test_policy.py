"""What is done to an index before an answer: decided in one place, whoever asks."""

from __future__ import annotations

from typing import get_args

import pytest

from cm_tui.engine.code.freshness import policy
from cm_tui.errors import NotIndexedError
from cm_tui.model import Need


class Index:
    """An index that writes down what it is asked."""

    def __init__(
        self, *, stale: str | None = "", under_way: str | None = None, behind: list[str | None] | None = None
    ) -> None:
        self._stale = stale
        self._under_way = under_way
        self._behind = behind or []
        self.asked: list[str] = []

    def run_under_way(self) -> str | None:
        return self._under_way

    def stale_reason(self) -> str:
        self.asked.append("stale")
        if self._stale is None:
            raise NotIndexedError("no index")
        return self._stale

    def bring_to_head(self, reason: str) -> str:
        self.asked.append("head")
        return f"{reason}; done."

    def keep_fresh(self) -> None:
        self.asked.append("keep")

    def check_files(self) -> str | None:
        self.asked.append("files")
        return self._behind.pop(0) if self._behind else None


@pytest.mark.parametrize("need", get_args(Need))
def test_only_what_needs_it_looks_at_the_index(need: Need) -> None:
    index = Index()
    assert policy.prepare(index, need) == ""
    expected = {"files": ["files", "stale", "keep", "files"], "head": ["stale", "keep"]}
    assert index.asked == expected.get(need, [])


def test_nobody_waits_for_a_run_that_is_on() -> None:
    index = Index(stale="HEAD moved", under_way="A run is on.")
    assert policy.prepare(index, "files") == "A run is on."
    assert index.asked == []


def test_what_is_watched_is_not_compared_with_head_again() -> None:
    index = Index(stale="HEAD moved", behind=["The index is behind: x."])
    assert policy.prepare(index, "files") == "The index is behind: x."
    assert index.asked == ["files"]


def test_a_moved_head_is_followed_first_and_then_the_files() -> None:
    index = Index(stale="HEAD moved", behind=[None, "y is behind."])
    assert policy.prepare(index, "files") == "HEAD moved; done. y is behind."
    assert index.asked == ["files", "stale", "head", "keep", "files"]


def test_files_that_somebody_looks_at_are_left_alone() -> None:
    index = Index(stale="HEAD moved", behind=["y is behind."])
    assert policy.prepare(index, "head") == "HEAD moved; done."
    assert "files" not in index.asked


def test_what_is_not_indexed_has_no_answers_and_is_not_kept() -> None:
    index = Index(stale=None)
    assert policy.prepare(index, "head") == ""
    assert "keep" not in index.asked
    with pytest.raises(NotIndexedError):
        policy.at_head(index)
