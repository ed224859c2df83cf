"""Put our parts into an agent's files and take them out: planned whole, shown as a diff, written atomically."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from cm_tui import paths
from cm_tui.engine.platform.git.markers import marked_around
from cm_tui.errors import CmError, RefusedError
from cm_tui.files import PRIVATE, permissions_of, read_bounded, shared_dir, write_atomically, write_if_unchanged
from cm_tui.integrations.agents.agent_files import BLANK, Agent, Change, InstallTarget, Part, Scope, What
from cm_tui.integrations.agents.json_edit import Document
from cm_tui.integrations.agents.project_entry import shown
from cm_tui.state_file import reported


class Original:
    """A file as it was before we changed it, kept beside the user's state."""

    def __init__(self, path: Path) -> None:
        self._path = path
        digest = sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:24]
        self._file = paths.state_dir() / "agents" / f"{digest}.json"

    def keep(self, before: bytes, after: bytes) -> None:
        """Keep a file and what we made of it."""
        paths.private_dir(paths.private_dir(paths.state_dir()) / "agents")
        entry = {
            "path": str(self._path),
            "after": sha256(after).hexdigest(),
            "before": b64encode(before).decode("ascii"),
        }
        write_atomically(self._file, json.dumps(entry))

    def content_before(self, now: bytes) -> bytes | None:
        """Return the original content of a file, if it was not changed since.

        Raises CmError: what was kept cannot be read.
        """
        kept = self._saved()
        return kept[1] if kept is not None and kept[0] == sha256(now).hexdigest() else None

    def content(self) -> bytes | None:
        """Return the file as it was, whatever became of it since.

        Raises CmError: what was kept cannot be read.
        """
        kept = self._saved()
        return None if kept is None else kept[1]

    def _saved(self) -> tuple[str, bytes] | None:
        """The digest of what we made of the file, and the file as it was."""
        try:
            entry = json.loads(self._file.read_bytes())
            return str(entry["after"]), b64decode(entry["before"], validate=True)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CmError(f"Cannot read {self._file}: {error}", hint="Remove it and run the command again.") from error

    def forget(self) -> None:
        """Keep it no longer."""
        self._file.unlink(missing_ok=True)


# An agent keeps much more in the user's file than its settings.
_MOST_BYTES: dict[Scope, int] = {"project": 1_000_000, "user": 100_000_000}

_NOTHING = b" \t\r\n{}\xef\xbb\xbf"
"""What a file consists of that says nothing: white space, an empty object, a byte order mark."""

State = Literal["installed", "outdated", "absent", "unreadable"]


@dataclass(frozen=True, slots=True)
class PartStatus:
    """The state of a part of an agent."""

    agent: str
    scope: Scope
    what: What
    path: Path
    state: State
    note: str = ""


def plan(
    agent: Agent, target: InstallTarget, *, install: bool, only: Iterable[What] = ("mcp", "hooks")
) -> list[Change]:
    """Return what installing or uninstalling would change; nothing is written.

    Raises RefusedError if a file cannot be parsed, is read-only, leads out of the project, or holds something where our
    part belongs; the message names it. CmError if a file cannot be read.
    """
    wanted = set(only)
    if target.scope == "project":
        for part in agent.parts(target):
            _refuse_outside(part.path, target.root)
    changes = [_change(part, target.scope, install=install) for part in agent.parts(target) if part.what in wanted]
    for change in changes:
        if change.done != "unchanged" and change.before is not None:
            _refuse_read_only(change.path)
    return changes


def _refuse_outside(path: Path, root: Path) -> None:
    """A repository may bring a link in the place of its settings: what it leads to is not the project's to change."""
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(os.path.realpath(root)):
        raise RefusedError(
            f"{path} points outside the project, to {target}; nothing was written.",
            hint="Remove the link, or connect the agent with --scope user.",
        )


