"""What a person typed, understood."""

from __future__ import annotations

from pathlib import Path


def target_file(root: Path, answer: str) -> Path:
    """The file that a person named; relative to the project's root."""
    return root / Path(answer.strip()).expanduser()


def number_in(text: str) -> int | None:
    """A budget such as `4000`, `4,000` or `8k`; None for anything else."""
    plain = text.strip().lower().replace(",", "").replace("_", "")
    factor = 1000 if plain.endswith("k") else 1
    digits = plain.removesuffix("k")
    number = int(digits) * factor if digits.isascii() and digits.isdigit() else 0
    return number if 0 < number <= 10_000_000 else None


def span_in(text: str) -> tuple[int, int] | None:
    """First and last line, such as `10-42` or `7`; None for anything else."""
    first, _, last = text.strip().partition("-")
    numbers = [part.strip() for part in (first, last or first)]
    if not all(part.isascii() and part.isdigit() and len(part) < 9 for part in numbers):
        return None
    start, end = int(numbers[0]), int(numbers[1])
    return (start, end) if 1 <= start <= end else None
