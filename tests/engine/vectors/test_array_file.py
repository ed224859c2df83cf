"""The file of vectors: trusted when it fits the store, mended from the store when it does not."""

from __future__ import annotations

import errno
import json
import stat

import numpy as np
import pytest

from cm_tui import files
from cm_tui.engine.search.vectors.array_file import MAGIC, UnusableFileError, load_arrays, save_arrays

from .conftest import CountingProvider, everything, filled


@pytest.fixture
def saved(passages, opened, db):
    passages.add(*(f"text {n}" for n in range(60)))
    index = opened()
    filled(index)
    return index, db.folder / "vectors.bin"


def same(left, right):
    assert everything(left)[0] == everything(right)[0]
    np.testing.assert_array_equal(everything(left)[1], everything(right)[1])


def test_a_saved_file_is_used_as_it_is(saved, opened, provider, monkeypatch):
    index, file = saved
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    monkeypatch.setattr("cm_tui.engine.search.vectors.cache.live_keys", None)  # the store is not asked
    again = opened()
    assert again.notes == []
    same(index, again)
    assert len(provider.passages_asked) == 60
    assert [path.name for path in file.parent.iterdir() if path.name.startswith(".")] == []


DAMAGE = (
    lambda data: data[: len(data) // 2],
    lambda data: data[:20],
    lambda data: b"",
    lambda data: b"garbage" * 100,
    lambda data: data[:-40] + bytes(20) + data[-20:],
    lambda data: MAGIC + b"{}\n" + data,
    lambda data: MAGIC + b"not json\n",
    lambda data: data + b"more",
)


def test_a_damaged_file_is_mended_from_the_store_and_that_is_said(saved, opened, provider):
    index, file = saved
    for damage in DAMAGE:
        file.write_bytes(damage(file.read_bytes()))
        mended = opened()
        assert any("could not be used" in note for note in mended.notes)
        same(index, mended)
        assert len(provider.passages_asked) == 60
        assert opened().notes == []


def test_an_older_file_is_caught_up(saved, opened, passages, provider, db):
    index, file = saved
    before = file.read_bytes()
    passages.remove(3)
    (new,) = passages.add("brand new")
    filled(index)
    file.write_bytes(before)  # as if the process had died before it was saved
    again = opened()
    same(index, again)
    assert again.coverage() == (60, 60)
    assert again.search(provider.embed_query("title\nbrand new"), 1)[0].tolist() == [new]


def test_one_change_does_not_rewrite_the_file(saved, opened, passages):
    index, file = saved
    before = file.stat().st_mtime_ns
    passages.remove(3)
    filled(index)
    assert file.stat().st_mtime_ns == before
    assert opened().coverage() == (59, 59)
    passages.add(*(f"more {n}" for n in range(10)))
    filled(index)
    assert file.stat().st_mtime_ns != before


def test_a_file_of_another_store_is_not_believed(saved, opened, db):
    """Ids mean nothing elsewhere: each row also tells what it was made of."""
    _, _ = saved
    with db.transaction() as cursor:
        cursor.execute("UPDATE passage SET hash = 'other' || id, text = 'other ' || id")
        db.set_meta("passage_generation", "77")
    index = opened()
    assert index.coverage() == (0, 60)
    assert filled(index) == (60, 60)
    assert index.verify() == ()


def test_verify_finds_and_mends_wrong_vectors_and_strays(saved, opened, passages, db):
    index, _ = saved
    assert index.verify() == ()
    index._rows.codes.setflags(write=True)
    index._rows.codes[5] += 1
    passages.remove(9)
    problems = " ".join(index.verify())
    assert "1 vector of removed passages" in problems
    assert "1 vector different from the stored ones" in problems
    assert index.verify() == ()
    assert opened().verify() == ()


def test_a_wrong_fingerprint_is_not_used(saved, opened):
    index = opened(CountingProvider("fake/9"))
    assert index.state == "none"
    assert "fake/9" in index.notes[0]


def test_a_full_disk_is_said_and_loses_nothing(passages, opened, provider, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    passages.add("one", "two")
    index = opened()
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        assert filled(index) == (2, 2)
        assert any("could not be saved" in note and "No space left" in note for note in index.notes)
    assert not list(index._folder.glob("*vectors.bin*"))
    assert opened().coverage() == (2, 2)
    assert len(provider.passages_asked) == 2


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "x.bin"
    save_arrays(file, {"n": 1}, {"a": np.arange(3)})

    def broken(*_):
        raise OSError("no")

    (tmp_path / ".x.bin.12ab.cm-new").write_bytes(b"half")
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", broken)
        with pytest.raises(OSError, match="no"):
            save_arrays(file, {"n": 2}, {"a": np.arange(4)})
    header, arrays = load_arrays(file)
    assert header["n"] == 1
    assert arrays["a"].tolist() == [0, 1, 2]
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    "layout", [[["a", "<i8", [10**15]]], [["a", "|O", [1]]], [["a", "nonsense", [1]]], [["a"]], [7]]
)
def test_a_header_that_lies_is_refused(tmp_path, layout):
    file = tmp_path / "x.bin"
    header = json.dumps({"arrays": layout, "checksum": 0}).encode()
    file.write_bytes(MAGIC + header + b"\n" + bytes(8))
    with pytest.raises(UnusableFileError):
        load_arrays(file)
