"""Places of notes: folders and files of the project, of the user, and from the settings."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from cm_tui import paths
from cm_tui.errors import NotFoundError, RefusedError, UsageError
from cm_tui.files import opened_below
from cm_tui.model import NoteKind, Scope
from cm_tui.model.ids import quoted
from cm_tui.same_names import name_key, same_names

# --- files with instructions for agents, and agents' own memory files: which exist, and where ---

NAMES = (
    "AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".claude/CLAUDE.md", ".cursorrules", ".windsurfrules",
    ".github/copilot-instructions.md", ".clinerules",
)  # fmt: skip
"""In a project, read by Codex and others, Claude Code, Gemini, Cursor, Windsurf, Copilot and Cline."""
_FOLDERS = ((".cursor/rules", (".mdc", ".md")), (".github/instructions", (".md",)), (".claude/rules", (".md",)))
"""In a project, each with the endings of its files; one level."""
_OF_USER = (("claude", "CLAUDE.md"), ("codex", "AGENTS.md"), ("gemini", "GEMINI.md"))
"""Of the user, for all projects: the agent, and the file in its folder."""
_MOST = 200
"""Files of one folder that are looked at."""
_NOT_IN_A_SLUG = re.compile(r"[^A-Za-z0-9]")

_CODEX_MEMORIES = ("MEMORY.md", "memory_summary.md", "raw_memories.md")
_HEAD_BYTES = 4_000
_CWD = re.compile(rb"^cwd: (.+?)\r?$", re.MULTILINE)

Instruction = tuple[str, Path, str, Scope]
"""Id, base folder, path below it, and scope."""


def agent_folders(environment: Mapping[str, str]) -> dict[str, Path]:
    """Return the folder of each agent's memory of its user."""
    home = Path.home()
    claude = environment.get("CLAUDE_CONFIG_DIR", "").split(",")[0].strip()
    return {
        "claude": Path(claude).expanduser() if claude else home / ".claude",
        "codex": Path(environment.get("CODEX_HOME") or home / ".codex").expanduser(),
        "gemini": home / ".gemini",
    }


def instruction_files(root: Path, agents: Mapping[str, Path]) -> Iterator[Instruction]:
    """Yield the instruction files of a project and its user, and an agent's own memory of the project.

    `agents`: folders of agents, by their names.
    """
    for name in NAMES:
        yield name, root, name, "project"
    for folder, endings in _FOLDERS:
        for name in _names(root / folder, endings):
            yield f"{folder}/{name}", root, f"{folder}/{name}", "project"
    for agent, name in _OF_USER:
        if agent in agents:
            yield f"{agent}:{name}", agents[agent], name, "user"
    if "claude" in agents:
        # Claude Code has a project's memory below the project's path, with dashes.
        memory = f"projects/{_NOT_IN_A_SLUG.sub('-', str(root))}/memory"
        for name in _names(agents["claude"] / memory, (".md",)):
            yield f"claude:memory/{name}", agents["claude"], f"{memory}/{name}", "project"
    if "codex" in agents:
        yield from _codex_memories(root, agents["codex"])


def _codex_memories(root: Path, home: Path) -> Iterator[Instruction]:
    """Yield Codex's memory of all projects, and its summaries of this project's sessions."""
    for name in _CODEX_MEMORIES:
        yield f"codex:memories/{name}", home, f"memories/{name}", "user"
    folder = "memories/rollout_summaries"
    for name in _names(home / folder, (".md",)):
        if _is_held_in(root, home / folder / name):
            yield f"codex:{folder}/{name}", home, f"{folder}/{name}", "project"


def _is_held_in(root: Path, file: Path) -> bool:
    """Return whether the summary of a session names a folder of a project."""
    try:
        found = os.stat(file, follow_symlinks=False)  # noqa: PTH116 - the link itself
    except OSError:
        return False
    cwd = _cwd_of(file, found.st_mtime_ns, found.st_size)
    return cwd == str(root) or cwd.startswith(f"{root}{os.sep}")


@lru_cache(maxsize=1_000)
def _cwd_of(file: Path, changed: int, size: int) -> str:  # noqa: ARG001 - another file has another one of these
    """Return the folder in the summary of a session, normalised; empty: none."""
    try:
        with opened_below(file.parent, file.name) as stream:
            found = _CWD.search(stream.read(_HEAD_BYTES).partition(b"\n\n")[0])
    except OSError:
        return ""
    return os.path.normpath(found[1].decode("utf-8", "replace")) if found else ""


