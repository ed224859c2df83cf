"""Files instead of passages: one ranking, read by file."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.model import FileHits, Hit

MOST_INSIDE = 3
"""Passages to list with a file; the others are counted."""


def by_file(hits: Sequence[Hit], most_inside: int = MOST_INSIDE) -> tuple[FileHits, ...]:
    """Group ranked hits by file, in the order of each file's best hit; the order within a file is kept.

    Args:
        hits: best first.
        most_inside: number of hits to list with a file, at least one.
    """
    files: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        # A path names a file within its source.
        files.setdefault((hit.source, hit.path), []).append(hit)
    most = max(most_inside, 1)
    return tuple(
        FileHits(rank, own[0].path, own[0].score, tuple(own[:most]), len(own) - len(own[:most]))
        for rank, own in enumerate(files.values(), start=1)
    )
