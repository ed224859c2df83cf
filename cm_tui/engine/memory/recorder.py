"""What a session did, when it stops: its prompts, the files it touched and its patch."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from cm_tui.engine.journal import Event, Position
from cm_tui.engine.memory.redact import BEYOND, redact

PATCH_BYTES = 64_000
"""What is kept of a patch."""
PROMPT_CHARACTERS = 8_000
"""What is kept of each prompt."""
_PROMPTS = 20
_FILES = 200
_SESSIONS = 500
_SECONDS = 10.0
LATE_SECONDS = 120.0
"""A stop that is read later than this is recorded without a patch: the files may have moved on."""
FORGOTTEN_SECONDS = 86_400.0
"""A session that was silent for so long before something else happened is not waited for any more."""


@dataclass
class Turn:
    """What a session said and did since it last stopped."""

    begin: Position
    """Behind the event before its first one: whoever reads on from here sees all of it."""
    prompts: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    base: str | None = None
    """The commit at the first prompt."""
    patch_before: str = ""
    """Digest of the patch that the session's episode before recorded."""
    last: float = 0.0
    """When something happened last."""

    def take(self, event: Event) -> None:
        """Add a prompt or an edit."""
        self.last = event.time
        if event.kind == "hook.prompt":
            if not self.prompts:
                self.base = event.head
            self.prompts = [*self.prompts, str(event.data.get("prompt", ""))[:PROMPT_CHARACTERS]][-_PROMPTS:]
        elif event.kind == "hook.edit":
            new = [str(path) for path in event.data.get("paths", ()) if path not in self.files]
            self.files = [*self.files, *new][-_FILES:]


class Sessions:
    """The turns that are under way, from a journal's events in their order.

    Args:
        patches: digests of the last patches, by root and session, as `patches` gave them before.
    """

    def __init__(self, patches: Mapping[tuple[str, str], str] | None = None) -> None:
        self._turns: dict[tuple[str, str], Turn] = {}
        self._patches = dict(patches or {})
        self._recorded: set[str] = set()

    @property
    def begin(self) -> Position | None:
        """Where the first of the turns that are under way began."""
        return min((turn.begin for turn in self._turns.values()), default=None)

    @property
    def patches(self) -> dict[tuple[str, str], str]:
        """Digests of the last patches, by root and session."""
        return dict(list(self._patches.items())[-_SESSIONS:])

    def take(self, event: Event, before: Position) -> Turn | None:
        """Follow an event; gives the turn that it ended.

        Args:
            event: what happened.
            before: the position of the event before it.
        """
        who = (str(event.data.get("root", "")), str(event.data.get("session", "")))
        if event.kind in {"hook.prompt", "hook.edit"}:
            # Put last again: a session that never stops is the first to be forgotten.
            turn = self._turns[who] = self._turns.pop(who, Turn(before))
            turn.take(event)
            self._forget(event.time - FORGOTTEN_SECONDS)
        elif event.kind == "episode":
            self._recorded.add(str(event.data.get("stop", "")))
            before_this = self._patches.pop(who, "")
            self._patches[who] = str(event.data.get("patch_digest") or before_this)
        elif event.kind == "hook.stop":
            turn = self._turns.pop(who, Turn(before))
            turn.patch_before = self._patches.get(who, "")
            return turn
        return None

    def _forget(self, since: float) -> None:
        while True:
            who, turn = next(iter(self._turns.items()))
            if turn.last >= since and len(self._turns) <= _SESSIONS:
                return
            del self._turns[who]

    def is_recorded(self, stop: Event) -> bool:
        """Whether an episode for a stop was among the events."""
        return stop.id in self._recorded


def episode(root: Path, turn: Turn, stop: Event, *, now: float) -> dict[str, Any] | None:
    """The record of a turn that ended; None when there is nothing to remember.

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
    note = "recorded late, without a patch" if late else "the patch is that of the episode before" if same else ""
    return {
        "type": "task",
        "agent": stop.data.get("agent", ""),
        "session": stop.data.get("session", ""),
        "root": str(root),
        "prompts": turn.prompts,
        "answer": str(stop.data.get("answer", ""))[:PROMPT_CHARACTERS],
        "files": list(dict.fromkeys([*turn.files, *files]))[:_FILES],
        "base": turn.base,
        "patch": clean.text,
        "patch_digest": digest,
        "patch_cut": kept < len(patch),
        "redacted": clean.secrets,
        "note": note,
        "stop": stop.id,
    }


def _patch(root: Path, base: str | None) -> tuple[str, int, list[str]]:
    """The difference to a commit, how many characters of it are kept, and the files in it and new ones."""
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
    """What git prints, bounded in size and time; nothing where it fails."""
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
