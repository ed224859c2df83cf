"""One git hook as a file: its text, and putting our lines there and taking them away, byte for byte."""

from __future__ import annotations

import os
import re
import shlex
import stat
from pathlib import Path
from typing import Literal

from cm_tui.errors import RefusedError
from cm_tui.files import SUFFIX, read_bounded, shared_dir, write_if_unchanged
from cm_tui.model.freshness import GitHook

BEGIN = b"# >>> cm-tui >>> "
END = b"# <<< cm-tui <<<"
_BLOCK = re.compile(rb"^" + re.escape(BEGIN) + rb".*?^" + re.escape(END) + rb"[^\n]*\n", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(
    rb"^#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-S[ \t]+)?)?(?:\S*/)?(?:sh|bash|dash|ash|ksh|mksh|zsh)(?:[ \t]|$)"
)
_SHEBANG = b"#!/bin/sh\n"
_OURS = b"# cm-tui made this file.\n"

_TEXT = """\
# >>> cm-tui >>> Keeps cm's index fresh. Written by `cm git-hooks install`; `cm git-hooks uninstall` removes it.
# It runs in the background and is quiet: git neither waits for it nor fails with it, also when cm is gone.
( (
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_PREFIX
  for cm in {commands}; do
    command -v "$cm" && exec "$cm" hook git {name} "$@"
  done
) </dev/null >/dev/null 2>&1 & ) || :
# <<< cm-tui <<<
"""
_CHAIN = """\
original="$(dirname "$0")/{original}"
if [ -x "$original" ]; then
  exec "$original" "$@"
fi
"""


def block(name: str, command: str | None) -> bytes:
    """Return our lines for a hook.

    `name`: the hook, such as `post-commit`. `command`: where cm lies now; it is looked for on the PATH when it is no
    longer there.
    """
    commands = shlex.join([*([command] if command else []), "cm"])
    return _TEXT.format(commands=commands, name=name).encode("utf-8", "surrogateescape")


def is_shell(script: bytes) -> bool:
    """True when a POSIX-like shell reads the script, so that lines can be added to it."""
    first, newline, _ = script.partition(b"\n")
    return bool(newline) and _SHELL.match(first) is not None and not first.endswith(b"\r")


def has_block(script: bytes) -> bool:
    """True when our lines stand in it."""
    return _BLOCK.search(script) is not None


def without_block(script: bytes) -> bytes:
    """Return the script as it was before our lines came."""
    return _BLOCK.sub(b"", script)


def with_block(script: bytes, lines: bytes) -> bytes:
    """Return the script with our lines right after its first one: it may end anywhere, and read its input, as before."""
    script = without_block(script)
    first, newline, rest = script.partition(b"\n")
    return first + newline + lines + rest


def alone(lines: bytes) -> bytes:
    """Return a hook that is ours alone."""
    return _SHEBANG + lines + _OURS


def is_alone(script: bytes) -> bool:
    """True when a hook is ours alone, of whatever version."""
    return has_block(script) and without_block(script) == _SHEBANG + _OURS


def wrapper(lines: bytes, original: str) -> bytes:
    """Return a hook that ends as the one does that was moved aside; `original` is its place below the hooks' folder."""
    return _SHEBANG + lines + _OURS + _CHAIN.format(original=original).encode()


_MODE = 0o755
_MOST_BYTES = 100_000_000
"""A hook may be a program."""
_MOVED_FOLDER = "cm-original"
_NO_HOOKS = frozenset({".sample", SUFFIX, f".{_MOVED_FOLDER}"})
"""Endings of files that no hook looks for."""


class HookFile:
    """A hook of a repository.

    A shell script gets our block after its first line. Anything else (another interpreter, a program, a link, a script
    that is not executable) is moved aside unchanged to `cm-original/NAME`, where it is still called by its name, and a wrapper
    of ours ends by becoming it. Links there lead to what lay beside it, so that it finds that in its own folder.

    `folder`: where git looks for hooks; `command`: where cm lies.
    """

    def __init__(self, folder: Path, name: str, command: str | None) -> None:
        self.name = name
        self.path = folder / name
        self._folder = folder
        self._lines = block(name, command)
        self._moved_folder = folder / _MOVED_FOLDER
        # Where the first cm put a file, which then had another name than it is called by.
        self._moved_names = (f"{_MOVED_FOLDER}/{name}", f"{name}.{_MOVED_FOLDER}")

    def install(self) -> GitHook:
        """Put our lines there; nothing changes where they are.

        Raises OSError if the folder cannot be written; RefusedError if something is in the way.
        """
        shared_dir(self._folder)
        script = self._script()
        again = script is not None and self._was_moved_by_an_older_cm(script)
        wanted = None if again else self._target_content(script)
        if wanted is None:
            moved = self._move_aside(self._folder / self._moved_names[1] if again else self.path)
            script, wanted = (script if again else None), wrapper(self._lines, moved)
        if script != wanted:
            self._write(wanted, script)
        if self._moved_name() == self._moved_names[0]:
            self._link_siblings()
        return self.status()

    def uninstall(self) -> GitHook:
        """Take our lines away and put back what was moved. Raises OSError if the folder cannot be written."""
        script, moved_name = self._script(), self._moved_name()
        if moved_name is not None and not os.path.lexists(self.path):
            # Installing was killed between moving the hook and writing ours.
            self._restore(moved_name)
        if script is None or not has_block(script):
            return self.status()
        rest = without_block(script)
        if moved_name is not None and rest == without_block(wrapper(self._lines, moved_name)):
            self._restore(moved_name)
        elif rest == without_block(alone(self._lines)):
            self.path.unlink()
        else:
            self._write(rest, script)
        return self.status()

    def _write(self, script: bytes, before: bytes | None) -> None:
        """Write the hook. `before`: what it held; None: nothing. Raises RefusedError if another program changed it since."""
        if not write_if_unchanged(self.path, script, before, _mode(self.path) if self.path.is_file() else _MODE):
            raise RefusedError(f"{self.path} was changed by another program just now.", hint="Run the command again.")

    def status(self) -> GitHook:
        """Return how it lies there."""
        script = self._script()
        path = str(self.path)
        if script is None or not has_block(script):
            note = "another hook exists" if script is not None or self.path.is_symlink() else ""
            return GitHook(self.name, "missing", path, note)
        state: Literal["installed", "outdated"] = (
            "outdated"
            if with_block(script, self._lines) != script or self._was_moved_by_an_older_cm(script)
            else "installed"
        )
        return GitHook(self.name, state, path, self._chained(script))

    def _chained(self, script: bytes) -> str:
        if not os.access(self.path, os.X_OK):
            return "does not run: it is not executable"
        moved_name = self._moved_name()
        if moved_name is not None and f"/{moved_name}".encode() in script:
            return f"then runs {moved_name}, the previous hook"
        return "" if script == alone(self._lines) else "together with the previous hook"

    def _target_content(self, script: bytes | None) -> bytes | None:
        """Return what the file shall hold in place of a script; None when what is there has to be moved first."""
        if script is None:
            return self._without_script()
        if has_block(script):
            return with_block(script, self._lines)
        runs = os.access(self.path, os.X_OK)
        return with_block(script, self._lines) if is_shell(script) and runs else None

    def _without_script(self) -> bytes | None:
        if self.path.is_symlink():
            return None
        if self.path.is_dir():
            raise RefusedError(f"{self.path} is a folder, not a hook.", hint="Remove or rename it.")
        moved_name = self._moved_name()
        return wrapper(self._lines, moved_name) if moved_name else alone(self._lines)

    def _script(self) -> bytes | None:
        """Return the content of the hook; None if it is missing or a link (links are never followed)."""
        return None if self.path.is_symlink() else _read(self.path)

    def _was_moved_by_an_older_cm(self, script: bytes) -> bool:
        """True when this is the wrapper of a hook that lies where its own name is lost."""
        old = self._moved_names[1]
        wrapped = without_block(wrapper(self._lines, old))
        return self._moved_name() == old and without_block(script) == wrapped

    def _moved_name(self) -> str | None:
        """Return where the hook lies that was moved, relative to the folder."""
        return next((name for name in self._moved_names if self._holds(self._folder / name)), None)

    def _holds(self, path: Path) -> bool:
        return os.path.lexists(path) and not _is_sibling(path)

    def _move_aside(self, hook: Path) -> str:
        """Move a hook to where it keeps its name; gives the place, relative to the folder."""
        before = self._moved_name()
        if before is not None and self._folder / before != hook:
            raise RefusedError(
                f"{self._folder / before} already exists: a hook was moved there before, and another one has replaced it.",
                hint="Keep one of the two and remove the other.",
            )
        path = self._folder / self._moved_names[0]
        shared_dir(path.parent)
        if _is_sibling(path):
            path.unlink()
        if hook.is_symlink():
            target = _target(hook)
            path.symlink_to(target if Path(target).is_absolute() else f"../{target}")
            hook.unlink()
        else:
            hook.rename(path)
        return self._moved_names[0]

    def _restore(self, name: str) -> None:
        moved = self._folder / name
        if moved.is_symlink() and name == self._moved_names[0]:
            self.path.unlink(missing_ok=True)
            self.path.symlink_to(_target(moved).removeprefix("../"))
            moved.unlink()
        else:
            moved.replace(self.path)
        if self._moved_folder.is_dir() and all(_is_sibling(one) for one in self._moved_folder.iterdir()):
            for one in list(self._moved_folder.iterdir()):
                one.unlink()
            self._moved_folder.rmdir()

    def _link_siblings(self) -> None:
        """Let hooks that were moved find what lies in the folder they came from, and only that."""
        for link in list(self._moved_folder.iterdir()):
            if _is_sibling(link) and not link.exists():
                link.unlink()
        for beside in self._folder.iterdir():
            link = self._moved_folder / beside.name
            if beside == self._moved_folder or beside.suffix in _NO_HOOKS or os.path.lexists(link) or _is_alone(beside):
                continue
            try:
                link.symlink_to(f"../{beside.name}")
            except OSError:
                # A system or a disk without links: such a hook does not find what it looks for beside itself.
                return


def _is_sibling(path: Path) -> bool:
    """Tell whether this is a link of ours to the file of the same name one folder up."""
    return path.is_symlink() and _target(path) == f"../{path.name}"


def _is_alone(file: Path) -> bool:
    """Return whether a hook contains only our part."""
    return not file.is_symlink() and is_alone(_read(file) or b"")


def _target(link: Path) -> str:
    """Return where a link leads, letter by letter."""
    return os.readlink(link)  # noqa: PTH115 - a path object would tidy it up


def _read(file: Path) -> bytes | None:
    try:
        return read_bounded(file, _MOST_BYTES)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        return None


def _mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)
