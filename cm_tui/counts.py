"""Numbers of things and sizes in words: the one place that knows when a word has its plural."""

from __future__ import annotations


def count(number: int, one: str, many: str = "") -> str:
    """`1 file`, `12,031 files`.

    `number`: how many. `one`: the word for one of them. `many`: the word for several; by default the same with an `s`.
    """
    return f"{number:,} {noun(number, one, many)}"


def noun(number: int, one: str, many: str = "") -> str:
    """The word alone, for where its number stands elsewhere."""
    return one if number == 1 else many or f"{one}s"


def size(number: float) -> str:
    """Bytes in words: `512 B`, `1.4 MB`."""
    for unit in ("B", "KB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
