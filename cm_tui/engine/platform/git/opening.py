"""Opening repositories: the one around a folder, and a private one for a project without git."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pygit2

from cm_tui.engine.platform.git.git_dir import (
    CONFIG_BYTES,
    GitFolders,
    folders_at,
    git_folders,
    reference_text,
    settings_in,
    small_text,
)
from cm_tui.engine.platform.git.special_files import refuse_special
from cm_tui.errors import RefusedError
from cm_tui.files import read_regular

# --- storage formats of git that its library cannot read, by the repository's own settings ---

_CACHED_BYTES = 16 << 20
READABLE_EXTENSIONS = (
    "compatobjectformat", "noop", "objectformat", "partialclone", "preciousobjects", "refstorage", "relativeworktrees",
    "submodulepathconfig", "worktreeconfig",
)  # fmt: skip
"""Extensions that do not affect reading objects, references and the index, with their accepted values.

A partial clone is readable as long as missing objects are not fetched.
"""
_PLAIN_VALUES = {"objectformat": "sha1", "refstorage": "files"}
_REMOTE = re.compile(r"remote\.(.+)\.url")
_INSTEAD = re.compile(r"url\.(.+)\.insteadof")
_NUMBER = re.compile(r"[+-]?\d{1,18}")


class UnreadableGit(NamedTuple):
    """A repository that git's library cannot read."""

    root: Path
    """The top folder of the checkout."""
    folders: GitFolders
    reason: str
    """The unusual property, as the end of a sentence."""
    hint: str = ""
    """What makes it readable; empty when nothing is known to."""

    @property
    def note(self) -> str:
        """What is missing and why, for the user."""
        way_out = f" {self.hint}" if self.hint else ""
        return (
            f"Git data cannot be read here: {self.reason}. Files on disk and memory work; history, branches and "
            f"differences from the last commit are missing.{way_out}"
        )


def checkout_around(folder: Path) -> tuple[Path, GitFolders] | None:
    """Return the nearest checkout upwards with its git folders; None: no `.git`."""
    for one in (folder, *folder.parents):
        found = git_folders(one)
        if found is not None:
            return one, found
    return None


def unreadable_format(root: Path, folders: GitFolders) -> UnreadableGit | None:
    """Return the part of a repository's storage format that git's library cannot read; None: readable."""
    settings = _settings(folders)
    found = _NUMBER.fullmatch(settings.get(("core", "repositoryformatversion"), "0").strip())
    version = int(found[0]) if found is not None else 0
    if version > 1:
        return UnreadableGit(root, folders, f"its storage format is version {version}, which is newer than this cm")
    if version < 1:
        # Git ignores extensions there, too.
        return None
    for (section, name), value in settings.items():
        if section != "extensions":
            continue
        if name not in READABLE_EXTENSIONS:
            return UnreadableGit(root, folders, f"it uses git's extension {name[:60]!r}, which cm does not support")
        if value.strip().lower() != _PLAIN_VALUES.get(name, value.strip().lower()):
            return _in_other_form(root, folders, name, value.strip()[:60])
    return None


def _in_other_form(root: Path, folders: GitFolders, name: str, value: str) -> UnreadableGit:
    if name == "refstorage":
        reason, hint = f"its references are stored as {value!r}", "`git refs migrate --ref-format=files` converts them."
    else:
        reason, hint = f"its object format is {value!r}", ""
    return UnreadableGit(root, folders, reason, hint)


def unreadable_remotes(found: UnreadableGit) -> list[str]:
    """Return the addresses of a repository's remotes, `origin` first, with the user's `insteadOf` applied."""
    remotes: dict[str, str] = {}
    prefixes: dict[str, str] = {}
    for config in _configurations(found.folders.common / "config"):
        for entry in config:
            if (remote := _REMOTE.fullmatch(entry.name)) is not None:
                remotes[remote[1]] = entry.value or ""
            elif (base := _INSTEAD.fullmatch(entry.name)) is not None and entry.value:
                prefixes[entry.value] = base[1]
    urls = [url for _, url in sorted(remotes.items(), key=lambda item: (item[0] != "origin", item[0])) if url]
    return [_rewritten(url, prefixes) for url in urls]


def _configurations(local: Path) -> Iterator[pygit2.Config]:
    for opened in (
        pygit2.Config.get_system_config,
        pygit2.Config.get_global_config,
        partial(pygit2.Config, str(local)),
    ):
        # Not there, or damaged: git itself names that.
        with suppress(OSError, ValueError, KeyError, pygit2.GitError):
            yield opened()


