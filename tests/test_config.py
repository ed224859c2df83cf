"""Settings: where they come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.config import load_config


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch, cm_home: Path) -> Path:
    """No `CM_*` setting but the home; gives the user's file."""
    monkeypatch.delenv("CM_DAEMON__USE", raising=False)
    file = paths.config_file()
    file.parent.mkdir(parents=True)
    return file


def test_the_environment_comes_before_the_users_file(no_settings: Path, monkeypatch: pytest.MonkeyPatch):
    no_settings.write_text('[daemon]\nuse = "never"\nidle_seconds = 60\n')
    assert (load_config().daemon.use, load_config().daemon.idle_seconds) == ("never", 60)
    monkeypatch.setenv("CM_DAEMON__IDLE_SECONDS", "7")
    assert (load_config().daemon.use, load_config().daemon.idle_seconds) == ("never", 7)


def test_whether_a_daemon_is_used(no_settings: Path, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.daemon.daemon_use import uses_daemon

    assert uses_daemon()
    no_settings.write_text('[daemon]\nuse = "never"\n')
    assert not uses_daemon()
    monkeypatch.setenv("CM_DAEMON__USE", "auto")
    assert uses_daemon()
