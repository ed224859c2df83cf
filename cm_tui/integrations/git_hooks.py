"""Git hooks that report every checkout, merge, rewrite and commit, and never block git."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cm_tui.engine.platform.git.git_dir import git_folders, verified_git_dir
from cm_tui.engine.platform.git.roots import find_root
from cm_tui.engine.platform.git.safe_git import setting
from cm_tui.errors import CmError, NotFoundError, RefusedError
from cm_tui.integrations.git_hook_file import HookFile
from cm_tui.model.freshness import GitHook, GitHooks

NAMES = ("post-checkout", "post-merge", "post-rewrite", "post-commit", "post-applypatch")


def install(folder: Path | None = None, *, force: bool = False) -> GitHooks:
    """Put our block into every hook; running it again changes nothing.

    Args:
        folder: a folder of the checkout, whose worktrees share the hooks; the current one when not given.
        force: also into a folder of hooks that other repositories share.

    Raises:
        NotFoundError: the project has no git.
        RefusedError: the folder of hooks lies outside the repository, something is in the way, or hooks are switched off.
        CmError: the folder cannot be written.
    """
    return _each(find_root(folder, force=True), HookFile.install, force=force)


def uninstall(folder: Path | None = None, *, force: bool = False) -> GitHooks:
    """Take our block out of every hook; what was there before is back byte for byte.

    Raises NotFoundError if the project has no git; RefusedError if the folder of hooks lies outside the repository;
    CmError if the folder cannot be written.
    """
    root = find_root(folder, force=True)
    before = _default_folder(root)
    if before != _folder(root) and before.is_dir() and (force or not _is_outside(root, before)):
        # `core.hooksPath` was set after they were installed.
        with _reported(before):
            for name in NAMES:
                HookFile(before, name, command()).uninstall()
    return _each(root, HookFile.uninstall, force=force)


def status(folder: Path | None = None) -> GitHooks:
    """Return how the hooks lie there. Raises NotFoundError if the project has no git."""
    root = find_root(folder, force=True)
    hooks = _folder(root)
    with _reported(hooks):
        return _record(root, hooks, [HookFile(hooks, name, command()).status() for name in NAMES])


def command() -> str | None:
    """Return where the `cm` lies that belongs to this Python, so that programs with another PATH find it too."""
    beside = Path(sys.executable).parent / ("cm.exe" if os.name == "nt" else "cm")
    found = str(beside) if beside.is_file() else shutil.which("cm")
    return found.replace("\\", "/") if found and os.name == "nt" else found


def _each(root: Path, act: Callable[[HookFile], GitHook], *, force: bool) -> GitHooks:
    folder = _folder(root)
    if _is_off(folder):
        if act is HookFile.install:
            raise RefusedError(
                f"Git hooks are disabled here: core.hooksPath is {folder}, which is not a folder.",
                hint="Find it with `git config --show-origin core.hooksPath`, then unset it or set it to a folder.",
            )
        return _record(root, folder, [GitHook(name, "missing", str(folder / name)) for name in NAMES])
    if not force and _is_outside(root, folder):
        raise RefusedError(
            f"Git's hooks are outside this repository, in {folder}: other repositories share them.",
            hint="Set core.hooksPath to a folder of this repository, or, where its `.git` leads elsewhere, `core.worktree` "
            "to this one; or use --force.",
        )
    with _reported(folder):
        return _record(root, folder, [act(HookFile(folder, name, command())) for name in NAMES])


def _record(root: Path, folder: Path, hooks: list[GitHook]) -> GitHooks:
    return GitHooks(str(folder), _is_outside(root, folder), tuple(hooks), tuple(_notes(root, folder)), _is_off(folder))


def _is_off(folder: Path) -> bool:
    """True for `/dev/null` and anything else that git cannot find a hook in."""
    return folder.exists() and not folder.is_dir()


def _notes(root: Path, folder: Path) -> Iterator[str]:
    if _is_off(folder):
        yield f"Git hooks are disabled here: core.hooksPath is {folder}, which is not a folder."
    elif folder != _default_folder(root):
        yield f"core.hooksPath is set: git looks for hooks in {folder}."
    if folder.is_relative_to(root) and not folder.is_relative_to(root / ".git"):
        yield "The hooks are in the working tree: if git tracks them, cm's block appears as a change."
    if command() is None:
        yield "cm is not on the PATH: the hooks do nothing until it is."


def _folder(root: Path) -> Path:
    """Return where git looks for hooks."""
    default = _default_folder(root)
    said = setting(root, "core.hooksPath")
    # A relative one starts where hooks run: at the root of the checkout.
    return Path(os.path.normpath(root / said)) if said else default


def _default_folder(root: Path) -> Path:
    folders = git_folders(root)
    if folders is None:
        raise NotFoundError(
            f"{root} is not a git repository, so it has no hooks.", hint="The watcher works without git."
        )
    return Path(os.path.normpath(folders.common / "hooks"))


def _is_outside(root: Path, folder: Path) -> bool:
    resolved = folder.resolve()
    # The `.git` of a folder may point at any repository; inside is what knows this checkout.
    shared = verified_git_dir(root)
    inside = [root.resolve(), *([shared] if shared is not None else [])]
    return not any(resolved.is_relative_to(one) for one in inside)


@contextmanager
def _reported(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CmError(
            f"The hooks in {folder} cannot be read or written: {error.strerror or error}.",
            hint="Check core.hooksPath and the folder's permissions.",
        ) from error
