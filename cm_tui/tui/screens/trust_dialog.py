"""What came with a repository and waits for a person's word: asks about it, writes the answer down, and has it count."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from cm_tui.config.held import RepositoryTrust, repository_trust
from cm_tui.counts import noun
from cm_tui.paths import PROJECT_FOLDER
from cm_tui.tui.screens.mode_app import ModeApp
from cm_tui.tui.screens.question import Option, Question, ask
from cm_tui.tui.tasks.ask import Then
from cm_tui.tui.widgets.text import count, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.definition_trust import HeldFile
    from cm_tui.engine.api.entry_trust import HeldEntries


_LONGEST = 100_000
"""Characters of entries that are shown at once."""
Choice = Literal["trusted", "refused", "revoked", "later"]

_LABELS: dict[Choice, str] = {
    "later": "Not now", "trusted": "Trust", "refused": "Keep held", "revoked": "Revoke trust",
}  # fmt: skip


def about_settings(trust: RepositoryTrust, answered: Callable[[Choice], None]) -> Question:
    """Return the question about a repository's settings; what could not be shown whole is not trusted."""
    choices: tuple[Choice, ...] = ("revoked",) if trust.state == "trusted" else ("refused", "trusted")
    return _question("Settings of this repository", _settings(trust), choices, answered, whole=not trust.unshowable)


def about_files(files: Sequence[HeldFile], answered: Callable[[Choice], None]) -> Question:
    """Return the question about files of definitions: those that wait, and those that are trusted."""
    waiting, trusted = [one for one in files if not one.trusted], [one for one in files if one.trusted]
    parts: list[str] = []
    choices: list[Choice] = []
    if waiting:
        parts += [
            noun(len(waiting), "This file is held. It wants to", "These files are held. They want to"),
            *map(_file, waiting),
        ]
    if trusted:
        parts += [noun(len(trusted), "You trusted this file to", "You trusted these files to"), *map(_file, trusted)]
        choices.append("revoked")
    if waiting:
        choices.append("trusted")
    parts.append("Trust covers the current content: if the file changes, it is held again.")
    return _question("Files of definitions", "\n\n".join(parts), choices, answered)


def about_entries(held: HeldEntries, answered: Callable[[Choice], None]) -> Question:
    """Return the question about entries, each with its whole text; in Review each is decided on by itself."""
    from cm_tui.engine.api.entry_trust import MOST

    choices: list[Choice] = ["revoked"] if held.trusted else []
    choices += ["refused", "trusted"] if held.entries else []
    texts = [f"[{one.category}] {one_line(one.title)}\n{one.content}" for one in held.entries]
    whole = len(texts) <= MOST and sum(map(len, texts)) <= _LONGEST
    if not whole:
        texts = ["Too many to trust at once: select individual ones in Review."]
    detail = "\n\n".join((_entries(held), *texts))
    return _question("Entries of this repository", detail, choices, answered, whole=whole)


def _entries(held: HeldEntries) -> str:
    number, file = len(held.entries), one_line(held.file.removeprefix(f"{held.root}/"))
    known = f"You trusted {count(held.trusted, 'entry', 'entries')} of it before." if held.trusted else ""
    if not number:
        return f"{known}\n\nIts file is {file}. Until trusted, they are not used."
    refused = "You excluded them. " if held.state == "refused" else ""
    they, them = noun(number, "it", "they"), noun(number, "it", "them")
    return (
        f"{count(number, 'entry', 'entries')} of {file} came with it, and {noun(number, 'is', 'are')} not used, for you or for "
        f"agents, until you trust {them}. {refused}{known}\n\nTrusted, {they} may be treated as your own words by agents. "
        f"Read {them} first; Review has {noun(number, 'it', 'each by itself')}."
    )


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


def _settings(trust: RepositoryTrust) -> str:
    effects = "\n".join(f"  • {effect}" for effect in trust.effects)
    settings = "\n".join(f"  {setting.name} = {setting.value}" for setting in trust.settings)
    lead = {
        "trusted": "You trusted it to",
        "refused": "You declined when this repository wanted to",
    }.get(trust.state, "This repository wants to")
    whole = f"It cannot be trusted: {trust.unshowable}.\n\n" if trust.unshowable else ""
    return (
        f"{whole}{lead}\n{effects}\n\nIts file {trust.file} contains\n{settings}\n\nIts other settings already apply."
    )


T = TypeVar("T")


@dataclass(frozen=True)
class Waiting:
    """What a repository brought."""

    root: Path
    settings: RepositoryTrust
    entries: HeldEntries
    files: tuple[HeldFile, ...]
    """Of definitions that ask for something, trusted or not."""


