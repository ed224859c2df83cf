"""What a server may answer for: what a person gave it, whatever an agent or a client asks for beyond that."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from cm_tui import paths
from cm_tui.config import load_config
from cm_tui.engine.api import projects
from cm_tui.errors import CmError, ConfigError, NotFoundError, RefusedError

Allows = Callable[[Path], bool]


class Access:
    """The folders that were given to a server: it answers for projects in them, and for worktrees of those.

    Folders that a person lists in `mcp.roots` of their own settings are given to every server; a repository's settings
    have no say. `folders`: granted when the server was started. `also`: accepts further folders. `nearby`: folders;
    only folders in them, and their worktrees, are passed to `also`. `unless`: message for a folder that was not
    granted.
    """

    def __init__(
        self,
        folders: Sequence[Path] = (),
        *,
        also: Allows = lambda _: False,
        nearby: Callable[[], Iterable[Path]] = tuple,
        unless: str = "",
    ) -> None:
        self.folders = tuple(folder.expanduser().resolve() for folder in folders)
        self._also = also
        self._nearby = nearby
        self._unless = unless

    @classmethod
    def of_project(cls, folder: Path, more: Sequence[Path] = ()) -> Self:
        """Give the project around a folder as it is now, and more folders; one with an unsafe root is not given.

        Raises:
            NotFoundError: one of the other folders is not there.
        """
        for one in more:
            if not one.expanduser().is_dir():
                raise NotFoundError(f"Folder not found: {one}.", hint="Check the spelling after --root.")
        try:
            own: tuple[Path, ...] = (projects.root_of(folder),)
        except CmError:
            # A request for this folder reports why; other folders may be granted.
            own = ()
        return cls((*own, *more))

    @classmethod
    def of_indexed(cls) -> Self:
        """Give what its user has indexed, in the checkout from which it was last indexed, and worktrees of that."""
        said = "It serves indexed projects only. The user can run `cm index` there, or give access by"
        return cls(also=_is_indexed_checkout, nearby=projects.indexed_checkouts, unless=said)

    def root_of(self, folder: Path) -> Path:
        """Return the root of the project around a folder.

        Raises RefusedError if it was not given; CmError if it was given, but there is no such folder, or it is unsafe.
        """
        if not self._is_allowed(folder):
            # Git's library does not even look at it, and nothing is said of what is there.
            raise self.refusal(folder)
        try:
            root = projects.root_of(folder)
        except (CmError, OSError) as error:
            if self._covers(folder) and not isinstance(error, PermissionError):
                raise
            raise self.refusal(folder) from None
        self.check(root, asked=folder)
        return root

    def check(self, root: Path, *, asked: Path | None = None) -> None:
        """Let a project pass that was given.

        `asked`: what it was asked for by, which is all that a refusal names. Raises RefusedError if it was not.
        """
        found = projects.reach(root, self.folders)
        if found == "outside" and self._also(root):
            found = projects.reach(root, (root,))
        if found != "given":
            found = projects.reach(root, (*self.folders, *user_roots()))
        if found == "foreign git":
            raise RefusedError(
                f"The `.git` of {asked or root} points to a repository that does not reference this folder, "
                "or takes objects from one.",
                hint="`git worktree repair` in that repository registers a worktree; the objects of a clone made "
                f"with `--shared` or `--reference` need access too. {self._access_hint()}",
            )
        if found != "given":
            raise self.refusal(asked or root)

    def refusal(self, folder: Path) -> RefusedError:
        """Return the error for what was not given, with the ways in which a person can give it."""
        return RefusedError(f"This server has no access to {folder}.", hint=self._access_hint())

    def _access_hint(self) -> str:
        given = ", ".join(map(str, self.folders)) or "no folder yet"
        said = self._unless or f"It serves {given}. The user can give access by `cm mcp --root FOLDER`, or by"
        return f"{said} listing the folder in `mcp.roots` of their own settings, {paths.config_file()}."

    def _covers(self, folder: Path) -> bool:
        return any(_real(folder).is_relative_to(one) for one in (*self.folders, *map(_real, user_roots())))

    def _is_allowed(self, folder: Path) -> bool:
        """Whether a folder lies in what was given, or in a worktree of that; by files that are read to their ends."""
        if self._covers(folder):
            return True
        real, given = _real(folder), (*self.folders, *user_roots(), *self._nearby())
        return any(
            projects.reach(one, given) != "outside"
            for one in (real, *real.parents)
            if one == real or os.path.lexists(one / ".git")
        )


def user_roots() -> Iterator[Path]:
    """Yield the folders of `mcp.roots`, as the user's own settings have them now.

    Raises ConfigError if one of them is not absolute, or the settings cannot be read.
    """
    for text in load_config().mcp.roots:
        folder = Path(text).expanduser()
        if not folder.is_absolute():
            raise ConfigError(f"mcp.roots: {text!r} is not an absolute path.", hint=f"Fix {paths.config_file()}.")
        yield folder


def _is_indexed_checkout(root: Path) -> bool:
    indexed = projects.indexed_checkout_of(root)
    return indexed is not None and projects.reach(root, (indexed,)) == "given"


def _real(folder: Path) -> Path:
    return Path(os.path.realpath(folder))
