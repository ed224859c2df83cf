"""Saving the prompts of sessions whose transcripts Claude Code deleted, from its list of prompts."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

from cm_tui.engine.memory.importers.withheld import Withheld
from cm_tui.engine.memory.transcripts import copies
from cm_tui.engine.memory.transcripts.claude_home import PROMPTS, prompt_of, session_of
from cm_tui.engine.memory.transcripts.lines import Line, as_text, read_lines
from cm_tui.engine.memory.transcripts.transcript import parse_time
from cm_tui.engine.memory.transcripts.turn import SessionFacts
from cm_tui.files import opened_below


class LostPrompts:
    """Copies the prompts of such sessions, one file per session.

    `agent`: Claude Code's name; `present`: sessions with a transcript, or a copy of one; `withheld`: returns the test
    for prompts that are not copied; `wanted`: returns whether to copy a session.
    """

    def __init__(
        self,
        agent: str,
        home: Path,
        present: set[str],
        withheld: Callable[[], Withheld],
        wanted: Callable[[SessionFacts], bool],
    ) -> None:
        self._agent = agent
        self._file = home / PROMPTS
        self._present = present
        self._withheld = withheld
        self._wanted = wanted
        self.notes: list[str] = []

    def copy(self) -> Iterator[str]:
        """Yield each session whose prompts were copied."""
        try:
            lost: dict[str, list[Line]] = {}
            present = set(self._present)
            for session, line in self._lines():
                if session not in lost and session not in present and not self._is_lost(session):
                    present.add(session)
                if session not in present:
                    lost.setdefault(session, []).append(line)
            for session, found in lost.items():
                with copies.changing():
                    if self._keep(session, found):
                        yield session
        except FileNotFoundError:
            return
        except OSError as error:
            self.notes.append(f"{self._file} could not be copied: {error.strerror or error}")

    def _is_lost(self, session: str) -> bool:
        is_erased = copies.mark_of("erased", f"{self._file}#{session}").exists()
        return not (is_erased or self._copy_of(session).exists())

    def _copy_of(self, session: str) -> Path:
        return copies.copy_of(self._agent, self._file / f"{session}.jsonl")

    def _lines(self) -> Iterator[tuple[str, Line]]:
        with opened_below(self._file.parent, self._file.name) as raw, io.BufferedReader(raw) as stream:
            for line in read_lines(stream):
                if session := session_of(line.record):
                    yield session, line

    def _keep(self, session: str, lines: list[Line]) -> bool:
        """Write the allowed prompts of a session; return whether there were any."""
        may = [line for line in lines if self._may_be_kept(session, line)]
        if not any(prompt_of(line.record) for line in may):
            return False
        changed = max((parse_time(line.record.get("timestamp")) or 0.0 for line in may), default=0.0)
        with copies.writing(self._copy_of(session), int(changed * 1e9)) as packed:
            for line in may:
                packed.write(line.data.rstrip() + b"\n")
        return True

    def _may_be_kept(self, session: str, line: Line) -> bool:
        folder = as_text(line.record.get("project"))
        if not folder or not self._wanted(SessionFacts(self._agent, session, folder)):
            return False
        time = parse_time(line.record.get("timestamp"))
        return not self._withheld().why_prompt(session, folder, as_text(line.record.get("display")), time)
