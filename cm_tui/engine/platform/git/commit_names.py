"""Names of commits in git: branches, tags, shas and their prefixes, and steps back from those."""

from __future__ import annotations

import re

import pygit2

from cm_tui.engine.platform.git.commits import Commits
from cm_tui.engine.platform.git.loose_objects import LooseObjects

_STEPS = re.compile(r"(?:[~^]\d{0,9})+$")
_STEP = re.compile(r"([~^])(\d*)")
_SHA_PREFIX = re.compile(r"[0-9a-f]{4,40}")
_SHA = re.compile(r"[0-9a-f]{40}")


class CommitNames:
    """Finds commits by name.

    `commits`: reads commits, even those that git's library cannot read; `loose`: finds truncated objects.
    """

    def __init__(self, repository: pygit2.Repository, commits: Commits, loose: LooseObjects) -> None:
        self._repository = repository
        self._commits = commits
        self._loose = loose

    def resolve(self, ref: str) -> str:
        """Return the commit of a name.

        Raises:
            MissingError: a commit on the path is not in this clone, or damaged.
            KeyError, ValueError, pygit2.GitError: there is no such commit, or the name is ambiguous or malformed.
        """
        steps = _STEPS.search(ref)
        if steps is None:
            # A full sha need not be read by git's library, which cannot read every commit.
            sha = ref if _SHA.fullmatch(ref) else self._target(ref)
            if sha is not None and self._commits.get(sha) is not None:
                return sha
            self._loose.refuse_truncated(sha or "")
            if _SHA_PREFIX.fullmatch(ref):
                self._loose.refuse_truncated_prefix(ref)
            return str(self._repository.revparse_single(ref).peel(pygit2.Commit).id)
        # Step by step: git's library might meet a commit that it cannot read, or never finish.
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
        """Return the target of a branch, a tag or HEAD."""
        try:
            # Git's library would take no name for HEAD.
            found = self._repository.lookup_reference_dwim("HEAD" if name == "@" else name) if name else None
            return str(found.resolve().target) if found is not None else None
        except (KeyError, ValueError, pygit2.GitError):
            return None
