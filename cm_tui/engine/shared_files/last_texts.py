"""What a file said last, for an hour: an editor that was opened before that saves what it began with over it."""

from __future__ import annotations

import difflib
import hashlib
import json
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.errors import StoreError
from cm_tui.files import read_regular, write_atomically

KEPT_S = 3_600.0
"""How long an editor may have a text open whose save is still understood."""
MOST_BYTES = 256_000
"""Of one text; longer ones are not kept."""
_SOON_S = 600.0
"""Whoever saves within that time of the last change may not have seen it."""
_MOST_TEXTS = 400
_MOST_CHARACTERS = 4 * MOST_BYTES
"""Of all that is kept of one file."""
_MOST_FILE_BYTES = 16_000_000
_COMPARED = 2_000
"""Characters that are compared where lines do not tell what somebody began with."""
_CLEARLY_ALIKE, _CLEARLY_MORE = 0.8, 0.15
"""A share of characters from which on one line was made of another, and how much more than of a third."""


class LastText(NamedTuple):
    """A text that was in a file.

    Attributes:
        time: when it was seen or written: seconds since the epoch.
        text: all of it.
        put_back: it has lines that somebody's save had lost.
    """

    time: float
    text: str
    put_back: bool = False

    @property
    def lines(self) -> list[str]:
        """Return its lines; that it ends with the last one is not a line of its own."""
        return self.text.removesuffix("\n").split("\n")


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
            texts = [*_read(json.loads(data))] if data is not None else []
        except (ValueError, RecursionError, TypeError, KeyError):
            return []
        since = time.time() - KEPT_S
        first = next((place for place, one in enumerate(texts) if one.time >= since), len(texts))
        return texts[max(0, first - 1) :]

    def last(self) -> str | None:
        """Return what the file said last; None: nobody knows."""
        texts = self.all()
        return texts[-1].text if texts else None

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
        plain = [*_steps(texts)]
        while len(texts) > _MOST_TEXTS or (len(texts) > 1 and _characters(plain) > _MOST_CHARACTERS):
            # The older, the fewer are needed to know what somebody began with.
            texts = [*texts[: len(texts) // 2 : 2], *texts[len(texts) // 2 :]] if len(texts) > 3 else texts[-1:]
            plain = [*_steps(texts)]
        paths.private_dir(self._kept.parent)
        write_atomically(self._kept, json.dumps(plain))

    def forget(self) -> None:
        """Keep nothing of this file any more.

        Raises:
            OSError: what is kept cannot be removed.
        """
        self._kept.unlink(missing_ok=True)

    def base_of(self, text: str) -> LastText | None:
        """Return the text that somebody began with who saved another; None: the last one, nothing is lost.

        It is the one with the fewest lines that differ; of several the oldest, unless the lines that were changed come from a later
        one beyond doubt: what somebody may not have seen is shown to them, and not taken for their wish.

        Args:
            text: that was saved.
        """
        texts = self.all()
        if len(texts) < 2 or (texts[-1].put_back and texts[-2].text == text):
            # Whoever saves a second time without what was put back for them means it.
            return None
        saved = LastText(0.0, text).lines
        differ = [_differing(one.lines, saved) for one in texts]
        distances = [len(gone) + len(new) for gone, new in differ]
        last, least = len(texts) - 1, min(distances)
        if distances[last] == least and (least == 0 or time.time() - texts[last].time > _SOON_S):
            return None
        base, *others = (place for place, one in enumerate(distances) if one == least)
        for place in others:
            alike = _alike(*differ[place])
            if alike >= _CLEARLY_ALIKE and alike >= _alike(*differ[base]) + _CLEARLY_MORE:
                base = place
        return None if base == last else texts[base]


def folder() -> Path:
    """Return the folder of all last texts."""
    return paths.state_dir() / "last-texts"


def remove_old() -> None:
    """Remove the texts of files that nobody has changed for an hour."""
    with suppress(OSError):
        _remove(time.time() - KEPT_S)


def remove_all() -> None:
    """Remove the texts of all files: what they hold is to be gone.

    Raises:
        StoreError: one cannot be removed.
    """
    try:
        _remove(math.inf)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(
            f"Cannot remove what is kept in {folder()}: {error.strerror or error}.", hint="Check its permissions."
        ) from error


def _remove(until: float) -> None:
    for file in folder().iterdir():
        if file.stat().st_mtime < until:
            file.unlink(missing_ok=True)


# --- which is nearest ---


def _differing(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines that only one of two texts has, as often as it has them more; where they stand does not count."""
    old, new = Counter(before), Counter(after)
    return [*(old - new).elements()], [*(new - old).elements()]


def _alike(gone: Sequence[str], new: Sequence[str]) -> float:
    """Return how much of the changed lines is the same, from 0 to 1."""
    before, after = ("\n".join(lines)[:_COMPARED] for lines in (gone, new))
    return difflib.SequenceMatcher(None, before, after, autojunk=False).ratio()


# --- kept as the first text and what each later one changes in the lines of the one before ---


def _steps(texts: Sequence[LastText]) -> Iterator[dict[str, Any]]:
    before: list[str] = []
    for one in texts:
        lines = one.text.split("\n")
        most = min(len(before), len(lines))
        start = next((row for row in range(most) if before[row] != lines[row]), most)
        same = next((row for row in range(most - start) if before[-1 - row] != lines[-1 - row]), most - start)
        said = {"start": start, "stop": len(before) - same, "new": lines[start : len(lines) - same]}
        yield {"time": one.time, "put_back": one.put_back, **said}
        before = lines


def _read(data: Any) -> Iterator[LastText]:
    """Yield the texts.

    Raises:
        ValueError, TypeError, KeyError: it is no list of steps.
    """
    lines: list[str] = []
    for step in data if isinstance(data, list) else ():
        start, stop, new = int(step["start"]), int(step["stop"]), step["new"]
        if not 0 <= start <= stop <= len(lines) or not isinstance(new, list):
            raise ValueError(step)
        lines = [*lines[:start], *map(str, new), *lines[stop:]]
        yield LastText(float(step["time"]), "\n".join(lines), step["put_back"] is True)


def _characters(steps: Sequence[dict[str, Any]]) -> int:
    return sum(len(line) + 1 for step in steps for line in step["new"])