def _refuse_read_only(path: Path) -> None:
    """Refuse to replace a read-only file, which the system itself would allow."""
    target = Path(os.path.realpath(path))
    if not target.stat().st_mode & 0o222 or not os.access(target, os.W_OK):
        raise RefusedError(f"{target} is read-only; nothing was written.", hint=f"Allow it with `chmod u+w {target}`.")


def _change(part: Part, scope: Scope, *, install: bool) -> Change:
    before = _read(part.path, scope)
    text = None if before is None else _decoded(part.path, before)
    dropped: tuple[str, ...] = ()
    try:
        if install:
            after: str | None = part.wire(text)
            dropped = part.widened(text) if text else ()
        else:
            kept = None if before is None else Original(part.path).content_before(before)
            if kept is not None:
                return Change(part.what, part.path, before, kept)
            after = None if text is None else _uninstalled_text(part, text)
    except RefusedError as error:
        raise RefusedError(
            f"{part.path}: {error.message}", hint=error.hint or "Fix the file; nothing was written."
        ) from error
    return Change(part.what, part.path, before, None if after is None else after.encode("utf-8"), dropped)


def apply(agent: Agent, target: InstallTarget, changes: Sequence[Change], *, install: bool) -> None:
    """Write planned changes.

    What uninstalling could not give back byte for byte, such as an empty object that we fill, is kept aside first.
    Raises RefusedError if a file was changed since the plan; CmError if a file cannot be written.
    """
    parts = {part.path: part for part in agent.parts(target)}
    for change in changes:
        if change.done == "unchanged":
            continue
        _refuse_changed(change, target.scope)
        with reported(change.path):
            if install:
                _keep_original(parts[change.path], change)
            _write(change, target.scope)
            if not install:
                Original(change.path).forget()


def plan_setting(path: Path, name: str, value: int, keep: Callable[[Any], bool]) -> Change:
    """Return the change of one setting in a JSON file of the user; all else in it stays byte for byte.

    `path`: the file; need not be there. `keep`: says of its present value that it stays. Raises RefusedError if the
    file cannot be parsed, or is read-only; the message names it. CmError if it cannot be read.
    """
    before = _read(path, "user")
    try:
        document = Document("" if before is None else _decoded(path, before))
    except RefusedError as error:
        raise RefusedError(f"{path}: {error.message}", hint="Repair the file; nothing was written.") from error
    if before is not None and name in document.value and keep(document.value[name]):
        return Change("setting", path, before, before)
    if before is not None:
        _refuse_read_only(path)
    document.put((name,), value)
    return Change("setting", path, before, document.text.encode("utf-8"))


def apply_setting(change: Change) -> None:
    """Write the change of a setting, which uninstalling does not undo.

    Raises RefusedError if the file was changed since the plan; CmError if it cannot be written.
    """
    _refuse_changed(change, "user")
    with reported(change.path):
        _write(change, "user")


def _keep_original(part: Part, change: Change) -> None:
    """Keep a file aside that taking our part out again would not give back byte for byte."""
    if change.before is None or change.after is None:
        return
    kept_aside = Original(change.path)
    original = kept_aside.content_before(change.before)
    if original is None:
        original = _unwired(part, change.before)
    if original is not None and _unwired(part, change.after) != original:
        kept_aside.keep(original, change.after)


def _unwired(part: Part, content: bytes) -> bytes | None:
    text = _without_ours(part, content.decode("utf-8"))
    return None if text is None else text.encode("utf-8")


def _without_ours(part: Part, text: str) -> str | None:
    """Return a file's text without our part; an empty file is the user's own and is kept."""
    return part.unwire(text) if text.strip(BLANK) else text


def _uninstalled_text(part: Part, text: str) -> str | None:
    """The text that uninstalling leaves; a file that was there before us, with nothing in it, is there afterwards."""
    after = _without_ours(part, text)
    if after is None:
        before = Original(part.path).content()
        if before is not None and not before.translate(None, _NOTHING):
            return before.decode("utf-8")
    return after


