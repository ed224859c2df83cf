"""The identity of a project: one name for all its clones and worktrees, and the folder of its store."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pygit2

from cm_tui import paths
from cm_tui.engine.platform.git import checkout_links, root_commit
from cm_tui.engine.platform.git.folder_mark import FolderMark
from cm_tui.engine.platform.git.git_dir import folders_at
from cm_tui.engine.platform.git.opening import UnreadableGit, open_around, unreadable_remotes
from cm_tui.errors import CmError, RefusedError
from cm_tui.files import write_atomically
from cm_tui.state_file import read_object

_SCP = re.compile(r"^(?:[^@/\s]+@)?(\[[^\]]+\]|[^:/\s\[\]]+):(?!//)(.+)$")
_CHECK = "Check it with `git fsck` and `git config --list`."
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


@dataclass(frozen=True, slots=True)
class Identity:
    """A project's name.

    `text` is `remote:HOST/PATH`, `root-commit:SHA` or `path:FOLDER`, and never has credentials; `path:FOLDER#MARK` for
    a repository or folder at the path of an earlier one with a memory.
    """

    text: str
    name: str
    """For people: the last part of the remote's path, else the folder's name."""
    claims: str = ""
    """The project that git names, where the checkout is not linked to that project's memory; empty otherwise."""

    @property
    def folder(self) -> Path:
        """Folder of the store, below the data folder; not made here."""
        return paths.store_dir(self.text, self.name)

    @property
    def is_indexed(self) -> bool:
        """True when a run has ended with a store for it."""
        return (self.folder / paths.STORE_MANIFEST).is_file()

    def store_of(self, root: Path) -> Path:
        """Return the folder of a checkout's store: its own one where it has that, else the project's."""
        own = paths.worktree_store(self.folder, root)
        return own if (own / paths.STORE_MANIFEST).is_file() else self.folder

    def write_manifest(self, root: Path, store: Path | None = None) -> None:
        """Record the store's owner, so that stores can be listed without opening them, unless that is done already.

        `store`: a checkout's own one; default: the project's.
        """
        manifest, store = {"identity": self.text, "name": self.name, "root": str(root)}, store or self.folder
        if _manifest(store) != manifest:
            write_atomically(store / paths.STORE_MANIFEST, json.dumps(manifest, ensure_ascii=True))

    def has_other_manifest(self, root: str) -> bool:
        """Return whether the manifest does not name this store and root."""
        return (self.folder / paths.STORE_MANIFEST).exists() and (
            {**_manifest(self.folder), "name": ""} != {"identity": self.text, "name": "", "root": root}
        )


def manifest_root(store: Path) -> Path | None:
    """Return the checkout that the store in a folder was last made from."""
    # Without a manifest nothing was indexed; neither with a damaged one.
    root = _manifest(store).get("root")
    return Path(root) if isinstance(root, str) else None


def refuse_other(identity: Identity) -> None:
    """Raise if the folder of a project's store is another project's: its name has only a short digest.

    Raises RefusedError if it is another project's.
    """
    other = _manifest(identity.folder).get("identity")
    if isinstance(other, str) and other != identity.text and _digest_of(other) == _digest_in(identity.folder):
        raise RefusedError(
            f"The store {identity.folder.name} belongs to another project whose name maps to the same folder.",
            hint=f"If that project no longer exists, remove {identity.folder}; otherwise give this one another remote.",
        )


def _digest_of(identity: str) -> str:
    return _digest_in(paths.store_dir(identity, ""))


def _digest_in(folder: Path) -> str:
    """Return the identity in a store's folder; a manifest whose identity leads elsewhere is damaged."""
    return folder.name.rsplit("-", 1)[-1]


def _manifest(store: Path) -> dict[str, Any]:
    return read_object(store / paths.STORE_MANIFEST)


