"""Vectors of code that a team shares through a branch of the repository: a large or paid model runs once for all.

A version has the vectors of one commit of the default branch, a file for each source file, named by its content: the
nearest version serves every commit, and what it lacks is embedded here. Nothing else is shared: no path, no text, no
memory.
"""

from __future__ import annotations

import json
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import islice

import pygit2

from cm_tui.counts import count
from cm_tui.engine.platform.git.opening import opened
from cm_tui.engine.platform.git.orphan_branch import OrphanBranch, Version
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.engine.search.embed.provider import Provider, model_name
from cm_tui.engine.search.vectors import cache
from cm_tui.errors import NotFoundError, RefusedError
from cm_tui.model import CODE, TeamVectors
from cm_tui.model.status import NO_MODEL

BRANCH = "cm-vectors"
_FORMAT = 1
_MODEL, _PATHS = "model.json", "paths"
_LENGTHS = struct.Struct("<HH")
_DIGEST_BYTES = 16
_FURTHEST = 20_000
"""Commits back in which a version is looked for."""
_MOST_BYTES = 1 << 30
"""Bytes that are taken from a version: 250,000 vectors of 4,096 dimensions."""
_OF_FILES = f"""
SELECT DISTINCT b.oid, p.hash FROM passage p JOIN blob b ON b.id = p.blob WHERE p.source = '{CODE}' ORDER BY ALL
"""  # noqa: S608 - a constant


class SharedVectors:
    """The shared vectors of one project.

    `provider`: the model of code in use.
    """

    def __init__(self, db: Database, repository: Repository, provider: Provider) -> None:
        self._db = db
        self._repository = repository
        self._provider = provider

    def versions(self) -> list[TeamVectors]:
        """Return the versions on the branch, the newest first. Raises RefusedError without git."""
        branch = self._branch()
        found = ((one, _model_of(branch, one)) for one in branch.versions())
        own = self._provider.fingerprint
        return [TeamVectors(one.of, model_name(model), time=one.time, usable=model == own) for one, model in found]

    def publish(self, *, dry_run: bool = False) -> TeamVectors:
        """Write the vectors of HEAD to the branch; the user pushes it.

        Raises RefusedError if HEAD is not on the default branch, there is no model, or passages have no vector yet.
        """
        branch, head = self._branch(), self._head_of_default_branch()
        names: dict[str, list[str]] = defaultdict(list)
        tree = self._repository.tree(head)
        at_head = {entry.oid for entry in tree.values()}
        for oid, name in self._db.rows(_OF_FILES):
            if oid in at_head:
                names[oid].append(name)
        paths = sorted({cache.path_hash(path) for path, entry in tree.items() if entry.oid in names})
        known = cache.lookup(
            self._db, {*paths, *(one for some in names.values() for one in some)}, self._provider.fingerprint
        )
        missing = len({one for some in names.values() for one in some} - known.keys())
        if missing or not known:
            raise RefusedError(
                f"{count(missing, 'passage')} of HEAD have no vector yet." if missing else "No vector is stored yet.",
                hint="Run `cm index`, and publish again.",
            )
        made = TeamVectors(head, model_name(self._provider.fingerprint), files=len(names), vectors=len(known))
        if dry_run:
            return made
        files = {f"{oid[:2]}/{oid[2:]}": _packed((one, known[one]) for one in some) for oid, some in names.items()}
        files[_PATHS] = _packed((one, known[one]) for one in paths if one in known)
        files[_MODEL] = json.dumps({"format": _FORMAT, "model": self._provider.fingerprint}, sort_keys=True).encode()
        new = Version(head, int(self._repository.commit(head).time), branch.tree_of(files))
        branch.put([new, *(one for one in branch.versions() if one.of != head)])
        return made

    def pull(self) -> TeamVectors:
        """Take the vectors of the nearest version that this checkout can use; existing ones stay.

        Raises NotFoundError without a version; RefusedError if all are of another model or too large, or there is no
        model; ModelError if only the model has the length of its vectors, and cannot be used.
        """
        branch, head = self._branch(), self._repository.head().sha
        usable = self._usable(branch)
        line = (one.sha for one in islice(self._repository.first_parents(head), _FURTHEST)) if head else ()
        behind, version = next(
            ((number, usable[sha]) for number, sha in enumerate(line) if sha in usable),
            (-1, next(iter(usable.values()))),
        )
        oids = sorted({entry.oid for entry in self._repository.tree(head).values()})
        provider, found = self._provider, dict[str, bytes]()
        # A model of unknown dimensions is asked for a vector, unless some are stored.
        known = provider.dimensions or cache.vector_bytes(self._db, provider.fingerprint)
        length, files, damaged, size = known or len(provider.embed_query(BRANCH)), 0, 0, 0
        for path in (_PATHS, *(f"{oid[:2]}/{oid[2:]}" for oid in oids)):
            data = branch.read(version, path)
            if data is None:
                continue
            size += len(data)
            if size > _MOST_BYTES:
                raise RefusedError(
                    f"The shared vectors of {version.of[:10]} take more than {_MOST_BYTES >> 20:,} MB.",
                    hint=f"Check who pushed the branch {BRANCH}; nothing was taken from it.",
                )
            try:
                # Whole: of a damaged file nothing is taken.
                found |= dict(_unpacked(data, length))
                files += path != _PATHS
            except ValueError:
                damaged += 1
        if found:
            with WriterLock.of(self._db).question():
                cache.store(self._db, provider.fingerprint, found)
        name = model_name(provider.fingerprint)
        return TeamVectors(version.of, name, files, len(found), damaged, behind, version.time)

    def _usable(self, branch: OrphanBranch) -> dict[str, Version]:
        versions = branch.versions()
        if not versions:
            raise NotFoundError(
                f"Branch not found, here or at a remote: {BRANCH}.",
                hint=f"Publish one with `cm team publish`, or fetch it: git fetch origin {BRANCH}",
            )
        usable = {one.of: one for one in versions if _model_of(branch, one) == self._provider.fingerprint}
        if not usable:
            theirs = model_name(_model_of(branch, versions[0])) or "an unknown model"
            raise RefusedError(
                f"The shared vectors are of {theirs}; this project uses {model_name(self._provider.fingerprint)}.",
                hint="Choose the same model in [embedding], or publish your own vectors.",
            )
        return usable

    def _branch(self) -> OrphanBranch:
        if not self._repository.git:
            raise RefusedError(
                "Vectors are shared through git, and this project has none.", hint="Run it in a repository."
            )
        if self._provider.fingerprint == NO_MODEL:
            raise RefusedError("Vectors are disabled.", hint='Set embedding.provider = "bundled", or another one.')
        return OrphanBranch(opened(self._repository.root), BRANCH, "vectors")

    def _head_of_default_branch(self) -> str:
        head = self._repository.head()
        default = default_branch(opened(self._repository.root))
        if head.sha is None or head.branch != default:
            raise RefusedError(
                f"Vectors are published from the default branch, {default}; HEAD is on {head.branch or 'no branch'}.",
                hint=f"Run `git switch {default}` first.",
            )
        return head.sha


