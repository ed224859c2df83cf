"""The state of a checkout's HEAD."""

from __future__ import annotations

from dataclasses import dataclass

import pygit2


@dataclass(frozen=True, slots=True)
class Head:
    """The commit and branch of a checkout."""

    sha: str | None
    """None before the first commit, and without git."""
    branch: str | None
    """None when detached, and without git."""


def read_head(repository: pygit2.Repository) -> Head:
    """Return the state of HEAD.

    Raises:
        ValueError, KeyError, pygit2.GitError: git's library cannot read it, or its target.
    """
    if repository.head_is_unborn:
        target = repository.lookup_reference("HEAD").raw_target
        name = target.decode("utf-8", "replace") if isinstance(target, bytes) else ""
        return Head(None, name.removeprefix("refs/heads/") or None)
    branch = None if repository.head_is_detached else repository.head.shorthand
    return Head(str(repository.head.target), branch)
