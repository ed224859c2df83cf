"""A file in the person's own editor, at a line."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from cm_tui.errors import CmError
from cm_tui.files import users_umask

_COLON = {"hx", "helix", "subl", "zed", "micro"}
_GOTO = {"code", "codium", "cursor", "windsurf"}


def command_for(file: Path, line: int, environ: Mapping[str, str] = os.environ) -> list[str]:
    """The command that opens a file at a line in `$VISUAL` or `$EDITOR`.

    Raises:
        CmError: neither is set, or the program is not there.
    """
    words = shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "")
    if not words:
        raise CmError("No editor is set.", hint="Set $EDITOR, for example: export EDITOR=nano")
    if shutil.which(words[0], path=environ.get("PATH")) is None:
        raise CmError(f"The editor {words[0]} is not on the PATH.", hint="Set $EDITOR to an installed one.")
    name = Path(words[0]).name
    if name in _COLON:
        return [*words, f"{file}:{line}"]
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{line}"]
    return [*words, f"+{line}", str(file)]


def edit_over(app: App[Any], root: Path, path: str, line: int) -> None:
    """Open a file of a project in the person's editor, over the whole terminal, until it is closed.

    Raises:
        CmError: there is no editor, or it cannot be started here.
    """
    command = command_for(root / path, line)
    try:
        with app.suspend():
            subprocess.run(command, check=False, cwd=root, umask=users_umask())
    except (OSError, SuspendNotSupported) as error:
        raise CmError(f"The editor could not be started: {error}") from error
