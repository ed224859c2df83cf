"""Text to the clipboard, wherever the terminal runs, and honest words about which way it went.

A tool of the desktop answers whether it worked, so it goes first, but only where its desktop is the user's: not over
SSH. Otherwise the terminal is asked (OSC 52), which never answers: then the text is also saved to a file.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cm_tui import paths
from cm_tui.files import write_atomically

OSC52_LIMIT = 74_994
"""Bytes of text: with these, base64 and the escape codes stay within the 100,000 bytes that terminals take."""

_SCREEN_CHUNK = 240
"""Bytes that GNU screen hands through in one piece without dropping any."""

_TOOL_SECONDS = 3.0

_TOOLS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("wl-copy", (), "WAYLAND_DISPLAY"),
    ("xclip", ("-selection", "clipboard"), "DISPLAY"),
    ("xsel", ("--clipboard", "--input"), "DISPLAY"),
    ("pbcopy", (), ""),
    ("clip.exe", (), ""),
)
"""Tool, arguments, and the variable without which it has nothing to talk to."""


@dataclass(frozen=True)
class Copied:
    """What became of the text: `sure` when something confirmed it, `file` when it was saved as well."""

    message: str
    sure: bool
    file: Path | None = None


def copy(text: str, write: Callable[[str], object] | None, environ: Mapping[str, str] = os.environ) -> Copied:
    """Put text on the clipboard, or into a file where that cannot be known to have worked.

    Args:
        text: what to copy.
        write: writes escape codes to the terminal; None when there is no terminal.
        environ: the environment, which tells the desktop, tmux and SSH apart.

    Raises:
        OSError: when nothing took the text and the file cannot be written either.
    """
    remote = bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))
    if not remote and (tool := _desktop_tool(text, environ)):
        return Copied(f"Copied with {tool}.", sure=True)
    sent = _send_to_terminal(text, write, environ)
    buffered = bool(environ.get("TMUX")) and _run("tmux", ("load-buffer", "-w", "-"), text, environ)
    ways = [*([sent] if sent else []), *(["a tmux buffer (prefix ])"] if buffered else [])]
    try:
        file = save(text)
    except OSError as error:
        if not ways:
            raise
        return Copied(f"Sent to {' and '.join(ways)}; saving a copy failed: {error.strerror}.", sure=False)
    if ways:
        return Copied(f"Sent to {', '.join(ways)} and {file}.", sure=False, file=file)
    size = len(text.encode("utf-8", "replace"))
    cause = f"{size:,} bytes are too much for the terminal" if size > OSC52_LIMIT else "no clipboard available"
    return Copied(f"Saved to {file}: {cause}.", sure=False, file=file)


def osc52(text: str, environ: Mapping[str, str]) -> str:
    """The escape codes that set the terminal's clipboard, wrapped so that tmux and screen hand them on."""
    payload = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    code = f"\x1b]52;c;{payload}\x07"
    if environ.get("TMUX"):
        doubled = code.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{doubled}\x1b\\"
    if environ.get("STY"):
        pieces = (code[start : start + _SCREEN_CHUNK] for start in range(0, len(code), _SCREEN_CHUNK))
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    return code


def save(text: str) -> Path:
    """Write text to a file that the next copy replaces; only the user can read it.

    Raises:
        OSError: when it cannot be written.
    """
    file = paths.clipboard_file()
    paths.private_dir(file.parent)
    write_atomically(file, text.encode("utf-8", "replace"))
    return file


def _desktop_tool(text: str, environ: Mapping[str, str]) -> str | None:
    for tool, arguments, variable in _TOOLS:
        if (not variable or environ.get(variable)) and _run(tool, arguments, text, environ):
            return tool
    return None


def _send_to_terminal(text: str, write: Callable[[str], object] | None, environ: Mapping[str, str]) -> str | None:
    if write is None or len(text.encode("utf-8", "replace")) > OSC52_LIMIT:
        return None
    write(osc52(text, environ))
    through = " through tmux" if environ.get("TMUX") else " through screen" if environ.get("STY") else ""
    return f"the terminal{through} (OSC 52)"


def _run(tool: str, arguments: tuple[str, ...], text: str, environ: Mapping[str, str]) -> bool:
    program = shutil.which(tool, path=environ.get("PATH"))
    if program is None:
        return False
    # Windows' own tool reads UTF-16.
    data = text.encode("utf-16" if tool == "clip.exe" and sys.platform != "win32" else "utf-8", "replace")
    try:
        done = subprocess.run(
            [program, *arguments],
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TOOL_SECONDS,
            check=False,
            env=dict(environ),
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
