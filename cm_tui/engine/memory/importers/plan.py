"""The plan of an import: the transcripts of a project, and those of which an import would record a turn."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cm_tui.engine.memory.importers.project import FORMATS, Found, ProjectTranscripts
from cm_tui.engine.memory.importers.run import Import
from cm_tui.engine.memory.transcripts.lines import as_record, opened, parse_json
from cm_tui.engine.memory.transcripts.transcript import parse_time
from cm_tui.model import ImportPlan, ImportSource

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
