"""The payload of an agent's hook: the fields of each agent, read into one record."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

EVENTS = ("prompt", "action", "edit", "session-start", "session-end", "stop", "git")
AGENTS = ("claude-code", "opencode", "cursor", "codex")

PROMPT_CHARACTERS = 32_000
"""What is kept of a prompt, or an answer."""
_READ_CHARACTERS = 36_000
"""What is read of it: a secret where it is cut must be seen whole to be recognised."""
_PATHS = 1_000
_PATH_KEYS = ("file_path", "filePath", "notebook_path", "path", "target_file")
_PATCH_KEYS = ("command", "patch", "patchText", "input")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_FOLDER_VARIABLES = ("CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR")


class PayloadError(ValueError):
    """Stdin holds no payload."""


class Payload(NamedTuple):
    """The facts that a hook needs."""

    session: str
    folder: str
    """Where the session works."""
    prompt: str = ""
    paths: tuple[str, ...] = ()
    """Files that a tool wrote, or is about to write, as the agent names them."""
    answer: str = ""
    """Last thing that the agent said, where it tells."""
    source: str = ""
    """Why a session started."""
    repeated: bool = False
    """True for a stop that follows from a stop hook."""
    transcript: str = ""
    """Absolute path of the session's transcript, where the agent tells it."""
    permissions: str = ""
    """What the agent may do, by its own name of that: `plan` writes nothing."""
    command: str = ""
    """Line that a tool is about to give to a shell."""


def read(text: bytes, environment: Mapping[str, str], folder: str) -> Payload:
    """Return the facts of an agent's JSON.

    `text`: what came on stdin; nothing is fine. `environment`: where some agents name the project. `folder`: the
    current one. Raises PayloadError if it is not a JSON object.
    """
    try:
        data = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"stdin is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise PayloadError("stdin is not a JSON object")
    files = tuple(dict.fromkeys(_paths(data)))[:_PATHS]
    return Payload(
        session=_name(data.get("session_id") or data.get("conversation_id"), 200),
        folder=_folder(data, environment) or folder,
        prompt=_text(data.get("prompt"))[:_READ_CHARACTERS],
        paths=files,
        answer=_text(data.get("last_assistant_message"))[:_READ_CHARACTERS],
        source=_name(data.get("source"), 40),
        repeated=data.get("stop_hook_active") is True,
        transcript=_place(data.get("transcript_path")),
        permissions=_name(data.get("permission_mode"), 40),
        command="" if files else _command(data.get("tool_input")),
    )


def _text(value: Any) -> str:
    # A lone surrogate, which JSON may hold, could not be written as UTF-8 later.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _command(tool: Any) -> str:
    return _text(tool.get("command"))[:_READ_CHARACTERS] if isinstance(tool, dict) else ""


def _name(value: Any, most: int) -> str:
    """A name of at most so many characters; a longer one is known by its digest: half a secret would not be recognised."""
    name = _text(value)
    if len(name) <= most:
        return name
    from hashlib import sha256

    return sha256(name.encode()).hexdigest()[:32]


def _place(value: Any) -> str:
    return value if isinstance(value, str) and os.path.isabs(value) and "\0" not in value else ""  # noqa: PTH117


def _folder(data: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    roots = data.get("workspace_roots")
    named = [data.get("cwd"), *(roots if isinstance(roots, list) else ())]
    named += [environment.get(name) for name in _FOLDER_VARIABLES]
    return next((one for one in named if isinstance(one, str) and os.path.isabs(one) and "\0" not in one), "")  # noqa: PTH117


def _paths(data: Mapping[str, Any]) -> Iterator[str]:
    tool = data.get("tool_input")
    for place in (data, tool) if isinstance(tool, dict) else (data,):
        for key in _PATH_KEYS:
            value = place.get(key)
            if isinstance(value, str) and value and "\0" not in value:
                yield value
    if isinstance(tool, dict):
        for key in _PATCH_KEYS:
            value = tool.get(key)
            if isinstance(value, str) and "*** " in value:
                names = (found.strip() for found in _PATCHED.findall(value))
                yield from (name for name in names if name and "\0" not in name)
