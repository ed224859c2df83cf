"""Every test has a CM_HOME of its own, and no daemon unless it starts one."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import shared_models


def pytest_configure() -> None:
    """Nobody starts a daemon that would outlive its test; tests of the daemon say so, and end theirs."""
    os.environ["CM_DAEMON__USE"] = "never"
    # Tests start hundreds of processes: each would compile all of its modules where bytecode is not kept.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # As `cm` itself: a tenth of the time went into looking for cycles.
    gc.set_threshold(100_000, 50, 100)
    # How long a machine takes that does other things beside says nothing about what is tested.
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def models() -> Iterator[None]:
    """A model is loaded once in a process."""
    with pytest.MonkeyPatch.context() as patch:
        shared_models.apply(patch)
        yield


@pytest.fixture
def same_settings() -> Iterator[None]:
    """The next test finds the `CM_*` settings as this one found them, in whatever order its fixtures undo theirs."""
    before = _settings()
    yield
    for name in _settings():
        del os.environ[name]
    os.environ.update(before)


def _settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("CM_")}


@pytest.fixture(autouse=True)
def cm_home(same_settings: None, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that holds all of this test's stores and settings."""
    home = tmp_path_factory.mktemp("cm_home")
    monkeypatch.setenv("CM_HOME", str(home))
    return home
