"""The families of commands: which module has which, so that a command reads its own alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword

import typer

FAMILIES = {
    "index": "index rebuild status skipped",
    "search": "search",
    "tune": "tune",
    "code": "symbols definitions callers callees dependencies importers members",
    "history": "at life drift prune vacuum history",
    "entries": "entries",
    "episodes": "episodes",
    "remember": "undo remember",
    "import_sessions": "import",
    "rescue": "rescue",
    "forget": "forget secrets",
    "stale": "stale",
    "recall": "recall pack",
    "context": "context",
    "ingest": "ingest",
    "agent": "agent",
    "trust": "trust",
    "link": "link projects",
    "pause": "pause resume",
    "handoff": "handoff",
    "backup": "backup restore",
    "team": "team",
    "mcp": "mcp",
    "notes": "notes",
    "narrate": "narrate",
    "proposals": "proposals",
    "topics": "topics",
    "git_hooks": "hook git-hooks hooks",
    "serve": "serve autostart",
    "maintenance": "doctor reset",
    "bench": "bench",
}
"""Modules of this room and the words after `cm` that each registers, in the order of `cm --help`."""

_FAMILY_OF = {command: family for family, commands in FAMILIES.items() for command in commands.split()}
_WITH_VALUE = {"--project", "-p", "--episode"}
"""Options before the command whose next word is theirs."""
_HELP = {"--help", "-h"}
_COMPLETE = "_CM_COMPLETE"
"""Set by a shell that completes a line; it may ask for anything."""


def register(app: typer.Typer, arguments: Sequence[str]) -> None:
    """Add the commands that these words may ask for: one family, all for help and for a word that is no command, or none."""
    from cm_tui.cli.declare import add

    for family in _command_words(arguments):
        module = import_module(f"cm_tui.cli.{family}")
        for word in FAMILIES[family].split():
            name = word.replace("-", "_")
            add(app, word, getattr(module, f"{name}_" if iskeyword(name) else name))


def _command_words(arguments: Sequence[str]) -> Sequence[str]:
    everything = tuple(FAMILIES)
    if _COMPLETE in os.environ:
        return everything
    words = iter(arguments)
    for word in words:
        if word in _WITH_VALUE:
            next(words, None)
        elif word in _HELP:
            return everything
        elif not word.startswith("-") or word == "--":
            return (_FAMILY_OF[word],) if word in _FAMILY_OF else everything
    return ()
