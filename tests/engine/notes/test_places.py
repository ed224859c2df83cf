"""Where notes lie, what each is, and that nothing outside is one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cm_tui.engine.memory.notes.places import Places
from cm_tui.engine.memory.notes.scan import places_of, scan_folders, scan_notes
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from tests.engine.notes.conftest import write


def found(root: Path) -> dict[str, str]:
    return {id_: place.kind for id_, (place, _) in scan_notes(places_of(root)).found.items()}


def test_each_place_has_notes_of_its_kind(root: Path, tmp_path: Path):
    write(root, "MEMORY.md", "x")
    write(root, "memory/2026-02-10.md", "x")
    write(root, "memory/2026-02-10-router.md", "x")
    write(root, ".cm/memory/2026-02-11.md", "x")
    write(root, ".cm/notes/plan.md", "x")
    write(root, ".cm/notes/topics/net/router.md", "x")
    write(root, ".cm/notes/plan.txt", "x")
    write(root, ".cursor/rules/style.mdc", "x")
    write(root, "AGENTS.md", "x")
    write(tmp_path / "home", "data/notes/style.md", "x")
    write(tmp_path / "home", "data/notes/topics/git.md", "x")
    write(tmp_path / "agents", "CLAUDE.md", "x")
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(root))
    write(tmp_path / "agents", f"projects/{slug}/memory/MEMORY.md", "x")
    kinds = found(root)
    assert kinds.pop("codex:AGENTS.md", None) is None
    assert kinds == {
        "MEMORY.md": "long-term", "memory/2026-02-10.md": "day", "memory/2026-02-10-router.md": "project",
        ".cm/memory/2026-02-11.md": "day", ".cm/notes/plan.md": "project", ".cm/notes/topics/net/router.md": "topic",
        ".cursor/rules/style.mdc": "instructions", "AGENTS.md": "instructions", "user:style.md": "user",
        "user:topics/git.md": "topic", "claude:CLAUDE.md": "instructions", "claude:memory/MEMORY.md": "instructions",
    }  # fmt: skip


def test_what_codex_keeps_is_read_and_of_its_summaries_those_of_this_project(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    home = tmp_path / "codex"
    monkeypatch.setenv("CODEX_HOME", str(home))
    for name in ("MEMORY.md", "memory_summary.md", "raw_memories.md", "other.md", "skills/a/SKILL.md"):
        write(home, f"memories/{name}", "x")
    heads = {"here": str(root), "below": f"{root}/src", "twin": f"{root}-2", "up": f"{root}/../x", "none": ""}
    for name, cwd in heads.items():
        folder = f"cwd: {cwd}\n" if cwd else ""
        write(home, f"memories/rollout_summaries/{name}.md", f"thread_id: 1\nupdated_at: x\n{folder}\ncwd: {root}\n")
    (home / "memories/rollout_summaries/link.md").symlink_to(home / "memories/rollout_summaries/here.md")
    known = {id_: place for id_, (place, _) in scan_notes(places_of(root)).found.items() if id_.startswith("codex:")}
    assert {id_: place.scope for id_, place in known.items()} == {
        "codex:memories/MEMORY.md": "user", "codex:memories/memory_summary.md": "user", "codex:memories/raw_memories.md": "user",
        "codex:memories/rollout_summaries/here.md": "project", "codex:memories/rollout_summaries/below.md": "project",
    }  # fmt: skip
    assert not any(place.writable for place in known.values())


def test_folders_of_the_settings_are_read_and_never_those_of_a_repository(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write(tmp_path, "one/notes/a.md", "x")
    write(tmp_path, "two/notes/b.md", "x")
    write(root, ".cm/config.toml", f'[memory]\nnote_folders = ["{tmp_path}/one"]\n')
    assert found(root) == {}
    monkeypatch.setenv("CM_MEMORY__NOTE_FOLDERS", f'["{tmp_path}/one/notes", "{tmp_path}/two/notes", "/nowhere"]')
    assert found(root) == {"extra:notes/a.md": "extra", "extra:notes-2/b.md": "extra"}
    assert not places_of(root).place("extra:notes/a.md").writable


@pytest.mark.parametrize(
    "name", ["../x.md", "/etc/x.md", "~/x.md", ".cm/notes/../../x.md", "user:../x.md", "user:/x.md", "memory/a\\b.md"]
)
def test_nothing_outside_is_a_note(root: Path, name: str):
    with pytest.raises(RefusedError):
        Places(root).place(name)


def test_a_link_is_never_followed(root: Path, tmp_path: Path):
    write(tmp_path, "secret/x.md", "x")
    (root / ".cm/notes").mkdir(parents=True)
    (root / ".cm/notes/x.md").symlink_to(tmp_path / "secret/x.md")
    (root / ".cm/notes/topics").symlink_to(tmp_path / "secret")
    (root / "memory").symlink_to(tmp_path / "secret")
    (root / ".cm/notes/again").symlink_to(root / ".cm/notes")
    (root / "MEMORY.md").symlink_to(tmp_path / "secret/x.md")
    assert found(root) == {}
    assert any("memory is a symbolic link" in note for note in scan_folders(Places(root)).notes)


@pytest.mark.parametrize("name", ["con", "a:b", "topics/nul.md", "a?b", "x" * 130, "topics/a\x07.md"])
def test_a_name_that_some_system_does_not_allow_is_refused(root: Path, name: str):
    with pytest.raises((UsageError, NotFoundError)):
        Places(root).new(name)


def test_a_bare_name_is_a_topic(root: Path):
    places = Places(root)
    assert places.new("router").id == ".cm/notes/topics/router.md"
    assert places.new("topics/router").id == ".cm/notes/topics/router.md"
    assert places.new("MEMORY").id == "MEMORY.md"
    assert places.new("user:style").id == "user:style.md"


def test_a_name_that_is_no_text_is_told_and_left_out(root: Path):
    folder = root / ".cm/notes"
    folder.mkdir(parents=True)
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md"))).write_text("x")
    looked = scan_folders(Places(root))
    assert dict(looked.found) == {}
    assert "not valid text" in looked.notes[0]
