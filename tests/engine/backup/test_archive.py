"""What retention moved to the archive goes along in a backup, comes back into the archive, once, and never after a purge."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.engine.api.backup import back_up, look_at_backup, restore_backup
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import RefusedError
from cm_tui.model import EpisodeFilter
from tests.engine.backup.test_backup import EVENT, HEAD, PROJECT, write
from tests.forked import run_python
from tests.gitrepo import Repo

ARCHIVED = EpisodeFilter(state="archived")


def record(repo: Repo, prompt: str, days: float) -> str:
    """A turn as hooks and the daemon record it, that ended so many days ago."""
    journal, who = Journal.of(repo.root), {"root": str(repo.root), "session": prompt}
    journal.append("hook.prompt", {**who, "prompt": prompt})
    stop = journal.append("hook.stop", who)
    said = EpisodeRecord(prompts=(prompt,), at=time.time() - days * 86_400, stop=stop.id, root=who["root"])
    return journal.append("episode", said.to_event_data()).id


@pytest.fixture
def archived(repo: Repo) -> list[str]:
    """Ids of what is in the archive; one more is not."""
    ids = [record(repo, f"sell boulders {number}", 100 - number) for number in range(3)]
    record(repo, "sell pebbles", 1)
    with Engine.open(repo.root) as engine:
        assert engine.retention(apply=True, older_than=50).archived == 3
    return ids


def there(root: Path) -> dict[str, list[str]]:
    """Ids of episodes by state."""
    with Engine.open(root) as engine:
        for _ in engine.index():
            pass
        states = ("shown", "archived")
        return {
            state: sorted(one.id for one in engine.episodes(where=EpisodeFilter(state=state)).rows) for state in states
        }


def go_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str = "other") -> None:
    monkeypatch.setenv("CM_HOME", str(tmp_path / name))


def in_files(text: str) -> list[str]:
    """Files below cm's folder that have a text, compressed ones too."""
    files = [file for place in (paths.data_dir(), paths.state_dir()) for file in place.rglob("*") if file.is_file()]
    assert files
    contents = {
        file: gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes() for file in files
    }
    return [str(file) for file, content in contents.items() if text.encode() in content]


