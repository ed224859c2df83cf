"""A repository, places for the transcripts of agents, and imports from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from cm_tui.engine.memory.importers.plan import plan
from cm_tui.engine.memory.importers.project import ProjectTranscripts
from cm_tui.engine.memory.importers.run import Import
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import Cancel, ImportSummary
from tests.gitrepo import Repo


class Machine:
    """A project, and what agents keep on the same machine."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.repo = Repo(base / "work" / "shop")
        self.repo.write("shop/money.py", "x = 1\n")
        self.repo.commit("begin")
        self.root = self.repo.root
        self.claude, self.codex, self.data = base / "claude", base / "codex", base / "data"
        self.copilot, self.gemini, self.cursor = base / "copilot", base / "home", base / "cursor"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "CLAUDE_CONFIG_DIR": str(self.claude), "CODEX_HOME": str(self.codex), "XDG_DATA_HOME": str(self.data),
            "COPILOT_HOME": str(self.copilot), "GEMINI_CLI_HOME": str(self.gemini),
            "CURSOR_DATA_DIR": str(self.cursor),
        }  # fmt: skip

    def transcripts(self, agents: Sequence[str] = (), folders: Sequence[str] = ()) -> ProjectTranscripts:
        return ProjectTranscripts(self.root, agents, folders, self.environment)

    def run(self, folders: Sequence[str] = ()) -> ImportSummary:
        """Import everything; what was offered before is what is added."""
        offered = plan(self.transcripts((), folders)).new
        last = list(Import(self.transcripts((), folders)).run(Cancel()))[-1]
        assert last.imported is not None
        assert bool(offered) == bool(last.imported.episodes), (offered, last.imported)
        return last.imported

    def episodes(self) -> list[EpisodeRecord]:
        return [EpisodeRecord.from_event(event) for event in Journal.of(self.root).read() if event.kind == "episode"]

    def prompts(self) -> list[str]:
        return [" + ".join(record.prompts) for record in self.episodes()]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
