"""The identity of a project: one name for all its clones and worktrees, and the folder of its store."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pygit2

from cm_tui import paths
from cm_tui.engine.git import root_commit
from cm_tui.engine.git.opening import repository_around
from cm_tui.files import write_atomically

_SCP = re.compile(r"^(?:[^@/\s]+@)?(\[[^\]]+\]|[^:/\s\[\]]+):(?!//)(.+)$")
_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


@dataclass(frozen=True, slots=True)
class Identity:
    """A project's name for itself.

    `text` is `remote:HOST/PATH`, `root-commit:SHA` or `path:FOLDER`, and never holds credentials.
    """

    text: str
    name: str
    """For people: the last part of the remote's path, else the folder's name."""

    @property
    def folder(self) -> Path:
        """Folder of the store, below the data folder; not made here."""
        return paths.store_dir(self.text, self.name)

    @property
    def is_indexed(self) -> bool:
        """True when a run has ended with a store for it."""
        return (self.folder / paths.STORE_MANIFEST).is_file()

    @property
    def indexed_root(self) -> Path | None:
        """The checkout that its store was last made from."""
        try:
            manifest = json.loads((self.folder / paths.STORE_MANIFEST).read_text(encoding="utf-8"))
            return Path(manifest["root"])
        except (OSError, ValueError, KeyError, TypeError):
            # Without a manifest nothing was indexed; a damaged one says as much.
            return None

    def write_manifest(self, root: Path) -> None:
        """Write down whose store this is, for whoever lists the stores without opening them."""
        manifest = {"identity": self.text, "name": self.name, "root": str(root)}
        write_atomically(self.folder / paths.STORE_MANIFEST, json.dumps(manifest, ensure_ascii=True))


def identify(root: Path) -> Identity:
    """Return the identity of the project at a root: its remote, else its first commit, else where it lies."""
    return _identify(root.resolve(), frozenset())


def _identify(root: Path, seen: frozenset[Path]) -> Identity:
    repository = repository_around(root)
    if repository is not None and (repository.workdir is None or Path(repository.workdir).resolve() == root):
        return _of_repository(repository, root, seen) or Identity(f"path:{root}", root.name)
    return Identity(f"path:{root}", root.name)


def _of_repository(repository: pygit2.Repository, root: Path, seen: frozenset[Path]) -> Identity | None:
    urls = _remote_urls(repository)
    for url in urls:
        remote = normalise_remote(url)
        if remote:
            return Identity(f"remote:{remote}", remote.rsplit("/", 1)[-1])
    # A clone of a clone on this disk is the same project as what it was cloned from.
    for url in urls:
        source = _local_source(url, root)
        if source is not None and source not in seen | {root}:
            identity = _identify(source, seen | {root})
            if identity.text.startswith("remote:"):
                return identity
    found = root_commit.find(repository)
    if found is None:
        return None
    text = f"root-commit:{found.root}" if found.root else f"path:{root}"
    identity = Identity(text, root.name)
    # Only of what has a store: a question about a folder leaves nothing behind.
    if found.is_new and identity.folder.is_dir():
        root_commit.keep(repository, found)
    return identity


def _remote_urls(repository: pygit2.Repository) -> list[str]:
    names = [name for name in repository.remotes.names() if name]
    names.sort(key=lambda name: name != "origin")
    return [url for url in (repository.remotes[name].url for name in names) if url]


def normalise_remote(url: str) -> str | None:
    """One form for every way to write a remote: `host/path`.

    Scheme, user, password, port, `.git`, query and slashes at the ends are dropped; the host is in lower case.

    Returns:
        None for a remote that is a folder on this disk.
    """
    url = url.strip()
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
    if normalise_remote(url) is not None:
        return None
    text = unquote(urlsplit(url).path) if url.startswith("file:") else url
    source = (root / Path(text).expanduser()).resolve()
    return source if source.is_dir() else None
