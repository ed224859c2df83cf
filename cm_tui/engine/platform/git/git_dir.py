"""HEAD and the folders of a checkout, read from git's own files, without a library or process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cm_tui.files import read_regular

# --- parsing git settings files as in git-config(1), without a program or library ---

CONFIG_BYTES = 1_000_000
"""Longer is no settings file."""
_SECTION = re.compile(r'^\[\s*([\w.-]+)\s*("(?:[^"\\]|\\.)*"\s*)?\]')
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}


def settings_in(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield section, name and value of each setting with a value, in the order of the file.

    The section is in lower case; one with a subsection ends in a dot. The name is in lower case.
    """
    section = ""
    # A line that ends in a backslash continues.
    for line in text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        rest = line.strip()
        while (head := _SECTION.match(rest)) is not None:
            name, dot, _ = head[1].lower().partition(".")
            section = f"{name}." if head[2] or dot else name
            rest = rest[head.end() :].strip()
        key, equals, value = rest.partition("=")
        if equals:
            yield section, key.strip().lower(), _value(value)


def _value(text: str) -> str:
    """A value without its quotes, escapes and comment."""
    found: list[str] = []
    end = 0
    quoted = False
    letters = iter(text.strip())
    for letter in letters:
        if letter == '"':
            quoted = not quoted
        elif letter == "\\":
            escaped = next(letters, "")
            found += _ESCAPES.get(escaped, escaped)
        elif letter in "#;" and not quoted:
            break
        else:
            found += letter
        if quoted or not letter.isspace():
            end = len(found)
    return "".join(found[:end])


# --- HEAD and the folders of a checkout, read from git's own files, without a library or process ---

_SHA = re.compile(r"^(?:[0-9a-f]{40}|[0-9a-f]{64})$")
DEEP = 5
"""How many symbolic references may follow each other, as in git, and how many repositories may borrow objects in a row."""
_SMALL_BYTES = 1_000_000
_PACKED_BYTES = 1 << 29


class GitFolders(NamedTuple):
    """The folders with a checkout's git data; the same one twice unless it is a linked worktree."""

    own: Path
    """HEAD and the index of this checkout."""
    common: Path
    """Configuration, branches and hooks, which all worktrees share."""


class HeadFile(NamedTuple):
    """The content of HEAD."""

    text: str
    """`ref: refs/heads/main`, or a commit; a branch switch changes it, a commit on the branch does not."""
    sha: str | None
    """The commit; None: before the first one, or references in another format."""


def git_folders(root: Path) -> GitFolders | None:
    """Git's folders of the checkout at a root, or None when there is no `.git` in it."""
    dot = root / ".git"
    if os.path.isdir(dot):  # noqa: PTH112 - no error for a name that is too long
        own = dot
    else:
        text = small_text(dot)
        if text is None or not text.startswith("gitdir:") or "\0" in text:
            return None
        own = root / text.removeprefix("gitdir:").strip()
    return folders_at(own)


def folders_at(own: Path) -> GitFolders:
    """The same by the folder of this checkout's own data."""
    common = small_text(own / "commondir")
    return GitFolders(own, own / common.strip() if common and "\0" not in common else own)


def head_of(folders: GitFolders) -> HeadFile:
    """Return the state of HEAD."""
    texts = list(head_chain(folders))
    return HeadFile(texts[0], texts[-1] if _SHA.match(texts[-1]) else None)


def head_chain(folders: GitFolders) -> Iterator[str]:
    """Yield the content of HEAD and of the references that it leads to: `ref: ` and another reference, or a commit."""
    yield (text := reference_text(folders, "HEAD"))
    for _ in range(DEEP):
        if not text.startswith("ref:"):
            return
        yield (text := reference_text(folders, text.removeprefix("ref:").strip()))