def plan_marker(
    agents: Iterable[Agent], target: InstallTarget, changes: Sequence[Change], *, install: bool
) -> list[Change]:
    """Plan the folder `.cm` by which hooks know a project without git: made with the first agent, removed with the last.

    `agents`: all there are; `target`: where one is wired; `changes`: what happens to that one; `install`: whether it is
    put in or taken out. Raises CmError: what is remembered of it cannot be read.
    """
    marker = target.root / paths.PROJECT_FOLDER
    if target.scope != "project":
        return []
    if install:
        needed = any(change.what == "hooks" for change in changes) and not marked_around(target.root)
        return [Change("marker", marker, None, b"")] if needed else []
    is_ours = marker.is_dir() and not any(marker.iterdir()) and Original(marker).content_before(b"") is not None
    if is_ours and not _is_any_wired(agents, target, without=[change.path for change in changes]):
        return [Change("marker", marker, b"", None)]
    return []


def _is_any_wired(agents: Iterable[Agent], target: InstallTarget, *, without: Collection[Path]) -> bool:
    parts = (part for agent in agents for part in status(agent, target) if part.path not in without)
    return any(part.state != "absent" for part in parts)


def apply_marker(changes: Sequence[Change]) -> None:
    """Make or remove the folder. Raises CmError if it cannot be made or removed."""
    for change in changes:
        with reported(change.path):
            if change.after is None:
                change.path.rmdir()
                Original(change.path).forget()
            else:
                shared_dir(change.path)
                Original(change.path).keep(b"", b"")


def status(agent: Agent, target: InstallTarget) -> list[PartStatus]:
    """Return how each part of an agent is wired at a target."""
    return [_status(agent, target, part) for part in agent.parts(target)]


def _status(agent: Agent, target: InstallTarget, part: Part) -> PartStatus:
    state: State = "absent"
    note = ""
    try:
        before = _read(part.path, target.scope)
        text = None if before is None else _decoded(part.path, before)
        if text is not None:
            wired = part.wire(text)
            state = "absent" if _without_ours(part, text) == text else "installed" if wired == text else "outdated"
            widened = part.widened(text)
            note = f"widened: {shown(widened)}" if widened else ""
    except CmError as error:
        state, note = "unreadable", error.message
    return PartStatus(agent.name, target.scope, part.what, part.path, state, note)


# --- files ---


def _read(path: Path, scope: Scope) -> bytes | None:
    with reported(path, "read"), suppress(FileNotFoundError, NotADirectoryError):
        return read_bounded(path, _MOST_BYTES[scope])
    return None


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise RefusedError(
            f"{path}: line {line}, column {column}: not UTF-8", hint="Fix the file; nothing was written."
        ) from error


def _refuse_changed(change: Change, scope: Scope) -> None:
    if _read(change.path, scope) != change.before:
        raise _changed_meanwhile(change)


def _changed_meanwhile(change: Change) -> RefusedError:
    return RefusedError(f"{change.path} has changed meanwhile.", hint="Run the command again.")


def _write(change: Change, scope: Scope) -> None:
    # A link stays a link: what it leads to is written.
    target = Path(os.path.realpath(change.path))
    if change.after is None:
        target.unlink()
        _remove_empty(target.parent)
        return
    shared_dir(target.parent)
    permissions = permissions_of(target) or (PRIVATE if scope == "user" else None)
    # An agent at work saves its settings at any moment, also while ours are on their way to the disk.
    if not write_if_unchanged(target, change.after, change.before, permissions):
        raise _changed_meanwhile(change)


def _remove_empty(folder: Path) -> None:
    """An agent's own folder that is empty now was made for our file, as was `plugins` in it."""
    for one in (folder, folder.parent):
        if one.name not in {".claude", ".cursor", ".codex", ".opencode", "opencode", "plugins"} or any(one.iterdir()):
            return
        one.rmdir()
