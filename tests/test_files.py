"""A file is there whole or not at all, whatever happens while it is written."""

from __future__ import annotations

import errno
import os
import signal
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui import files
from cm_tui.files import (
    opened_below,
    permissions_of,
    read_below,
    read_bounded,
    read_inside,
    remove_left_overs,
    replacing,
    write_atomically,
)
from tests.forked import Python

posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")


def permissions(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@given(
    contents=st.lists(st.binary(max_size=200) | st.text(max_size=200).filter(str.isprintable), min_size=1, max_size=4)
)
def test_the_last_content_is_there_to_the_byte(tmp_path_factory, contents):
    file = tmp_path_factory.mktemp("any") / "file"
    for content in contents:
        write_atomically(file, content)
    last = contents[-1]
    assert file.read_bytes() == (last if isinstance(last, bytes) else last.encode())
    assert list(file.parent.iterdir()) == [file]


def test_line_ends_stay(tmp_path):
    write_atomically(tmp_path / "file", "one\r\ntwo\n")
    assert (tmp_path / "file").read_bytes() == b"one\r\ntwo\n"


@posix
def test_a_file_is_private_unless_it_is_said_otherwise(tmp_path):
    file = tmp_path / "file"
    write_atomically(file, "secret")
    assert permissions(file) == 0o600
    write_atomically(file, "hook", permissions=0o755)
    assert permissions(file) == 0o755
    mask = os.umask(0o027)
    try:
        write_atomically(file, "shared", permissions=None)
    finally:
        os.umask(mask)
    assert permissions(file) == permissions_of(file) == 0o640
    assert permissions_of(tmp_path / "none") is None


@posix
def test_it_is_private_before_anything_is_in_it(tmp_path):
    with replacing(tmp_path / "file", permissions=0o644) as temporary:
        assert permissions(temporary) == 0o600


@posix
def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path):
    (tmp_path / "target").write_text("kept")
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", "new")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "kept"


@pytest.mark.parametrize("call", ["fsync", "chmod", "replace"])
def test_a_full_disk_leaves_what_was_there_and_nothing_else(tmp_path, monkeypatch, call):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    file = tmp_path / "file"
    file.write_text("before")
    with monkeypatch.context() as patch:
        patch.setattr(*((files.os, "fsync") if call == "fsync" else (Path, call)), full)
        with pytest.raises(OSError, match="No space left"):
            write_atomically(file, "after", permissions=0o640, durable=True)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_an_interrupted_writer_leaves_what_was_there(tmp_path):
    def interrupted() -> None:
        with replacing(tmp_path / "file") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_no_folder_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "none" / "file", "text")


def test_left_overs_of_this_file_alone_are_removed(tmp_path):
    for name in ("file", ".file.swp", f".file.12ab{files.SUFFIX}", ".files.other", ".gitignore"):
        (tmp_path / name).write_text("")
    remove_left_overs(tmp_path / "file")
    assert sorted(one.name for one in tmp_path.iterdir()) == [".file.swp", ".files.other", ".gitignore", "file"]


WRITER = """
import itertools, sys
from pathlib import Path
from cm_tui.files import write_atomically
for number in itertools.count():
    write_atomically(Path(sys.argv[1]), str(number % 10) * 300_000)
    print(number, flush=True)
"""


@posix
@pytest.mark.process
def test_a_writer_that_is_killed_leaves_a_whole_file(tmp_path):
    file = tmp_path / "file"
    for times in (1, 4, 9):
        writer = Python(WRITER, str(file))
        assert len(writer.lines(times)) >= times
        assert writer.kill().returncode == -signal.SIGKILL
        if file.exists():
            text = file.read_text()
            assert len(text) == 300_000
            assert text == text[0] * 300_000
    remove_left_overs(file)
    assert {one.name for one in tmp_path.iterdir()} <= {"file"}


# --- reading below a folder ---


