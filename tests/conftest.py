"""Every test has a CM_HOME of its own, and no owner process unless it starts one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Nobody starts an owner that would outlive its test; tests of the owner say so, and end theirs."""
    os.environ["CM_OWNER__USE"] = "never"


@pytest.fixture
def same_settings() -> Iterator[None]:
    """A test leaves the `CM_*` settings of its process as they were, or fails: the next tests run in it too."""
    before = _settings()
    yield
    left, missing = _settings() - before, before - _settings()
    for name, _ in left:
        os.environ.pop(name)
    os.environ.update(dict(missing))
    assert (left, missing) == (set(), set())


def _settings() -> set[tuple[str, str]]:
    return {(name, value) for name, value in os.environ.items() if name.startswith("CM_")}


@pytest.fixture(autouse=True)
def cm_home(same_settings: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that holds all of this test's stores and settings."""
    home = tmp_path_factory.mktemp("cm_home")
    monkeypatch.setenv("CM_HOME", str(home))
    return home
