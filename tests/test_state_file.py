from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from cm_tui.errors import StoreError
from cm_tui.files import damaged_copies
from cm_tui.state_file import holding, read_object, reported, write_json


@pytest.mark.parametrize("content", ["", "{", "[1]", "null", '{"a": ' * 5000, '{"a": "' + "x" * 100 + '"}', "\udcff"])
def test_what_is_no_object_within_the_limit_is_an_empty_one(tmp_path: Path, content: str):
    file = tmp_path / "state.json"
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert read_object(file, limit=50_000 if len(content) > 1000 else 50) == {}


def test_no_pipe_is_waited_for(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    assert read_object(tmp_path / "pipe") == read_object(tmp_path / "missing") == read_object(tmp_path) == {}


def test_what_is_written_is_read_and_the_users_alone(tmp_path: Path):
    file = tmp_path / "state" / "one.json"
    write_json(file, {"a": ["ö", 1]}, indent=1)
    assert read_object(file) == {"a": ["ö", 1]}
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b'{"a": ' * 5000])
def test_a_damaged_file_of_decisions_is_kept(tmp_path: Path, damage: bytes):
    file = tmp_path / "state.json"
    for content in (None, b"{}\n", b'{"a": 1}', damage):
        if content is not None:
            file.write_bytes(content)
        write_json(file, {"b": 2}, keep_damaged=True)
    assert [one.read_bytes() for one in damaged_copies(file)] == [damage]
    assert read_object(file) == {"b": 2}


def test_a_lock_is_waited_for_no_longer_than_asked(tmp_path: Path):
    with (
        holding(tmp_path / "locks" / "one.lock"),
        pytest.raises(StoreError, match="Another process holds"),
        holding(tmp_path / "locks" / "one.lock", seconds=0.0),
    ):
        pass


def test_an_error_of_the_disk_names_the_file_and_a_fix(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"Cannot write .*one\.json: ") as found:
        write_json(tmp_path / "file" / "one.json", {})
    assert found.value.hint
    with pytest.raises(StoreError, match="Cannot use"), holding(tmp_path / "file" / "lock"):
        pass
    with pytest.raises(StoreError, match=r"Cannot read .*: No space"), reported(tmp_path, "read"):
        raise OSError(28, "No space left on device")
