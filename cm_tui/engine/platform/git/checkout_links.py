"""The memory of a checkout: its original one, or one that the user linked it to.

Git's data on a checkout (its remote, its first commit) changes, and is only a claim: anyone can put it into an archive,
a fork or a copy. So the memory is recorded for the git folder itself, by marks that no copy shares, and stays with it.
A folder that merely claims a project with a memory gets its own one, until the user links it. All worktrees of one
repository are one checkout here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.engine.platform.git.folder_mark import FolderMark
from cm_tui.engine.platform.git.git_dir import is_same, verified_git_dir
from cm_tui.state_file import holding, read_object, write_json

_JOURNAL_FOLDERS = "roots.json"
"""The journals' data on folders; versions without links recorded the owners there."""
_CHECKOUTS = "checkouts"
"""Key of the file's data on checkouts; no project has this name, which lacks a digest."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Recorded data on a checkout, with its memory."""

    identity: str
    """That of the project when the memory was begun, or linked."""
    name: str
    """Of the project, for people."""
    mark: FolderMark | None
    """Of the folder that it is noted for."""
    claims: tuple[str, ...] = ()
    """Later identities by git: other clones may claim the same."""
    replaced: tuple[str, ...] = ()
    """Projects of other repositories that were in the same place before."""

    @property
    def project(self) -> str:
        """Name of its folder among the stores and among the journals."""
        return paths.store_dir(self.identity, self.name).name


def owner_of(root: Path) -> str:
    """Return the name for linking a checkout: its repository's git folder, else its path."""
    return str(verified_git_dir(root) or os.path.realpath(root))


def main_folder(owner: str) -> str:
    """Return the folder of an owner's name, for the user."""
    return owner.removesuffix(f"{os.sep}.git")


def owners(project: str) -> frozenset[str] | None:
    """Return who shares the memory of a project; None while it has none.

    `project`: name of the project's folder among the stores and among the journals.
    """
    return _owners(_read(), project)


def is_current(project: str, owner: str) -> bool:
    """Return whether an owner of a memory still has it: another repository may be in its place."""
    return _has(owner, _checkouts(_read()).get(owner), project)


def memory_of(root: Path) -> Memory | None:
    """Return the recorded memory of a checkout; None: none, or of an earlier folder at its path."""
    found = _noted(_read(), Path(os.path.realpath(root)))
    return found[1] if found is not None else None


def is_linked(project: str, root: Path) -> bool:
    """Return whether a checkout may use the memory of a project that it claims to be."""
    return _is_linked(_read(), project, Path(os.path.realpath(root)))


def doubtful(root: Path, projects: Collection[str]) -> frozenset[str]:
    """Return those of some projects that may be a checkout's although it is not recorded: the file was damaged.

    `projects`: names of projects, each of which some checkout was recorded for.
    """
    known, root = _read(), Path(os.path.realpath(root))
    if _is_damaged(known, root):
        return frozenset(projects)
    return frozenset(one for one in projects if not isinstance(known.get(one), list))


def called(identity: str) -> Memory | None:
    """Return the memory of the first checkout that claims an identity, if it has another's name."""
    return next((one for one in _checkouts(_read()).values() if identity in one.claims), None)


def earlier(root: Path) -> dict[str, bool]:
    """Return earlier memories of a checkout's path, or of the checkout before it was moved, that it does not use.

    Returns names of projects, and whether another repository at the same path made it.
    """
    known, root = _read(), Path(os.path.realpath(root))
    names, checkouts, mark = _names(root), _checkouts(known), FolderMark.of(owner_of(root))
    noted = _noted(known, root)
    replaced = {*noted[1].replaced} if noted is not None else set()
    found = dict.fromkeys(_projects_of(known, names), False)
    for owner, memory in checkouts.items():
        if owner in names and (noted is None or noted[1] is not memory):
            replaced.add(memory.project)
        if memory.mark is not None and memory.mark.is_moved(mark) and not os.path.lexists(owner):
            found[memory.project] = False
    found |= dict.fromkeys(replaced, True)
    if noted is not None:
        found.pop(noted[1].project, None)
    return dict(sorted(found.items()))


