"""Running the git program so that a repository starts nothing: the only place that builds its command line.

A repository may come out of an archive, with a stranger's settings and hooks. Git would run the programs in them: a
file system monitor, filters of content, diff drivers, hooks, and commands that fetch missing objects (git-config(1),
gitattributes(5), githooks(5)). Programs in the user's own settings, such as a filter for large files, are kept.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pygit2.enums import FileStatus

from cm_tui.errors import CmError

_NEVER = {
    "core.fsmonitor": "false",
    # One runs even when git only updates its index.
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.sshCommand": "false",
    "core.alternateRefsCommand": "false",
    "core.gitProxy": "",
    "core.askPass": "",
    "credential.helper": "",
    "diff.external": "",
    "gpg.program": "false",
    "protocol.allow": "never",
}
"""Programs with fixed setting names; these values override the repository's."""

_DRIVERS = {
    "filter": {"clean": "", "smudge": "", "process": "", "required": "false"},
    "diff": {"command": "", "textconv": ""},
}
"""Settings of drivers with any name, and their values where only a repository sets them."""

_LARGE_FILES = ("lfs.extension.", "lfs.customtransfer.", "lfs.standalonetransferagent")
"""Programs that the user's filter for large files would run because a repository names them."""

_OPTIONS = {
    "diff": ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--submodule=short"),
    # Git would run itself in a submodule, which has its own settings.
    "status": ("--ignore-submodules=dirty",),
}

_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # Objects that a partial clone lacks are not fetched, by no protocol.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_OF_THE_PERSON = frozenset({"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"})
"""Git's variables that locate the user's own settings; the others are about a repository."""

_SECONDS = 60.0


class Output(NamedTuple):
    """What git has printed."""

    data: bytes
    code: int
    """Its exit status; of no meaning when it was cut."""
    is_cut: bool
    """The output was too long: git was stopped."""


class _Setting(NamedTuple):
    scope: str
    key: str
    value: str

    @property
    def is_the_users(self) -> bool:
        return self.scope in {"system", "global"}


def run(root: Path, *words: str, most: int = -1, seconds: float = _SECONDS) -> Output:
    """Run git in a checkout and return its output.

    `root`: the checkout's top folder, whatever its settings say. `words`: the command and its arguments. `most`: bytes
    after which it is stopped; -1: no limit. `seconds`: time limit. Raises CmError if git is missing, or would run
    programs that the repository names.
    """
    command, *arguments = words
    options = [word for key, value in _NEVER.items() for word in ("-c", f"{key}={value}")]
    options += ["-c", "core.quotePath=false", command, *_OPTIONS.get(command, ())]
    return _output(root, [*options, *arguments], _without_drivers(root), most, seconds)


def setting(root: Path, key: str, kind: str = "path") -> str:
    """Return git's setting for a checkout, including the repository's own; empty: not set.

    Raises CmError if git is missing, or cannot read its settings.
    """
    found = _output(root, ["config", "--null", f"--type={kind}", "--get", key], {})
    if found.code > 1 or found.code < 0:
        raise CmError(f"git cannot read its configuration in {root}.", hint="Check it with `git config --list`.")
    return os.fsdecode(found.data.rstrip(b"\0"))


def _without_drivers(root: Path) -> Mapping[str, str]:
    """Settings that undo the repository's drivers, but keep the user's.

    Raises CmError if this git does not support them.
    """
    settings = _drivers(root, {})
    names_programs = any(one.key.startswith(_LARGE_FILES) and not one.is_the_users for one in settings)
    kept: dict[str, str] = {}
    taken_back: dict[str, str] = {}
    for one in settings:
        section, _, rest = one.key.partition(".")
        name, _, what = rest.rpartition(".")
        plain = _DRIVERS.get(section, {})
        if not name or what not in plain:
            continue
        if one.is_the_users and not names_programs:
            kept[one.key] = one.value
        else:
            taken_back[one.key] = plain[what]
    taken_back = {key: kept.get(key, value) for key, value in taken_back.items()}
    if taken_back:
        now = {one.key: one.value for one in _drivers(root, taken_back)}
        if any(now.get(key) != value for key, value in taken_back.items()):
            raise CmError(
                f"The settings of {root} name programs, and this git cannot be prevented from running them.",
                hint="Update git to 2.31 or newer.",
            )
    return taken_back


