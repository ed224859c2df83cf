"""Names of commits as git has them: branches, tags, shas and their beginnings, and steps back from any of those."""

from __future__ import annotations

import re

import pygit2

from cm_tui.engine.git.commits import Commits
from cm_tui.engine.git.loose_objects import LooseObjects

_STEPS = re.compile(r"(?:[~^]\d{0,9})+$")
_STEP = re.compile(r"([~^])(\d*)")
_SHA_PREFIX = re.compile(r"[0-9a-f]{4,40}")
_SHA = re.compile(r"[0-9a-f]{40}")


class CommitNames:
    """Finds commits by name.

    Args:
        repository: where they are.
        commits: reads them, also those that git's library cannot.
        loose: tells which objects are cut short.
    """

    def __init__(self, repository: pygit2.Repository, commits: Commits, loose: LooseObjects) -> None:
        self._repository = repository
        self._commits = commits
        self._loose = loose

    def resolve(self, ref: str) -> str:
        """Return the commit that a name stands for.

        Raises:
            MissingError: a commit on the way is not in this clone, or damaged.
            KeyError, ValueError, pygit2.GitError: there is no such commit, or the name is ambiguous or malformed.
        """
        steps = _STEPS.search(ref)
        if steps is None:
            # What is named wholly need not be read by git's library, which could not read every commit.
            sha = ref if _SHA.fullmatch(ref) else self._target(ref)
            if sha is not None and self._commits.get(sha) is not None:
                return sha
            self._loose.refuse_truncated(sha or "")
            if _SHA_PREFIX.fullmatch(ref):
                self._loose.refuse_truncated_prefix(ref)
            return str(self._repository.revparse_single(ref).peel(pygit2.Commit).id)
        # Step by step: on its way git's library might meet a commit that it cannot read, or never stops reading.
        sha = self.resolve(ref[: steps.start()])
        for kind, digits in _STEP.findall(steps[0]):
            number = int(digits) if digits else 1
            for _ in range(number if kind == "~" else min(number, 1)):
                parents, which = self._commits.require(sha).parents, 1 if kind == "~" else number
                if which > len(parents):
                    raise KeyError(ref)
                sha = parents[which - 1]
        self._commits.require(sha)
        return sha

    def _target(self, name: str) -> str | None:
        """Return what a branch, a tag or HEAD points at."""
        try:
            # Git's library would take no name for HEAD.
            found = self._repository.lookup_reference_dwim("HEAD" if name == "@" else name) if name else None
            return str(found.resolve().target) if found is not None else None
        except (KeyError, ValueError, pygit2.GitError):
            return None
