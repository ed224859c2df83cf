"""Writing a commented definition for the user to change."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path

from cm_tui.engine.context.definitions.definition_files import FOLDERS
from cm_tui.engine.context.definitions.shapes.base import NAME
from cm_tui.errors import RefusedError, UsageError
from cm_tui.files import users_umask
from cm_tui.model import DefinitionKind
from cm_tui.paths import PROJECT_FOLDER
from cm_tui.state_file import confined


def write_new(root: Path, kind: DefinitionKind, name: str) -> str:
    """Write a definition of a kind; return its path, relative to the root.

    Raises:
        UsageError: the name or kind is invalid.
        RefusedError: the file exists, or the folder leads out of the project.
        StoreError: it cannot be written.
    """
    if kind not in FOLDERS:
        raise UsageError(f"There is no kind {str(kind)[:40]!r}.", hint=f"Use {', '.join(FOLDERS)}.")
    if not re.match(NAME, name):
        raise UsageError(f"{name[:60]!r} is no name.", hint="Use letters, digits, - and _, 64 at most.")
    path = f"{PROJECT_FOLDER}/{FOLDERS[kind]}/{name}.yaml"
    file = root / path
    text = files("cm_tui.engine.context.definitions").joinpath("templates", f"{kind}.yaml").read_text("utf-8")
    with confined(root, file):
        taken = next((one for ending in (".yaml", ".yml", ".json") if (one := file.with_suffix(ending)).exists()), None)
        if taken is not None:
            raise RefusedError(f"There is {taken.relative_to(root)} already.", hint="Edit it, or choose another name.")
        _create(file, text.replace("NAME", name))
    return path


def _create(file: Path, text: str) -> None:
    """Write a file that must not be there yet, also not since a moment ago."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    umask = users_umask()
    if umask >= 0:
        file.chmod(0o666 & ~umask)