def _drivers(root: Path, settings: Mapping[str, str]) -> list[_Setting]:
    found = _output(root, ["config", "--null", "--show-scope", "--get-regexp", r"^(filter|diff|lfs)\."], settings)
    if found.code not in (0, 1):
        raise CmError(
            f"git cannot list the settings of {root}.",
            hint="Check it with `git config --list --show-scope`; git 2.26 or newer is needed.",
        )
    fields = os.fsdecode(found.data).split("\0")
    pairs = zip(fields[::2], fields[1::2], strict=False)
    return [_Setting(scope, *_pair(text)) for scope, text in pairs]


def _pair(text: str) -> tuple[str, str]:
    key, newline, value = text.partition("\n")
    # Without a value a setting is a yes.
    return key, value if newline else "true"


def _output(
    root: Path, words: list[str], settings: Mapping[str, str], most: int = -1, seconds: float = _SECONDS
) -> Output:
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = _environment(root, settings)
    try:
        process = subprocess.Popen(["git", *words], cwd=root, env=environment, stdout=subprocess.PIPE, **quiet)
    except OSError as error:
        raise CmError(f"git cannot be run: {error}", hint="Install git, or put it on the PATH.") from error
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        with process.stdout as out:
            data = out.read(most)
        is_cut = len(data) == most
        if is_cut:
            process.kill()
        return Output(data, process.wait(), is_cut)
    finally:
        timer.cancel()


def _environment(root: Path, settings: Mapping[str, str]) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or key in _OF_THE_PERSON}
    # A repository's folder must not be in the search path of programs.
    path = os.pathsep.join(filter(os.path.isabs, os.get_exec_path()))
    # `core.worktree` is in a file of the repository, and a repository around this one must not be used.
    place = {"GIT_WORK_TREE": str(root), "GIT_CEILING_DIRECTORIES": str(root.parent)}
    # Not by `-c`, which takes a name with an equals sign apart in the wrong place.
    passed = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        passed |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return {**kept, **_ENVIRONMENT, **place, **passed, "PATH": path}


# --- status by the git program, where libgit2 cannot read the index (split, sparse) or HEAD's commit ---

_STATUS_SECONDS = 600.0
"""A large working tree on a slow disk takes a while to compare."""

_INDEX = {"A": FileStatus.INDEX_NEW, "D": FileStatus.INDEX_DELETED, " ": FileStatus.CURRENT}
_DISK = {"D": FileStatus.WT_DELETED, "T": FileStatus.WT_TYPECHANGE, " ": FileStatus.CURRENT}


def status(root: Path) -> dict[str, FileStatus]:
    """Return `git status` with the flags of libgit2; files outside a sparse checkout count as deleted on disk.

    Raises CmError if git is missing, or fails.
    """
    found = dict.fromkeys(not_checked_out(root), FileStatus.WT_DELETED)
    for line in _lines(root, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"):
        if line.startswith("??"):
            found[line[3:]] = found.get(line[3:], FileStatus.CURRENT) | FileStatus.WT_NEW
        else:
            staged = _INDEX.get(line[0], FileStatus.INDEX_MODIFIED)
            found[line[3:]] = (
                found.get(line[3:], FileStatus.CURRENT) | staged | _DISK.get(line[1], FileStatus.WT_MODIFIED)
            )
    return found


def not_checked_out(root: Path) -> list[str]:
    """Return the files that a sparse checkout leaves out. Raises CmError if git is not there, or fails."""
    lines = _lines(root, "ls-files", "-t", "-z")
    return [line[2:] for line in lines if line.startswith("S ") and not (root / line[2:]).exists()]


def _lines(root: Path, *words: str) -> list[str]:
    found = run(root, *words, seconds=_STATUS_SECONDS)
    if found.code:
        raise CmError(f"git cannot compare {root}.", hint="Check it with `git status`.")
    return [os.fsdecode(line) for line in found.data.split(b"\0") if line]