def default_branch(repository: pygit2.Repository) -> str:
    """Return the default branch: the one of `origin`, else main or master, whichever exists."""
    found = repository.references.get("refs/remotes/origin/HEAD")
    target = found.target if found is not None else None
    if isinstance(target, str):
        return target.removeprefix("refs/remotes/origin/")
    return "master" if "master" in repository.branches.local and "main" not in repository.branches.local else "main"


def _model_of(branch: OrphanBranch, version: Version) -> str:
    """Return the model of a version; empty: unknown."""
    try:
        found = json.loads((branch.read(version, _MODEL) or b"null")[:2_000])
        return str(found["model"])[:200] if found["format"] == _FORMAT else ""
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""


def _packed(rows: Iterable[tuple[str, bytes]]) -> bytes:
    """Return names and vectors as bytes, behind their digest."""
    named = ((name.encode(), vector) for name, vector in rows)
    body = b"".join(_LENGTHS.pack(len(name), len(vector)) + name + vector for name, vector in named)
    return blake2b(body, digest_size=_DIGEST_BYTES).digest() + body


def _unpacked(data: bytes, length: int) -> Iterator[tuple[str, bytes]]:
    """Yield names and vectors. Raises ValueError if they are damaged, or the vectors have another length in bytes."""
    body = data[_DIGEST_BYTES:]
    if blake2b(body, digest_size=_DIGEST_BYTES).digest() != data[:_DIGEST_BYTES]:
        raise ValueError("its digest differs")
    at = 0
    while at < len(body):
        if at + _LENGTHS.size > len(body):
            raise ValueError("it is truncated")
        long, wide = _LENGTHS.unpack_from(body, at)
        at += _LENGTHS.size
        if not long or at + long + wide > len(body) or wide != length:
            raise ValueError("its vectors have a wrong length")
        yield body[at : at + long].decode(), body[at + long : at + long + wide]
        at += long + wide
