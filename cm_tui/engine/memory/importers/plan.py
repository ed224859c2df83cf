"""What an import would record: in one project, and in all projects on this machine."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from cm_tui.engine.memory.importers.project import FORMATS, Found, ProjectTranscripts, Survey, formats_of, has_news
from cm_tui.engine.memory.importers.project_folders import left_of
from cm_tui.engine.memory.importers.run import Import
from cm_tui.engine.memory.importers.state import ImportState
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.lines import as_record, opened, parse_json
from cm_tui.engine.memory.transcripts.transcript import Transcript, parse_time
from cm_tui.engine.memory.transcripts.turn import SessionFacts
from cm_tui.engine.platform.git.identity import identify
from cm_tui.engine.platform.git.markers import marked_around
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError
from cm_tui.model import AllImports, ImportPlan, ImportSource, ProjectSessions

# --- the plan of an import: the transcripts of a project, and those of which an import would record a turn ---

_LAST_BYTES = 65_536
"""So much of a transcript is looked at for the time of its last record."""
_ELSEWHERE = 100
"""Folders of other projects that are named."""


def plan(project: ProjectTranscripts) -> ImportPlan:
    """Return the plan of an import. Raises StoreError if the journal cannot be read."""
    by_agent: dict[str, list[Found]] = {one.agent: [] for one in FORMATS}
    found = project.found()
    for one in found:
        by_agent[one.transcript.agent].append(one)
    new = {one.transcript.name for one in Import(project).additions(found)}
    return ImportPlan(
        tuple(_source(agent, found, new) for agent, found in by_agent.items() if found),
        project.survey.others.total(),
        project.state.has_any(),
        project.notes(each=True),
        tuple(project.unheld),
        tuple(folder for folder, _ in project.survey.others.most_common(_ELSEWHERE) if folder),
        project.survey.counts(),
    )


def _source(agent: str, found: Sequence[Found], names: Collection[str]) -> ImportSource:
    new = [one for one in found if one.transcript.name in names]
    began = [one.facts.began for one in found if one.facts.began is not None]
    return ImportSource(
        agent,
        len({one.facts.session for one in found}),
        len({one.facts.session for one in new}),
        sum(one.unread_bytes for one in new),
        tuple(sorted({str(one.place.root) for one in found})),
        tuple(sorted({one.facts.folder for one in found if one.place.was_moved})),
        min(began, default=None),
        max(map(_last_time, found), default=None),
    )


def _last_time(found: Found) -> float:
    """Return the time of a session's last change: by its last record, else by its state."""
    transcript = found.transcript
    if transcript.session or transcript.is_copy:
        return transcript.stamp
    try:
        with opened(transcript.file) as stream:
            stream.seek(max(0, transcript.size - _LAST_BYTES))
            lines = stream.read(_LAST_BYTES).splitlines()
    except OSError:
        lines = []
    times = (parse_time(as_record(parse_json(line)).get("timestamp")) for line in reversed(lines))
    return next((time for time in times if time is not None), found.facts.began or transcript.stamp)


# --- projects on this machine with sessions of agents and a repository ---


@dataclass
class _Sessions:
    """Sessions of one project."""

    root: Path
    journal: Journal
    sessions: set[str] = field(default_factory=set)
    agents: set[str] = field(default_factory=set)
    unread: list[tuple[Format, Transcript]] = field(default_factory=list)

    def add(self, format_: Format, transcript: Transcript, facts: SessionFacts) -> None:
        self.sessions.add(facts.session)
        self.agents.add(facts.agent)
        if has_news(transcript, ImportState(self.journal).load(transcript.name)):
            self.unread.append((format_, transcript))

    def row(self, agents: Sequence[str], environment: Mapping[str, str] | None) -> ProjectSessions:
        """Return the counts. Raises CmError if the project's journal cannot be read."""
        project = ProjectTranscripts(self.root, agents, (), environment)
        found = (project.look_at(*one) for one in self.unread)
        new = list(Import(project).additions(one for one in found if one is not None))
        return ProjectSessions(
            str(self.root), tuple(sorted(self.agents)), len(self.sessions), len({one.facts.session for one in new}),
            sum(one.unread_bytes for one in new),
        )  # fmt: skip


def all_projects(agents: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> AllImports:
    """Return the projects with sessions, those with the most first; records nothing.

    `agents`: only their sessions; empty: all agents. `environment`: the agents' own variables, which locate their
    transcripts. Raises UsageError if an agent is unknown; ConfigError if the list of folders that are never recorded
    cannot be read; StoreError if a project's journal cannot be read.
    """
    return _Machine(agents, environment).look()


class _Machine:
    """All projects of a machine, each known by the folder of its journal."""

    def __init__(self, agents: Sequence[str], environment: Mapping[str, str] | None) -> None:
        self._agents, self._environment = agents, environment
        self._survey = Survey(formats_of(agents, environment))
        self._found = cache(self._find)
        self._by_journal: dict[Path, _Sessions] = {}
        self._never = gate.patterns()

    def look(self) -> AllImports:
        for one, transcript in self._survey.transcripts():
            facts = self._survey.facts(one, transcript)
            if facts is not None and (project := self._project_of(facts.folder)) is not None:
                project.add(one, transcript, facts)
        rows = [one.row(self._agents, self._environment) for one in self._by_journal.values()]
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
