"""A backup brings back what cannot be made again, once, and nothing that is foreign or hostile."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui import paths
from cm_tui.engine.api.backup import back_up, look_at_backup, restore_backup
from cm_tui.engine.code.mainline import user_marks
from cm_tui.engine.memory.backup import stream
from cm_tui.engine.memory.erasure.erase import EraseRequest, erase_events
from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer
from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.found import PATTERNS_VERSION
from cm_tui.errors import NotFoundError, RefusedError, StoreError, UsageError
from tests.gitrepo import Repo
from tests.tiers import examples

SHA = "a" * 40


def fill(repo: Repo, *prompts: str) -> list[str]:
    journal = Journal.of(repo.root)
    return [journal.append("episode", {"prompts": [one], "root": str(repo.root)}).id for one in prompts]


def prompts(root: Path) -> list[str]:
    return [event.data["prompts"][0] for event in Journal.of(root).read() if event.kind == "episode"]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Go to another machine: nothing is there."""

    def go() -> None:
        monkeypatch.setenv("CM_HOME", str(tmp_path / "other machine"))

    return go


def test_a_project_is_restored_on_another_machine(repo: Repo, tmp_path: Path, elsewhere):
    fill(repo, "one", "two")
    state = paths.choices_file(repo.root)
    state.parent.mkdir(parents=True)
    state.write_text('{"mode": "history"}')
    store = identify(repo.root).folder
    store.mkdir(parents=True)
    user_marks.set_mark(store, "last_seen", SHA)
    file = tmp_path / "shop.backup"
    made = back_up(file, repo.root)
    assert [one.events for one in made.projects] == [2]
    assert file.stat().st_mode & 0o777 == 0o600
    clone = Path(shutil.copytree(repo.root, tmp_path / "clone"))
    elsewhere()
    assert [(one.new, one.here) for one in look_at_backup(file, clone).projects] == [(2, True)]
    assert prompts(clone) == []
    identify(clone).folder.mkdir(parents=True)
    restore_backup(file, clone)
    assert prompts(clone) == ["one", "two"]
    assert json.loads(paths.choices_file(clone).read_text()) == {"mode": "history"}
    assert user_marks.read(identify(clone).folder) == {"last_seen": SHA}
    before = b"".join(Journal.of(clone).file(1).read_bytes() for _ in "x")
    assert [one.new for one in restore_backup(file, clone).projects] == [0]
    assert Journal.of(clone).file(1).read_bytes() == before
    for place in (paths.data_dir(), paths.state_dir()):
        for found in place.rglob("*"):
            assert found.is_dir() or found.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("everything", [False, True])
def test_what_was_begun_before_there_was_a_remote_goes_by_that(tmp_path: Path, elsewhere, everything: bool):
    repo = Repo(tmp_path / "begun")
    fill(repo, "one")
    repo.git("remote", "add", "origin", "https://example.org/me/shop.git")
    file = tmp_path / "b"
    back_up(file, None if everything else repo.root)
    assert [(one.new, one.here) for one in restore_backup(file, repo.root).projects] == [(0, True)]
    elsewhere()
    clone = Repo(tmp_path / "clone")
    clone.git("remote", "add", "origin", "https://example.org/me/shop.git")
    assert [(one.new, one.here) for one in restore_backup(file, clone.root).projects] == [(1, True)]
    assert prompts(clone.root) == ["one"]


def test_what_is_there_stays_and_comes_once(repo: Repo, tmp_path: Path):
    fill(repo, "one", "two")
    file = tmp_path / "b"
    back_up(file, repo.root)
    fill(repo, "three")
    assert [one.new for one in restore_backup(file, repo.root).projects] == [0]
    assert prompts(repo.root) == ["one", "two", "three"]


def test_what_was_erased_does_not_come_back(repo: Repo, tmp_path: Path):
    first, _ = fill(repo, "one", "two")
    file = tmp_path / "b"
    back_up(file, repo.root)
    erase_events(Journal.of(repo.root), EraseRequest([first]), make_again=list, store=tmp_path / "no store")
    assert prompts(repo.root) == ["two"]
    assert [one.new for one in restore_backup(file, repo.root).projects] == [0]
    assert prompts(repo.root) == ["two"]
    back_up(file, repo.root)
    assert '"erased"' not in gzip.decompress(file.read_bytes()).decode()


def test_secrets_do_not_travel(repo: Repo, tmp_path: Path, elsewhere):
    secret = "ghp_" + "a1B2" * 9
    journal = Journal.of(repo.root)
    journal.append("episode", {"prompts": ["hello"]})
    line = {"id": "b" * 24, "time": 5.0, "kind": "episode", "head": None, "data": {"prompts": [f"use {secret}"]}}
    journal.append_line(json.dumps(line).encode() + b"\n")
    file = tmp_path / "b"
    back_up(file, repo.root)
    assert secret.encode() not in gzip.decompress(file.read_bytes())
    rewrite(file, lambda lines: [text.replace("[redacted: github token]", secret) for text in lines])
    elsewhere()
    restore_backup(file, repo.root)
    assert prompts(repo.root)[1] == "use [redacted: github token]"


