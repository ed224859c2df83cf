"""Several notes changed at once: one event, then the files; taken back whole, or not at all."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui import paths
from cm_tui.engine.memory.notes import topic_files
from cm_tui.engine.memory.notes.note_file import forget_saved, saved_file, writing
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.topic_files import (
    CHANGED,
    REVERTED,
    FileChange,
    TopicFiles,
    archived,
    is_archived,
    place_of,
    restored,
)
from cm_tui.engine.memory.notes.topic_undo import merged_undo, undo_topic_change
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from cm_tui.model import Undone
from tests.engine.notes.conftest import write
from tests.forked import run_python
from tests.planted import GITHUB

A, B, C = (f".cm/notes/topics/{name}.md" for name in "abc")
LINES = st.lists(st.sampled_from(["", "a", "b", "c", "d", "e"]), max_size=12)


def events(root: Path, kind: str = CHANGED) -> list[Event]:
    return [event for event in Journal.of(root).read(START) if event.kind == kind]


def change(root: Path, after: dict[str, str | bytes | None]) -> Event:
    """Have some files hold other texts."""
    notes = Notes(root)
    with writing():
        files = TopicFiles(notes)
        made = [
            FileChange(place_of(notes, id_), files.read(place_of(notes, id_)), data(to)) for id_, to in after.items()
        ]
        files.change("merge", "merged b into a", made)
    return events(root)[-1]


def data(text: str | bytes | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text


def held(root: Path, id_: str) -> bytes | None:
    file = place_of(Notes(root), id_).file
    return file.read_bytes() if file.exists() else None


def back(root: Path, event: Event, *, dry_run: bool = False) -> Undone:
    return undo_topic_change(Notes(root), event, dry_run=dry_run)


def test_one_event_has_all_texts_and_everything_comes_back_to_the_byte(root: Path):
    before = {A: b"\xef\xbb\xbf# A\r\n\r\none\nmixed\r\n", B: b"# B\n\ntwo  \n\n\n"}
    for id_, text in before.items():
        write(root, id_, text)
    event = change(root, {A: "# A\n\none\nmixed\ntwo\n", B: None, C: "# C\n"})
    assert [one["note"] for one in event.data["files"]] == [A, B, C]
    assert event.data["files"][1] == {"note": B, "before": "# B\n\ntwo  \n\n\n", "after": None}
    assert (held(root, A), held(root, B), held(root, C)) == (b"# A\n\none\nmixed\ntwo\n", None, b"# C\n")
    assert back(root, event, dry_run=True).conflicts == ()
    assert held(root, B) is None
    assert back(root, event) == Undone("", (A, B, C), "merged b into a")
    assert {A: held(root, A), B: held(root, B)} == before
    assert held(root, C) is None
    assert not list(paths.data_dir().joinpath("note-changes").glob(f"{event.id}*"))
    assert events(root, REVERTED)[-1].data["undoes"] == event.id


def test_what_was_edited_since_stays(root: Path):
    write(root, A, "# A\n\none\n\ntwo\n")
    event = change(root, {A: "# A\n\none\n", B: "---\ntitle: B\n---\n\n# B\n\ntwo\nthree\n"})
    write(root, A, "# A\n\nnew\n\none\n")
    write(root, B, "---\ntitle: B\n---\n\n# B\n\ntwo\nadded\nthree\nlast\n")
    assert back(root, event).conflicts == ()
    assert held(root, A) == b"# A\n\nnew\n\none\n\ntwo\n"
    assert held(root, B) == b"---\ntitle: B\n---\n\n# B\nadded\nlast\n"


def test_lines_that_were_changed_since_are_shown_and_nothing_is_written(root: Path):
    write(root, A, "one\n")
    write(root, B, "two\n")
    event = change(root, {A: "one\ntwo\n", B: None})
    write(root, A, "one\n2\n")
    (conflict,) = back(root, event).conflicts
    assert (conflict.id, conflict.now, conflict.yours, conflict.before) == (A, "one\n2\n", "one\ntwo\n", "one\n")
    assert (held(root, A), held(root, B)) == (b"one\n2\n", None)
    write(root, A, "one\ntwo\n")
    write(root, B, "another\n")
    assert [one.id for one in back(root, event).conflicts] == [B]
    assert held(root, B) == b"another\n"


def test_a_topic_that_was_moved_and_edited_comes_back_as_it_is(root: Path):
    write(root, A, f"# A\n\ntoken {GITHUB}\n")
    notes = Notes(root)
    gone = archived(notes, notes.places.place(A))
    assert gone.id == ".cm/archive/topics/a.md"
    assert is_archived(gone.id)
    assert restored(notes, gone).id == A
    event = change(root, {A: None, gone.id: f"# A\n\ntoken {GITHUB}\n"})
    assert GITHUB not in str([one.data for one in Journal.of(root).read(START)])
    write(root, gone.id, f"# A\n\ntoken {GITHUB}\nmore\n")
    assert back(root, event).conflicts == ()
    assert held(root, A) == f"# A\n\ntoken {GITHUB}\nmore\n".encode()
    assert held(root, gone.id) is None


def test_topics_of_the_user_are_archived_beside_their_notes(root: Path):
    notes = Notes(root)
    gone = archived(notes, notes.places.place("user:topics/x/y.md"))
    assert gone.id == "user-archive:topics/x/y.md"
    assert gone.file == paths.data_dir() / "notes-archive/topics/x/y.md"
    assert restored(notes, gone).id == "user:topics/x/y.md"
    change(root, {gone.id: "mine\n"})
    assert gone.file.stat().st_mode & 0o777 == 0o600
    for wrong in ("user-archive:../x.md", ".cm/archive/topics/../../../x.md"):
        with pytest.raises((RefusedError, NotFoundError)):
            place_of(notes, wrong)


def test_secrets_are_in_no_event_and_come_back(root: Path):
    write(root, A, f"# A\n\none {GITHUB}\n")
    write(root, B, f"# B\n\ntwo\nkey {GITHUB[:-3]}abc\n")
    event = change(root, {A: f"# A\n\none {GITHUB}\ntwo\nkey {GITHUB[:-3]}abc\n", B: None})
    back(root, event)
    assert held(root, A) == f"# A\n\none {GITHUB}\n".encode()
    assert held(root, B) == f"# B\n\ntwo\nkey {GITHUB[:-3]}abc\n".encode()
    assert all("ghp_" not in str(one.data) for one in Journal.of(root).read(START))


def test_a_secret_that_no_file_has_any_more_is_said(root: Path):
    write(root, A, f"one {GITHUB}\ntwo\n")
    event = change(root, {A: "two\n"})
    with pytest.raises(UsageError, match="possible secret"):
        back(root, event)
    assert held(root, A) == b"two\n"


def test_what_may_not_be_written_is_refused_before_anything_is_told(root: Path, tmp_path: Path):
    write(root, A, "one\n").chmod(0o444)
    with pytest.raises(RefusedError, match="read-only"):
        change(root, {A: "two\n"})
    write(tmp_path, "elsewhere.md", "secret\n")
    (root / B).symlink_to(tmp_path / "elsewhere.md")
    with pytest.raises(RefusedError, match="link"):
        change(root, {B: "two\n"})
    write(root, C, b"caf\xe9\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        change(root, {C: "two\n"})
    assert events(root) == []
    assert (tmp_path / "elsewhere.md").read_text() == "secret\n"


def test_what_is_too_much_for_one_event_is_refused_with_a_hint(root: Path):
    write(root, A, "word " * 100_000)
    with pytest.raises(UsageError, match="too long for one change") as told:
        change(root, {A: "word " * 120_000})
    assert "shorter" in told.value.hint
    assert len(held(root, A) or b"") == 500_000
    change(root, {A: "short\n"})


def test_what_is_kept_of_files_that_went_is_forgotten_with_their_event(root: Path):
    write(root, A, "one\n")
    write(root, B, "two\n")
    event = change(root, {A: None, B: None})
    assert saved_file(f"{event.id}-0").read_bytes() == b"one\n"
    forget_saved([event.id])
    assert not saved_file(f"{event.id}-0").exists()
    assert not saved_file(f"{event.id}-1").exists()


_KILLED = """
import os, signal, sys
from pathlib import Path
from cm_tui.engine.memory.notes import topic_files
from cm_tui.engine.memory.notes.note_file import writing
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.topic_files import FileChange, TopicFiles

