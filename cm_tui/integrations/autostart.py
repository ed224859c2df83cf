"""Starting the daemon with the user's session: systemd, launchd or Windows' Task Scheduler."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import ClassVar, Literal
from xml.sax.saxutils import escape

from cm_tui.errors import CmError
from cm_tui.files import shared_dir, write_atomically
from cm_tui.integrations.git_hooks import command as cm_command
from cm_tui.model.freshness import Autostart
from cm_tui.paths import home_folder, state_dir
from cm_tui.state_file import reported

# --- the files that start a program with a session, in each system's own form ---


def unit(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """A systemd user unit.

    `words`: the program, by its whole path, and its arguments; `environment`: variables that it needs.
    """
    # `$` is expanded in arguments alone: neither in the program's own path nor in assignments.
    command = " ".join([_unit_word(words[0]), *(_unit_word(word).replace("$", "$$") for word in words[1:])])
    lines = "".join(f"Environment={_unit_word(f'{key}={value}')}\n" for key, value in environment.items())
    return _template("service").format(command=command, environment=lines)


def _unit_word(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{escaped}"'


def plist(label: str, words: Sequence[str], environment: Mapping[str, str]) -> str:
    """A launchd agent.

    `words`: the program, by its whole path, and its arguments; `environment`: variables that it needs.
    """
    agent = {
        "Label": label,
        "ProgramArguments": list(words),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        # Again after a crash, not when it ended by itself.
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Background",
        "Umask": 0o077,
    }
    return plistlib.dumps(agent).decode("utf-8")


def task(words: Sequence[str]) -> str:
    """A task for Windows' Task Scheduler; it has the user's own environment.

    `words`: the program, by its whole path, and its arguments.
    """
    return _template("xml").format(command=escape(words[0]), arguments=escape(subprocess.list2cmdline(words[1:])))


def _template(form: str) -> str:
    return (files(__package__) / f"autostart.{form}").read_text(encoding="utf-8")


# --- starting the daemon with the user's session ---

UNIT = "cm-tui.service"
LABEL = "io.github.cm-tui.serve"
TASK = "cm-tui"


class _System(ABC):
    """One way to start a program with the session."""

    name: ClassVar[str]
    file: Path
    checker: ClassVar[tuple[str, ...]] = ()
    """The command line of the system's own validator, without the file."""

    @abstractmethod
    def text(self, words: Sequence[str]) -> str:
        """Return what the file holds."""

    def check(self, text: str) -> str:
        """Validate that; says by what."""
        return _checked_by(self.checker, text, self.file.name)

    @abstractmethod
    def enable(self) -> str:
        """Make it count from the next session on; says how to begin now."""

    @abstractmethod
    def disable(self) -> None:
        """Undo that; the file is removed by the caller."""


class Systemd(_System):
    """A user unit that the user's default target wants."""

    name = "systemd"
    checker = ("systemd-analyze", "--user", "verify")

    def __init__(self) -> None:
        base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
        self.file = Path(base) / "systemd" / "user" / UNIT
        self._wanted = self.file.parent / "default.target.wants" / UNIT

    def text(self, words: Sequence[str]) -> str:
        """The unit."""
        return unit(words, _environment())

    def enable(self) -> str:
        """The link that `systemctl --user enable` makes; works without a session too."""
        shared_dir(self._wanted.parent)
        self._wanted.unlink(missing_ok=True)
        self._wanted.symlink_to(self.file)
        return f"Starts with the next session. To start it now: systemctl --user daemon-reload && systemctl --user start {UNIT}"

    def disable(self) -> None:
        """Remove the link."""
        self._wanted.unlink(missing_ok=True)
        if self._wanted.parent.is_dir() and not any(self._wanted.parent.iterdir()):
            self._wanted.parent.rmdir()


class Launchd(_System):
    """An agent of the user, which macOS loads at the next login."""

    name = "launchd"
    checker = ("plutil", "-lint")

    def __init__(self) -> None:
        self.file = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"

    def text(self, words: Sequence[str]) -> str:
        """The property list."""
        return plist(LABEL, words, _environment())

    def enable(self) -> str:
        """Do nothing: the file's place says it."""
        return f"Starts with the next login. To start it now: launchctl bootstrap gui/$(id -u) {self.file}"

    def disable(self) -> None:
        """Do nothing: it ends with the file."""


