"""`cm link` and `cm projects`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cm_tui import model
from cm_tui.cli.declare import declared
from cm_tui.cli.options import chosen_project, need_terminal
from cm_tui.cli.output import as_json, narrate, print_page, wants_json, write
from cm_tui.counts import count
from cm_tui.errors import UsageError
from cm_tui.model.dates import local_minute

if TYPE_CHECKING:
    from cm_tui.engine.api.links import EarlierMemory, MemoryLink


def link(*, show: bool = False, remove: bool = False) -> None:
    """Give this checkout the memory of the project that it claims to be, or that it had before; asked at a terminal only.

    A fork, a copy or a second clone has a memory of its own until then, and so has a repository that was moved. Worktrees
    share their repository's. With --json it shows what --show does, and asks nothing.

    Args:
        show: Say whose memory this checkout has, and change nothing.
        remove: Part this checkout from the memory that it shares.
    """
    from cm_tui.daemon.open_engine import remove as remove_store
    from cm_tui.engine.api import links, projects

    if show and remove:
        raise UsageError("Choose one of --show and --remove.")
    folder = chosen_project()
    found = links.memory_link(folder)
    if remove:
        links.unlink(folder)
        narrate(f"{found.root} now has its own memory.")
    elif show or wants_json() or (found.linked and not found.earlier):
        _show(found)
    else:
        if not found.linked and _agreed(found):
            done = links.link(found)
            remove_store(Path(found.store))
            narrate(f"It now uses the memory of {found.claims}; run `cm index` to move the index to it.")
            found = done
        for earlier in found.earlier:
            if _agreed_to_earlier(found, earlier):
                found = links.take_along(found, earlier)
                if not projects.has_journal(earlier.project):
                    remove_store(projects.store_folder(earlier.project))
                narrate("It is now part of this checkout's memory.")


def _show(found: MemoryLink) -> None:
    if as_json(found):
        return
    write(f"{'checkout':<9} {found.root}")
    claims_nothing = found.claims.startswith("path:")
    shares = found.linked and not claims_nothing
    write(f"{'claims':<9} {'nothing; it is identified by its path' if claims_nothing else found.claims}")
    memory = "the memory of the project it claims to be" if shares else "its own"
    if found.identity not in {found.claims, f"path:{found.root}"}:
        memory = f"{'its own, ' if found.linked else ''}begun as {found.identity}"
    write(f"{'memory':<9} {memory}")
    for folder in found.shared_with:
        write(f"{'shared' if found.linked else 'others':<9} {_with_note(folder, found)}")

    for earlier in found.earlier:
        write(f"{'earlier':<9} {_described(earlier)}")


def _described(earlier: EarlierMemory) -> str:
    counts = (
        count(earlier.entries, "entry", "entries"), count(earlier.notes, "note"), count(earlier.episodes, "episode")
    )  # fmt: skip
    by = " by another repository that was in this folder" if earlier.other_repository else ""
    return f"{earlier.identity or earlier.project}{by}: {', '.join(counts)}"


def _agreed_to_earlier(found: MemoryLink, earlier: EarlierMemory) -> bool:
    _refuse_without_terminal()
    narrate(f"Another memory was made in {found.root}:")
    narrate(f"  {_described(earlier)}")
    narrate("If you merge it, agents in this checkout receive what it contains.")
    return typer.confirm("Merge it into this checkout's memory?", default=False, err=True)


def _refuse_without_terminal() -> None:
    need_terminal(
        "Linking needs confirmation, and there is no terminal to ask in.",
        "Run `cm link` yourself, in a terminal; `cm link --show` shows the details.",
    )


def _with_note(folder: str, found: MemoryLink) -> str:
    if folder not in found.gone:
        return folder
    return f"{folder} ({'by another repository that was there' if folder == found.root else 'no longer there'})"


def _agreed(found: MemoryLink) -> bool:
    _refuse_without_terminal()
    narrate(f"{found.root} says that it is {found.claims}.")
    narrate("That project has a memory, created in")
    for folder in found.shared_with:
        narrate(f"  {_with_note(folder, found)}")
    if found.gone and found.gone == found.shared_with:
        narrate("If you moved or cloned it, link it to keep its memory.")
    narrate("Linked, agents in this checkout receive the memory kept there, and their work is recorded in it.")
    return typer.confirm("Link this checkout to that memory?", default=False, err=True)


@declared(lacks="project")
def projects(*, match: str = "") -> None:
    """List the projects that there is an index or a journal of, the one that was used last first.

    Args:
        match: Part of a name, an identity or a folder.
    """
    from cm_tui.engine.api.known_projects import known_projects

    print_page(known_projects(match=match), _lines)


def _lines(one: model.KnownProject) -> list[str]:
    has = ", ".join(word for word, there in (("index", one.indexed), ("journal", one.recorded)) if there)
    lines = [f"{one.id}  {local_minute(one.last)}  {one.identity or one.name}  ({has or 'empty'})"]
    lines += [f"  {folder}" for folder in one.roots]
    gone = "(missing; run `cm link` where it was moved to, to keep its memory)"
    return [*lines, *(f"  {folder} {gone}" for folder in one.gone)]