def _names(folder: Path, endings: tuple[str, ...]) -> list[str]:
    try:
        with os.scandir(folder) as found:
            names = [one.name for one in found if one.name.endswith(endings) and one.is_file(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(names)[:_MOST]


# --- places of notes ---

ENDINGS = (".md", ".markdown")
LONG_TERM = "MEMORY.md"
NOTES_FOLDER = f"{paths.PROJECT_FOLDER}/notes"
DAY_FOLDER = f"{paths.PROJECT_FOLDER}/memory"
USER = "user:"
EXTRA = "extra:"
_TOPICS = "topics/"
DEEPEST = 20
"""Folders below each other in which notes are looked for."""
_PART = re.compile(r'[^\x00-\x1f\x7f<>:"/\\|?*]+')
"""A name that every system allows."""
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.md")
_LONGEST_PART = 120


class Found(NamedTuple):
    """A note's place.

    Attributes:
        id: its name.
        kind: kind of note.
        scope: user or project.
        base: a folder above it; links on the way to it are followed, but none below it.
        path: below that folder, with `/`.
        writable: whether cm may change it on request.
    """

    id: str
    kind: NoteKind
    scope: Scope
    base: Path
    path: str
    writable: bool

    @property
    def file(self) -> Path:
        """Return its absolute path."""
        return self.base.joinpath(*self.path.split("/"))


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of notes, all levels."""

    base: Path
    path: str
    """Below `base`; empty: that itself."""
    prefix: str
    """Prefix of ids, before the path below `base`."""
    kind: NoteKind
    scope: Scope
    writable: bool = True

    @property
    def folder(self) -> Path:
        """Return its absolute path."""
        return self.base / self.path if self.path else self.base

    @property
    def leads_away(self) -> bool:
        """Return whether a part of the way from the base to it is a link."""
        return below_a_link(self.base, self.path)

    def holds(self, path: str) -> bool:
        """Return whether it contains a path below `base`."""
        return not self.path or path.startswith(f"{self.path}/")

    def place_of(self, path: str) -> Found:
        """Return the place of a file, by its path below `base`."""
        inside = path[len(self.path) + 1 :] if self.path else path
        return Found(self.prefix + path, _kind(self.kind, inside), self.scope, self.base, path, self.writable)


class Places:
    """The folders and files that may hold notes of a project.

    `extra`: further folders from the user's settings: absolute, with `~`, or relative to the root; `agents`: folders of
    agents' own memory, by their names.
    """

    def __init__(
        self, root: Path, extra: Sequence[str] = (), agents: Mapping[str, Path] = MappingProxyType({})
    ) -> None:
        self.root = root
        self._agents = agents
        self.folders: tuple[Folder, ...] = (
            Folder(root, NOTES_FOLDER, "", "project", "project"),
            Folder(root, DAY_FOLDER, "", "project", "project"),
            Folder(root, "memory", "", "project", "project"),
            Folder(paths.data_dir() / "notes", "", USER, "user", "user"),
            *_extra(root, extra),
        )

    def single(self) -> Iterator[Found]:
        """Yield the notes that are single files, existing or not."""
        yield Found(LONG_TERM, "long-term", "project", self.root, LONG_TERM, writable=True)
        for id_, base, path, scope in instruction_files(self.root, self._agents):
            yield Found(id_, "instructions", scope, base, path, writable=False)

    def place(self, id_: str) -> Found:
        """Return the place of a note by id, existing or not.

        Raises NotFoundError if the name is impossible; RefusedError if it is outside the note folders.
        """
        for one in self.single():
            if one.id == id_:
                return one
        for folder in self.folders:
            path = id_.removeprefix(folder.prefix)
            below = f"{folder.path}/" if folder.path else ""
            if id_.startswith(folder.prefix) and path.startswith(below) and path.endswith(ENDINGS):
                if _is_plain(path):
                    return folder.place_of(path)
                raise _outside(id_)
        if ".." in id_.replace("\\", "/").split("/") or id_.startswith(("/", "\\", "~")):
            raise _outside(id_)
        raise NotFoundError(f"Note not found: {quoted(id_, 80)}.", hint="`cm notes list` lists them.")

    def new(self, id_: str) -> Found:
        """Return the place for writing a note, existing or not; a bare name is a topic of the project.

        Raises UsageError if the name is invalid; RefusedError if it is outside the note folders.
        """
        name = id_.strip()
        if not name.rpartition("/")[2].removeprefix(USER):
            raise UsageError(f"Not a note name: {quoted(id_, 80)}.", hint="Use a name such as topics/router.")
        if not name.endswith(ENDINGS):
            name += ".md"
        if "/" not in name and ":" not in name and name != LONG_TERM and not self._is_single(name):
            name = f"{_TOPICS}{name}"
        if name.startswith(_TOPICS):
            name = f"{NOTES_FOLDER}/{name}"
        try:
            found = self.place(name)
        except NotFoundError:
            raise UsageError(
                f"Not a note name: {quoted(id_, 80)}.",
                hint=f"Notes are {LONG_TERM}, below {NOTES_FOLDER}/ and, for all projects, `{USER}NAME.md`.",
            ) from None
        _check_parts(found.path, id_)
        return self.spelled(found)

    def spelled(self, place: Found) -> Found:
        """Return a place by the name of the existing file, where the two are one name on macOS and Windows.

        Raises UsageError if several files have that name, or the file is not read as a note.
        """
        folder = next((one for one in self.folders if one.base == place.base and one.holds(place.path)), None)
        if folder is None:
            return place
        at, spelled = folder.folder, folder.path.split("/") if folder.path else []
        for part in place.path.split("/")[len(spelled) :]:
            names = same_names(at, part)
            if len(names) > 1:
                raise UsageError(
                    f"{quoted(part, 80)} is the name of {' and '.join(names)} on macOS and Windows.",
                    hint="Use one of these, or rename one: `cm notes move`.",
                )
            # Composed, as every system but macOS writes them.
            spelled.append(names[0] if names else unicodedata.normalize("NFC", part))
            at /= spelled[-1]
        if not spelled[-1].endswith(ENDINGS):
            raise UsageError(
                f"{at} exists, but its extension is not that of a note.",
                hint=f"Rename it: notes end in {' or '.join(ENDINGS)}.",
            )
        return folder.place_of("/".join(spelled))

    def _is_single(self, name: str) -> bool:
        return any(one.id == name for one in self.single())


def below_a_link(base: Path, path: str) -> bool:
    """Return whether any part of a path below a folder, including the last one, is a link."""
    # As text: each search looks at some twenty files.
    at = str(base)
    for part in path.split("/") if path else ():
        at = f"{at}{os.sep}{part}"
        if os.path.islink(at):  # noqa: PTH114 - the link itself
            return True
    return False


def day_note(day: str) -> str:
    """Return the id of the log of a day, such as `2026-02-10`."""
    return f"{DAY_FOLDER}/{day}.md"


def _kind(kind: NoteKind, inside: str) -> NoteKind:
    """Return the kind of a note by its path in its folder."""
    if kind not in {"project", "user"}:
        return kind
    if inside == LONG_TERM:
        return "long-term"
    if inside.startswith(_TOPICS):
        return "topic"
    return "day" if _DAY.fullmatch(inside.rpartition("/")[2]) else kind


def _extra(root: Path, extra: Sequence[str]) -> Iterator[Folder]:
    taken: set[str] = set()
    for name in extra:
        folder = Path(os.path.abspath(root / Path(name).expanduser()))  # noqa: PTH100 - links are the user's own
        label = _label(folder.name or "root", taken)
        taken.add(label)
        yield Folder(folder, "", f"{EXTRA}{label}/", "extra", "user", writable=False)


def _label(name: str, taken: set[str]) -> str:
    number = 2
    label = name = unicodedata.normalize("NFC", name)
    keys = {name_key(one) for one in taken}
    while name_key(label) in keys:
        label, number = f"{name}-{number}", number + 1
    return label


def _is_plain(path: str) -> bool:
    return all(part not in {"", ".", ".."} and "\0" not in part and "\\" not in part for part in path.split("/"))


def _check_parts(path: str, id_: str) -> None:
    """Refuse a name that some system does not allow: notes are shared. Raises UsageError if it is one."""
    parts = path.split("/")
    if len(parts) > DEEPEST:
        raise UsageError(f"{quoted(id_, 80)} is nested too deeply.", hint=f"At most {DEEPEST - 1} folders are allowed.")
    folders = parts[:-1]
    if folders[:1] == [paths.PROJECT_FOLDER]:
        del folders[0]
    if hidden := next((part for part in folders if part.startswith(".")), ""):
        raise UsageError(f"{quoted(hidden, 80)} is a hidden folder, where no notes are read.", hint="Remove the dot.")
    for part in parts:
        if (
            not part.isprintable()
            or not _PART.fullmatch(part)
            or _RESERVED.fullmatch(part)
            or part != part.strip(" ")
            or part.endswith(".")
        ):
            raise UsageError(
                f"Not a note name: {quoted(id_, 80)}. {quoted(part, 80)} is not allowed on every system.",
                hint="Use letters, digits, `-`, `_` and dots.",
            )
        if len(part) > _LONGEST_PART:
            raise UsageError(
                f"The name {quoted(part, 80)} is too long.", hint=f"A name has at most {_LONGEST_PART} letters."
            )


def _outside(id_: str) -> RefusedError:
    return RefusedError(f"{quoted(id_, 80)} is outside the note folders.", hint="`cm notes list` lists notes.")
