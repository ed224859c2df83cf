"""Why a file that the user names is not in the index."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.code.index.files import relative
from cm_tui.engine.code.scan.skip_rules import NOT_CHECKED_OUT, NOT_HERE
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError

_LINES = re.compile(r":\d+(-\d+)?$")
_BY_CONFIGURATION = "excluded by configuration"
_FINAL = ("binary", "folder of cm itself", NOT_HERE)
"""Reasons that no setting changes."""


class LeftOut(NamedTuple):
    """A file that is not in the index."""

    path: str
    reason: str
    lift: str
    """How to include it; empty: impossible."""


def left_out(db: Database, repository: Repository, root: Path, name: str) -> LeftOut | None:
    """Return why a file is not in the index; None: no such file.

    `name`: a path or an ending of one, with or without lines after it.
    """
    plain = _LINES.sub("", name.strip())
    path = _inside(root, plain)
    if not path:
        return None
    rows = db.rows(
        "SELECT path, reason FROM skipped WHERE path = ? OR starts_with(?, path || '/') OR ends_with(path, ?) "
        "ORDER BY path <> ?, length(path), path LIMIT 1",
        [path, path, f"/{plain}", path],
    )
    if rows:
        return LeftOut(rows[0][0], rows[0][1], _lift(rows[0][1]))
    return _unseen(db, repository, path) if os.path.lexists(root / path) else None


def _inside(root: Path, name: str) -> str:
    """The path of a name below the root; empty: invalid."""
    try:
        path = relative(root, name) if name and "\0" not in name else ""
    except CmError:
        return ""
    return "" if path == "." else path


def _unseen(db: Database, repository: Repository, path: str) -> LeftOut:
    """An existing path that the scan did not exclude."""
    if db.rows("SELECT 1 FROM now_file WHERE path = ?", [path]):
        return LeftOut(path, "it has no lines to find", "")
    if repository.ignored(path):
        return LeftOut(path, "git ignores it", "Take it out of .gitignore, or add it with `git add -f`.")
    return LeftOut(path, "it is not in the index yet", "Run `cm index`.")


def _lift(reason: str) -> str:
    if reason in _FINAL:
        return ""
    if reason == NOT_CHECKED_OUT:
        return "`git sparse-checkout add FOLDER` checks it out."
    setting = "index.exclude" if reason == _BY_CONFIGURATION else "index.include"
    verb = "excludes it" if reason == _BY_CONFIGURATION else "includes it"
    return f"{setting} in .cm/config.toml {verb}."
