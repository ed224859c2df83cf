"""What became of names between two commits, by git's own commands and plain patterns: nothing of it is read from a store."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

_DEFINITIONS: Mapping[str, re.Pattern[str]] = {
    "py": re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE),
    "go": re.compile(r"^(?:func(?:[ \t]*\([^)]*\))?|type)[ \t]+(\w+)", re.MULTILINE),
    "c": re.compile(r"^(?!static const|typedef|extern|return|else|#)[A-Za-z_][\w \t*]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE),
    "rs": re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?(?:async[ \t]+|unsafe[ \t]+|const[ \t]+)*(?:fn|struct|enum|trait)[ \t]+(\w+)", re.MULTILINE),
    "js": re.compile(r"^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:async[ \t]+)?(?:function\*?|class)[ \t]+(\w+)", re.MULTILINE),
}  # fmt: skip
_DEFINITIONS = {**_DEFINITIONS, "h": _DEFINITIONS["c"], "ts": _DEFINITIONS["js"]}
_CODE_FILES = (
    "*.py",
    "*.go",
    "*.c",
    "*.h",
    "*.sh",
    "*.toml",
    "*.cfg",
    "*.ini",
    "*.yml",
    "*.yaml",
    "*.json",
    "*.rs",
    "*.js",
    "Makefile",
)
_WORDS_OF_C = frozenset({"if", "for", "while", "switch", "return", "sizeof", "defined"})
_RENAMED = re.compile(r"^R\d+\t([^\t]+)\t([^\t]+)$")


class Definition(NamedTuple):
    """A definition that a pattern found."""

    name: str
    path: str
    text: str
    """Its lines up to the next definition, without its own name."""


class GitTruth:
    """Facts of one repository, by git's commands.

    Args:
        root: the checkout.
        without: patterns of files that are no part of it, such as those whose contents the clone lacks.
    """

    def __init__(self, root: Path, without: Sequence[str] = ()) -> None:
        self._root = root
        self._chosen = [".", *(f":(exclude,glob){pattern}" for pattern in without)]
        self._definitions: dict[str, list[Definition]] = {}

    def git(self, *words: str) -> str:
        """Return what a command of git prints."""
        done = subprocess.run(["git", "-C", str(self._root), *words], capture_output=True, check=True)
        return done.stdout.decode("utf-8", "replace")

    @cached_property
    def commits(self) -> list[str]:
        """Return the commits of the mainline, the oldest first."""
        return self.git("rev-list", "--first-parent", "--reverse", "HEAD").split()

    def time(self, sha: str) -> int:
        """Return when a commit was made."""
        return int(self.git("show", "-s", "--format=%ct", sha))

    def paths(self, sha: str) -> set[str]:
        """Return all files of a commit."""
        return set(filter(None, self.git("ls-tree", "-r", "-z", "--name-only", sha).split("\0")))

    def definitions(self, sha: str) -> list[Definition]:
        """Return all definitions of a commit, read from its blobs."""
        if sha not in self._definitions:
            wanted = [path for path in sorted(self.paths(sha)) if path.rpartition(".")[2] in _DEFINITIONS]
            self._definitions[sha] = [one for path, text in self._texts(sha, wanted) for one in _defined(path, text)]
        return self._definitions[sha]

    def names(self, sha: str) -> Counter[str]:
        """Return how often each name is defined at a commit."""
        return Counter(one.name for one in self.definitions(sha))

    def says(self, sha: str, word: str) -> bool:
        """Return whether a word stands in any file of a commit."""
        done = subprocess.run(
            ["git", "-C", str(self._root), "grep", "-q", "-w", "-F", "-e", word, sha], check=False, capture_output=True
        )
        return done.returncode == 0

    def confirms_rename(self, old: str, new: str, sha: str) -> bool:
        """Return whether a commit took away a definition and brought one under another name with the same lines."""
        before = {one.text for one in self._of_commit(f"{sha}^", sha) if one.name == old}
        after = {one.text for one in self._of_commit(sha, sha) if one.name == new}
        return not before.isdisjoint(after)

    def words(self, sha: str) -> list[str]:
        """Return the words of a commit's files that are written like variables of the environment, prose left out."""
        found = self._grep("-hoE", r"\b[A-Z]{2,}(_[A-Z0-9]+)+\b", sha)
        return sorted(set(found.split()))

    def stands(self, sha: str, word: str) -> bool:
        """Return whether a word stands in a file of a commit that is no prose."""
        return bool(self._grep("-l", word, sha))

    def _grep(self, how: str, pattern: str, sha: str) -> str:
        words = ["git", "-C", str(self._root), "grep", "-I", "-w", how, pattern, sha, "--", *_CODE_FILES]
        return subprocess.run(words, check=False, capture_output=True).stdout.decode("utf-8", "replace")

    def _of_commit(self, sha: str, changed_by: str) -> list[Definition]:
        """The definitions that stand at a commit in the files that a commit changed."""
        changed = self.git("diff", "--name-only", "--no-renames", "-z", f"{changed_by}^", changed_by).split("\0")
        wanted = [path for path in changed if path.rpartition(".")[2] in _DEFINITIONS]
        return [one for path, text in self._texts(sha, wanted) for one in _defined(path, text)]

    def heir(self, path: str, since: str) -> str:
        """Return where git's renames lead from a file of a commit up to HEAD; empty where it is gone."""
        found = path
        number = self._numbers[since]
        for at, renames in self._renames:
            if at > number and found in renames:
                found = renames[found]
        return found if found in self._head else ""

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {sha: number for number, sha in enumerate(self.commits)}

    @cached_property
    def _head(self) -> set[str]:
        return self.paths("HEAD")

    @cached_property
    def _renames(self) -> list[tuple[int, dict[str, str]]]:
        """The renames of each commit of the mainline, the oldest first."""
        text = self.git(
            "log",
            "--first-parent",
            "-m",
            "--reverse",
            "-M50%",
            "-l1000",
            "--diff-filter=R",
            "--name-status",
            "--format=@%H",
            "HEAD",
            "--",
            *self._chosen,
        )
        found: list[tuple[int, dict[str, str]]] = []
        for line in text.split("\n"):
            if line.startswith("@"):
                found.append((self._numbers[line[1:]], {}))
            elif (renamed := _RENAMED.match(line)) is not None:
                found[-1][1][renamed[1]] = renamed[2]
        return [one for one in found if one[1]]

    def _texts(self, sha: str, paths: list[str]) -> list[tuple[str, str]]:
        asked = "".join(f"{sha}:{path}\n" for path in paths if "\n" not in path).encode()
        data = subprocess.run(
            ["git", "-C", str(self._root), "cat-file", "--batch"], input=asked, capture_output=True, check=True
        ).stdout
        found, at = [], 0
        for path in paths:
            end = data.index(b"\n", at)
            head = data[at:end].split()
            if head[-1] == b"missing":
                at = end + 1
                continue
            size = int(head[2])
            found.append((path, data[end + 1 : end + 1 + size].decode("utf-8", "replace")))
            at = end + 2 + size
        return found


def _defined(path: str, text: str) -> list[Definition]:
    matches = [one for one in _DEFINITIONS[path.rpartition(".")[2]].finditer(text) if one[1] not in _WORDS_OF_C]
    ends = [*(one.start() for one in matches[1:]), len(text)]
    found = []
    for one, end in zip(matches, ends[-len(matches) :] if matches else (), strict=True):
        own = re.sub(rf"\b{re.escape(one[1])}\b", "\0", text[one.start() : end])
        found.append(Definition(one[1], path, "\n".join(line.strip() for line in own.split("\n") if line.strip())))
    return found
