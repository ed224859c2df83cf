"""Projects on this machine with sessions of agents and a repository."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from cm_tui.engine.memory.importers.project import Survey, formats_of, has_news
from cm_tui.engine.memory.importers.project_folders import left_of
from cm_tui.engine.memory.importers.state import ImportState
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.transcript import Transcript
from cm_tui.engine.memory.transcripts.turn import SessionFacts
from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.git.markers import marked_around
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError
from cm_tui.model import AllImports, ProjectSessions


@dataclass
class _Sessions:
    """Sessions of one project."""

    root: Path
    journal: Journal
    sessions: set[str] = field(default_factory=set)
    new: set[str] = field(default_factory=set)
    agents: set[str] = field(default_factory=set)
    bytes: int = 0

    def add(self, transcript: Transcript, facts: SessionFacts) -> None:
        self.sessions.add(facts.session)
        self.agents.add(facts.agent)
        state = ImportState(self.journal).load(transcript.name)
        if has_news(transcript, state):
            self.new.add(facts.session)
            self.bytes += max(0, transcript.size - state.offset)


def all_projects(agents: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> AllImports:
    """Return the projects with sessions, those with the most first; records nothing.

    `agents`: only their sessions; empty: all agents. `environment`: the agents' own variables, which locate their
    transcripts. Raises UsageError if an agent is unknown; ConfigError if the list of folders that are never recorded
    cannot be read.
    """
    return _Machine(formats_of(agents, environment)).look()


class _Machine:
    """All projects of a machine, each known by the folder of its journal."""

    def __init__(self, formats: Sequence[Format]) -> None:
        self._survey = Survey(formats)
        self._found = cache(self._find)
        self._by_journal: dict[Path, _Sessions] = {}
        self._never = gate.patterns()

    def look(self) -> AllImports:
        for one, transcript in self._survey.transcripts():
            facts = self._survey.facts(one, transcript)
            if facts is not None and (project := self._project_of(facts.folder)) is not None:
                project.add(transcript, facts)
        rows = [
            ProjectSessions(str(one.root), tuple(sorted(one.agents)), len(one.sessions), len(one.new), one.bytes)
            for one in self._by_journal.values()
        ]
        rows.sort(key=lambda row: (-row.sessions, row.root))
        survey = self._survey
        gone, never, notes = survey.others["gone"], survey.others["never"], tuple(survey.notes())
        return AllImports(tuple(rows), gone, never, survey.without_session, notes, survey.counts())

    def _project_of(self, folder: str) -> _Sessions | None:
        """Return the project of a folder; None, and the reason counted, where there is no project to import into."""
        found = self._found(folder)
        if found is None:
            self._survey.others["never" if self._is_never(folder) else "gone"] += 1
        return found

    def _find(self, folder: str) -> _Sessions | None:
        try:
            left = left_of(folder)
            root = marked_around(left) if left is not None else None
            if (
                root is None
                or not os.path.lexists(root / ".git")
                or self._is_never(folder)
                or self._is_never(str(root))
            ):
                return None
            name = identify(root).folder
        except (CmError, OSError, ValueError):
            # What cannot be opened cannot be imported into.
            return None
        found = self._by_journal.setdefault(name, _Sessions(root, Journal.of(root)))
        if (root / ".git").is_dir() and not (found.root / ".git").is_dir():
            # The checkout itself rather than a worktree of it.
            found.root = root
        return found

    def _is_never(self, folder: str) -> bool:
        return os.path.isabs(folder) and "\0" not in folder and gate.is_below(folder, self._never)  # noqa: PTH117
