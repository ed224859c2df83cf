"""`cm trust`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cm_tui.cli.options import chosen_project, need_terminal
from cm_tui.cli.output import as_json, narrate, print_json, wants_json, write
from cm_tui.counts import count, noun
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model.dates import local_minute

if TYPE_CHECKING:
    from cm_tui.config.held import RepositoryTrust
    from cm_tui.engine.api.definition_trust import HeldFile
    from cm_tui.engine.api.entry_trust import HeldEntries


def trust(*, show: bool = False, revoke: bool = False, listing: bool = False) -> None:
    """Let settings, files of definitions and entries count that came with this repository and were held back; asked at a terminal only.

    With --json it shows what --show does, and asks nothing.

    Args:
        show: Say what the repository asks for, and decide nothing.
        revoke: Take back what was decided for this checkout.
        listing (--list): List what was decided for all checkouts.
    """
    if show + revoke + listing > 1:
        raise UsageError("Choose one of --show, --revoke and --list.")
    if listing:
        _list()
        return
    root = _root()
    if revoke:
        _revoke(root)
        return
    from cm_tui.config.held import repository_trust
    from cm_tui.engine.api.definition_trust import asking_files
    from cm_tui.engine.api.entry_trust import held_entries

    found, entries, files = repository_trust(root), held_entries(root), asking_files(root)
    decided = found.state in {"nothing", "trusted"}
    waiting = tuple(one for one in files if not one.trusted)
    if show or wants_json() or (decided and entries.state == "nothing" and not waiting):
        _show(found, entries, files)
        return
    if not decided:
        _ask(found)
    if waiting:
        _ask_about_files(root, waiting)
    if entries.state != "nothing":
        _ask_about_entries(entries)


def _root() -> Path:
    from cm_tui.engine.api import projects

    return projects.locate(chosen_project(), force=True)[0]


def _list() -> None:
    from cm_tui.config.trust import decisions

    found = decisions()
    if as_json({"checkouts": found}):
        return
    for one in found:
        write(f"{one.answer:<8} {local_minute(one.time)}  {one.root}  {', '.join(one.settings)}")
    if not found:
        write("No decisions for any checkout.")


def _revoke(root: Path) -> None:
    from cm_tui.config import grant
    from cm_tui.engine.api import definition_trust, entry_trust

    was, entries, files = grant.revoke(root), entry_trust.revoke(root), definition_trust.revoke(root)
    if wants_json():
        print_json({"root": str(root), "revoked": was, "entries": entries, "files": files})
    elif was or entries or files:
        narrate(f"Everything from {root} is held again.")
    else:
        narrate(f"{root} was not trusted.")


def _show(found: RepositoryTrust, entries: HeldEntries, files: tuple[HeldFile, ...]) -> None:
    if wants_json():
        names = ("root", "file", "state", "settings", "effects", "unshowable", "ignored")
        record = {name: getattr(found, name) for name in names}
        print_json({**record, "entries": entries.entries, "entries_state": entries.state, "files": files})
        return
    words = {
        "nothing": "has no settings that need trust",
        "held": "has settings that need trust; not decided yet",
        "refused": "has settings that need trust; refused",
        "trusted": "is trusted with these settings",
    }
    write(f"{found.root} {words[found.state]}.")
    for line in (*description(found), *_file_lines(files), *_entry_lines(entries)):
        write(line)


def _file_lines(files: tuple[HeldFile, ...]) -> list[str]:
    """Return the lines that say which files of definitions ask for something."""
    lines: list[str] = []
    for one in files:
        lines.append(f"  {json.dumps(one.path)} {'is trusted. It may' if one.trusted else 'wants to'}")
        lines += [f"    · {json.dumps(ask)[1:-1]}" for ask in one.asks]
    return lines


def _ask_about_files(root: Path, waiting: tuple[HeldFile, ...]) -> None:
    from cm_tui.engine.api import definition_trust

    several = len(waiting) > 1
    question = f"Trust {noun(len(waiting), 'this file', 'these files')}, as {'they are' if several else 'it is'} now?"
    if _agreed(_file_lines(waiting), question):
        definition_trust.trust(root, waiting)
        many, one = "They apply until one of them changes.", "It applies until it changes."
        narrate(many if several else one)
    else:
        narrate("They remain held." if several else "It remains held.")


def _entry_lines(held: HeldEntries) -> list[str]:
    """Return the lines that say which entries wait."""
    if not held.entries:
        return []
    number = len(held.entries)
    many = count(number, "entry", "entries")
    head = f"{many} of {held.file} included in the repository: not used in answers to you or agents until you trust {noun(number, 'it', 'them')}."
    return [
        head,
        *(f"  {one.id} [{one.category}] {json.dumps(one.title)}: {json.dumps(one.content)}" for one in held.entries),
    ]


def description(found: RepositoryTrust) -> list[str]:
    """Return the lines that say what a repository asks for and what that would do."""
    lines = [f"  {setting.name} = {setting.value}" for setting in found.settings]
    if found.effects:
        lines += ["This repository wants to", *(f"  · {effect}" for effect in found.effects)]
    if found.unshowable:
        lines.append(f"It cannot be trusted: {found.unshowable}.")
    if found.ignored:
        lines.append(f"Not read from a repository: {', '.join(found.ignored)}.")
    return lines


def _agreed(lines: Sequence[str], question: str, refusal: RefusedError | None = None) -> bool:
    """Show what is asked for, and return whether a person agrees.

    `refusal`: why it cannot be trusted, raised instead of asking. Raises RefusedError without a terminal.
    """
    need_terminal(
        "Trusting needs confirmation, and there is no terminal to ask in.",
        "Run `cm trust` yourself, in a terminal; `cm trust --show` shows the details.",
    )
    for line in lines:
        narrate(line)
    if refusal is not None:
        raise refusal
    return typer.confirm(question, default=False, err=True)


def _ask_about_entries(held: HeldEntries) -> None:
    from cm_tui.engine.api import entry_trust

    warning = "Once trusted, they appear in answers to you and to agents, which may treat them as your own."
    yes = _agreed([*_entry_lines(held), warning], f"Trust {noun(len(held.entries), 'this entry', 'these entries')}?")
    entry_trust.decide(held, "trusted" if yes else "refused")
    narrate("They are now used." if yes else "They are not used.")


def _ask(found: RepositoryTrust) -> None:
    from cm_tui.config import grant

    hint = f"Read {found.file}, and shorten it."
    refusal = RefusedError(f"Nothing was decided: {found.unshowable}.", hint=hint) if found.unshowable else None
    yes = _agreed([f"{found.file}:", *description(found)], "Trust these settings for this checkout?", refusal)
    grant.decide(found, "trusted" if yes else "refused")
    narrate("They now apply." if yes else "They remain held.")
