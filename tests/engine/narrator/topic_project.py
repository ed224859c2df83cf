"""A project with topics, for tests."""

from __future__ import annotations

import os
import time
from pathlib import Path

from cm_tui import paths
from cm_tui.engine.memory.notes.topic_files import CHANGED
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import START, Journal
from tests.gitrepo import Repo

TOPICS = ".cm/notes/topics"
DAY_S = 86_400


class Project:
    """A repository whose notes git does not keep, and a user."""

    def __init__(self, folder: Path) -> None:
        self.repo = Repo(folder / "shop")
        self.root = self.repo.root
        self.repo.write("src/main.py", "x = 1\n")
        self.repo.commit("begin")

    def topic(self, name: str, text: str, *, days: float = 0) -> str:
        """Write a topic as a person does, so many days ago; returns its id."""
        return self.note(f"{TOPICS}/{name}.md", text, days=days)

    def note(self, id_: str, text: str, *, days: float = 0) -> str:
        file = self.file(id_)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, newline="")
        then = time.time() - days * DAY_S
        os.utime(file, (then, then))
        return id_

    def file(self, id_: str) -> Path:
        for start, base in (
            ("user:", paths.data_dir() / "notes"),
            ("user-archive:", paths.data_dir() / "notes-archive"),
        ):
            if id_.startswith(start):
                return base / id_.removeprefix(start)
        return self.root / id_

    def text(self, id_: str) -> str:
        return self.file(id_).read_bytes().decode()

    def all(self) -> dict[str, bytes]:
        """Return what all notes and retired topics hold."""
        bases = [
            self.root / ".cm/notes",
            self.root / ".cm/archive",
            paths.data_dir() / "notes",
            paths.data_dir() / "notes-archive",
        ]
        return {str(file): file.read_bytes() for base in bases for file in sorted(base.rglob("*.md"))}

    def changes(self) -> list[Event]:
        return [event for event in Journal.of(self.root).read(START) if event.kind == CHANGED]
