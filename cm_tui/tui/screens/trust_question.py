"""The question whether a repository's settings or files of definitions are trusted: what they are, and what they would do."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from cm_tui.config.held import RepositoryTrust
from cm_tui.counts import noun
from cm_tui.tui.screens.question import Option, Question

if TYPE_CHECKING:
    from cm_tui.engine.api.definition_trust import HeldFile

Choice = Literal["trusted", "refused", "revoked", "later"]

_LABELS: dict[Choice, str] = {
    "later": "Not now", "trusted": "Trust", "refused": "Keep held back", "revoked": "Take trust back",
}  # fmt: skip


def about_settings(asked: RepositoryTrust, answered: Callable[[Choice], None]) -> Question:
    """Return the question about a repository's settings; what could not be shown whole is not trusted."""
    choices: tuple[Choice, ...] = ("revoked",) if asked.state == "trusted" else ("refused", "trusted")
    return _question("Settings of this repository", _settings(asked), choices, answered, whole=not asked.unshowable)


def about_files(files: Sequence[HeldFile], answered: Callable[[Choice], None]) -> Question:
    """Return the question about files of definitions: those that wait, and those that are trusted."""
    waiting, trusted = [one for one in files if not one.trusted], [one for one in files if one.trusted]
    parts: list[str] = []
    choices: list[Choice] = []
    if waiting:
        parts += [
            noun(len(waiting), "This file waits. It wants to", "These files wait. They want to"),
            *map(_file, waiting),
        ]
    if trusted:
        parts += [noun(len(trusted), "You trusted this file to", "You trusted these files to"), *map(_file, trusted)]
        choices.append("revoked")
    if waiting:
        choices.append("trusted")
    parts.append("Trust is for what a file holds now: one changed byte, and it waits again.")
    return _question("Files of definitions", "\n\n".join(parts), choices, answered)


def _question(
    title: str, text: str, choices: Sequence[Choice], answered: Callable[[Choice], None], *, whole: bool = True
) -> Question:
    """Return a question in which no single key trusts, so that typing while it appears does not answer it."""
    options = [Option(_LABELS["later"], "escape", lambda: answered("later"))]
    for choice in choices:
        disabled = choice == "trusted" and not whole
        options.append(Option(_LABELS[choice], then=partial(answered, choice), disabled=disabled))
    return Question("", options, title=title, detail=text, look="large")


def _file(one: HeldFile) -> str:
    return "\n".join([json.dumps(one.path), *(f"  • {json.dumps(ask)[1:-1]}" for ask in one.asks)])


def _settings(asked: RepositoryTrust) -> str:
    effects = "\n".join(f"  • {effect}" for effect in asked.effects)
    settings = "\n".join(f"  {setting.name} = {setting.value}" for setting in asked.settings)
    told = {
        "trusted": "You trusted it to",
        "refused": "You said no when this repository wanted to",
    }.get(asked.state, "This repository wants to")
    whole = f"It cannot be trusted: {asked.unshowable}.\n\n" if asked.unshowable else ""
    return f"{whole}{told}\n{effects}\n\nIts file {asked.file} says\n{settings}\n\nWhat else a repository may set counts already."
