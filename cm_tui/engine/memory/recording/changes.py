"""Files changed in a checkout during a pause, which later patches exclude.

A patch compares files with a commit, so it would show uncommitted changes made in a pause. After a pause, the files
changed since it began are recorded once, each with its content in HEAD: a patch that starts from that content would
show the pause's changes, one that starts from a later commit of the file does not.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cm_tui.engine.memory.recording import gate
from cm_tui.engine.memory.recording.gate import Pause, patterns
from cm_tui.engine.platform.git import safe_git
from cm_tui.engine.platform.git.git_dir import git_folders, head_of
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.errors import CmError, ConfigError, StoreError
from cm_tui.files import read_bounded
from cm_tui.state_file import write_json

_log = logging.getLogger(__name__)
_SOON = 86_400.0
"""Age of an ended pause from which on only changes up to its end count; before, later changes count, too."""
COARSE_SECONDS = 1.0
"""How coarse the clocks of file systems are."""
_FILES = 2_000
"""With more files, no patch is made until they are committed."""
_BLOBS = 8
_ROOTS = 200
_BYTES = 8_000_000
_MOST = 16_000_000
_SECONDS = 10.0
NOTHING = ""
"""Instead of a blob: the commit has no such file."""


@dataclass(slots=True)
class PauseRemains:
    """What pauses left in a checkout."""

    until: float = 0.0
    """End of the last pause that was looked at."""
    head: str = ""
    """HEAD at that look."""
    files: dict[str, list[str]] = field(default_factory=dict)
    """Files that were changed in a pause, with the blobs from which on a patch would show that."""
    everything: bool = False
    """Too many files were changed to list them."""


def settle(root: Path, *, now: float | None = None) -> None:
    """Record the files changed in pauses that ended since the last call; fast if there are none.

    Raises CmError if the data on pauses cannot be read or written.
    """
    now = time.time() if now is None else now
    if not gate.folder().is_dir():
        return
    gate.archive_expired(now)
    project = folder_of(root).name
    known = _read(project)
    left = known.get(str(root), PauseRemains())
    kept = gate.read(past=True)
    projects = kept.projects(root)
    over = [one for one in kept.past if one.project in projects]
    new = [one for one in over if (one.until or 0.0) > left.until]
    if not new:
        return
    _add(root, left, new, now)
    known.pop(str(root), None)
    _write(project, {**known, str(root): left})


def may_be_left_out() -> bool:
    """Return whether a patch may exclude anything; true if unknown."""
    try:
        return gate.folder().is_dir() or bool(patterns())
    except ConfigError:
        return True


def left_out(root: Path, base: str | None, files: Sequence[str], *, began: float, now: float) -> frozenset[str] | None:
    """Return the files that a patch excludes; None: unknown, and no patch is made.

    `base`: the commit that the patch starts from; None: before the first one. `files`: those that differ from it.
    `began`: start of the patch's turn. `now`: seconds since the epoch. Raises CmError if the data on pauses cannot be
    read.
    """
    if not gate.folder().is_dir():
        return frozenset()
    project = folder_of(root).name
    found: set[str] = set()
    pause = gate.read().on(root, now)
    if pause is not None:
        found.update(_changed(root, files, pause.since, now))
    left = _read(project).get(str(root))
    if left is None:
        return frozenset(found)
    if (base or "") != left.head and began < left.until:
        # Commits of the pause lie between the two.
        return None
    if left.everything and (base or "") == left.head:
        return None
    asked = [name for name in files if name in left.files]
    blobs = _blobs(root, base, asked)
    return frozenset(found.union(name for name in asked if blobs.get(name, NOTHING) in left.files[name]))


def held_back(root: Path, *, now: float | None = None) -> tuple[str, ...] | None:
    """Return the sorted changed files that a patch recorded now would exclude; None: too many.

    Raises CmError if the data on pauses cannot be read.
    """
    if not gate.folder().is_dir():
        return ()
    at = time.time() if now is None else now
    folders = git_folders(root)
    head = head_of(folders).sha if folders else None
    found = left_out(root, head, _dirty(root) if folders else [], began=at, now=at)
    return None if found is None else tuple(sorted(found))


def _add(root: Path, left: PauseRemains, new: Sequence[Pause], now: float) -> None:
    """Take in pauses that ended."""
    folders = git_folders(root)
    left.until = max(one.until or now for one in new)
    left.head = (head_of(folders).sha or "") if folders else ""
    if folders is None:
        return
    dirty = _dirty(root)
    changed = {
        name
        for one in new
        for name in _changed(root, dirty, one.since, now if now - (one.until or now) <= _SOON else (one.until or now))
    }
    left.everything = len(changed) > _FILES
    if left.everything:
        changed = set()
    blobs = _blobs(root, left.head or None, [*left.files, *changed])
    # Changes committed since are in no further patch.
    kept = {name: known for name, known in left.files.items() if blobs.get(name, NOTHING) in known}
    for name in sorted(changed):
        kept[name] = list(dict.fromkeys([*kept.get(name, ()), blobs.get(name, NOTHING)]))[-_BLOBS:]
    left.files = kept


def _dirty(root: Path) -> list[str]:
    """Return the files that differ from HEAD, and new files."""
    differ = _names(root, "diff", "--name-only", "-z", "--no-renames", "HEAD", "--") or _names(
        root, "diff", "--name-only", "-z", "--no-renames", "--"
    )
    return [*differ, *_names(root, "ls-files", "--others", "--exclude-standard", "-z", "--")]


def _changed(root: Path, files: Iterable[str], since: float, until: float) -> list[str]:
    """Return the files changed in a period, by ctime, which no program sets back."""
    found = []
    for name in files:
        place = root / name
        try:
            at = place.lstat().st_ctime
        except OSError:
            # Removed, perhaps then.
            at = _of_folder(place.parent)
        if since - COARSE_SECONDS <= at <= until + COARSE_SECONDS:
            found.append(name)
    return found


def _of_folder(folder: Path) -> float:
    while True:
        try:
            return folder.lstat().st_ctime
        except OSError:
            folder = folder.parent


def _blobs(root: Path, commit: str | None, files: Sequence[str]) -> dict[str, str]:
    """Return the blobs that a commit has of files."""
    if commit is None or not files:
        return {}
    found: dict[str, str] = {}
    for first in range(0, len(files), 500):
        out = _git(root, "ls-tree", "-z", commit, "--", *files[first : first + 500])
        for entry in out.split(b"\0"):
            about, tab, name = entry.partition(b"\t")
            if tab:
                found[os.fsdecode(name)] = about.split()[-1].decode("ascii", "replace")
    return found


def _names(root: Path, *words: str) -> list[str]:
    return [os.fsdecode(name) for name in _git(root, *words).split(b"\0") if name]


def _git(root: Path, *words: str) -> bytes:
    found = safe_git.run(root, *words, most=_MOST, seconds=_SECONDS)
    return found.data if found.code == 0 or found.is_cut else b""


def _file(project: str) -> Path:
    return gate.folder() / "changes" / f"{project}.json"


def _read(project: str) -> dict[str, PauseRemains]:
    try:
        found = json.loads(read_bounded(_file(project), _BYTES))
        return {str(root): _left(fields) for root, fields in found.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        # The next pause rewrites it; until then every file that a pause touched could show.
        raise StoreError(
            f"{_file(project)} (files that pauses exclude from patches) cannot be read: {error}", hint="Remove it."
        ) from error


def _left(fields: Mapping[str, Any]) -> PauseRemains:
    files = {str(name): [str(one) for one in blobs] for name, blobs in fields["files"].items()}
    return PauseRemains(float(fields["until"]), str(fields["head"]), files, fields["everything"] is True)


def _write(project: str, known: Mapping[str, PauseRemains]) -> None:
    write_json(_file(project), {root: asdict(one) for root, one in list(known.items())[-_ROOTS:]})


def settle_or_log(root: Path) -> None:
    """Do the same for a daemon, which goes on: errors are only logged."""
    try:
        settle(root)
    except (CmError, OSError) as error:
        _log.warning("files changed in a pause in %s are unknown: %s", root, error)
