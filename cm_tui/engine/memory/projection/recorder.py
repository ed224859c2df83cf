"""The record of a turn, made when it stops: its prompts, the files it touched and its patch."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from cm_tui.counts import count
from cm_tui.engine.code.scan.credential_files import is_credential_file
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.turns import Turn
from cm_tui.engine.memory.recording import changes
from cm_tui.engine.memory.recording.gate import without_never_recorded
from cm_tui.engine.platform.git import safe_git
from cm_tui.engine.platform.git.reach import has_foreign_history
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.redaction.redact import BEYOND, redact
from cm_tui.errors import CmError
from cm_tui.files import opened_below

# --- exclusions from a turn's memory: agents' own settings files, and the content of credential files ---

_SETTINGS = re.compile(
    r"(?:^|/)(?:\.mcp\.json|\.claude\.json|\.claude/settings(?:\.[\w-]+)?\.json|opencode\.jsonc?|\.opencode/(?:opencode\.jsonc?|plugins?/[^/]+)|"
    r"\.cursor/(?:mcp|hooks|settings|cli|environment)\.json|\.cursor/hooks/[^/]+|\.codex/(?:config\.toml|hooks\.json|auth\.json))$"
)
_SECTION = re.compile(r"^diff --(?:git|cc|combined) ", re.MULTILINE)
_NAMES = re.compile(
    r"^(?:diff --git .* \"?b/|diff --(?:cc|combined) |rename from |rename to |copy from |copy to |--- \"?a/|\+\+\+ \"?b/)(.+?)\"?\t?$",
    re.MULTILINE,
)


def is_agent_settings(path: str) -> bool:
    """Return whether a path is a coding agent's own settings file, which is not a turn's work.

    `path`: below the project's root, with `/`.
    """
    return _SETTINGS.search(path) is not None


def without_credentials(patch: str) -> str:
    """Return a patch in which a line replaces the changes of credential files. `patch`: from git."""
    return without_files(patch, lambda path: "is a file for credentials" if is_credential_file(path) else "")


def without_files(patch: str, why: Callable[[str], str]) -> str:
    """Return a patch in which a line replaces the changes of some files.

    `patch`: as git writes it. `why`: returns why a path is excluded; empty: it is included.
    """
    return "".join(_section(piece, why) for piece in _sections(patch))


def _sections(patch: str) -> Iterator[str]:
    starts = [found.start() for found in _SECTION.finditer(patch)]
    if not starts or starts[0]:
        yield patch[: starts[0] if starts else len(patch)]
    for start, end in pairwise([*starts, len(patch)]):
        yield patch[start:end]


def _section(section: str, why: Callable[[str], str]) -> str:
    head = section.partition("\n@@")[0]
    told = next((f"{name} {reason}" for name in _NAMES.findall(head) if (reason := why(name))), "")
    return f"{section.partition(chr(10))[0]}\n[omitted: {told}]\n" if told else section


# --- the record of a turn, made when it stops ---

PATCH_BYTES = 64_000
"""Most characters of a patch."""
ANSWER_CHARACTERS = 8_000
"""Most characters of an answer."""
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_QUOTED = re.compile(r'[\x00-\x1f"\\\x7f]')
_FILES = 200
_SECONDS = 10.0
_LATE = "recorded late, without a patch"
_FOREIGN = "without a patch: `.git` points to a repository that does not reference this folder"
_SAME = "the patch is that of the episode before"
_PAUSED = "without a patch: it cannot be separated from changes made while recording was paused"
_LEFT_OUT = "excluded from the patch, as recording was paused when they were changed, or they are never recorded"
_EXCLUDED = 1_000
"""Beyond this number, files are not excluded one by one."""
LATE_SECONDS = 120.0
"""A stop that is read later than this is recorded without a patch: the files may have moved on."""


def record_turn(root: Path, turn: Turn, stop: Event, *, now: float) -> EpisodeRecord | None:
    """Make the record of a turn that ended; None when there is nothing to remember.

    `turn`: what led to it; `now`: seconds since the epoch.
    """
    late = now - stop.time > LATE_SECONDS
    foreign = has_foreign_history(root)
    base = turn.base or stop.head
    hidden = frozenset() if late or foreign else _hidden(root, base, turn.first or stop.time, now)
    patch, kept, files = ("", 0, []) if late or foreign or hidden is None else _patch(root, base, hidden, turn)
    digest = sha256(patch.encode()).hexdigest()[:16] if patch else ""
    same = bool(digest) and digest == turn.patch_before
    if not turn.prompts and (same or not patch):
        return None
    shown = "" if same else without_credentials(patch)
    # Text read beyond the cut stays beyond it, so that a secret at the cut is complete.
    clean = redact(shown, max(0, len(shown) - (len(patch) - kept)))
    files = [path for path in dict.fromkeys([*turn.files, *files]) if not is_agent_settings(path)]
    left_out = f"{count(len(hidden), 'file')} {_LEFT_OUT}" if hidden else _PAUSED if hidden is None else ""
    return EpisodeRecord(
        agent=str(stop.data.get("agent", "")),
        session=str(stop.data.get("session", "")),
        root=str(root),
        prompts=tuple(turn.prompts),
        answer=str(stop.data.get("answer", ""))[:ANSWER_CHARACTERS],
        files=tuple(files)[:_FILES],
        base=turn.base or "",
        patch=clean.text,
        patch_digest=digest,
        patch_cut=kept < len(patch),
        redacted=clean.secrets,
        note=_LATE if late else _FOREIGN if foreign else left_out or (_SAME if same else ""),
        stop=stop.id,
    )


def _hidden(root: Path, base: str | None, began: float, now: float) -> frozenset[str] | None:
    """Return the files to exclude from the patch; None: unknown."""
    if not _is_commit(root, base) or not changes.may_be_left_out():
        return frozenset()
    # Both names of a file that was moved.
    files = _names(_git(root, "diff", "--name-only", "--no-renames", "-z", *([base] if base else [])))
    files += _names(_git(root, "ls-files", "--others", "--exclude-standard", "-z"))
    try:
        found = changes.left_out(root, base, files, began=began, now=now)
        never = frozenset(files).difference(without_never_recorded(root, files))
    except CmError:
        return None
    hidden = None if found is None else found | never
    return None if hidden is None or len(hidden) > _EXCLUDED else hidden


def _is_commit(root: Path, base: str | None) -> bool:
    # The journal's value must be a commit: it is an argument of git.
    return (root / ".git").exists() and (not base or _SHA.fullmatch(base) is not None)


def _patch(root: Path, base: str | None, hidden: Collection[str], turn: Turn) -> tuple[str, int, list[str]]:
    """Return the difference to a commit, the number of characters to keep, and the files that the turn changed.

    New files that the agent wrote are in it; others that git does not track may be anybody's.
    """
    if not _is_commit(root, base):
        return "", 0, []
    start = [base] if base else []
    without = [".", *(f":(exclude,literal){name}" for name in sorted(hidden))] if hidden else []
    named = _git(root, "diff", "--name-only", "-z", *start, paths=without)
    new = _names(_git(root, "ls-files", "--others", "--exclude-standard", "-z"))
    text = _git(root, "diff", *start, paths=without)
    for name in new:
        if len(text) < PATCH_BYTES and name in turn.files and name not in hidden:
            text += _new_file(root, name)
    files = [name for name in (*_names(named), *new) if name not in hidden and _is_changed(root / name, turn.first)]
    kept = len(text[:PATCH_BYTES].decode("utf-8", "replace"))
    return text.decode("utf-8", "replace"), kept, [_sane(name) for name in files[:_FILES]]


def _new_file(root: Path, name: str) -> bytes:
    """Return the section of a patch that makes a file; empty where it is no text, or has a name that git quotes."""
    try:
        with opened_below(root, name) as file:
            data = file.read(PATCH_BYTES + BEYOND)
    except OSError:
        return b""
    if not data or b"\0" in data or _QUOTED.search(name):
        return b""
    lines, path = data.removesuffix(b"\n").split(b"\n"), os.fsencode(name)
    head = b"diff --git a/%b b/%b\nnew file mode 100644\n--- /dev/null\n+++ b/%b\n@@ -0,0 +1,%d @@\n"
    return head % (path, path, path, len(lines)) + b"".join(b"+%b\n" % line for line in lines)


def _is_changed(file: Path, since: float) -> bool:
    """Return whether a file was changed since a turn began; one that is gone may have been removed in it."""
    try:
        return file.lstat().st_mtime > since - changes.COARSE_SECONDS
    except OSError:
        return True


def _names(text: bytes) -> list[str]:
    return [os.fsdecode(name) for name in text.split(b"\0") if name]


def _sane(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")


def _git(root: Path, *words: str, paths: Sequence[str] = ()) -> bytes:
    """Return what git prints, bounded in size and time; nothing where it fails."""
    try:
        found = safe_git.run(root, *words, "--", *paths, most=PATCH_BYTES + BEYOND, seconds=_SECONDS)
    except CmError:
        return b""
    return found.data if found.code == 0 or found.is_cut else b""
