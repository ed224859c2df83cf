"""Names of hits within a width."""

from __future__ import annotations

import pytest

from cm_tui.model import Hit
from cm_tui.tui.modes.search.rows import hit_name


def hit(symbol: str | None, kind: str | None) -> Hit:
    return Hit(1, "code", "a/guide.md", 1, 2, symbol, kind, "markdown", 0.5, "", 1, (), 1)


@pytest.mark.parametrize(
    ("symbol", "kind", "width", "shown"),
    [
        ("Options > From v3.x to v4.0", "section", 40, ("Options > ", "From v3.x to v4.0")),
        ("Options > From v3.x to v4.0", "section", 20, ("", "From v3.x to v4.0")),
        ("Options > From v3.x to v4.0", "section", 10, ("", "From v3.x…")),
        ("Pool.acquire", "method", 40, ("Pool.", "acquire")),
        ("ConnectionPool.acquire", "method", 14, ("Conne….", "acquire")),
        ("Command._checkForMissingMandatoryOptions", "method", 34, ("", "_checkForMissingMandatoryOptions")),
        ("Command._checkForMissingMandatoryOptions", "method", 16, ("", "_chec…oryOptions")),
        (None, None, 20, ("guide.", "md")),
    ],
)
def test_a_name_fits(symbol: str | None, kind: str | None, width: int, shown: tuple[str, str]) -> None:
    found = hit_name(hit(symbol, kind), "guide.md", width)
    assert sum(map(len, found)) <= width
    assert found == shown
