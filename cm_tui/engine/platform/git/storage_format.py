"""Storage formats of git that its library cannot read, by the repository's own settings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pygit2

from cm_tui.engine.platform.git.config_text import CONFIG_BYTES, settings_in
from cm_tui.engine.platform.git.git_dir import GitFolders, git_folders
from cm_tui.files import read_regular

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
            f"Git data cannot be read here: {self.reason}. Files on disk and memory work; history, branches and what "
            f"differs from the last commit are missing.{way_out}"
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