root, left = Path(sys.argv[1]), int(sys.argv[2])
notes = Notes(root)

def dying(name):
    whole = getattr(os, name)
    def step(*words, **named):
        global left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(*words, **named)
    setattr(os, name, step)

for name in ("write", "fsync", "replace", "unlink", "rename"):
    dying(name)
with writing():
    files = TopicFiles(notes)
    ids = [f".cm/notes/topics/{name}.md" for name in "abc"]
    places = [notes.places.place(id_) for id_ in ids]
    now = [files.read(place) for place in places]
    after = [b"# A\\n\\none\\ntwo\\n", None, b"# C\\n\\nthree\\n"]
    files.change("merge", "merged b into a", [FileChange(*one) for one in zip(places, now, after)])
print(int(sys.argv[2]) - left)
"""
_BEFORE = {A: "# A\n\none\n", B: "# B\n\ntwo\n"}
_AFTER = {A: b"# A\n\none\ntwo\n", B: None, C: b"# C\n\nthree\n"}


def killed(root: Path, step: int) -> bool:
    """Change three files in a process that ends at one of its steps; returns whether it did."""
    for id_, text in _BEFORE.items():
        write(root, id_, text)
    done = run_python(_KILLED, str(root), str(step))
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def now(root: Path) -> dict[str, bytes | None]:
    return {id_: held(root, id_) for id_ in (A, B, C)}


@pytest.mark.skipif(os.name == "nt", reason="kills itself")
@pytest.mark.few(5)
@pytest.mark.parametrize("step", [4, 11, 12, 15, 16, 17, 18, 19, 20, 22, 23, 24])
def test_kill_9_leaves_what_the_next_change_completes_or_undo_takes_back(root: Path, step: int):
    killed(root, step)
    lines = b"".join(text or b"" for text in now(root).values())
    assert b"one\n" in lines
    assert b"two\n" in lines
    told = events(root)
    if step % 2:
        for event in told:
            assert back(root, event).conflicts == ()
        assert now(root) == {**{id_: text.encode() for id_, text in _BEFORE.items()}, C: None}
        # What was taken back is not completed by whoever comes next.
    with writing():
        TopicFiles(Notes(root)).complete()
    if told and not step % 2:
        assert now(root) == _AFTER
    else:
        assert now(root) == {**{id_: text.encode() for id_, text in _BEFORE.items()}, C: None}
    assert not list(paths.data_dir().joinpath("note-changes").glob("unfinished-*"))


@pytest.mark.skipif(os.name == "nt", reason="kills itself")
def test_what_was_edited_after_the_kill_is_merged_or_left(root: Path):
    step = next(step for step in range(8, 40) if killed(root, step) and events(root) and held(root, C) is None)
    write(root, A, "# A\n\nnew\n\none\n")
    write(root, B, "# B\n\n2\n")
    with writing():
        assert TopicFiles(Notes(root)).complete() == "merged b into a", step
    # What was to go had been edited: it stays.
    assert now(root) == {A: b"# A\n\nnew\n\none\ntwo\n", B: b"# B\n\n2\n", C: b"# C\n\nthree\n"}


@given(LINES, LINES, st.lists(st.tuples(st.integers(0, 12), st.sampled_from(["x", "y", ""])), max_size=4))
def test_added_lines_never_stand_in_the_way_of_undo(before: list[str], made: list[str], added: list[tuple[int, str]]):
    since = list(made)
    for row, line in added:
        since.insert(min(row, len(since)), line)
    texts = ["\n".join(lines) for lines in (made, before, since)]
    text = merged_undo(*texts)
    if text is None:
        # The same line stands there more than once, and which one was added cannot be told.
        assert len(set(since)) < len(since)
        return
    assert sorted(line for line in text.split("\n") if line in {"x", "y"}) == sorted(
        line for line in since if line in {"x", "y"}
    )
    if not added:
        assert text == texts[1]


def test_a_topic_that_is_saved_while_it_is_merged_stays(root: Path, monkeypatch: pytest.MonkeyPatch):
    write(root, A, "one\n")
    write(root, B, "two\n")
    put = topic_files.write_data

    def slowly(*words: Any) -> None:
        put(*words)
        write(root, B, "two\nthree\n")

    monkeypatch.setattr(topic_files, "write_data", slowly)
    with pytest.raises(RefusedError, match="has changed since"):
        change(root, {A: "one\ntwo\n", B: None})
    monkeypatch.undo()
    with writing():
        TopicFiles(Notes(root)).complete()
    assert (held(root, A), held(root, B)) == (b"one\ntwo\n", b"two\nthree\n")
