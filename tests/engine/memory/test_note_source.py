"""Notes become passages: found by what they say, as soon as they are saved, and the same again after a rebuild."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.notes import scan
from cm_tui.engine.memory.notes.scan import places_of, scan_notes
from cm_tui.engine.memory.projection import note_source
from tests.planted import GITHUB
from tests.waiting import until


@pytest.fixture(autouse=True)
def no_agents(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "agents"))


def write(engine: Engine, path: str, text: str) -> Path:
    file = engine.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def found(engine: Engine, question: str) -> list[str]:
    return [f"{hit.path}:{hit.start_line}" for hit in engine.search_notes(question, min_score=0.0).hits]


def test_a_note_is_found_when_it_is_saved_and_gone_when_it_is_deleted(engine: Engine):
    file = write(engine, ".cm/notes/topics/router.md", "# Router\n\nThe gateway listens on port 8123.\n")
    assert found(engine, "gateway port") == ["note/.cm/notes/topics/router.md:1"]
    file.write_text("# Router\n\nNothing.\n\n## Ports\n\nThe gateway listens on port 9000.\n")
    assert found(engine, "gateway port")[0] == "note/.cm/notes/topics/router.md:5"
    file.unlink()
    assert found(engine, "gateway port") == []
    assert engine.notes().total == 0


def test_without_an_index_notes_are_found(engine: Engine):
    engine.append_note("Deploys go through the blue gate.")
    assert len(found(engine, "blue gate")) == 1
    assert [hit.source for hit in engine.recall("blue gate").hits] == ["note"]


def test_a_secret_is_in_no_passage(engine: Engine):
    write(engine, "MEMORY.md", f"# Deploy\n\nThe deploy token is {GITHUB}, from the vault.\n")
    hits = engine.search_notes("deploy token vault", min_score=0.0).hits
    assert hits
    assert all(GITHUB not in hit.snippet for hit in hits)
    assert GITHUB not in engine.note("MEMORY.md").text


def test_many_notes_are_read_some_at_a_time(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(note_source, "MOST", 3)
    for number in range(8):
        write(engine, f"memory/2026-02-{number + 1:02}.md", f"# Day\n\nOn day {number} the gateway was restarted.\n")
    assert engine.notes(kind="day").total == 8
    assert len(engine.search_notes("gateway restarted", limit=20, min_score=0.0).hits) == 8


def test_a_rebuild_gives_the_same(indexed_engine: Engine):
    engine = indexed_engine
    for number in range(4):
        write(
            engine,
            f".cm/notes/plan-{number}.md",
            f"---\ndate: 2026-02-0{number + 1}\n---\n# Plan\n\nGateway {number}.\n",
        )
    # Which gives them vectors.
    for _ in engine.index():
        pass
    before = found(engine, "gateway plan")
    listed = engine.notes().rows
    for _ in engine.rebuild():
        pass
    assert found(engine, "gateway plan") == before
    assert engine.notes().rows == listed


def test_another_file_with_the_same_content_keeps_its_passages(engine: Engine):
    file = write(engine, ".cm/notes/plan.md", "# Plan\n\nGateway first.\n")
    write(engine, ".cm/notes/other.md", "# Other\n\nGateway second.\n")
    found(engine, "gateway")

    def passages() -> dict[str, int]:
        return dict(engine._db.rows("SELECT path, id FROM passage WHERE source = 'note'"))

    before, generation = passages(), engine._db.get_meta("passage_generation")
    file.rename(file.with_suffix(".txt"))
    # As the worktree beside it has it.
    os.utime(write(engine, ".cm/notes/plan.md", "# Plan\n\nGateway first.\n"), (77, 77))
    assert len(found(engine, "gateway first")) == 2
    assert (passages(), engine._db.get_meta("passage_generation")) == (before, generation)
    assert {note.id: note.modified for note in engine.notes().rows}[".cm/notes/plan.md"] == 77
    write(engine, ".cm/notes/plan.md", "---\ntags: [zebra]\n---\n# Plan\n\nGateway first.\n")
    assert found(engine, "zebra") == ["note/.cm/notes/plan.md:4"]
    differing = {path for path in before if passages()[path] != before[path]}
    assert differing == {"note/.cm/notes/plan.md"}


def test_a_process_that_stays_is_told_instead_of_looking(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
):
    request.addfinalizer(lambda: scan.forget(engine.root))
    monkeypatch.setattr(scan, "_LONG_LIVED_S", -1.0)
    file = write(engine, ".cm/notes/a.md", "one")
    places = places_of(engine.root)
    # Once what was written before has been told, nothing has changed, and nothing is looked at.
    until(lambda: scan_notes(places).folders is scan_notes(places).folders, "the watch to begin")
    first = scan_notes(places)
    file.write_text("two, and longer")
    until(lambda: scan_notes(places).sign != first.sign, "the change to be seen")
    write(engine, ".cm/memory/2026-02-10.md", "a folder that was not there")
    until(lambda: ".cm/memory/2026-02-10.md" in scan_notes(places).found, "the folder to be seen")
    (engine.root / ".cm/notes").rename(engine.root / "elsewhere")
    until(lambda: [*scan_notes(places).found] == [".cm/memory/2026-02-10.md"], "the rename to be seen")


@pytest.mark.parametrize("removed", [shutil.rmtree, lambda folder: folder.rename(folder.with_name("elsewhere"))])
def test_a_folder_in_place_of_a_watched_one_is_watched_too(
    engine: Engine,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    removed: Callable[[Path], object],
):
    request.addfinalizer(lambda: scan.forget(engine.root))
    monkeypatch.setattr(scan, "_LONG_LIVED_S", -1.0)
    folder = write(engine, ".cm/notes/a.md", "one").parent
    places = places_of(engine.root)
    for _ in range(2):
        scan_notes(places)
    removed(folder)
    write(engine, ".cm/notes/b.md", "of another branch")
    until(lambda: [*scan_notes(places).found] == [".cm/notes/b.md"], "the new folder to be seen")
    write(engine, ".cm/notes/c.md", "and one more")
    until(lambda: ".cm/notes/c.md" in scan_notes(places).found, "the new file to be seen")
