"""The record of a turn, made when it stops: its prompts, the files it touched and its patch."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

from cm_tui.engine.git import safe_git
from cm_tui.engine.git.reach import has_foreign_history
from cm_tui.engine.journal import Event
from cm_tui.engine.memory.episode_record import EpisodeRecord
from cm_tui.engine.memory.left_out import is_agent_settings, without_credentials
from cm_tui.engine.memory.turns import Turn
from cm_tui.engine.redaction import BEYOND, redact
from cm_tui.errors import CmError

PATCH_BYTES = 64_000
"""What is kept of a patch."""
ANSWER_CHARACTERS = 8_000
"""What is kept of the answer."""
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FILES = 200
_SECONDS = 10.0
_LATE = "recorded late, without a patch"
_FOREIGN = "without a patch: the `.git` leads to a repository that knows nothing of this folder"
_SAME = "the patch is that of the episode before"
LATE_SECONDS = 120.0
"""A stop that is read later than this is recorded without a patch: the files may have moved on."""


def record_turn(root: Path, turn: Turn, stop: Event, *, now: float) -> EpisodeRecord | None:
    """Make the record of a turn that ended; None when there is nothing to remember.

    Args:
        root: the project's root.
        turn: what led to it.
        stop: the event that ended it.
        now: seconds since the epoch.
    """
    late = now - stop.time > LATE_SECONDS
    foreign = has_foreign_history(root)
    patch, kept, files = ("", 0, []) if late or foreign else _patch(root, turn.base or stop.head)
    digest = sha256(patch.encode()).hexdigest()[:16] if patch else ""
    same = bool(digest) and digest == turn.patch_before
    if not turn.prompts and (same or not patch):
        return None
    shown = "" if same else without_credentials(patch)
    # What was read beyond the cut stays beyond it: a secret there is seen whole.
    clean = redact(shown, max(0, len(shown) - (len(patch) - kept)))
    files = [path for path in dict.fromkeys([*turn.files, *files]) if not is_agent_settings(path)]
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
        note=_LATE if late else _FOREIGN if foreign else _SAME if same else "",
        stop=stop.id,
    )


def _patch(root: Path, base: str | None) -> tuple[str, int, list[str]]:
    """Return the difference to a commit, how many characters of it are kept, and the files in it and new ones."""
    # What the journal says is a commit must be one: it is an argument of git.
    if not (root / ".git").exists() or (base and not _SHA.fullmatch(base)):
        return "", 0, []
    named = _git(root, "diff", "--name-only", "-z", *([base] if base else []))
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    text = _git(root, "diff", *([base] if base else []))
    files = [os.fsdecode(name) for name in (named + b"\0" + new).split(b"\0") if name]
    kept = len(text[:PATCH_BYTES].decode("utf-8", "replace"))
    return text.decode("utf-8", "replace"), kept, [_sane(name) for name in files[:_FILES]]


def _sane(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")


def _git(root: Path, *words: str) -> bytes:
    """Return what git prints, bounded in size and time; nothing where it fails."""
    try:
        found = safe_git.run(root, *words, "--", most=PATCH_BYTES + BEYOND, seconds=_SECONDS)
    except CmError:
        return b""
    return found.data if found.code == 0 or found.is_cut else b""