def claim(identity: str, name: str, root: Path, claims: str = "") -> None:
    """Record that a checkout has a memory, as the first owner of a new one or as an existing owner.

    `name`: of the project, for the user; `claims`: the project that git names now. Raises StoreError if it cannot be
    written.
    """
    root = Path(os.path.realpath(root))

    def claimed(known: dict[str, Any]) -> None:
        # Under the lock: of two that begin at once, one was first.
        found, owner = _noted(known, root), owner_of(root)
        memory = Memory(identity, name, FolderMark.of(owner))
        if _is_damaged(known, root):
            # Which memory it had is unknown, and only the user links it to another.
            return
        if found is not None and found[1].project != memory.project:
            return
        if found is None and not _is_linked(known, memory.project, root):
            return
        others = _owners(known, memory.project) or frozenset()
        known[memory.project] = sorted((others - ({found[0]} if found else set())) | {owner})
        before = found[1] if found is not None else _replaced(known, memory, root)
        said = {*before.claims, *([claims] if claims != identity else [])} - {""}
        _note(known, found[0] if found else "", owner, replace(before, mark=memory.mark, claims=tuple(sorted(said))))

    _change(claimed)


def link(identity: str, name: str, root: Path) -> None:
    """Let a checkout share a project's memory, as the user decided; missing checkouts are dropped.

    Raises StoreError if it cannot be written.
    """
    root = Path(os.path.realpath(root))

    def linked(known: dict[str, Any]) -> None:
        found, owner = _noted(known, root), owner_of(root)
        memory = Memory(identity, name, FolderMark.of(owner))
        checkouts = _checkouts(known)
        there = {
            one
            for one in _owners(known, memory.project) or ()
            if os.path.exists(one) and _has(one, checkouts.get(one), memory.project)  # noqa: PTH110
        }
        known[memory.project] = sorted({*there, owner})
        _note(known, found[0] if found else "", owner, memory)

    _change(linked)


def unlink(project: str, root: Path) -> None:
    """Part a checkout from a project's memory. Raises StoreError if it cannot be written down."""
    root = Path(os.path.realpath(root))

    def parted(known: dict[str, Any]) -> None:
        found = _noted(known, root)
        names = _names(root) | ({found[0]} if found else set())
        known[project] = sorted((_owners(known, project) or frozenset()) - names)
        for name in names:
            known.get(_CHECKOUTS, {}).pop(name, None)

    _change(parted)


def forget_earlier(project: str, root: Path) -> bool:
    """Record that a checkout took over an earlier memory; return whether no other checkout has that memory.

    Raises StoreError if it cannot be written.
    """
    root = Path(os.path.realpath(root))
    left: list[str] = []

    def taken(known: dict[str, Any]) -> None:
        noted, checkouts, names = _noted(known, root), _checkouts(known), _names(root)
        left[:] = sorted(
            one
            for one in _owners(known, project) or ()
            if one not in names and os.path.lexists(one) and _has(one, checkouts.get(one), project)
        )
        known[project] = list(left)
        for name, memory in checkouts.items():
            if memory.project == project and name not in left and (noted is None or name != noted[0]):
                known[_CHECKOUTS].pop(name, None)
        if noted is not None:
            kept = tuple(one for one in noted[1].replaced if one != project)
            _note(known, noted[0], noted[0], replace(noted[1], replaced=kept))

    _change(taken)
    return not left


# --- content of the file ---


def _is_linked(known: dict[str, Any], project: str, root: Path) -> bool:
    found = _noted(known, root)
    if found is not None:
        return found[1].project == project
    shared = _owners(known, project)
    if shared is None:
        return True
    # By its path alone only as long as nothing else is noted of that: versions before noted no marks.
    names = _names(root)
    return not names.isdisjoint(shared) and names.isdisjoint(_checkouts(known))


def _noted(known: dict[str, Any], root: Path) -> tuple[str, Memory] | None:
    """Return the recorded name of a checkout, and its memory; a root is given as its real path."""
    checkouts = _checkouts(known)
    if not checkouts:
        return None
    owner = owner_of(root)
    mark = FolderMark.of(owner)
    for name, memory in checkouts.items():
        if memory.mark is None:
            continue
        if name == owner and memory.mark.is_same(mark):
            return name, memory
        # A path may be written in another case, and git moves the folder of a submodule into that of its project.
        if memory.mark.is_moved(mark) and (main_folder(name) == str(root) or is_same(name, owner)):
            return name, memory
    plain = checkouts.get(str(root))
    if plain is not None and main_folder(owner) == str(root) != owner and _is_there(str(root), plain):
        # `git init` in a folder that had a memory without git.
        return str(root), plain
    return None


def _names(root: Path) -> frozenset[str]:
    """Return the possible recorded names of a root: as a repository, and as a folder without git."""
    owner = owner_of(root)
    return frozenset({owner, str(root)} if main_folder(owner) == str(root) else {owner})


