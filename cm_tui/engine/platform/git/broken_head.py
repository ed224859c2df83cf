"""A damaged HEAD: reported, with the command that repairs it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from cm_tui.engine.platform.git.git_dir import GitFolders, folders_at, reference_text, small_text
from cm_tui.errors import RefusedError

FINDING = "git-head-damaged"

_UNDERSTOOD = re.compile(r"^(?:ref:\s*refs/[^\0\r\n]+|[0-9a-f]{40}|[0-9a-f]{64})$")
_SHA = re.compile(r"^[0-9a-f]{40}(?:[0-9a-f]{24})?$")
_MOVED = re.compile(r"\tcheckout: moving from .* to (\S+)$")
_HEADS = "refs/heads/"


def refuse_broken_head(repository: Path) -> None:
    """Raise if a checkout's HEAD is damaged: neither git nor its library can then read anything.

    `repository`: git's folder of the checkout. Raises RefusedError: HEAD is empty, garbage, or a folder.
    """
    folders = folders_at(repository)
    head = folders.own / "HEAD"
    text = "" if head.is_dir() else (small_text(head) or "").strip()
    if _UNDERSTOOD.match(text):
        return
    said = "a folder" if head.is_dir() else f"{text[:40]!r}, which is no branch and no commit" if text else "empty"
    raise RefusedError(
        f"{head} is damaged: it is {said}. Git cannot read this repository, so it can be neither indexed nor searched.",
        hint=f"Run {_command(folders, head)}",
        finding=FINDING,
    )


def _command(folders: GitFolders, head: Path) -> str:
    """Return the command that restores the last HEAD, if the repository still has it."""
    place = shlex.quote(str(head))
    clear = f"rm -r -- {place} && " if head.is_dir() else ""
    return f"`{clear}echo {shlex.quote(_former(folders))} > {place}`, then `git status`."


def _former(folders: GitFolders) -> str:
    """Return the last HEAD: its log names the branch, and the commit."""
    lines = (small_text(folders.own / "logs" / "HEAD") or "").strip().split("\n")
    moves = [found[1] for line in lines if (found := _MOVED.search(line))]
    last = lines[-1].split(" ", 2)[1:2]
    branches = _branches(folders)
    for name in (*moves[-1:], *(one for one in ("main", "master", *sorted(branches)) if branches.get(one) in last)):
        if name in branches:
            return f"ref: {_HEADS}{name}"
    if moves and last and _SHA.match(last[0]):
        return last[0]
    default = next((one for one in ("main", "master", *sorted(branches)) if one in branches), "main")
    return f"ref: {_HEADS}{default}"


def _branches(folders: GitFolders) -> dict[str, str]:
    """Return the commit of every branch, by its name."""
    heads = folders.common / "refs" / "heads"
    names = {one.relative_to(heads).as_posix() for one in heads.rglob("*") if one.is_file()}
    packed = small_text(folders.common / "packed-refs") or ""
    names |= {line.split(_HEADS, 1)[1].strip() for line in packed.split("\n") if f" {_HEADS}" in line}
    return {name: reference_text(folders, _HEADS + name) for name in names}