def test_only_a_persons_word_spares_a_file_the_look_for_secrets(repo: Repo, tmp_path: Path, elsewhere):
    secret = "ghp_" + "a1B2" * 9
    fill(repo, f"use {secret}")
    file = tmp_path / "b"
    back_up(file, repo.root)
    rewrite(file, lambda lines: [text.replace("[redacted: github token]", secret) for text in lines])
    elsewhere()
    restore_backup(file, repo.root, mine=True)
    assert prompts(repo.root) == [f"use {secret}"], "what a person says is believed"
    # Another version of the patterns is another word.
    rewrite(file, lambda lines: [text.replace(f'"rules":"{PATTERNS_VERSION}"', '"rules":"0"') for text in lines])
    shutil.rmtree(paths.data_dir())
    restore_backup(file, repo.root, mine=True)
    assert prompts(repo.root) == ["use [redacted: github token]"]


def test_all_projects_go_each_to_its_own(repo: Repo, tmp_path: Path, elsewhere):
    other = Repo(tmp_path / "other")
    other.write("b.py", "y = 2\n")
    other.commit()
    fill(repo, "one")
    fill(other, "two")
    file = tmp_path / "all"
    assert sorted(one.events for one in back_up(file, None).projects) == [1, 1]
    elsewhere()
    with pytest.raises(UsageError):
        look_at_backup(file, repo.root, into_here=True)
    restore_backup(file, repo.root)
    assert prompts(repo.root) == ["one"]
    # The other one has a memory that nobody here made: a person links it.
    assert identify(other.root).claims
    assert prompts(other.root) == []


def test_a_folder_without_git_goes_where_a_person_says(tmp_path: Path, elsewhere):
    first, second = tmp_path / "first", tmp_path / "second"
    for root in (first, second):
        (root / ".cm").mkdir(parents=True)
    Journal.of(first).append("episode", {"prompts": ["one"]})
    file = tmp_path / "b"
    back_up(file, first)
    elsewhere()
    assert [one.here for one in look_at_backup(file, second).projects] == [False]
    restore_backup(file, second, into_here=True)
    assert prompts(second) == ["one"]


def test_nothing_is_done_because_of_a_restored_hook(repo: Repo, tmp_path: Path, elsewhere):
    victim = Repo(tmp_path / "victim")
    victim.write("secret.txt", "plans of the victim\n")
    victim.commit()
    victim.write("secret.txt", "other plans of the victim\n")
    journal = Journal.of(repo.root)
    for kind, more in (("hook.prompt", {"prompt": "hi"}), ("hook.edit", {"paths": ["a.py"]}), ("hook.stop", {})):
        journal.append(kind, {"root": str(victim.root), "session": "s", **more})
    file = tmp_path / "b"
    back_up(file, repo.root)
    elsewhere()
    restore_backup(file, repo.root)
    indexed: list[Path] = []
    consumer = JournalConsumer(lambda root, files, source: indexed.append(root))
    consumer.on_nudge(repo.root)
    consumer.close()
    assert not indexed
    assert [event.kind for event in Journal.of(repo.root).read()] == ["hook.prompt", "hook.edit", "hook.stop"]
    assert "plans" not in Journal.of(repo.root).file(1).read_text()


def test_nothing_to_back_up_and_nowhere_to(repo: Repo, tmp_path: Path):
    with pytest.raises(NotFoundError):
        back_up(tmp_path / "b", None)
    with pytest.raises(NotFoundError):
        back_up(tmp_path / "no" / "b", repo.root)
    with pytest.raises(NotFoundError):
        restore_backup(tmp_path / "none", repo.root)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(repo: Repo, tmp_path: Path):
    fill(repo, "one")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(StoreError):
        back_up(closed / "b", repo.root)


def test_a_killed_backup_leaves_nothing_beside_the_next_one(repo: Repo, tmp_path: Path):
    fill(repo, "one")
    killed, running = tmp_path / ".b.12ab.cm-new", tmp_path / ".b.34cd.cm-new"
    killed.touch()
    running.touch()
    os.utime(killed, (0, 0))
    back_up(tmp_path / "b", repo.root)
    assert (killed.exists(), running.exists()) == (False, True)


# --- hostile files ---


def rewrite(file: Path, change) -> None:
    """Write a backup anew with other lines, and a digest that is right."""
    lines = gzip.decompress(file.read_bytes()).decode().splitlines()[:-1]
    write(file, change(lines))


def write(file: Path, lines: list[str]) -> None:
    body = "".join(f"{line}\n" for line in lines).encode()
    end = json.dumps({"end": len(lines), "sha256": sha256(body).hexdigest()}, separators=(",", ":"))
    file.write_bytes(gzip.compress(body + end.encode() + b"\n"))


