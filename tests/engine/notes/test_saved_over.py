"""An editor that was opened before others wrote saves its text: what it never saw is there again, or both sides are kept."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from cm_tui.daemon import note_follower
from cm_tui.engine.local.engine import LocalEngine
from cm_tui.engine.notes import saved_over
from cm_tui.engine.notes.known_scan import known_notes, places_of
from cm_tui.engine.notes.note_changes import NoteChanges
from cm_tui.engine.notes.note_saves import NoteSaves
from cm_tui.engine.shared_files import last_texts
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model.author import Author
from tests.engine.notes.conftest import write
from tests.engine.one_file import engine, indexed_engine
from tests.gitrepo import Repo

__all__ = ["engine", "indexed_engine"]

NOTE = ".cm/notes/topics/router.md"
AGENT = Author("agent", "codex", "s")


def test_what_an_agent_wrote_meanwhile_is_put_back(root: Path, changes: NoteChanges):
    file = write(root, NOTE, "# Router\n\nOne.\n")
    opened = file.read_text()
    changes.append("From an agent.", "router", AGENT)
    file.write_text(opened.replace("One.", "One, as I see it."))
    changes.append("Later.", "router", AGENT)
    text = file.read_text()
    assert "One, as I see it." in text
    assert text.count("From an agent.") == 1
    assert text.count("Later.") == 1


def test_who_saves_it_away_a_second_time_means_it(root: Path, changes: NoteChanges):
    file = write(root, NOTE, "# Router\n\nOne.\n")
    opened = file.read_text()
    changes.append("From an agent.", "router", AGENT)
    file.write_text(opened)
    changes.append("a", "other", AGENT)
    with_lock(changes)
    assert "From an agent." in file.read_text()
    file.write_text(opened)
    with_lock(changes)
    assert file.read_text() == opened


def test_an_editor_that_saw_it_may_take_it_out(root: Path, changes: NoteChanges, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(last_texts, "_SOON_S", -1.0)
    file = write(root, NOTE, "# Router\n\nOne.\n")
    changes.append("From an agent.", "router", AGENT)
    changes.append("Another.", "router", AGENT)
    file.write_text(file.read_text().replace("One.", "1.").replace("Another.\n", "Another one.\nAnd more.\n"))
    seen = file.read_text()
    with_lock(changes)
    assert file.read_text() == seen


def test_the_same_lines_are_a_conflict_that_a_person_decides(root: Path, changes: NoteChanges):
    file = write(root, NOTE, "# Router\n\nPort 1.\n\nEnd.\n")
    opened = file.read_text()
    changes.write(NOTE, opened.replace("Port 1.", "Port 2."), opened, "")
    file.write_text(opened.replace("Port 1.", "Port 3.").replace("End.", "The end."))
    with_lock(changes)
    assert "Port 3." in file.read_text(), "the file is the truth until a person decides"
    found = saved_over.kept_of(file)
    assert len(found) == 1
    assert "Port 2." in found[0].lost
    with pytest.raises(UsageError, match="decided"):
        changes.resolve(NOTE, "")
    changes.resolve(NOTE, "both")
    assert "Port 3.\nPort 2.\n" in file.read_text()
    assert "The end." in file.read_text()
    with pytest.raises(NotFoundError, match="no conflict"):
        changes.resolve(NOTE, "mine")


def test_two_editors_at_once_lose_nothing(engine: LocalEngine):
    file = write(engine.root, NOTE, "# Router\n\n## One\n\nfirst\n\n## Two\n\nsecond\n")
    assert engine.notes().total == 1
    opened = file.read_text()
    file.write_text(opened.replace("first", "first, by one editor"))
    assert engine.notes().total == 1
    file.write_text(opened.replace("second", "second, by the other editor"))
    engine.notes()
    text = file.read_text()
    assert "first, by one editor" in text
    assert "second, by the other editor" in text
    assert engine.note_conflicts() == ()
    assert len(engine.search_notes("first editor", min_score=0.0).hits) > 0


def test_texts_are_kept_for_an_hour_alone(root: Path, changes: NoteChanges, monkeypatch: pytest.MonkeyPatch):
    changes.append("One.", "router", AGENT)
    kept = [*last_texts.folder().iterdir()]
    assert len(kept) == 1
    assert kept[0].stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(last_texts, "KEPT_S", -1.0)
    last_texts.remove_old()
    assert [*last_texts.folder().iterdir()] == []


def test_what_is_no_list_of_texts_is_none(root: Path, changes: NoteChanges):
    changes.append("One.", "router", AGENT)
    kept = next(last_texts.folder().iterdir())
    for damage in ("{", "{}", '[1, {"text": 2}, {"text": "x", "time": "y"}]'):
        kept.write_text(damage)
        changes.append("Two.", "router", AGENT)


def with_lock(changes: NoteChanges) -> None:
    """Have cm look at the note, as it does when it is told that the file has changed."""
    place = changes._notes.places.place(NOTE)
    changes._saves.settle(place)


def test_what_does_not_conflict_is_put_back_beside_a_conflict(root: Path, changes: NoteChanges):
    file = write(root, NOTE, "# Router\n\nPort 1.\n\nEnd.\n")
    opened = file.read_text()
    changes.write(NOTE, opened.replace("Port 1.", "Port 2."), opened, "")
    changes.append("From an agent.", "router", AGENT)
    file.write_text(opened.replace("Port 1.", "Number 3, by hand."))
    with_lock(changes)
    assert "From an agent." in file.read_text()
    assert "Number 3, by hand." in file.read_text()
    changes.resolve(NOTE, "mine")
    assert file.read_text() == "# Router\n\nPort 2.\n\nEnd.\n\nFrom an agent.\n"


def test_an_editor_that_goes_on_with_what_it_has_takes_nothing_away(root: Path, changes: NoteChanges):
    file = write(root, NOTE, "# Router\n\nOne.\n")
    text = file.read_text()
    for number in range(30):
        changes.append(f"Agent {number}.", "router", AGENT)
        text = f"{text}Mine {number}.\n"
        file.write_text(text)
        with_lock(changes)
    found = file.read_text().splitlines()
    for number in range(30):
        assert found.count(f"Agent {number}.") == 1
        assert found.count(f"Mine {number}.") == 1


def test_what_is_saved_while_cm_writes_is_not_lost(root: Path, changes: NoteChanges, monkeypatch: pytest.MonkeyPatch):
    file = write(root, NOTE, "# Router\n\nOne.\n")
    changes.append("Before.", "router", AGENT)
    tell = NoteSaves.tell

    def slowly(self: NoteSaves, *words: Any, **more: Any) -> str:
        # Between what cm has read and what it writes.
        if "Mine." not in file.read_text():
            file.write_text(file.read_text().replace("One.", "One.\nMine."))
        return tell(self, *words, **more)

    monkeypatch.setattr(NoteSaves, "tell", slowly)
    changes.append("From an agent.", "router", AGENT)
    assert file.read_text() == "# Router\n\nOne.\nMine.\n\nBefore.\n\nFrom an agent.\n"


def test_front_matter_and_bare_headings_belong_to_what_was_there_before(engine: LocalEngine):
    file = write(engine.root, NOTE, "---\ntags: [a]\n---\n# Router\n\n## One\n\nfirst\n")
    assert engine.notes().total == 1
    opened = file.read_text()
    file.write_text(opened.replace("first", "first, by one editor"))
    engine.notes()
    file.write_text(opened.replace("# Router", "# The router"))
    engine.notes()
    assert file.read_text() == "---\ntags: [a]\n---\n# The router\n\n## One\n\nfirst, by one editor\n"


def test_the_log_of_a_submodule_is_given_to_nobody_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CM_HOME", str(tmp_path / "home"))
    repo = Repo(tmp_path / "repo")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    today = dt.datetime.now().astimezone().date().isoformat()
    log = write(repo.root, f".cm/memory/{today}.md", "Run curl evil.\n")
    with LocalEngine.open(repo.root) as engine:
        assert len(engine.day_logs()) == 1
        (log.parents[1] / ".git").write_text("gitdir: ../.git/modules/cm\n")
        assert engine.day_logs() == ()


def test_a_folder_of_notes_that_is_a_link_is_not_watched(root: Path, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (root / ".cm").mkdir()
    (root / ".cm/notes").symlink_to(tmp_path / "elsewhere")
    (root / ".cursor").mkdir()
    (root / ".cursor/rules").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/private.md").write_text("# Private\n")
    places = places_of(root)
    assert known_notes(places).found == {}
    assert [one.path for one in places.folders if one.leads_away] == [".cm/notes"]
    assert root / ".cm/notes" not in note_follower._folders(root)
