"""A pause keeps everything from being recorded, and what is kept about it survives whatever happens to its file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.engine.api import recording
from cm_tui.engine.api.events import record_event
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.recording.gate import EVERYWHERE, PastGate, Pause, why_not
from cm_tui.engine.platform.git import identity
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.errors import ConfigError, NotFoundError, StoreError, UsageError
from tests.gitrepo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "shop")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    return repo


def say(root: Path, session: str = "s") -> int:
    """Have a hook say something; how many events there are then."""
    record_event(root, "hook.prompt", {"session": session, "agent": "codex"}, {"prompt": "hello"}, limit=100)
    return len(list(Journal.of(root).read()))


def test_a_pause_of_one_project_leaves_the_others_alone(repo: Repo, tmp_path: Path):
    other = Repo(tmp_path / "other")
    other.write("b.py", "y = 2\n")
    other.commit("another one")
    assert say(repo.root) == 1
    assert recording.pause(repo.root).state == "paused"
    assert say(repo.root) == 1
    assert say(other.root) == 1
    assert recording.recording_state(other.root).state == "on"
    assert recording.resume(repo.root).state == "on"
    assert say(repo.root) == 2


def _note(repo: Repo, **changed: object) -> dict[str, object]:
    """The file that links checkouts to memories, with a changed record of a repository."""
    known = json.loads(paths.links_file().read_text())
    owner = str(repo.root / ".git")
    return {**known, "checkouts": {**known["checkouts"], owner: {**known["checkouts"][owner], **changed}}}


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda _: None, id="gone"),
        pytest.param(lambda _: "{", id="unreadable"),
        pytest.param(lambda _: {}, id="empty"),
        pytest.param(lambda repo: _note(repo, identity=3), id="no identity"),
        pytest.param(lambda repo: _note(repo, identity="remote:h/other"), id="another identity"),
        pytest.param(lambda repo: _note(repo, mark=[1, 2]), id="no mark"),
    ],
)
def test_a_pause_holds_while_it_is_unknown_whose_checkout_it_is(repo: Repo, damage: Callable[[Repo], object]):
    recording.pause(repo.root)
    # By git alone it would be another project now.
    repo.git("remote", "add", "origin", "https://example.org/shop.git")
    content = damage(repo)
    paths.links_file().unlink()
    if content is not None:
        paths.links_file().write_text(content if isinstance(content, str) else json.dumps(content))
    assert say(repo.root) == 0
    assert PastGate(repo.root).why_not("s", [gate.read().pauses[0].since + 1.0]) == gate.PAUSED
    identity.claim(repo.root)
    assert say(repo.root) == 0
    state = recording.recording_state(repo.root)
    assert (state.state, state.everywhere) == ("paused", True)
    assert recording.resume(None, here=repo.root).state == "on"
    assert say(repo.root) == 1


def test_a_pause_everywhere_holds_until_it_is_ended_everywhere(repo: Repo):
    recording.pause(None)
    state = recording.resume(repo.root)
    assert (state.state, state.everywhere) == ("paused", True)
    assert say(repo.root) == 0
    assert recording.resume(None, here=repo.root).state == "on"
    assert say(repo.root) == 1


def test_a_pause_for_a_time_ends_by_itself_and_stays_known(repo: Repo):
    project = folder_of(repo.root).name
    gate.begin(project, 2_000.0, now=1_000.0)
    assert say(repo.root) == 1
    gate.archive_expired(now=3_000.0)
    assert gate.read(past=True) == ((), (), (Pause(project, 1_000.0, 2_000.0),))
    for at, why in ((999.0, ""), (1_000.0, "recording is paused"), (1_999.0, "recording is paused"), (2_000.0, "")):
        assert PastGate(repo.root).why_not("s", [at]) == why
    assert PastGate(repo.root).why_not("s", [500.0, 3_000.0]) == "recording is paused", "a pause in the middle of it"
    assert PastGate(repo.root).why_not("s", [None]) == "recording is paused", "it may have been in it"


def test_a_clock_that_is_put_back_ends_no_pause(repo: Repo):
    gate.begin(EVERYWHERE, None, now=4_000_000_000.0)
    assert say(repo.root) == 0
    assert gate.begin(EVERYWHERE, None, now=5.0).since == 5.0


def test_a_pause_that_is_begun_again_keeps_its_beginning(repo: Repo):
    gate.begin("p", None, now=100.0)
    assert gate.begin("p", 300.0, now=200.0) == Pause("p", 100.0, 300.0)
    assert gate.end("p", now=250.0) == Pause("p", 100.0, 250.0)
    assert gate.end("p") is None


def test_a_session_is_never_recorded(repo: Repo):
    assert say(repo.root, "secret one") == 1
    assert recording.never_record(repo.root, "last") == "secret one"
    assert say(repo.root, "secret one") == 1
    assert say(repo.root, "another") == 2
    assert why_not(repo.root, "secret one") == "this session is never recorded"
    assert PastGate(repo.root).why_not("secret one", [5.0]) == "this session is never recorded"
    recording.never_record(None, "secret one", never=False)
    assert say(repo.root, "secret one") == 3


def test_sessions_that_cannot_be(repo: Repo):
    with pytest.raises(NotFoundError):
        recording.never_record(repo.root, "last")
    for name in ("", " ", "x" * 201):
        with pytest.raises(UsageError):
            recording.never_record(repo.root, name)


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "nonsense", '{"pauses": 3}', '{"pauses": [["p", "x", null]]}', "[" * 100_000,
        '{"pauses": {}}', '{"pauses": [[NaN, 1, null]]}', '{"pauses": [[null, 1, null]]}', '{"sessions": "s1"}',
        '{"sessions": {"s1": 1}}', '{"sessions": [["s1"]]}',
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_stops_recording_until_somebody_resumes(repo: Repo, content: str):
    recording.pause(repo.root)
    gate.file().write_text(content)
    with pytest.raises(StoreError, match="Nothing is recorded"):
        say(repo.root)
    assert not list(Journal.of(repo.root).read())
    assert recording.resume(None, here=repo.root).state == "on"
    assert say(repo.root) == 1


def test_what_is_kept_is_private(repo: Repo):
    recording.pause(repo.root, 60.0)
    recording.resume(repo.root)
    for file in (gate.folder(), *gate.folder().rglob("*")):
        assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30m", 1_800), ("2h", 7_200), ("1h30m", 5_400), ("1d", 86_400), ("90s", 90), (" 1H 5 m ", 3_900)],
)
def test_times(text: str, seconds: int):
    assert recording.seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "0m", "30", "m", "5x", "-5m", "1.5h", "2m1h", "999999999d", "9" * 400 + "d"])
def test_words_that_are_no_time(text: str):
    with pytest.raises(UsageError):
        recording.seconds_of(text)


# --- folders ---


def never(monkeypatch: pytest.MonkeyPatch, *patterns: str) -> None:
    monkeypatch.setenv("CM_MEMORY__NEVER_RECORD", json.dumps(patterns))


@pytest.mark.parametrize(
    ("pattern", "path", "found"),
    [
        ("/work/private", "/work/private", True),
        ("/work/private", "/work/private/a/b.py", True),
        ("/work/private", "/work/private2", False),
        ("/work/private/", "/work/private/x", True),
        ("/work/client-*", "/work/client-a/src", True),
        ("/work/client-*", "/work/a/client-b", False),
        ("**/secret", "/work/a/secret/b", True),
        ("**/secret", "/work/a/secrets", False),
        ("/work/**/secret", "/work/secret", True),
        ("/work/**/secret/**", "/work/a/b/secret", True),
        ("/work/**/a/**/b", "/work/a/a/x/b", True),
        ("**/", "/anything", True),
        ("/a/" + "**/" * 40 + "z", "/a/" + "b/" * 200, False),
    ],
)
def test_folders(pattern: str, path: str, found: bool):
    assert gate.is_below(path, [pattern]) == found


def test_a_folder_that_is_never_recorded(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    never(monkeypatch, str(tmp_path / "sho*"))
    assert say(repo.root) == 0
    assert recording.recording_state(repo.root).state == "never"
    never(monkeypatch, "~/elsewhere")
    assert say(repo.root) == 1


def test_a_link_to_a_folder_that_is_never_recorded(repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "link").symlink_to(repo.root)
    never(monkeypatch, str(repo.root))
    assert say(tmp_path / "link") == 0


def test_a_folder_inside_a_project_is_left_out_of_its_edits(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    never(monkeypatch, "**/customers")
    edit = {"session": "s", "paths": ["a.py", "data/customers/b.py"]}
    record_event(repo.root, "hook.edit", edit, {}, limit=1)
    record_event(repo.root, "hook.edit", {**edit, "paths": ["customers/c.py"]}, {}, limit=1)
    assert [event.data["paths"] for event in Journal.of(repo.root).read()] == [["a.py"]]
    record_event(repo.root, "hook.prompt", {"session": "s"}, {"prompt": "x"}, limit=9, folder=f"{repo.root}/customers")
    assert len(list(Journal.of(repo.root).read())) == 1
    assert PastGate(repo.root).why_not("s", [], folder=f"{repo.root}/customers") == "this folder is never recorded"
    assert PastGate(repo.root).why_not("s", [], folder=str(repo.root)) == ""


@pytest.mark.parametrize("said", ["nonsense", '"one"', "[3]", '["relative/folder"]', "[" * 100_000])
def test_settings_that_cannot_be_understood_stop_recording(repo: Repo, monkeypatch: pytest.MonkeyPatch, said: str):
    monkeypatch.setenv("CM_MEMORY__NEVER_RECORD", said)
    with pytest.raises(ConfigError, match="Nothing is recorded"):
        say(repo.root)


def test_the_users_file_names_folders(repo: Repo, cm_home: Path):
    file = cm_home / "config" / "config.toml"
    file.parent.mkdir()
    file.write_text(f'[memory]\nnever_record = ["{repo.root.parent}"]\n')
    assert say(repo.root) == 0
    file.write_text('[memory]\nnever_record = ["~/x"\n')
    with pytest.raises(ConfigError, match="Nothing is recorded"):
        say(repo.root)
    file.write_text("[agents\n")
    assert say(repo.root) == 1, "a file that says nothing of it is left to whoever reads all of it"
