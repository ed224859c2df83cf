"""Notices that a file of settings was written or removed outside, and has the new settings counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cm_tui.config import Config, load_config
from cm_tui.config.stamps import stamps_of
from cm_tui.errors import CmError

EVERY = 1.0
"""Seconds between looks."""

Work = Callable[[Callable[[], "Config | CmError"], Callable[["Config | CmError"], None]], None]


class SettingsWatch:
    """Looks at the files of settings; reads them, once they are others, on a worker thread.

    Args:
        root: the project's root folder.
        work: runs the first function on a worker thread, the second with its answer on the application's.
        changed: gets the settings when a file was written or removed.
        failed: gets what is wrong with them; what was in force before stays so.
    """

    def __init__(
        self, root: Path, work: Work, changed: Callable[[Config], None], failed: Callable[[CmError], None]
    ) -> None:
        self._root = root
        self._work = work
        self._changed = changed
        self._failed = failed
        self._seen = stamps_of(root)

    def look(self) -> None:
        """Look once."""
        now, root = stamps_of(self._root), self._root
        if now == self._seen:
            return
        self._seen = now

        def call() -> Config | CmError:
            try:
                return load_config(root)
            except CmError as error:
                return error

        self._work(call, self._got)

    def _got(self, found: Config | CmError) -> None:
        if isinstance(found, CmError):
            self._failed(found)
        else:
            self._changed(found)


def differing(before: Config, after: Config) -> list[str]:
    """Return the names of settings that are others now, such as `tui.theme`."""
    old, new = before.model_dump(), after.model_dump()
    names = []
    for section, values in new.items():
        if section == "profiles":
            names += [
                f"profiles.{name}"
                for name in sorted({*old[section], *values})
                if old[section].get(name) != values.get(name)
            ]
        else:
            names += [f"{section}.{name}" for name, value in values.items() if old[section].get(name) != value]
    return names