def _is_there(owner: str, memory: Memory) -> bool:
    return memory.mark is not None and memory.mark.is_same(FolderMark.of(owner))


def _is_damaged(known: dict[str, Any], root: Path) -> bool:
    """Return whether what is recorded for a checkout is malformed, or a project that no checkout was recorded for."""
    noted, names = _noted(known, root), _names(root)
    if noted is not None:
        return not isinstance(known.get(noted[1].project), list)
    return any(memory.mark is None for owner, memory in _checkouts(known).items() if owner in names)


def _has(owner: str, noted: Memory | None, project: str) -> bool:
    return noted is None or (noted.project == project and _is_there(owner, noted))


def _replaced(known: dict[str, Any], memory: Memory, root: Path) -> Memory:
    """Return the record of an earlier repository at the path of another one."""
    before = [one for name, one in _checkouts(known).items() if name in _names(root)]
    gone = dict.fromkeys(name for one in before for name in (*one.replaced, one.project) if name != memory.project)
    return replace(memory, replaced=tuple(gone))


def _note(known: dict[str, Any], before: str, owner: str, memory: Memory) -> None:
    checkouts = known.setdefault(_CHECKOUTS, {})
    checkouts.pop(before, None)
    checkouts[owner] = asdict(memory)


def _checkouts(known: dict[str, Any]) -> dict[str, Memory]:
    found = known.get(_CHECKOUTS)
    return {owner: _memory(one) for owner, one in found.items()} if isinstance(found, dict) else {}


def _memory(plain: Any) -> Memory:
    """Return the record of a checkout; an invalid one counts as a missing folder's."""
    one = plain if isinstance(plain, dict) else {}
    identity, name = (text if isinstance(text := one.get(key), str) else "" for key in ("identity", "name"))
    claims, replaced = (tuple(_texts(one.get(key))) for key in ("claims", "replaced"))
    return Memory(identity, name, FolderMark.read(_plain(one.get("mark"))) if identity else None, claims, replaced)


def _plain(mark: Any) -> Any:
    return [list(one) if isinstance(one, tuple) else one for one in mark] if isinstance(mark, (list, tuple)) else None


def _texts(found: Any) -> Iterator[str]:
    yield from (one for one in found if isinstance(one, str)) if isinstance(found, (list, tuple)) else ()


def _projects_of(known: dict[str, Any], names: Iterable[str]) -> Iterator[str]:
    """Yield the projects whose memory belonged to some owners."""
    names = frozenset(names)
    for project, shared in known.items():
        if project != _CHECKOUTS and isinstance(shared, list) and not names.isdisjoint(map(str, shared)):
            yield project
    # Index runs of earlier versions noted nothing of folders that claim nothing.
    for manifest in (paths.data_dir() / "projects").glob(f"*/{paths.STORE_MANIFEST}"):
        if manifest.parent.name not in known and read_object(manifest).get("root") in names:
            yield manifest.parent.name


def _owners(known: dict[str, Any], project: str) -> frozenset[str] | None:
    entry = known.get(project)
    if isinstance(entry, list):
        return frozenset(map(str, entry))
    return _owners_before_links(project)


def _owners_before_links(project: str) -> frozenset[str] | None:
    """Return who used a memory that an earlier version made."""
    data = paths.data_dir()
    store, journal = data / "projects" / project, data / "journal" / project
    if not (store / paths.STORE_MANIFEST).is_file() and not journal.is_dir():
        return None
    roots = [
        folder for folder, one in read_object(data / "journal" / _JOURNAL_FOLDERS).items() if _name_in(one) == project
    ]
    indexed = read_object(store / paths.STORE_MANIFEST).get("root")
    roots += [indexed] if isinstance(indexed, str) else []
    return frozenset(owner_of(Path(folder)) for folder in roots)


def _name_in(entry: Any) -> object:
    return entry.get("name") if isinstance(entry, dict) else None


def _read() -> dict[str, Any]:
    known = read_object(paths.links_file())
    if not isinstance(known.get(_CHECKOUTS, {}), dict):
        del known[_CHECKOUTS]
    return known


def _change(change: Callable[[dict[str, Any]], None]) -> None:
    """Change the file; one that stays as it is needs no lock, and may be read-only."""
    before, after = _read(), _read()
    change(after)
    if json.dumps(after) == json.dumps(before):
        return
    file = paths.links_file()
    with holding(file.with_suffix(".lock")):
        known = _read()
        change(known)
        write_json(file, known, indent=1, keep_damaged=True)
