"""Changes reported by a layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from cm_tui.config import Config
from cm_tui.counts import count
from cm_tui.paths import PROJECT_FOLDER

MOST_PATHS = 1000
"""More changed paths than this count as everything: comparing the whole project costs less than naming them."""

DECISIVE = frozenset(
    {
        ".gitignore",
        ".gitattributes",
        ".git/info/exclude",
        ".git/info/attributes",
        ".git/info/sparse-checkout",
        ".cm/config.toml",
    }
)
"""Files that decide what is indexed."""
_HEAD = (".git/HEAD", ".git/packed-refs", ".git/logs/HEAD")


PathFilter = Callable[[str], bool]
"""Returns whether a path, relative to the root with `/`, may matter to the index."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths that may differ from the index, relative to the root with `/`; None: all."""

    paths: frozenset[str] | None = None

    @classmethod
    def of(cls, paths: Iterable[str]) -> Changes:
        """Return changes at some paths, or everywhere when there are many or they decide what is indexed."""
        found = frozenset(paths)
        whole = len(found) > MOST_PATHS or any(is_decisive(path) for path in found)
        return EVERYTHING if whole else cls(found)

    def __or__(self, other: Changes) -> Changes:
        if self.paths is None or other.paths is None:
            return EVERYTHING
        return Changes.of(self.paths | other.paths)

    def __str__(self) -> str:
        if self.paths is None:
            return "everything"
        return min(self.paths, default="nothing") if len(self.paths) < 2 else count(len(self.paths), "path")


EVERYTHING = Changes()
NOTHING = Changes(frozenset())


def is_decisive(path: str) -> bool:
    """Return whether a path decides what else is indexed: HEAD, and files with rules."""
    if path.startswith(_HEAD) or path in DECISIVE:
        return True
    # No rule indexes files in the project's own folder.
    return path.endswith(("/.gitignore", "/.gitattributes")) and not path.startswith(f"{PROJECT_FOLDER}/")


def is_git(path: str) -> bool:
    """Return whether a path is one of git's own data."""
    return path == ".git" or path.startswith(".git/")


def path_filter(root: Path, shadow: Path, config: Config) -> PathFilter:
    """Return the test whether a changed path may matter to the index, by the scan's current rules.

    `shadow`: folder of the private repository of a folder without git.
    """
    from cm_tui.engine.code.scan.content_reader import ContentReader
    from cm_tui.engine.code.scan.working_tree import WorkingTreeScan
    from cm_tui.engine.platform.git.repository import Repository

    repository = Repository(root, shadow)
    scan = WorkingTreeScan(repository, config.index, ContentReader(repository), {})
    return lambda path: is_decisive(path) or (not is_git(path) and scan.accepts(path))
