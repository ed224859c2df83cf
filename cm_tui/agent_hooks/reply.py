"""The reply to an agent in its own format, and the marks around what comes from memory."""

from __future__ import annotations

import json

from cm_tui.engine.api.fence import about, fenced
from cm_tui.engine.api.outgoing import note_on_marks, without_secrets

_FOUND = "was found in this project's memory for the prompt above: code, and notes of earlier work, with their places"
PREAMBLE = f"{about(_FOUND)} Use what helps, and read the files before you rely on it."
AT_START = about(
    "is what people and agents wrote down for this project and this user, where the last session stopped, and the logs of "
    "yesterday and today",
    rules=True,
)
BEFORE_ACTION = about("is this project's memory of the file or command of this tool call", rules=True)
CHARACTERS = 9_500
"""Agents take about 10,000 characters from a hook, and put more into a file or drop it."""


_NAMES = {"prompt": "UserPromptSubmit", "session-start": "SessionStart", "action": "PreToolUse"}


def quote_block(pack: str, preamble: str = PREAMBLE) -> str:
    """Return a pack between marks that nothing inside it can close; says how many secrets were taken out of it.

    `pack`: its Markdown, which holds whatever stands in the project's files; `preamble`: what is said of it.
    """
    inside = pack.strip()
    notes = "".join(f"\n\nnote: {note}" for note in note_on_marks(inside))
    return fenced(f"{inside}{notes}", preamble)


def answer(agent: str, event: str, context: str) -> str:
    """Return what a hook prints, without secrets, whatever it was given; nothing where there is nothing to add.

    `agent`: whose format. `event`: `prompt`, `session-start` or `action`, where a context can be added. `context`: what
    the memory answered; may be empty.
    """
    # Before an action, only Claude Code takes a context: Codex reports it as an error.
    if event not in _NAMES or not context or (event == "action" and agent != "claude-code"):
        return ""
    context = without_secrets(context)
    if agent == "cursor":
        return json.dumps(
            {"continue": True, "additional_context": context} if event == "prompt" else {"additional_context": context}
        )
    if agent == "opencode":
        return json.dumps({"context": context})
    if agent in {"claude-code", "codex"}:
        return json.dumps({"hookSpecificOutput": {"hookEventName": _NAMES[event], "additionalContext": context}})
    return context


def reminder(agent: str, text: str) -> str:
    """Return what a stop hook prints so that an agent goes on with a reminder; nothing for one that takes none.

    `agent`: whose format; `text`: what it is reminded of.
    """
    return json.dumps({"decision": "block", "reason": text}) if agent in {"claude-code", "codex"} else ""
