"""One git hook as a file: putting our lines there and taking them away, byte for byte."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal

from cm_tui.engine.sync import hookblock
from cm_tui.errors import RefusedError
from cm_tui.model.freshness import GitHook

_MODE = 0o755
_ASIDE = "cm-original"


class HookFile:
    """A hook of a repository.

    A shell script gets our block after its first line. Anything else (another interpreter, a program, a link, a script
    that is not executable) is moved aside unchanged, and a wrapper of ours ends by becoming it: a file moves to
    `NAME.cm-original`, so that it still finds what lies beside it, and a link to `cm-original/NAME`, so that what it leads
    to is still called by its name.

    Args:
        folder: where git looks for hooks.
        name: the hook.
        command: where cm lies.
    """

    def __init__(self, folder: Path, name: str, command: str | None) -> None:
        self.name = name
        self.path = folder / name
        self._folder = folder
        self._lines = hookblock.block(name, command)
        self._asides = {False: f"{name}.{_ASIDE}", True: f"{_ASIDE}/{name}"}

    def install(self) -> GitHook:
        """Put our lines there; nothing changes where they are.

        Raises:
            OSError: the folder cannot be written.
            RefusedError: something is in the way.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        wanted = self._wanted()
        if wanted is None:
            wanted = hookblock.wrapper(self._lines, self._move_aside())
        if not self.path.is_symlink() and _read(self.path) == wanted:
            return self.look()
        _write(self.path, wanted, _mode(self.path) if self.path.is_file() else _MODE)
        return self.look()

    def uninstall(self) -> GitHook:
        """Take our lines away and put back what was moved.

        Raises:
            OSError: the folder cannot be written.
        """
        script = self._script()
        if script is None or not hookblock.has_block(script):
            return self.look()
        rest = hookblock.without_block(script)
        aside = self._aside()
        if aside is not None and rest == hookblock.without_block(hookblock.wrapper(self._lines, aside)):
            self._move_back(aside)
        elif rest == hookblock.without_block(hookblock.alone(self._lines)):
            self.path.unlink()
        else:
            _write(self.path, rest, _mode(self.path))
        return self.look()

    def look(self) -> GitHook:
        """How it lies there."""
        script = self._script()
        place = str(self.path)
        if script is None or not hookblock.has_block(script):
            note = "another hook is there" if script is not None or self.path.is_symlink() else ""
            return GitHook(self.name, "missing", place, note)
        state: Literal["installed", "outdated"] = (
            "installed" if hookblock.with_block(script, self._lines) == script else "outdated"
        )
        return GitHook(self.name, state, place, self._chained(script))

    def _chained(self, script: bytes) -> str:
        if not os.access(self.path, os.X_OK):
            return "does not run: it is not executable"
        aside = self._aside()
        if aside is not None and f"/{aside}".encode() in script:
            return f"ends as {aside}, the hook that was there before"
        return "" if script == hookblock.alone(self._lines) else "together with the hook that was there before"

    def _wanted(self) -> bytes | None:
        """What the file shall hold; None when what is there has to be moved first."""
        script = self._script()
        if script is None:
            return self._without_script()
        if hookblock.has_block(script):
            return hookblock.with_block(script, self._lines)
        runs = os.access(self.path, os.X_OK)
        return hookblock.with_block(script, self._lines) if hookblock.is_shell(script) and runs else None

    def _without_script(self) -> bytes | None:
        if self.path.is_symlink():
            return None
        if self.path.is_dir():
            raise RefusedError(f"{self.path} is a folder, not a hook.", hint="Remove or rename it.")
        aside = self._aside()
        return hookblock.wrapper(self._lines, aside) if aside else hookblock.alone(self._lines)

    def _script(self) -> bytes | None:
        """Content of the hook; None when there is none, and for a link, which is never followed to be changed."""
        return None if self.path.is_symlink() else _read(self.path)

    def _aside(self) -> str | None:
        """Where the hook lies that was moved, relative to the folder."""
        return next((place for place in self._asides.values() if os.path.lexists(self._folder / place)), None)

    def _move_aside(self) -> str:
        link = self.path.is_symlink()
        before = self._aside()
        if before is not None:
            raise RefusedError(
                f"{self._folder / before} is in the way: a hook was moved there before, and another has taken its place.",
                hint="Keep the one of the two that you want, and remove the other.",
            )
        place = self._asides[link]
        if link:
            target = _target(self.path)
            (self._folder / place).parent.mkdir(exist_ok=True)
            (self._folder / place).symlink_to(target if Path(target).is_absolute() else f"../{target}")
            self.path.unlink()
        else:
            self.path.rename(self._folder / place)
        return place

    def _move_back(self, place: str) -> None:
        moved = self._folder / place
        if not moved.is_symlink() or place != self._asides[True]:
            moved.replace(self.path)
            return
        self.path.unlink()
        self.path.symlink_to(_target(moved).removeprefix("../"))
        moved.unlink()
        if not any(moved.parent.iterdir()):
            moved.parent.rmdir()


def _target(link: Path) -> str:
    """Where a link leads, letter by letter."""
    return os.readlink(link)  # noqa: PTH115 - a path object would tidy it up


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return None


def _mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def _write(file: Path, data: bytes, mode: int) -> None:
    """Put a whole file in the place of another: git never sees half a hook."""
    waiting = file.with_name(f"{file.name}.cm-new")
    try:
        waiting.write_bytes(data)
        waiting.chmod(mode)
        waiting.replace(file)
    except OSError:
        waiting.unlink(missing_ok=True)
        raise
