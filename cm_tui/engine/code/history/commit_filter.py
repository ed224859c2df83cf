"""Words that match commits of the mainline: of subject and author, dates, ordinals and shas."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime
from typing import Any

ORDINAL = re.compile(r"#(\d{1,9})")
"""A commit by its ordinal on the mainline."""
_DAYS = re.compile(r"(\d{4})(?:-(\d{0,2}))?(?:(?<=-\d\d)-(\d{0,2}))?")
"""A date, or a prefix of one."""
_HEX = re.compile(r"[0-9a-f]{4,40}")


def parse_word(word: str) -> tuple[str, list[Any]]:
    """Return the condition for a word on a row of `line_commit`, and its values."""
    conditions = ["contains(lower(subject), ?)", "contains(lower(author), ?)"]
    values: list[Any] = [word, word]
    if (ordinal := ORDINAL.fullmatch(word)) is not None:
        conditions.append("ord = ?")
        values.append(int(ordinal[1]))
    if _HEX.fullmatch(word):
        # Fewer letters begin the sha of some commit or other.
        conditions.append("starts_with(sha, ?)")
        values.append(word)
    if (days := _days(word)) is not None:
        conditions.append("time >= ? AND time < ?")
        values += days
    return f"({' OR '.join(conditions)})", values


def _days(word: str) -> tuple[int, int] | None:
    """Return the seconds from and up to which times have a prefix such as `2024`, `2024-1` or `2024-10-0`."""
    found = _DAYS.fullmatch(word)
    if found is None or int(found[1]) == 0:
        return None
    year = int(found[1])
    months = [month for month in range(1, 13) if f"{month:02}".startswith(found[2] or "")]
    if not months:
        return None
    lengths = {month: monthrange(year, month)[1] for month in months}
    days = [
        datetime(year, month, day, tzinfo=UTC)
        for month in months
        for day in range(1, lengths[month] + 1)
        if f"{day:02}".startswith(found[3] or "")
    ]
    return (int(days[0].timestamp()), int(days[-1].timestamp()) + 86_400) if days else None