class TaskScheduler(_System):
    """A task at logon; Windows keeps a copy of its own."""

    name = "task scheduler"

    def __init__(self) -> None:
        self.file = state_dir() / "autostart.xml"

    def text(self, words: Sequence[str]) -> str:
        """The task."""
        return task(words)

    def check(self, text: str) -> str:  # noqa: ARG002 - of the protocol
        """Leave it to Windows."""
        return "by Windows, when it takes it"

    def enable(self) -> str:
        """Hand it to Windows."""
        _run(["schtasks", "/Create", "/F", "/TN", TASK, "/XML", str(self.file)])
        return f"Starts with the next logon. To start it now: schtasks /Run /TN {TASK}"

    def disable(self) -> None:
        """Take it from Windows."""
        _run(["schtasks", "/Delete", "/F", "/TN", TASK])


def system() -> _System | None:
    """Return what starts programs with a session on this machine; None when it is something else."""
    if sys.platform == "darwin":
        return Launchd()
    if sys.platform == "win32":
        return TaskScheduler()
    return Systemd() if shutil.which("systemctl") or Path("/run/systemd/system").is_dir() else None


def install(*, dry_run: bool = False, on: _System | None = None) -> Autostart:
    """Let the daemon begin with the session; running it again changes nothing.

    `dry_run`: only say what would be written. `on`: the system; this machine's when not given. Raises CmError if the
    system is unsupported, the file cannot be written, or a validator refuses it.
    """
    there = _there(on)
    text = there.text(_words())
    notes = [f"Checked: {there.check(text)}."]
    if not dry_run:
        with reported(there.file):
            shared_dir(there.file.parent)
            if _read(there.file) != text:
                write_atomically(Path(os.path.realpath(there.file)), text, permissions=None)
            notes.append(there.enable())
    return Autostart(there.name, _state(there, text), str(there.file), text, tuple(notes))


def uninstall(*, dry_run: bool = False, on: _System | None = None) -> Autostart:
    """Uninstall it; a running daemon continues until it is idle.

    Raises CmError if there is no such system, or the file cannot be removed.
    """
    there = _there(on)
    if not dry_run and there.file.exists():
        with reported(there.file):
            there.disable()
            there.file.unlink()
    return status(on=there)


def status(*, on: _System | None = None) -> Autostart:
    """Return whether it is installed, and as it would be now."""
    there = on or system()
    if there is None:
        return Autostart(
            "none", "unsupported", "", "", ("This system has neither systemd, launchd nor Task Scheduler.",)
        )
    text = there.text(_words())
    return Autostart(there.name, _state(there, text), str(there.file), text)


def _there(on: _System | None) -> _System:
    there = on or system()
    if there is None:
        raise CmError(
            "This system has neither systemd, launchd nor Task Scheduler.",
            hint="Nothing is lost: the first `cm` that needs the daemon starts it.",
        )
    return there


def _state(there: _System, text: str) -> Literal["installed", "outdated", "missing"]:
    now = _read(there.file)
    if now is None:
        return "missing"
    return "installed" if now == text else "outdated"


def _words() -> list[str]:
    command = cm_command()
    if command is None:
        return [sys.executable, "-m", "cm_tui", "serve"]
    return [command, "serve"]


def _environment() -> dict[str, str]:
    """Return what the daemon must know to find the same folders."""
    home = home_folder()
    return {"CM_HOME": str(home)} if home else {}


def _read(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _checked_by(words: Sequence[str], text: str, name: str) -> str:
    """Let a program read the text from a file of that name; says whether it did."""
    from tempfile import TemporaryDirectory

    if shutil.which(words[0]) is None:
        return f"not checked: no {words[0]} here"
    with TemporaryDirectory(prefix="cm-") as folder:
        file = Path(folder) / name
        file.write_text(text, encoding="utf-8")
        # systemd looks for its sockets, which a validator does not need.
        _run([*words, str(file)], {"XDG_RUNTIME_DIR": folder, **os.environ})
    return f"by {words[0]}"


def _run(words: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
    try:
        done = subprocess.run(words, env=environment, check=False, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CmError(f"{words[0]} cannot be run: {error}") from error
    if done.returncode:
        raise CmError(f"{words[0]} rejected it: {(done.stderr or done.stdout).strip()}")
