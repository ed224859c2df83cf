"""Change stamps of the settings files."""

from __future__ import annotations

from pathlib import Path

from cm_tui import paths
from cm_tui.files import Stamp, stamp_of

Stamps = tuple[Stamp | None, ...]
"""Of the user's file and the project's."""


def stamps_of(root: Path | None) -> Stamps:
    """Return the change stamps of the settings files. `root`: the project's root, whose file counts too."""
    files = (paths.config_file(), *((paths.project_config_file(root),) if root is not None else ()))
    return tuple(map(stamp_of, files))
