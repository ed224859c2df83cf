"""A project without git and a home without agents, for tests of notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui.engine.memory.notes.note_changes import NoteChanges
from cm_tui.engine.memory.notes.notes import Notes


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CM_HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "agents"))
    root = tmp_path / "shop"
    root.mkdir()
    return root


@pytest.fixture
def changes(root: Path) -> NoteChanges:
    return NoteChanges(Notes(root))


def write(root: Path, path: str, text: str | bytes) -> Path:
    """Write a file as another program does."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file
