"""Every test has a CM_HOME of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def cm_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that holds all of this test's stores and settings."""
    home = tmp_path_factory.mktemp("cm_home")
    monkeypatch.setenv("CM_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def no_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody starts an owner process that would outlive its test; tests of the owner start and end their own."""
    monkeypatch.setenv("CM_OWNER__USE", "never")
