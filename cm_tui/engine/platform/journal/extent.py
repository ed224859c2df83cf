"""How much of a journal lies behind a place, and a place near its end."""

from __future__ import annotations

from cm_tui.engine.platform.journal.event import MAX_BYTES, Position
from cm_tui.engine.platform.journal.journal import START, Journal


def bytes_behind(journal: Journal, position: Position = START) -> int:
    """Return how many bytes are behind a place. Raises StoreError if the journal cannot be read."""
    sizes = _sizes(journal)
    return sum(size for segment, size in sizes if segment >= position.segment) - (
        position.offset if any(segment == position.segment for segment, _ in sizes) else 0
    )


def near_end(journal: Journal, size: int) -> Position:
    """Return a place between two lines with at most so many bytes after it, or slightly more.

    Raises StoreError if the journal cannot be read.
    """
    left = size
    for segment, there in reversed(_sizes(journal)):
        if there >= left:
            return Position(segment, _line_end(journal, segment, there - left))
        left -= there
    return START


def _line_end(journal: Journal, segment: int, offset: int) -> int:
    try:
        with journal.file(segment).open("rb") as file:
            file.seek(offset)
            while piece := file.readline(MAX_BYTES):
                offset += len(piece)
                if piece.endswith(b"\n"):
                    break
    except FileNotFoundError:
        # It was replaced; reading from there reports that.
        return offset
    return offset


def _sizes(journal: Journal) -> list[tuple[int, int]]:
    """Return the files by number, and how large each is."""
    sizes = []
    for segment in journal.segments():
        try:
            sizes.append((segment, journal.file(segment).stat().st_size))
        except FileNotFoundError:
            continue
    return sizes
