"""What a file said last, for an hour: an editor that was opened before that saves what it began with over it."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.files import read_regular, write_atomically

KEPT_S = 3_600.0
"""How long an editor may have a text open whose save is still understood."""
MOST_BYTES = 1_000_000
"""Of one text; longer ones are not kept."""
_SOON_S = 120.0
_MOST_TEXTS = 12
_MOST_FILE_BYTES = _MOST_TEXTS * MOST_BYTES * 3


@dataclass(frozen=True, slots=True)
class LastText:
    """A text that was in a file."""

    time: float
    """When it was seen or written: seconds since the epoch."""
    text: str
    put_back: bool = False
    """It has lines that somebody's save had lost."""


class LastTexts:
    """The last texts of one file, the oldest first. They lie with the user's data, and no longer than is of use.

    Args:
        file: whose they are.
    """

    def __init__(self, file: Path) -> None:
        name = hashlib.blake2b(str(file).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
        self._kept = folder() / f"{name}.json"

    def all(self) -> list[LastText]:
        """Return those of the last hour, and the one before them."""
        data = read_regular(self._kept, _MOST_FILE_BYTES)
        try:
            found = json.loads(data) if data is not None else []
        except (ValueError, RecursionError):
            return []
        texts = [one for item in found if (one := _text(item)) is not None] if isinstance(found, list) else []
        since = time.time() - KEPT_S
        first = next((place for place, one in enumerate(texts) if one.time >= since), len(texts))
        return texts[max(0, first - 1) :]

    def add(self, text: str, *, put_back: bool = False) -> None:
        """Keep what a file says now.

        Raises:
            OSError: it cannot be written.
        """
        texts = self.all()
        if texts and texts[-1].text == text and texts[-1].put_back >= put_back:
            return
        if len(text) > MOST_BYTES:
            texts = []
        else:
            texts.append(LastText(time.time(), text, put_back))
        paths.private_dir(self._kept.parent)
        plain = [{"time": one.time, "text": one.text, "put_back": one.put_back} for one in texts[-_MOST_TEXTS:]]
        write_atomically(self._kept, json.dumps(plain))

    def base_of(self, lines: Sequence[str], lines_of: Callable[[str], Sequence[str]]) -> LastText | None:
        """Return the text that somebody began with who saved some lines; None: the last one, nothing is lost.

        Args:
            lines: that were saved.
            lines_of: gives the lines of a text.
        """
        texts = self.all()
        if len(texts) < 2:
            return None
        saved = Counter(lines)
        distances = [_distance(saved, Counter(lines_of(one.text))) for one in texts]
        # Of two that are as near, whoever saves a moment after the last one has hardly seen that.
        seen = -1 if time.time() - texts[-1].time > _SOON_S else 1
        best = min(range(len(texts)), key=lambda place: (distances[place], seen * place))
        if best == len(texts) - 1:
            return None
        if texts[-1].put_back and distances[best] == 0:
            # Whoever saves without them what was put back for them means it.
            return None
        return texts[best]


def folder() -> Path:
    """Return the folder of all last texts."""
    return paths.data_dir() / "last-texts"


def remove_old() -> None:
    """Remove the texts of files that nobody has changed for an hour."""
    since = time.time() - KEPT_S
    try:
        files = [*folder().iterdir()]
    except OSError:
        return
    for file in files:
        try:
            if file.stat().st_mtime < since:
                file.unlink(missing_ok=True)
        except OSError:
            continue


def _distance(one: Counter[str], other: Counter[str]) -> int:
    return sum((one - other).values()) + sum((other - one).values())


def _text(data: Any) -> LastText | None:
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        return None
    when = data.get("time")
    if isinstance(when, bool) or not isinstance(when, int | float):
        return None
    return LastText(float(when), data["text"], data.get("put_back") is True)
