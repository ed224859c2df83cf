"""HEAD and the folders of a checkout, read from git's own files: no library to import and no process to start."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_SHA = re.compile(r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")
_DEEP = 5
"""How many symbolic references may follow each other, as in git."""


class GitFolders(NamedTuple):
    """The folders that hold a checkout's git data; the same one twice unless it is a linked worktree."""

    own: Path
    """HEAD and the index of this checkout."""
    common: Path
    """Configuration, branches and hooks, which all worktrees share."""


class HeadFile(NamedTuple):
    """The content of HEAD."""

    text: str
    """`ref: refs/heads/main`, or a commit; a branch switch changes it, a commit on the branch does not."""
    sha: str | None
    """The commit; None before the first one, and where git keeps its references in another form."""


def git_folders(root: Path) -> GitFolders | None:
    """Git's folders of the checkout at a root, or None when there is no `.git` in it."""
    dot = root / ".git"
    if dot.is_dir():
        own = dot
    else:
        text = _text(dot)
        if text is None or not text.startswith("gitdir:"):
            return None
        own = root / text.removeprefix("gitdir:").strip()
    return folders_at(own)


def folders_at(own: Path) -> GitFolders:
    """The same by the folder of this checkout's own data."""
    common = _text(own / "commondir")
    return GitFolders(own, own / common.strip() if common else own)


def head_of(folders: GitFolders) -> HeadFile:
    """Return where HEAD stands."""
    text = first = (_text(folders.own / "HEAD") or "").strip()
    for _ in range(_DEEP):
        if not text.startswith("ref:"):
            break
        text = _reference(folders, text.removeprefix("ref:").strip())
    return HeadFile(first, text if _SHA.match(text) else None)


def _reference(folders: GitFolders, name: str) -> str:
    if not name.startswith("refs/") or ".." in name:
        return ""
    for folder in dict.fromkeys(folders):
        text = _text(folder / name)
        if text is not None:
            return text.strip()
    return _packed(folders.common / "packed-refs", name)


def _packed(file: Path, name: str) -> str:
    try:
        data = file.read_bytes()
    except OSError:
        return ""
    wanted = b" " + name.encode("utf-8", "surrogateescape") + b"\n"
    at = data.find(wanted)
    return data[data.rfind(b"\n", 0, at) + 1 : at].decode("ascii", "replace") if at >= 0 else ""


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