def identify(root: Path, by_git: Identity | None = None) -> Identity:
    """Return the identity of the project at a root: that of its memory, else the one by git.

    By git it is the remote, else the first commit, else the path. All of these change, and can be anyone's claim: a
    checkout with a memory keeps it, and one that claims a project with others' memory is a project of its own.
    `by_git`: what `claimed` has returned.
    """
    root = root.resolve()
    return _of_memory(root, by_git or claimed(root))


def _of_memory(root: Path, found: Identity) -> Identity:
    memory = checkout_links.memory_of(root)
    if memory is not None:
        return Identity(memory.identity, memory.name, claims=_others_claim(found, root, memory))
    if _begun(found) == found and checkout_links.is_linked(found.folder.name, root):
        return found
    return _of_its_own(root, found)


def claimed(root: Path) -> Identity:
    """Return the identity of a checkout by git, linked or not."""
    return _identify(root.resolve(), frozenset())


def claimed_memory(root: Path) -> Identity:
    """Return the original identity of the memory that a checkout claims."""
    return _begun(claimed(root))


def claim(root: Path, store: Path | None = None) -> None:
    """Record the memory of a checkout permanently. Raises StoreError if it cannot be written.

    `store`: nothing is recorded if the memory has another store.
    """
    found = claimed(root)
    mine = _of_memory(root.resolve(), found)
    if store in (None, mine.folder):
        checkout_links.claim(mine.text, mine.name, root, "" if found.text.startswith("path:") else found.text)


def earlier_memories(root: Path) -> tuple[str, ...]:
    """Return the names of earlier memories of a checkout, under another identity or before it was moved.

    Those of an earlier repository at its path are excluded: only `cm link` offers them.
    """
    data = paths.data_dir()
    places = ("journal/{}/000001.jsonl", "entries/{}.json")
    return tuple(
        name
        for name, of_another in checkout_links.earlier(root).items()
        if not of_another and any((data / place.format(name)).is_file() for place in places)
    )


def _begun(found: Identity) -> Identity:
    """Return the original identity of a memory, if the checkout got its claimed identity later."""
    if found.text.startswith("path:") or checkout_links.owners(found.folder.name) is not None:
        return found
    memory = checkout_links.called(found.text)
    return Identity(memory.identity, memory.name) if memory is not None else found


def _others_claim(found: Identity, root: Path, memory: checkout_links.Memory) -> str:
    """Return the claimed identity of a checkout with a memory, if others made a memory of that identity."""
    project = _begun(found).folder.name
    if found.text.startswith("path:") or project == memory.project:
        return ""
    known = checkout_links.owners(project)
    is_mine = known is None or (known == {checkout_links.owner_of(root)} and project not in memory.replaced)
    return "" if is_mine else found.text


def _of_its_own(root: Path, found: Identity) -> Identity:
    """Return an identity that no other checkout has."""
    owner = checkout_links.owner_of(root)
    place, claims = checkout_links.main_folder(owner), "" if found.text.startswith("path:") else found.text
    own = Identity(f"path:{place}", Path(place).name, claims)
    if checkout_links.is_linked(own.folder.name, root):
        return own
    # The memory of an earlier repository at its path.
    mark = hashlib.sha256(repr(FolderMark.of(owner)).encode()).hexdigest()[:8]
    return Identity(f"path:{place}#{mark}", Path(place).name, claims)


def _identify(root: Path, seen: frozenset[Path]) -> Identity:
    found = open_around(root)
    identity = None
    if isinstance(found, UnreadableGit):
        if found.root == root:
            identity = _of_remotes(unreadable_remotes(found), root, seen) or _of_unreadable(found)
    elif found is not None and (found.workdir is None or Path(found.workdir).resolve() == root):
        identity = _of_remotes(_remote_urls(found), root, seen) or _of_commits(found, root)
    return identity or Identity(f"path:{root}", root.name)


