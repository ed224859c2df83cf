"""The settings that a hook obeys: whatever a repository brings, a hook is done in time and asks for no more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui import paths
from cm_tui.agent_hooks import settings
from cm_tui.agent_hooks.settings import HookSettings
from cm_tui.config import load_config
from cm_tui.config.sections import AgentsConfig

DEFAULT = HookSettings()
posix = pytest.mark.skipif(os.name == "nt", reason="pipes, devices and links of POSIX")


@pytest.fixture
def root(tmp_path: Path, cm_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("CM_AGENTS__")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "clone"
    (folder / ".cm").mkdir(parents=True)
    return folder


def theirs(root: Path, text: str | bytes) -> HookSettings:
    paths.project_config_file(root).write_bytes(text if isinstance(text, bytes) else text.encode())
    return settings.read(root)


def own(text: str) -> None:
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    paths.config_file().write_text(text)


def test_defaults_are_those_of_the_configuration(root: Path):
    assert settings.read(root)._asdict() == AgentsConfig().model_dump()


def test_ranges_are_those_of_the_configuration(root: Path):
    assert AgentsConfig(budget=settings.MOST_BUDGET, wait_seconds=settings.MOST_SECONDS)
    most = theirs(root, "[agents]\nbudget = 1_000_000\nwait_seconds = 1e300\n")
    assert (most.budget, most.wait_seconds) == (settings.MOST_BUDGET, settings.MOST_SECONDS)
    with pytest.raises(ValueError, match="budget"):
        AgentsConfig(budget=settings.MOST_BUDGET + 1)
    with pytest.raises(ValueError, match="wait_seconds"):
        AgentsConfig(wait_seconds=settings.MOST_SECONDS + 1)


@posix
def test_a_pipe_in_its_place_is_not_waited_for(root: Path):
    os.mkfifo(paths.project_config_file(root))
    assert settings.read(root) == DEFAULT


@posix
@pytest.mark.parametrize("target", ["/dev/zero", "/dev/tty", ".."])
def test_a_device_or_a_folder_in_its_place_is_not_read(root: Path, target: str):
    paths.project_config_file(root).symlink_to(target)
    assert settings.read(root) == DEFAULT


@posix
def test_a_link_out_of_the_repository_is_not_followed(root: Path, tmp_path: Path):
    (tmp_path / "elsewhere.toml").write_text("[agents]\nbudget = 7\n")
    paths.project_config_file(root).symlink_to(tmp_path / "elsewhere.toml")
    assert settings.read(root) == DEFAULT
    paths.project_config_file(root).unlink()
    (root / ".cm").rmdir()
    (tmp_path / "folder").mkdir()
    (root / ".cm").symlink_to(tmp_path / "folder")
    assert theirs(root, "[agents]\nbudget = 7\n") == DEFAULT


@posix
def test_a_link_within_the_repository_is_followed(root: Path):
    (root / "cm.toml").write_text("[agents]\nbudget = 7\n")
    paths.project_config_file(root).symlink_to("../cm.toml")
    assert settings.read(root).budget == 7


@posix
def test_a_pipe_in_the_place_of_the_users_file_is_not_waited_for(root: Path):
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(paths.config_file())
    assert settings.read(root) == DEFAULT


@pytest.mark.parametrize(
    "text",
    [
        "[agents]\nbudget = inf\nwait_seconds = nan\n",
        "[agents]\nbudget = -inf\n",
        f"[agents]\nbudget = {'9' * 4_000}\n",
        f"[agents]\nbudget = {'9' * 5_000}\n",
        f"[agents]\nbudget = '{'9' * 4_000}'\n",
        "[agents]\nbudget = []\nwait_seconds = {}\n",
        "agents = " + "[" * 50_000,
        "agents = " + "{a=" * 50_000,
        "[agents]\n" + ".".join("a" * 400_000) + " = 1\n",
        "agents = 1\n",
        "[agents]\nbudget = 7\n" + "#" * 1_000_000,
        "[agents\n",
    ],
    ids=range(12),
)
def test_values_that_make_no_sense_are_as_if_not_there(root: Path, text: str):
    found = theirs(root, text)
    # A number of 4,000 digits is one: the largest is taken.
    assert found in (DEFAULT, DEFAULT._replace(budget=settings.MOST_BUDGET))
    assert theirs(root, b"[agents]\nbudget = 7 # \xff\n") == DEFAULT


NUMBERS = st.none() | st.integers() | st.floats() | st.text(max_size=8) | st.booleans() | st.lists(st.none())


@given(NUMBERS, NUMBERS)
def test_any_two_values_give_one_within_the_range(first: object, second: object):
    found = settings._smaller(first, second, 5.0, 10.0)
    assert 0 <= found <= 10
    alone = settings._number(first, 10.0)
    assert alone is None or found <= alone


def test_a_repository_only_lowers_what_the_person_set(root: Path, monkeypatch: pytest.MonkeyPatch):
    more = "[agents]\nbudget = 9_000\nwait_seconds = 9\n"
    less = "[agents]\nbudget = 100\nwait_seconds = 0.1\n"
    assert theirs(root, more) == HookSettings(budget=9_000, wait_seconds=9.0)
    own("[agents]\nbudget = 500\nwait_seconds = 1\n")
    assert theirs(root, more) == HookSettings(budget=500, wait_seconds=1.0)
    assert theirs(root, less) == HookSettings(budget=100, wait_seconds=0.1)
    monkeypatch.setenv("CM_AGENTS__BUDGET", "700")
    assert theirs(root, more) == HookSettings(budget=700, wait_seconds=1.0)
    assert theirs(root, less) == HookSettings(budget=700, wait_seconds=0.1)
    own("")
    assert theirs(root, more) == HookSettings(budget=700, wait_seconds=9.0)


@pytest.mark.parametrize("user", [None, 500])
@pytest.mark.parametrize("environment", [None, 700])
@pytest.mark.parametrize("repository", [None, 100, 600, 900])
def test_a_hook_agrees_with_every_other_command(
    root: Path, monkeypatch: pytest.MonkeyPatch, user: int | None, environment: int | None, repository: int | None
):
    if user is not None:
        own(f"[agents]\nbudget = {user}\nwait_seconds = {user / 100}\n")
    if environment is not None:
        monkeypatch.setenv("CM_AGENTS__BUDGET", str(environment))
        monkeypatch.setenv("CM_AGENTS__WAIT_SECONDS", str(environment / 100))
    if repository is not None:
        theirs(root, f"[agents]\nbudget = {repository}\nwait_seconds = {repository / 100}\n")
    assert settings.read(root)._asdict() == load_config(root).agents.model_dump()


def test_recording_is_the_persons_word_first(root: Path, monkeypatch: pytest.MonkeyPatch):
    assert not theirs(root, "[agents]\nrecord = false\n").record
    own("[agents]\nrecord = true\n")
    assert settings.read(root).record
    monkeypatch.setenv("CM_AGENTS__RECORD", "off")
    assert not settings.read(root).record


@pytest.mark.parametrize(
    "text",
    [
        "[agents]\nrecord = false\n[agents\n",
        "\ufeff[agents]\nrecord = false\n",
        "<<<<<<< mine\n[agents]\nrecord = false\n",
    ],
)
def test_nothing_is_recorded_while_a_file_that_may_forbid_it_cannot_be_understood(root: Path, text: str):
    assert not theirs(root, text).record
    paths.project_config_file(root).unlink()
    own(text)
    assert not settings.read(root).record


@pytest.mark.parametrize("word", ["f", "n", "0", "No", "off", "false", "t", "1", "yes"])
def test_every_word_for_no_stops_recording(root: Path, monkeypatch: pytest.MonkeyPatch, word: str):
    monkeypatch.setenv("CM_AGENTS__RECORD", word)
    assert settings.read(root).record == load_config(root).agents.record
    monkeypatch.delenv("CM_AGENTS__RECORD")
    own("[agents]\nrecord = 0\n")
    assert settings.read(root).record == load_config(root).agents.record
