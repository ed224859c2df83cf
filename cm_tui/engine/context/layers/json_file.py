"""Files of values in `.cm/memory`: read strictly, written whole, by one at a time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from cm_tui import paths
from cm_tui.engine.context.definitions.document import MAX_BYTES, Document, DocumentError
from cm_tui.engine.context.definitions.parsing import parse
from cm_tui.errors import StoreError, UsageError
from cm_tui.files import permissions_of, read_below, read_regular, write_if_unchanged
from cm_tui.state_file import confined, holding

FOLDER = f"{paths.PROJECT_FOLDER}/memory"
T = TypeVar("T")


def read(root: Path, path: str) -> Document | None:
    """Return the content of a project's JSON file; None: no file.

    Raises:
        UsageError: it is not JSON; the message contains the position.
        StoreError: it cannot be read.
    """
    try:
        content = read_below(root, path, MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"Cannot read {path}: {error.strerror or error}.") from error
    try:
        return parse(content, is_json=True)
    except DocumentError as error:
        where = error.place
        raise UsageError(
            f"{path}:{where.line}:{where.column}: {error.message}.",
            hint=error.hint or "Fix it in an editor; nothing was changed.",
        ) from error


def change(root: Path, path: str, change: Callable[[Document | None], tuple[Any, T]]) -> T:
    """Rewrite a JSON file from its current content, while other such writes are blocked.

    Args:
        root: of the project.
        path: of the file, relative to the root.
        change: returns the new content, and the result.

    Raises:
        UsageError: the current content is not JSON; it stays as it is.
        RefusedError: its folder leads out of the project.
        StoreError: it cannot be written.
    """
    file = root.joinpath(*path.split("/"))
    named = blake2b(os.path.realpath(file).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
    try:
        with holding(paths.state_dir() / "locks" / f"{named}.lock"), confined(root, file):
            before = read_regular(file, MAX_BYTES)
            new, result = change(read(root, path))
            data = (json.dumps(new, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode("utf-8")
            if len(data) > MAX_BYTES:
                raise UsageError(f"{path} would have more than {MAX_BYTES:,} bytes.", hint="Remove old values.")
            if not write_if_unchanged(file, data, before, permissions_of(file)):
                raise StoreError(f"Another program changed {path}: nothing is written.", hint="Try again.")
    except ValueError as error:
        raise UsageError(f"{path}: this value is no JSON: {error}") from error
    return result