def reference_text(folders: GitFolders, name: str) -> str:
    """Return the content of HEAD or a reference: a commit, `ref: ` and another reference, or empty."""
    if name == "HEAD":
        return (small_text(folders.own / name) or "").strip()
    if not name.startswith("refs/") or ".." in name:
        return ""
    for folder in dict.fromkeys(folders):
        text = small_text(folder / name)
        if text is not None:
            return text.strip()
    return _packed(folders.common / "packed-refs", name)


def alternates(objects: Path) -> list[Path]:
    """Return the borrowed object folders, and those that they borrow from, by `objects/info/alternates`."""
    found: list[Path] = []
    level = [objects]
    for _ in range(DEEP):
        level = [lent for one in level for lent in _alternates_of(one) if lent not in found]
        found += dict.fromkeys(level)
    return found


def _alternates_of(objects: Path) -> list[Path]:
    found = []
    for line in (small_text(objects / "info/alternates") or "").replace("\0", "\n").split("\n"):
        if line.startswith('"'):
            # Git removes the quotes, its library does not: treat the path as leading anywhere.
            found.append(Path(objects.anchor))
        elif line and not line.startswith("#"):
            found.append(Path(os.path.normpath(objects / line)))
    return found


def _packed(file: Path, name: str) -> str:
    data = read_regular(file, _PACKED_BYTES) or b""
    wanted = b" " + name.encode("utf-8", "surrogateescape") + b"\n"
    at = data.find(wanted)
    return data[data.rfind(b"\n", 0, at) + 1 : at].decode("ascii", "replace") if at >= 0 else ""


def small_text(file: Path) -> str | None:
    """Return the text of one of git's small files; None: missing, or not a regular file."""
    data = read_regular(file, _SMALL_BYTES)
    return data.decode("utf-8", "surrogateescape") if data is not None else None


# --- verifying which repository a folder belongs to: its `.git` file must match the repository's own data ---

# Plain strings and os.path: a hook's time is counted in milliseconds.
_join, _real = os.path.join, os.path.realpath


def verified_git_dir(root: Path) -> Path | None:
    """Return the git folder of a checkout's repository, as its real path; all its worktrees share it.

    Accepted are a checkout's own folder `.git`, a linked worktree, and a submodule or a folder elsewhere that names the
    checkout in `core.worktree`. `root`: the top folder of the checkout. Returns None: no `.git`, not valid for git, or
    the repository has no reference to this checkout.
    """
    found = git_folders(root)
    if found is None:
        return None
    own, common = _real(found.own), _real(found.common)
    dot, has_common = _join(root, ".git"), os.path.lexists(_join(own, "commondir"))
    if os.path.isdir(dot) and not os.path.islink(dot):  # noqa: PTH112, PTH114
        # Git never leaves a `commondir` here: one would make any repository's branches and settings this folder's own.
        is_own = not has_common
    elif has_common:
        # A folder elsewhere could claim any worktree: the repository must list this one.
        back, name = os.path.split(_join(own, (small_text(Path(own, "gitdir")) or "").strip()))
        is_own = os.path.dirname(own) == _join(common, "worktrees") and name == ".git" and is_same(back, root)  # noqa: PTH120
    else:
        named = _core_worktree(own)
        is_own = bool(named) and is_same(_join(own, named), root)
    return Path(common) if is_own and _is_git_dir(common) else None


def _core_worktree(own: str) -> str:
    """Return the last `core.worktree` of a repository's settings; empty: not set."""
    named = ""
    for name in ("config", "config.worktree"):
        for section, key, value in settings_in(small_text(Path(own, name)) or ""):
            if (section, key) == ("core", "worktree"):
                named = value
    return named


def _is_git_dir(folder: str) -> bool:
    """Whether git would accept it, roughly: HEAD, objects and references exist."""
    return os.path.lexists(_join(folder, "HEAD")) and all(
        os.path.isdir(_join(folder, name))  # noqa: PTH112
        for name in ("objects", "refs")
    )


def is_same(folder: str, other: str | Path) -> bool:
    """Return whether two paths lead to one folder."""
    try:
        return os.path.samefile(folder, other)  # noqa: PTH121
    except (OSError, ValueError):
        return False
