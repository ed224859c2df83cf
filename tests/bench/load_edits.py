"""Edits of `just bench load`: files that change at a steady pace, and which state of them a generation of the index holds."""

from __future__ import annotations

import random
import re
import threading
import time
from pathlib import Path
from typing import Any

from cm_tui.errors import CmError

_MARK = "bench_mark_"
_NAME = re.compile(rf"{_MARK}(\d+)_(\d+)")
_FILES = 400
"""Files that are edited in turn, at random."""
_LOOK_S = 0.4


class Edits:
    """Changes to the Python files of a tree: each writes another function at the end of a file.

    Args:
        tree: the project.
        chance: chooses the files.
        rate: files a second.
    """

    def __init__(self, tree: Path, chance: random.Random, rate: float) -> None:
        files = sorted(file for file in tree.rglob("*.py") if file.is_file() and not file.is_symlink())
        self._files = chance.sample(files, min(_FILES, len(files)))
        self._texts = [file.read_bytes() for file in self._files]
        self._chance = chance
        self._rate = rate
        self._version = 0
        self.states: dict[int, dict[int, int]] = {}
        """Version by number of the file, by generation, as far as they were seen."""

    def write_until(self, over: threading.Event) -> None:
        """Write at the given pace."""
        begun, written = time.monotonic(), 0
        while not over.wait(max(0.0, begun + written / self._rate - time.monotonic())):
            self._version += 1
            self._write(self._chance.randrange(len(self._files)), self._version)
            written += 1

    def watch_until(self, over: threading.Event, engine: Any) -> None:
        """Note what each generation holds."""
        while not over.wait(_LOOK_S):
            try:
                page = engine.symbols(match=_MARK, limit=100_000)
            except CmError:
                continue
            found = (_NAME.fullmatch(symbol.name) for symbol in page.rows)
            self.states[getattr(page, "generation", 0)] = {int(match[1]): int(match[2]) for match in found if match}
        engine.close()

    def restore(self, generation: int) -> None:
        """Give all files the contents that they had in a generation."""
        state = self.states[generation]
        for number in range(len(self._files)):
            self._write(number, state.get(number, 0))

    def _write(self, number: int, version: int) -> None:
        text = self._texts[number]
        if version:
            text += f"\n\ndef {_MARK}{number}_{version}():\n    return {version}\n".encode()
        if self._files[number].read_bytes() != text:
            self._files[number].write_bytes(text)
