"""Files as they were, where taking our part out again could not give them back byte for byte."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path

from cm_tui import paths
from cm_tui.errors import CmError
from cm_tui.files import write_atomically


class Original:
    """A file as it was before we changed it, kept beside the user's state."""

    def __init__(self, path: Path) -> None:
        self._path = path
        digest = sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:24]
        self._file = paths.state_dir() / "agents" / f"{digest}.json"

    def keep(self, before: bytes, after: bytes) -> None:
        """Keep a file and what we made of it."""
        paths.private_dir(paths.private_dir(paths.state_dir()) / "agents")
        entry = {
            "path": str(self._path),
            "after": sha256(after).hexdigest(),
            "before": b64encode(before).decode("ascii"),
        }
        write_atomically(self._file, json.dumps(entry))

    def content_before(self, now: bytes) -> bytes | None:
        """Return the original content of a file, if it was not changed since.

        Raises CmError: what was kept cannot be read.
        """
        kept = self._kept()
        return kept[1] if kept is not None and kept[0] == sha256(now).hexdigest() else None

    def content(self) -> bytes | None:
        """Return the file as it was, whatever became of it since.

        Raises CmError: what was kept cannot be read.
        """
        kept = self._kept()
        return None if kept is None else kept[1]

    def _kept(self) -> tuple[str, bytes] | None:
        """The digest of what we made of the file, and the file as it was."""
        try:
            entry = json.loads(self._file.read_bytes())
            return str(entry["after"]), b64decode(entry["before"], validate=True)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CmError(f"Cannot read {self._file}: {error}", hint="Remove it, and run the command again.") from error

    def forget(self) -> None:
        """Keep it no longer."""
        self._file.unlink(missing_ok=True)