def _of_remotes(urls: Sequence[str], root: Path, seen: frozenset[Path]) -> Identity | None:
    for url in urls:
        remote = normalise_remote(url)
        if remote:
            return Identity(f"remote:{remote}", remote.rsplit("/", 1)[-1])
    # A clone of a local clone is the same project as its source.
    for url in urls:
        source = _local_source(url, root)
        if source is not None and source not in seen | {root}:
            # An unreadable one gives no identity.
            with suppress(CmError):
                identity = _identify(source, seen | {root})
                if identity.text.startswith("remote:"):
                    return identity
    return None


def _of_commits(repository: pygit2.Repository, root: Path) -> Identity | None:
    try:
        found = root_commit.find(repository)
    except (pygit2.GitError, KeyError, ValueError) as error:
        raise CmError(f"The first commit of {root} cannot be found: {error}", hint=_CHECK) from error
    if found is None:
        return None
    identity = _by_root(found, root)
    # Only for existing stores: a request for a folder must leave no trace.
    if found.is_new and identity.folder.is_dir():
        root_commit.keep(folders_at(Path(repository.path)).common, found)
    return identity


def _of_unreadable(found: UnreadableGit) -> Identity | None:
    """The identity that the repository had, or will have, when its format can be read."""
    origin = root_commit.find_without_library(found.root, found.folders.common)
    if origin is None:
        return None
    identity = _by_root(origin, found.root)
    if origin.is_new and identity.folder.is_dir():
        root_commit.keep(found.folders.common, origin)
    return identity


def _by_root(origin: root_commit.RootCommit, root: Path) -> Identity:
    return Identity(f"root-commit:{origin.root}" if origin.root else f"path:{root}", root.name)


def _remote_urls(repository: pygit2.Repository) -> list[str]:
    try:
        names = [name for name in repository.remotes.names() if name]
    except (pygit2.GitError, ValueError) as error:
        raise CmError(f"The remotes of {repository.path} cannot be read: {error}", hint=_CHECK) from error
    names.sort(key=lambda name: name != "origin")
    found = []
    for name in names:
        # One with an odd name or address is ignored.
        with suppress(pygit2.GitError, KeyError, ValueError):
            found.append(repository.remotes[name].url)
    return [url for url in found if url]


def normalise_remote(url: str) -> str | None:
    """Normalise all notations of a remote to `host/path`.

    Scheme, user, password, port, `.git`, query and slashes at the ends are dropped; the host is in lower case. Returns
    None for a remote that is a local folder, and for an invalid address.
    """
    try:
        return _normalised(url.strip())
    except ValueError:
        return None


def _normalised(url: str) -> str | None:
    if _DRIVE.match(url):
        return None
    if "://" in url:
        parts = urlsplit(url)
        host, path = parts.hostname or "", parts.path
        if parts.scheme == "file" or not host:
            return None
    else:
        scp = _SCP.match(url)
        if not scp:
            return None
        host, path = scp[1].strip("[]"), scp[2]
    path = re.sub(r"/{2,}", "/", unquote(path).split("?")[0]).strip("/").removesuffix(".git").rstrip("/")
    return f"{host.lower()}/{path}" if path else host.lower()


def _local_source(url: str, root: Path) -> Path | None:
    """The local folder of a remote; no other machine is contacted, whatever the name looks like."""
    if normalise_remote(url) is not None:
        return None
    try:
        text = url
        if url.startswith("file:"):
            parts = urlsplit(url)
            if parts.netloc not in {"", "localhost"}:
                return None
            text = unquote(parts.path)
        place = Path(text).expanduser()
        if _is_elsewhere(text) or _is_elsewhere(os.path.normpath(root / place)):
            return None
        source = (root / place).resolve()
        return source if source.is_dir() else None
    except (OSError, RuntimeError, ValueError):
        # An unknown user, a NUL, a name that is too long, links that go in circles.
        return None


def _is_elsewhere(path: str) -> bool:
    """Whether a path names another machine: accessing it would connect there with the user's name."""
    plain = path.replace("\\", "/")
    return plain.startswith("//") or f"{plain}/".startswith("/net/")
