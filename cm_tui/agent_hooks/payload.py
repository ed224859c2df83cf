"""What an agent says to a hook, each in its own words, read into ours."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

EVENTS = ("prompt", "edit", "session-start", "stop", "git")
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
    """What came in is not what an agent says."""


class Payload(NamedTuple):
    """The facts that a hook needs."""

    session: str
    folder: str
    """Where the session works."""
    prompt: str = ""
    paths: tuple[str, ...] = ()
    """Files that a tool wrote, as the agent names them."""
    answer: str = ""
    """The last thing that the agent said, where it tells."""
    source: str = ""
    """Why a session started."""
    repeated: bool = False
    """True for a stop that follows from a stop hook."""


def read(text: bytes, environment: Mapping[str, str], folder: str) -> Payload:
    """The facts of an agent's JSON.

    Args:
        text: what came on stdin; nothing is fine.
        environment: where some agents name the project.
        folder: the current one.

    Raises:
        PayloadError: it is not a JSON object.
    """
    try:
        said = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"what came on stdin is not JSON: {error}") from error
    if not isinstance(said, dict):
        raise PayloadError("what came on stdin is not a JSON object")
    return Payload(
        session=_text(said.get("session_id") or said.get("conversation_id"))[:200],
        folder=_folder(said, environment) or folder,
        prompt=_text(said.get("prompt"))[:_READ_CHARACTERS],
        paths=tuple(dict.fromkeys(_paths(said)))[:_PATHS],
        answer=_text(said.get("last_assistant_message"))[:_READ_CHARACTERS],
        source=_text(said.get("source"))[:40],
        repeated=said.get("stop_hook_active") is True,
    )


def _text(value: Any) -> str:
    # A lone surrogate, which JSON may hold, could not be written as UTF-8 later.
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def _folder(said: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    roots = said.get("workspace_roots")
    named = [said.get("cwd"), *(roots if isinstance(roots, list) else ())]
    named += [environment.get(name) for name in _FOLDER_VARIABLES]
    return next((one for one in named if isinstance(one, str) and os.path.isabs(one) and "\0" not in one), "")  # noqa: PTH117


def _paths(said: Mapping[str, Any]) -> Iterator[str]:
    tool = said.get("tool_input")
    for place in (said, tool) if isinstance(tool, dict) else (said,):
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
