"""Open an agent at a session that was recorded: the command line, and the program run in the project's folder."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cm_tui.errors import NotFoundError, UsageError
from cm_tui.files import users_umask
from cm_tui.integrations.agents import AGENTS

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
"""Ids that are passed to a program. They come from transcripts, which may hold anything: none reads like an option."""

_OTHERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "gemini": ("Gemini CLI", ("gemini", "--resume")),
    "copilot": ("Copilot CLI", ("copilot", "--resume=")),
}
"""Agents that `cm agent install` does not wire: title, and the words before a session's id."""


def resume_command(agent: str, session: str, parent: str = "") -> tuple[str, ...]:
    """Return the words that open an agent at a session.

    `session`: id of the session, as the agent wrote it; `parent`: the session that started it: a sub-agent's session is
    opened at that one. Raises UsageError if the agent has no such command line, or the id does not look like one.
    """
    if not (agent and session):
        raise UsageError(
            "The episode does not belong to a session of an agent.", hint="Episodes recorded by hand cannot be resumed."
        )
    known = {one.name: (one.title, one.resume) for one in AGENTS.values()} | _OTHERS
    title, words = known.get(agent, (repr(agent[:40]), ()))
    if not words:
        able = ", ".join(name for name, command in known.values() if command)
        raise UsageError(f"No command is known to resume a session of {title}.", hint=f"Supported: {able}.")
    id_ = parent or session
    if not _ID.fullmatch(id_):
        raise UsageError(
            f"{id_[:60]!r} does not look like a session id, so it is not passed to {title}.",
            hint=f"Choose the session in {title} itself.",
        )
    return (*words[:-1], f"{words[-1]}{id_}") if words[-1].endswith("=") else (*words, id_)


def program_path(name: str, root: Path) -> str:
    """Return the path of a program on the PATH, but for folders of the project, whose files may be anyone's.

    Raises NotFoundError if it is not there.
    """
    project = os.path.realpath(root)
    folders = [one for one in os.get_exec_path() if os.path.isabs(one) and not _is_inside(one, project)]  # noqa: PTH117
    found = shutil.which(name, path=os.pathsep.join(folders)) if folders else None
    if found is None or _is_inside(found, project):
        raise NotFoundError(f"{name} is not on the PATH.", hint="Install it, or run the command where it is.")
    return found


def _is_inside(path: str, folder: str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(folder)


def run_in(root: Path, command: Sequence[str]) -> int:
    """Run a program in the project's folder, on this terminal, until it ends; gives its exit code.

    Raises OSError if it cannot be started.
    """
    with _keys_are_its_own():
        return subprocess.run(list(command), check=False, cwd=root, umask=users_umask()).returncode


@contextmanager
def _keys_are_its_own() -> Iterator[None]:
    """Have Ctrl-C end nothing but the program: the terminal sends it to all that run in front."""
    # Not SIG_IGN, which the program would inherit.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
