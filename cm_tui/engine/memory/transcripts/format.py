"""A format of transcripts: where its files are, whose sessions they hold, and how turns are read from them."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from cm_tui.engine.memory.transcripts.copies import DEPTH, copies_below, copy_of
from cm_tui.engine.memory.transcripts.files import DOCUMENTS, LINES, PACKED, FoundFile, found_files, names_of_folders
from cm_tui.engine.memory.transcripts.line_reading import LineReading
from cm_tui.engine.memory.transcripts.lines import HEAD_BYTES, Line, is_recoded, opened_text, read_lines
from cm_tui.engine.memory.transcripts.transcript import Item, Resume, Transcript
from cm_tui.engine.memory.transcripts.turn import SessionFacts

_OTHER = "from another program or an unsupported version"


class Format(ABC):
    """One agent's transcripts. `environment`: the agent's variables, which locate them if not in their usual place."""

    agent = ""
    asides = frozenset[str]()
    """Kinds of records that need no session: a file may hold these alone."""
    prefix = ""
    """How the names of its files of lines begin."""
    names: re.Pattern[str] | None = None
    """Paths below a place that are transcripts, if other files are there, too; None: all files of lines."""
    own = re.compile(r"(?!)")
    """Paths below a place of the agent's own JSON files, which are not transcripts."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.left_out: list[Path] = []
        """Folders that were not searched completely, as they have too many files."""
        self.unread: dict[Path, str] = {}
        """Files that are passed over, with the reasons; as of the last look at the transcripts."""

    def _folder_in(self, variable: str, usual: str) -> Path:
        """Return the agent's folder: by its variable, else below the user's home."""
        return Path(self._environment.get(variable) or Path.home() / usual).expanduser()

    @property
    def places(self) -> tuple[Path, ...]:
        """Folders of transcripts that are files; empty: another form."""
        return ()

    def transcripts(self) -> Iterator[Transcript]:
        """Yield the transcripts; unreadable folders are skipped."""
        self.unread.clear()
        for place in self.places:
            yield from self._below(place)

    def days_kept(self, place: Path) -> int | None:  # noqa: ARG002 - some agents delete nothing, anywhere
        """Return the agent's retention of unchanged transcripts of a place in days; None: forever."""
        return None

    @abstractmethod
    def facts(self, transcript: Transcript) -> SessionFacts | None:
        """Return the facts from its first records; None: not there.

        Raises OSError if it was removed, or cannot be read.
        """

    def read(self, transcript: Transcript, facts: SessionFacts, resume: Resume) -> Iterator[Item]:
        """Yield its turns from a position on; at the end `resume` is the position after the last one.

        Raises OSError if it was removed, or cannot be read.
        """
        if is_recoded(transcript.file):
            resume.from_beginning()
        yield from self._reading(facts, resume).items(transcript.file)

    def _reading(self, facts: SessionFacts, resume: Resume) -> LineReading:
        """Return what reads turns from the records of one file; not for formats with a `read` of their own."""
        raise NotImplementedError

    def originals(self, place: Path) -> Iterator[FoundFile]:
        """Yield the files below a place that can be copied: no links."""
        for found in found_files(place, (*LINES, *DOCUMENTS), depth=DEPTH, left_out=self.left_out, links=False):
            if self._why_unread(found.path.relative_to(place).as_posix()) is None:
                yield found

    def _below(self, place: Path) -> Iterator[Transcript]:
        """Yield the transcripts below a place, then the copies of missing ones."""
        for found in found_files(place, (*LINES, *PACKED, *DOCUMENTS), depth=DEPTH, left_out=self.left_out):
            why = self._why_unread(found.path.relative_to(place).as_posix())
            if why is None:
                yield Transcript(self.agent, str(found.path), *found)
            elif why:
                self.unread[found.path] = why
        for original, found in copies_below(self.agent, place):
            if not os.path.lexists(original):
                yield Transcript(self.agent, str(original), *found, is_copy=True)

    def _why_unread(self, inside: str) -> str | None:
        """Return why a file is not read, by its path below a place; empty: it is none; None: it is a transcript."""
        name = inside.rpartition("/")[2]
        if self.names is not None:
            return None if self.names.fullmatch(inside) else ""
        if name.endswith(DOCUMENTS):
            return "" if self.own.fullmatch(inside) else f"it is not a transcript in JSON Lines (.jsonl): {_OTHER}"
        if not name.startswith(self.prefix):
            return f"its name does not begin with {self.prefix}: {_OTHER}"
        packing = name.rpartition(".")[2]
        return f"compressed as {packing}; unpack it, or pack it as gz" if name.endswith(PACKED) else None

    def _pass_over(self, folder: Path, suffix: str, reason: str) -> None:
        """Report the files of a form that is not read."""
        for found in found_files(folder, suffix, depth=DEPTH, left_out=self.left_out):
            self.unread[found.path] = reason

    @staticmethod
    def _head(transcript: Transcript, most: int | None = None) -> Iterator[Line]:
        """Yield the first records, which contain the facts."""
        with opened_text(transcript.file) as stream:
            for line in islice(read_lines(stream), most):
                yield line
                if line.end > HEAD_BYTES:
                    return


def known_records(agent: str) -> frozenset[str]:
    """Return the kinds of records of an agent that hold nothing to import."""
    lines = Path(__file__).with_name("known_records.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(kind for line in lines if line.startswith(f"{agent}: ") for kind in line.split()[1:])


class FolderFormat(Format):
    """Transcripts in a folder for each project, whose name is not its path."""

    folders: tuple[str, ...] = ()
    """Possible folders of the sessions, existing or not."""
    _base: Path
    """The folder that has a folder for each project."""
    _leaf = ""
    """Name of the folder of transcripts in these."""

    @property
    def places(self) -> tuple[Path, ...]:
        """Folders of transcripts, including those with copies only."""
        names = {*names_of_folders(self._base), *names_of_folders(copy_of(self.agent, self._base / "x").parent)}
        return tuple(self._base / name / self._leaf for name in sorted(names))