def test_the_archive_comes_back_into_the_archive_once(
    repo: Repo, archived: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before, file = there(repo.root), tmp_path / "b"
    assert [(one.events, one.archived) for one in back_up(file, repo.root).projects] == [(3, 3)]
    go_elsewhere(tmp_path, monkeypatch)
    assert [(one.new, one.new_archived) for one in look_at_backup(file, repo.root).projects] == [(3, 3)]
    for again in (False, True):
        report = restore_backup(file, repo.root)
        assert [(one.new, one.new_archived) for one in report.projects] == [(0, 0) if again else (3, 3)]
        assert there(repo.root) == before
        assert sorted(before["archived"]) == sorted(archived)
    told = " ".join(str(event.data) for event in Journal.of(repo.root).read())
    assert "boulders" not in told, "nothing of it counts towards the cap"
    assert len(Archive(Journal.of(repo.root)).files()) == 1
    with Engine.open(repo.root) as engine:
        for _ in engine.rebuild():
            pass
        assert [one.id for one in engine.episodes(where=ARCHIVED, match="boulders").rows] == archived[::-1]
        assert engine.episode(archived[2]).prompts == ("sell boulders 2",)
        assert (engine.retention().in_archive, engine.retention().archived) == (3, 0)
    back_up(tmp_path / "second", repo.root)
    assert [(one.new, one.new_archived) for one in look_at_backup(tmp_path / "second", repo.root).projects] == [(0, 0)]


def test_what_is_archived_here_does_not_come_back_from_an_older_backup(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ids = [record(repo, f"sell boulders {number}", 100) for number in range(2)]
    back_up(tmp_path / "older", repo.root)
    with Engine.open(repo.root) as engine:
        engine.retention(apply=True, older_than=50)
    back_up(tmp_path / "newer", repo.root)
    for file in ("older", "newer"):
        assert not any(one.changes_something for one in look_at_backup(tmp_path / file, repo.root).projects)
    go_elsewhere(tmp_path, monkeypatch)
    restore_backup(tmp_path / "newer", repo.root)
    # Not the hooks of its turns either.
    assert not any(one.changes_something for one in restore_backup(tmp_path / "older", repo.root).projects)
    assert there(repo.root) == {"shown": [], "archived": sorted(ids)}
    go_elsewhere(tmp_path, monkeypatch, "third")
    restore_backup(tmp_path / "older", repo.root)
    assert not any(one.changes_something for one in restore_backup(tmp_path / "newer", repo.root).projects)
    assert there(repo.root) == {"shown": sorted(ids), "archived": []}


def test_what_was_purged_is_in_no_file_and_comes_back_by_no_backup(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    ids = [record(repo, f"sell zanzibar{number}", 100) for number in range(2)]
    back_up(tmp_path / "older", repo.root)
    with Engine.open(repo.root) as engine:
        for _ in engine.index():
            pass
        engine.search("zanzibar", profile="memory")
        engine.retention(apply=True, older_than=50)
        assert engine.purge([ids[0]], dry_run=True).ids == (ids[0],)
    assert in_files("zanzibar0")
    back_up(tmp_path / "newer", repo.root)
    with Engine.open(repo.root) as engine:
        engine.purge([ids[0]])
        for _ in engine.index():
            pass
    assert not in_files("zanzibar0")
    assert in_files("zanzibar1")
    for file in ("older", "newer"):
        restore_backup(tmp_path / file, repo.root)
    assert there(repo.root) == {"shown": [], "archived": [ids[1]]}
    assert not in_files("zanzibar0")
    back_up(tmp_path / "last", repo.root)
    assert b"zanzibar0" not in gzip.decompress((tmp_path / "last").read_bytes())
    # A machine that has it only out of a backup purges it as well.
    go_elsewhere(tmp_path, monkeypatch)
    restore_backup(tmp_path / "newer", repo.root)
    with Engine.open(repo.root) as engine:
        engine.purge([ids[0]])
    for file in ("older", "newer"):
        restore_backup(tmp_path / file, repo.root)
    assert there(repo.root) == {"shown": [], "archived": [ids[1]]}
    assert not in_files("zanzibar0")


KILLED = """
import os, sys, pathlib
from cm_tui.engine.api import backup
from cm_tui.engine.memory.backup import merging
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.journal.archive import Archive
left = [int(sys.argv[3])]
merging._BATCH, merging._FILE = 300, 300
def dying(function):
    def call(*args, **values):
        left[0] -= 1
        if left[0] < 0:
            os._exit(9)
        return function(*args, **values)
    return call
for owner, name in ((Journal, "append_line"), (Archive, "add"), (merging, "append_of_many")):
    setattr(owner, name, dying(getattr(owner, name)))
backup.restore_backup(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
"""


@pytest.mark.few(2)
@pytest.mark.parametrize("steps", [0, 1, 3, 4, 6])
def test_who_is_killed_while_it_restores_and_goes_on_ends_the_same(
    repo: Repo, archived: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
):
    before, file = there(repo.root), tmp_path / "b"
    back_up(file, repo.root)
    wanted = {
        event.id for event in Journal.of(repo.root).read() if event.kind in ("episode", "hook.stop", "hook.prompt")
    }
    go_elsewhere(tmp_path, monkeypatch)
    done = run_python(KILLED, str(file), str(repo.root), str(steps))
    assert done.returncode == 9, done.stderr
    restore_backup(file, repo.root)
    assert there(repo.root) == before
    found = [
        event.id for event in Journal.of(repo.root).read() if event.kind in ("episode", "hook.stop", "hook.prompt")
    ]
    assert sorted(found) == sorted(wanted)
    archive = Archive(Journal.of(repo.root))
    inside = [one.id for number in archive.files() for _, one in archive.read(number)]
    assert sorted(inside) == sorted(archived), "nothing stands in it twice"
    assert not any(one.changes_something for one in look_at_backup(file, repo.root).projects)


def line(name: str, **event: object) -> str:
    return json.dumps({name: {**EVENT, **event}})


NO_ARCHIVES = (
    [line("turn", kind="hook.stop")],
    [line("turn", kind="hook.stop"), line("event")],
    [line("turn", kind="hook.stop"), json.dumps(PROJECT), line("archived")],
    [line("archived", kind="hook.stop")],
    [line("archived", kind="archived")],
    [line("archived", id="../../x")],
    [line("archived", more=1)],
    [line("turn", kind="erased"), line("archived")],
    [*[line("turn", kind="hook.stop", id=f"{number:024}") for number in range(20_001)], line("archived")],
    [json.dumps({"archived": {"event": EVENT, "file": "../../1.jsonl.gz"}})],
    [json.dumps({"event": {**EVENT, "data": {"prompts": ["x" * 1_002_000]}}})],
)


def test_an_archive_that_no_backup_holds_is_refused(repo: Repo, tmp_path: Path):
    for lines in NO_ARCHIVES:
        file = tmp_path / "b"
        write(file, [HEAD, json.dumps(PROJECT), *lines])
        with pytest.raises(RefusedError):
            restore_backup(file, repo.root)
        assert not (paths.data_dir() / "journal").exists()


@pytest.mark.parametrize("name", ["identity", "title"])
def test_halves_of_characters_name_no_project(repo: Repo, tmp_path: Path, name: str):
    file = tmp_path / "b"
    write(file, [HEAD, json.dumps({**PROJECT, name: "x\ud800"}), line("event")])
    with pytest.raises(RefusedError):
        restore_backup(file, repo.root)


def test_halves_of_characters_in_a_text_are_restored_and_listed(repo: Repo, tmp_path: Path):
    file = tmp_path / "b"
    write(file, [HEAD, json.dumps(PROJECT), line("event", data={"prompts": ["a\ud800b"]})])
    restore_backup(file, repo.root, into_here=True)
    assert there(repo.root)["shown"] == [EVENT["id"]]


def test_a_purge_or_a_place_of_another_archive_is_not_taken_over(repo: Repo, tmp_path: Path):
    kept, file = record(repo, "sell boulders", 1), tmp_path / "b"
    events = [
        line("event", kind=kind, id=f"{number:024}", data={"ids": [kept], "file": 1})
        for number, kind in enumerate(("episode.purged", "episode.archived"))
    ]
    write(file, [HEAD, json.dumps(PROJECT), *events])
    restore_backup(file, repo.root, into_here=True)
    assert there(repo.root) == {"shown": [kept], "archived": []}