HEAD = json.dumps({"format": stream.FORMAT, "version": 1})
PROJECT = {"project": "shop-0123456789ab", "identity": "", "title": "shop"}
EVENT = {"id": "a" * 24, "time": 5.0, "kind": "episode", "head": None, "data": {"prompts": ["x"]}}
DEEP = "[" * 500 + "]" * 500


def lines_of(project: object = None, **event: object) -> list[str]:
    return [HEAD, json.dumps({**PROJECT, **(project or {})}), json.dumps({"event": {**EVENT, **event}})]


def test_a_file_of_this_form_is_taken(repo: Repo, tmp_path: Path):
    file = tmp_path / "b"
    write(file, lines_of())
    assert [one.new for one in look_at_backup(file, repo.root).projects] == [1]


NO_BACKUPS = (
    [],
    ["[]"],
    ["nonsense"],
    ['{"format": "other", "version": 1}'],
    ['{"format": "cm-tui backup", "version": 3}'],
    ['{"format": "cm-tui backup", "version": "1"}'],
    [HEAD, json.dumps({"event": EVENT})],
    [HEAD, '{"file": "../../etc/passwd", "content": "x"}'],
    lines_of({"project": "../../../etc"}),
    lines_of({"project": "/etc/passwd"}),
    lines_of({"project": "a\u0000b"}),
    lines_of({"project": ""}),
    lines_of({"project": 3}),
    lines_of({"identity": "remote:example.org/me/other"}),
    lines_of(id="../x"),
    lines_of(id="x" * 65),
    lines_of(id=5),
    lines_of(time="now"),
    lines_of(time=-1),
    lines_of(time=1e300),
    lines_of(time=True),
    lines_of(kind="journal.erased"),
    lines_of(kind="erased"),
    lines_of(kind="\u001b[2J"),
    lines_of(head="--output=x"),
    lines_of(data=[]),
    lines_of(more=1),
    [*lines_of(), '{"marks": {"last_seen": "--upload-pack=x"}}'],
    [*lines_of(), '{"marks": 3}'],
    [*lines_of(), "3"],
    [*lines_of(), json.dumps({"event": EVENT})[:-1].replace('"x"', DEEP) + "}"],
    [*lines_of(), json.dumps({"event": EVENT}).replace("5.0", "NaN")],
    [*lines_of(), json.dumps({"event": EVENT}).replace("5.0", "9" * 5_000)],
    [*lines_of(), "[" * 100_000],
    [*lines_of(), "x" * 4_000_001],
)


def test_what_no_backup_holds_is_refused_before_anything_is_written(repo: Repo, tmp_path: Path):
    for lines in NO_BACKUPS:
        file = tmp_path / "b"
        write(file, lines)
        with pytest.raises(RefusedError):
            restore_backup(file, repo.root)
        assert not paths.data_dir().joinpath("journal").exists() or not list(Journal.of(repo.root).read())


def test_damage_is_refused(repo: Repo, tmp_path: Path):
    fill(repo, "one", "two")
    file = tmp_path / "b"
    back_up(file, repo.root)
    whole = file.read_bytes()
    plain = gzip.decompress(whole)
    lines = plain.splitlines(keepends=True)
    changed = [
        b"",
        b"plain text",
        whole[: len(whole) // 2],
        whole[:-1],
        gzip.compress(plain.replace(b"one", b"One")),
        gzip.compress(b"".join(lines[:-1])),
        gzip.compress(b"".join([*lines[:2], *lines[3:]])),
        gzip.compress(plain + b"{}\n"),
        whole + gzip.compress(b"{}\n"),
        whole + b"behind",
    ]
    for content in changed:
        file.write_bytes(content)
        with pytest.raises(RefusedError):
            look_at_backup(file, repo.root)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_byte_can_be_changed(repo: Repo, tmp_path: Path, data: st.DataObject):
    file = tmp_path / "b"
    if not file.exists():
        fill(repo, "one")
        back_up(file, repo.root)
        (tmp_path / "whole").write_bytes(file.read_bytes())
    whole = bytearray((tmp_path / "whole").read_bytes())
    # The first bytes name a system and a time, which mean nothing.
    at = data.draw(st.integers(10, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    file.write_bytes(bytes(whole))
    with pytest.raises(RefusedError):
        look_at_backup(file, repo.root)


def test_a_bomb_is_not_unpacked(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream, "_FREE_BYTES", 1_000_000)
    file = tmp_path / "b"
    event = json.dumps({"event": {**EVENT, "data": {"prompts": ["x" * 900_000]}}})
    write(file, [*lines_of()[:2], *[event] * 20])
    with pytest.raises(RefusedError, match="unpacks to more"):
        look_at_backup(file, repo.root)


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
def test_pipes_and_folders_are_no_backup(repo: Repo, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises((RefusedError, StoreError)):
            look_at_backup(tmp_path / name, repo.root)
