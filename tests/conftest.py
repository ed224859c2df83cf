"""Every test has a CM_HOME of its own, and no owner process unless it starts one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Nobody starts an owner that would outlive its test; tests of the owner say so, and end theirs."""
    os.environ["CM_OWNER__USE"] = "never"


@pytest.fixture(autouse=True)
def cm_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that holds all of this test's stores and settings."""
    home = tmp_path_factory.mktemp("cm_home")
    monkeypatch.setenv("CM_HOME", str(home))
    return home