def _rewritten(url: str, prefixes: Mapping[str, str]) -> str:
    longest = max((prefix for prefix in prefixes if url.startswith(prefix)), key=len, default="")
    return prefixes[longest] + url.removeprefix(longest) if longest else url


def _settings(folders: GitFolders) -> dict[tuple[str, str], str]:
    data = read_regular(folders.common / "config", CONFIG_BYTES) or b""
    return {(section, name): value for section, name, value in settings_in(os.fsdecode(data))}


# --- a damaged HEAD: reported, with the command that repairs it ---

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
    said = (
        "a folder" if head.is_dir() else f"{text[:40]!r}, which is neither a branch nor a commit" if text else "empty"
    )
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


# --- opening repositories ---

_VALIDATION = threading.Lock()
"""The library's check of owners is one setting of the whole process."""


def opened(folder: Path, *, is_ours: bool = False) -> pygit2.Repository:
    """Open a repository. Raises pygit2.GitError if that fails, or if it or its files belong to another user.

    `is_ours`: we made it, and nothing in it comes from elsewhere: its working tree may belong to another user.
    """
    with _VALIDATION:
        if not is_ours:
            return pygit2.Repository(str(folder))
        pygit2.settings.owner_validation = False
        try:
            return pygit2.Repository(str(folder))
        finally:
            pygit2.settings.owner_validation = True


def repository_around(folder: Path) -> pygit2.Repository | None:
    """Return the git repository around a folder; None: none, or in a format that git's library cannot read.

    Raises RefusedError if it belongs to another user, contains a pipe or a device, or its HEAD is damaged.
    """
    found = open_around(folder)
    return found if isinstance(found, pygit2.Repository) else None


def open_around(folder: Path) -> pygit2.Repository | UnreadableGit | None:
    """Return the git repository around a folder, or why git's library cannot read it.

    Raises RefusedError as for `repository_around`.
    """
    refuse_special(folder)
    found = pygit2.discover_repository(str(folder))
    around = checkout_around(folder)
    # Whether the library finds a repository of another format depends on its version.
    unreadable = unreadable_format(*around) if around is not None and _is_nearest(around, found) else None
    if unreadable is not None:
        return unreadable
    if found is None:
        _refuse_unfound(folder)
        return None
    refuse_broken_head(Path(found))
    if not set(READABLE_EXTENSIONS).issubset(pygit2.settings.extensions):
        pygit2.settings.set_extensions(list(READABLE_EXTENSIONS))
        # Of all repositories together. Each tree and commit is read once; the library would keep 256 MB of them.
        pygit2.settings.cache_max_size(_CACHED_BYTES)
    try:
        # By the folder: git's own may be elsewhere without a reference to the files.
        return opened(folder)
    except pygit2.GitError as error:
        said = str(error)
        if around is not None and _is_about_format(said):
            return UnreadableGit(*around, said)
        raise RefusedError(f"Cannot open the git repository {found}: {said}", hint=_way_out(said, found)) from error


def _is_nearest(around: tuple[Path, GitFolders], found: str | None) -> bool:
    """Whether the nearest `.git` leads to the found repository: that may be a bare one further down."""
    return found is None or os.path.realpath(found) == os.path.realpath(around[1].own)


def _is_about_format(error: str) -> bool:
    return "not owned" not in error and any(
        word in error for word in ("extension", "object format", "repository version")
    )


def _refuse_unfound(folder: Path) -> None:
    """Raise if git's library finds nothing only because of a damaged HEAD.

    Raises RefusedError if the HEAD of a repository there is damaged.
    """
    for one in (folder, *folder.parents):
        found = git_folders(one)
        if found is not None and (found.common / "objects").is_dir() and (found.common / "refs").is_dir():
            refuse_broken_head(found.own)
            return


def _way_out(error: str, found: str) -> str:
    if "not owned" in error:
        return f"If you trust it: git config --global --add safe.directory {found.rstrip('/').removesuffix('/.git')}"
    return "Check it with `git fsck`."


def private_repository(folder: Path, root: Path) -> pygit2.Repository:
    """Return a repository in our own folder with a working tree outside git; create it if needed."""

    def make() -> pygit2.Repository:
        made = pygit2.init_repository(str(folder), bare=True)
        made.config["core.bare"] = False
        made.config["core.worktree"] = str(root)
        return opened(folder, is_ours=True)

    try:
        kept = opened(folder, is_ours=True)
        if kept.workdir is not None and Path(kept.workdir) == root:
            return kept
        return make()
    except (pygit2.GitError, ValueError):
        # Missing or damaged: it holds nothing of value, and is recreated.
        shutil.rmtree(folder, ignore_errors=True)
        return make()
