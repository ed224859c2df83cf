"""The record of a turn, made when it stops: its prompts, the files it touched and its patch."""

from __future__ import annotations

import os
import subprocess
import threading
from hashlib import sha256
from pathlib import Path

from cm_tui.engine.journal import Event
from cm_tui.engine.memory.episode_record import EpisodeRecord
from cm_tui.engine.memory.redact import BEYOND, redact
from cm_tui.engine.memory.turns import Turn

PATCH_BYTES = 64_000
"""What is kept of a patch."""
ANSWER_CHARACTERS = 8_000
"""What is kept of the answer."""
_FILES = 200
_SECONDS = 10.0
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
    patch, kept, files = ("", 0, []) if late else _patch(root, turn.base or stop.head)
    digest = sha256(patch.encode()).hexdigest()[:16] if patch else ""
    same = bool(digest) and digest == turn.patch_before
    if not turn.prompts and (same or not patch):
        return None
    clean = redact("" if same else patch, kept)
    return EpisodeRecord(
        agent=str(stop.data.get("agent", "")),
        session=str(stop.data.get("session", "")),
        root=str(root),
        prompts=tuple(turn.prompts),
        answer=str(stop.data.get("answer", ""))[:ANSWER_CHARACTERS],
        files=tuple(dict.fromkeys([*turn.files, *files]))[:_FILES],
        base=turn.base or "",
        patch=clean.text,
        patch_digest=digest,
        patch_cut=kept < len(patch),
        redacted=clean.secrets,
        note="recorded late, without a patch" if late else "the patch is that of the episode before" if same else "",
        stop=stop.id,
    )


def _patch(root: Path, base: str | None) -> tuple[str, int, list[str]]:
    """Return the difference to a commit, how many characters of it are kept, and the files in it and new ones."""
    if not (root / ".git").exists():
        return "", 0, []
    named = _git(root, "diff", "--name-only", "-z", *([base] if base else []))
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    text = _git(root, "diff", "--no-color", *([base] if base else []))
    files = [os.fsdecode(name) for name in (named + b"\0" + new).split(b"\0") if name]
    kept = len(text[:PATCH_BYTES].decode("utf-8", "replace"))
    return text.decode("utf-8", "replace"), kept, [_sane(name) for name in files[:_FILES]]


def _sane(name: str) -> str:
    return name.encode("utf-8", "replace").decode("utf-8")


def _git(root: Path, *words: str) -> bytes:
    """Return what git prints, bounded in size and time; nothing where it fails."""
    plain = ("--no-ext-diff", "--no-textconv") if words[0] == "diff" else ()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    process = subprocess.Popen(
        ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", words[0], *plain, *words[1:], "--"],
        cwd=root,
        env={**environment, "GIT_OPTIONAL_LOCKS": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    most = PATCH_BYTES + BEYOND
    timer = threading.Timer(_SECONDS, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        with process.stdout as out:
            text = out.read(most)
        cut = len(text) == most
        if cut:
            process.kill()
        code = process.wait()
    finally:
        timer.cancel()
    return text if code == 0 or cut else b""
