"""Where files are kept, whatever the environment says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.errors import ConfigError
from tests.conftest import stay_at_home

XDG = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which is also the user's home, without other settings of places."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CM_HOME", *XDG):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("rel", "rel"), ("./rel/", "rel"), ("a b/c ", "a b/c "), ("../x", "../x"), ("~", ""), ("~/x", "x"), ("{}/abs/", "abs"),
        ("h\udcff", "h\udcff"),
    ],
)  # fmt: skip
def test_a_home_is_the_same_from_every_folder(here: Path, monkeypatch: pytest.MonkeyPatch, text: str, folder: str):
    monkeypatch.setenv("CM_HOME", text.format(here))
    paths.settle_environment()
    before = paths.data_dir()
    assert before == here / folder / "data"
    monkeypatch.chdir("/")
    assert paths.data_dir() == before
    assert Path(os.environ["CM_HOME"]) == here / folder


@pytest.mark.parametrize("text", ["", " ", "\t"])
def test_a_blank_home_is_none(here: Path, monkeypatch: pytest.MonkeyPatch, text: str):
    monkeypatch.setenv("CM_HOME", text)
    paths.settle_environment()
    assert paths.home_folder() is None
    assert paths.data_dir().is_relative_to(here)


@pytest.mark.parametrize("name", ["file", "loop", "dangling", "~no-such-user/x"])
def test_a_home_that_is_no_folder_is_refused(here: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    (here / "file").touch()
    (here / "loop").symlink_to("loop")
    (here / "dangling").symlink_to("gone")
    monkeypatch.setenv("CM_HOME", name)
    with pytest.raises(ConfigError, match="CM_HOME"):
        paths.settle_environment()


@pytest.mark.parametrize("value", ["rel", "./rel", "~/x", " ", ""])
@pytest.mark.parametrize("name", XDG)
def test_relative_xdg_folders_are_ignored(here: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str):
    expected = paths.data_dir(), paths.config_file(), paths.state_dir()
    monkeypatch.setenv(name, value)
    paths.settle_environment()
    assert name not in os.environ
    assert (paths.data_dir(), paths.config_file(), paths.state_dir()) == expected
    assert all(place.is_relative_to(here) for place in expected)


@pytest.mark.parametrize("home", ["rel", ".", "", "~"])
def test_a_relative_home_of_the_user_is_that_of_the_account(here: Path, monkeypatch: pytest.MonkeyPatch, home: str):
    monkeypatch.delenv("HOME")
    account = Path.home()
    monkeypatch.setenv("HOME", home)
    paths.settle_environment()
    assert Path.home() == account
    assert paths.data_dir().is_absolute()
    assert not paths.data_dir().is_relative_to(here)


@pytest.mark.parametrize(
    ("text", "settled"),
    [("rel", "{0}/rel"), ("a, /b,../c", "{0}/a,/b,{1}/c"), ("~/x", "~/x"), ("/abs", "/abs"), ("", "")],
)
@pytest.mark.parametrize("name", ["CLAUDE_CONFIG_DIR", "CODEX_HOME"])
def test_folders_of_agents_are_absolute(
    here: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, settled: str
):
    monkeypatch.setenv(name, text)
    paths.settle_environment()
    assert os.environ[name] == settled.format(here, here.parent)


def test_a_relative_home_without_a_current_folder_names_no_file(here: Path, monkeypatch: pytest.MonkeyPatch):
    gone = here / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv("CM_HOME", "rel")
    with pytest.raises(FileNotFoundError):
        paths.settle_environment()


def test_a_test_keeps_its_home_after_it_undoes_what_it_patched(cm_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.undo()
    assert os.environ["CM_HOME"] == str(cm_home)


def test_what_a_test_writes_outside_of_its_home_is_found_and_removed(tmp_path: Path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/config.toml").touch()
    (tmp_path / "endpoint").touch()
    with pytest.raises(AssertionError, match=r"own CM_HOME: .*'data/config.toml', 'endpoint'"):
        stay_at_home(tmp_path)
    stay_at_home(tmp_path)