class TrustDialog:
    """Asks about a repository's settings, then about its files of definitions, then about its entries.

    Files are asked about where a person asks what waits: they do nothing before, and Context says that they wait.

    Args:
        cm: the application.
    """

    def __init__(self, cm: ModeApp) -> None:
        self._cm = cm

    def ask_if_undecided(self) -> None:
        """Ask about undecided settings."""

        def look(found: Waiting) -> None:
            def entries() -> None:
                if found.entries.state == "held":
                    self._ask_entries(found.entries)

            if found.settings.state == "held":
                self._ask_settings(found.settings, entries)
            else:
                entries()

        # All that it may bring is in this folder.
        if (self._root / PROJECT_FOLDER).is_dir():
            self._look(look, files=False)

    def ask_again(self) -> None:
        """Show the decision, and let the user change it."""

        def show(found: Waiting) -> None:
            steps: list[Callable[[Callable[[], None]], None]] = []
            if found.settings.state != "nothing":
                steps.append(lambda then: self._ask_settings(found.settings, then))
            if found.files:
                steps.append(lambda then: self._ask_files(found, then))
            if found.entries.state != "nothing" or found.entries.trusted > 0:
                steps.append(lambda _: self._ask_entries(found.entries))
            if not steps:
                self._cm.tell("Nothing in this repository needs trust: neither its settings nor any file or entry.")
            _in_turn(steps)

        self._look(show, files=True)

    @property
    def _root(self) -> Path:
        return self._cm.tasks.engine.root if self._cm.tasks.engine else self._cm.root

    def _look(self, then: Callable[[Waiting], None], *, files: bool) -> None:
        self._work("", partial(_waiting, self._root, files=files), then)

    def _work(self, about: str, call: Callable[[], T], then: Then[T]) -> None:
        self._cm.tasks.attempt(call, then, self._cm.tell_error, topic=f"app.trust{about}")

    def _ask(
        self, about: str, question: Callable[[Callable[[Choice], None]], Question], decide: Callable[[Choice], T],
        done: Callable[[Choice, T], None], then: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """Ask, write the answer down on a worker thread, and go on."""

        def answered(choice: Choice) -> None:
            if choice != "later":
                self._work(about, partial(decide, choice), partial(done, choice))
            then()

        ask(self._cm, question(answered))

    # --- settings ---

    def _ask_settings(self, found: RepositoryTrust, then: Callable[[], None]) -> None:
        self._ask("-settings", partial(about_settings, found), partial(_decide, found), self._decided, then)

    def _decided(self, choice: Choice, _: None) -> None:
        engine = self._cm.tasks.engine
        if choice == "refused":
            self._cm.tell("They stay held.")
        elif engine is None or not engine.uses_daemon:
            self._cm.tell("Held at once." if choice == "revoked" else "They apply from the next start of cm.")
        else:
            self._cm.tell("Held again." if choice == "revoked" else "They apply from now on; keys from the next start.")
            self._cm.lifecycle.start_index()
        self._cm.lifecycle.refresh_status()

    # --- files of definitions ---

    def _ask_files(self, found: Waiting, then: Callable[[], None]) -> None:
        self._ask("-files", partial(about_files, found.files), partial(_decide_files, found), self._files_decided, then)

    def _files_decided(self, choice: Choice, done: int) -> None:
        many = count(done, "file")
        self._cm.tell(f"Trusted as they are now: {many}." if choice == "trusted" else f"Held again: {many}.")
        self._cm.lifecycle.refresh_status()

    # --- entries ---

    def _ask_entries(self, held: HeldEntries) -> None:
        self._ask("-entries", partial(about_entries, held), partial(_decide_entries, held), self._entries_decided)

    def _entries_decided(self, choice: Choice, done: int) -> None:
        many = count(done, "entry", "entries")
        words: dict[Choice, str] = {
            "trusted": f"Used from now on: {many}.",
            "refused": f"Not used: {many}.",
            "revoked": f"No longer used: {many}.",
        }
        self._cm.tell(words[choice])
        # They are passages of the index, or are none any more.
        self._cm.lifecycle.start_index()
        self._cm.lifecycle.refresh_status()


def _in_turn(steps: Sequence[Callable[[Callable[[], None]], None]]) -> None:
    """Take steps one after the other; each is given what comes behind it."""
    if steps:
        steps[0](lambda: _in_turn(steps[1:]))


# Late, each of these: nothing else of the application can trust.


def _waiting(root: Path, *, files: bool) -> Waiting:
    from cm_tui.engine.api.entry_trust import held_entries

    return Waiting(root, repository_trust(root), held_entries(root), _asking_files(root) if files else ())


def _asking_files(root: Path) -> tuple[HeldFile, ...]:
    from cm_tui.engine.api.definition_trust import asking_files

    return asking_files(root)


def _decide(found: RepositoryTrust, choice: Choice) -> None:
    from cm_tui.config import grant

    if choice == "revoked":
        grant.revoke(Path(found.root))
    else:
        grant.decide(found, "trusted" if choice == "trusted" else "refused")


def _decide_files(found: Waiting, choice: Choice) -> int:
    from cm_tui.engine.api import definition_trust

    if choice == "revoked":
        return definition_trust.revoke(found.root)
    shown = tuple(one for one in found.files if not one.trusted)
    definition_trust.trust(found.root, shown)
    return len(shown)


def _decide_entries(held: HeldEntries, choice: Choice) -> int:
    from cm_tui.engine.api import entry_trust

    if choice == "revoked":
        return entry_trust.revoke(Path(held.root))
    entry_trust.decide(held, "trusted" if choice == "trusted" else "refused")
    return len(held.entries)
