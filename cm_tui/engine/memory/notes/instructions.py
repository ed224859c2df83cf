"""Files with instructions for agents, and agents' own memory files: which exist, and where.

Codex's memories follow its public repository (`codex-rs/core/src/memories`): `MEMORY.md`, `memory_summary.md` and
`raw_memories.md` for all projects, and a file below `rollout_summaries` for each session, with its folder (`cwd: `).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from cm_tui.files import opened_below
from cm_tui.model import Scope

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