@pytest.fixture(params=[True, False], ids=["step by step", "checked"])
def below(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file, beside one that is nobody's business here."""
    monkeypatch.setattr(files, "_STEPWISE", request.param)
    for name, text in (("project", "inside"), ("secret", "outside")):
        (tmp_path / name / "folder").mkdir(parents=True)
        (tmp_path / name / "folder/file").write_text(text)
    return tmp_path / "project"


def test_a_file_is_read_also_where_the_folder_is_reached_by_a_link(below):
    assert read_below(below, "folder/file") == b"inside"
    (below.parent / "way").symlink_to(below)
    assert read_below(below.parent / "way", "folder/file") == b"inside"


@pytest.mark.parametrize(
    "path",
    ["", ".", "..", "../secret/folder/file", "folder/../../secret/folder/file", "/etc/passwd", "folder//file", "folder/",
     "./folder/file", "folder/file\0", "/proc/self/environ", "~/x", "none", "folder", "folder/file/x", "x" * 5000],
)  # fmt: skip
def test_other_paths_are_none(below, path):
    with pytest.raises(OSError):
        read_below(below, path)


def test_links_are_not_followed(below):
    outside = below.parent / "secret"
    (below / "file").symlink_to(outside / "folder/file")
    (below / "linked").symlink_to(outside / "folder")
    (below / "self").symlink_to("folder/file")
    for path in ("file", "linked/file", "self"):
        with pytest.raises(OSError):
            read_below(below, path)


@posix
def test_pipes_and_devices_are_no_files(below):
    os.mkfifo(below / "pipe")
    with pytest.raises(OSError, match="regular"):
        read_below(below, "pipe")
    with pytest.raises(OSError, match="regular"):
        read_below(Path("/dev"), "null")


@posix
def test_a_link_that_comes_and_goes_is_never_followed(below):
    """Somebody puts a link in the place of a folder, and of a file, while they are read."""
    outside, done = below.parent / "secret", threading.Event()
    (below / "link").symlink_to(outside / "folder")
    (below / "folder/link").symlink_to(outside / "folder/file")

    def swap(folder: Path, name: str) -> None:
        while not done.is_set():
            (folder / name).rename(folder / "aside")
            (folder / "link").rename(folder / name)
            (folder / name).rename(folder / "link")
            (folder / "aside").rename(folder / name)

    for folder, name in ((below, "folder"), (below / "folder", "file")):
        done.clear()
        swapping = threading.Thread(target=swap, args=(folder, name))
        swapping.start()
        found = []
        try:
            for _ in range(3000):
                try:
                    found.append(read_below(below, "folder/file"))
                except OSError:
                    continue
        finally:
            done.set()
            swapping.join()
        assert set(found) <= {b"inside"}


def test_a_bounded_file_is_read_up_to_its_limit(tmp_path):
    (tmp_path / "f").write_bytes(b"12345")
    for read in (read_bounded, lambda file, limit: read_inside(tmp_path, file.name, limit)):
        assert read(tmp_path / "f", 5) == b"12345"
        with pytest.raises(OSError, match="more than 4 bytes"):
            read(tmp_path / "f", 4)
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "none", 4)
        with pytest.raises(OSError):
            read(tmp_path, 4)
    assert read_below(tmp_path, "f") == b"12345"


@posix
def test_pipes_and_devices_are_not_read_and_nothing_stays_open(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "full").symlink_to("pipe")
    before = len(list(Path("/dev/fd").iterdir()))
    for name in ("pipe", "zero", "full"):
        for _ in range(3):
            with pytest.raises(OSError):
                read_bounded(tmp_path / name, 10)
            with pytest.raises(OSError):
                read_inside(tmp_path, name, 10)
    assert len(list(Path("/dev/fd").iterdir())) == before


@posix
def test_links_are_followed_as_long_as_they_stay_below(tmp_path):
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "f").write_bytes(b"in")
    (tmp_path / "f").write_bytes(b"out")
    (root / "inner").symlink_to("sub/f")
    (root / "outer").symlink_to("../f")
    (root / "folder").symlink_to("..")
    (tmp_path / "also").symlink_to(root)
    assert read_inside(root, "inner", 10) == read_inside(tmp_path / "also", "inner", 10) == b"in"
    for path in ("outer", "folder/f", "../f", "sub/../../f"):
        with pytest.raises(OSError):
            read_inside(root, path, 10)


@pytest.mark.parametrize("before", [None, b"", b"as it was read"])
@pytest.mark.parametrize("now", [None, b"", b"as it was read", b"saved meanwhile"])
def test_a_file_is_written_only_as_it_was_read(tmp_path: Path, before: bytes | None, now: bytes | None):
    file = tmp_path / "note.md"
    if now is not None:
        file.write_bytes(now)
    assert files.write_if_unchanged(file, b"mine", before, 0o644) == (before == now)
    assert (file.read_bytes() if file.exists() else None) == (b"mine" if before == now else now)
    assert [*tmp_path.iterdir()] == ([file] if file.exists() else [])


def test_a_file_that_is_being_written_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file, waits = tmp_path / "note.md", list[float]()
    files.wait_until_quiet(file)
    file.write_bytes(b"half")
    written = file.stat().st_mtime
    times = iter([written + 0.005, written + 0.015, written + 0.03])
    monkeypatch.setattr(files.time, "time", lambda: next(times))
    monkeypatch.setattr(files.time, "sleep", waits.append)
    files.wait_until_quiet(file)
    assert [round(one, 3) for one in waits] == [0.015, 0.005]
    times = iter([written - 10])
    files.wait_until_quiet(file)
    assert len(waits) == 2, "a time in the future is not waited for"


@posix
def test_a_file_that_is_opened_below_a_folder_is_no_link_and_no_pipe(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"inside")
    (tmp_path / "link").symlink_to("folder/file")
    (tmp_path / "way").symlink_to("folder")
    os.mkfifo(tmp_path / "pipe")
    with opened_below(tmp_path, "folder/file") as stream:
        assert stream.read() == b"inside"
    for path in ("link", "way/file", "pipe", "folder", "../x"):
        with pytest.raises(OSError), opened_below(tmp_path, path):
            pass


def test_what_a_killed_process_left_beside_a_users_file_goes_with_the_next_write(tmp_path: Path):
    file = tmp_path / "settings.json"
    old, new, other = (
        tmp_path / name for name in (".settings.json.a.cm-new", ".settings.json.b.cm-new", ".other.a.cm-new")
    )
    for one in (old, new, other):
        one.write_bytes(b"half")
    for one in (old, other):
        os.utime(one, (0, 0))
    assert files.write_if_unchanged(file, b"mine", None, 0o644)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((file.name, new.name, other.name))
