"""Settings: where they come from, and old names that keep working."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.config import load_config, renamed_settings


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch, cm_home: Path) -> Path:
    """No `CM_*` setting but the home; gives the user's file."""
    for name in ("CM_DAEMON__USE", "CM_OWNER__USE"):
        monkeypatch.delenv(name, raising=False)
    file = paths.config_file()
    file.parent.mkdir(parents=True)
    return file


def test_the_daemons_section_by_its_old_name(no_settings: Path):
    no_settings.write_text('[owner]\nuse = "never"\nidle_seconds = 60\n')
    assert (load_config().daemon.use, load_config().daemon.idle_seconds) == ("never", 60)
    (note,) = renamed_settings()
    assert "[owner]" in note
    assert str(no_settings) in note
    assert "was renamed to [daemon]" in note


def test_the_new_name_wins(no_settings: Path, monkeypatch: pytest.MonkeyPatch):
    no_settings.write_text('[owner]\nuse = "never"\nidle_seconds = 60\n[daemon]\nuse = "auto"\n')
    assert (load_config().daemon.use, load_config().daemon.idle_seconds) == ("auto", 60)
    monkeypatch.setenv("CM_OWNER__IDLE_SECONDS", "5")
    assert load_config().daemon.idle_seconds == 5
    monkeypatch.setenv("CM_DAEMON__IDLE_SECONDS", "7")
    assert load_config().daemon.idle_seconds == 7
    assert any("CM_OWNER__IDLE_SECONDS was renamed to CM_DAEMON__IDLE_SECONDS" in note for note in renamed_settings())


def test_whether_a_daemon_is_used_by_the_old_name(no_settings: Path, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.daemon.daemon_use import uses_daemon

    assert uses_daemon()
    no_settings.write_text('[owner]\nuse = "never"\n')
    assert not uses_daemon()
    monkeypatch.setenv("CM_OWNER__USE", "auto")
    assert uses_daemon()
    monkeypatch.setenv("CM_DAEMON__USE", "never")
    assert not uses_daemon()


def test_nothing_is_said_of_new_names(no_settings: Path):
    no_settings.write_text('[daemon]\nuse = "auto"\n')
    assert renamed_settings() == ()
