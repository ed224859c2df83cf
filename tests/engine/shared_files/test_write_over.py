"""A file that another program saves in the same moment: what it saved is handed back, and a half-written one is waited for."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from cm_tui.engine.shared_files.quiet import until_quiet
from cm_tui.engine.shared_files.write_over import write_over


def test_what_was_saved_since_it_was_read_is_handed_back(tmp_path: Path):
    file = tmp_path / "note.md"
    file.write_bytes(b"saved meanwhile")
    assert write_over(file, b"mine", b"as it was read", 0o644) == b"saved meanwhile"
    assert file.read_bytes() == b"mine"
    assert write_over(file, b"mine again", b"mine", 0o644) is None
    assert file.stat().st_mode & 0o777 == 0o644
    assert [*tmp_path.iterdir()] == [file]


def test_a_new_file_hands_nothing_back(tmp_path: Path):
    assert write_over(tmp_path / "note.md", b"mine", None, 0o600) is None


def test_a_file_that_is_being_written_is_waited_for(tmp_path: Path):
    file = tmp_path / "note.md"
    file.write_text("old")

    def save() -> None:
        with file.open("w") as opened:
            for _ in range(10):
                opened.write("x")
                opened.flush()
                time.sleep(0.005)

    thread = threading.Thread(target=save)
    thread.start()
    while file.read_text() == "old":
        time.sleep(0.001)
    assert until_quiet(file)
    assert file.read_text() == "x" * 10
    thread.join()


def test_nothing_is_waited_for_without_need(tmp_path: Path):
    file = tmp_path / "note.md"
    assert not until_quiet(file)
    file.write_text("old")
    for seconds in (10, -10_000):
        os.utime(file, (time.time() - seconds, time.time() - seconds))
        assert not until_quiet(file)
