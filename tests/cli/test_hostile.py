"""What nobody means to type: numbers without end, names of nothing, bytes of no text. Each gets a sentence and a code."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Shop

STEP = 4
HUGE = "1" + "0" * 400
NUMBERS = (HUGE, f"-{HUGE}", "1" + "0" * 5000, str(2**31), str(2**63), str(2**127), "0", "-1", "1e400", "nan", "", "٣")
COUNTED = (
    ("search", "cart", "-n"),
    ("search", "cart", "--by", "file", "-n"),
    ("symbols", "-n"),
    ("symbols", "--match", "cart", "-n"),
    ("callers", "add_tax", "--depth"),
    ("at", "HEAD", "-n"),
    ("at", "HEAD", "files", "-n"),
    ("at", "HEAD", "--match", "cart", "-n"),
    ("life", "Cart", "-n"),
    ("drift", "-n"),
    ("drift", "--since", "HEAD", "-n"),
    ("episodes", "-n"),
    ("pack", "cart", "--budget"),
    ("history", "line", "-n"),
    ("history", "line", "--match", "shop", "-n"),
    ("history", "line", "--before"),
    ("history", "backfill", "--depth"),
)


@pytest.mark.few(len(COUNTED))
@pytest.mark.parametrize("turn", range(STEP))
@pytest.mark.parametrize("words", COUNTED, ids=" ".join)
def test_no_number_is_an_internal_error(shop: Shop, words: tuple[str, ...], turn: int):
    """Each command gets some of the numbers; `Shop.cm` refuses a traceback and an internal error by itself."""
    at = COUNTED.index(words) + turn
    for number in (HUGE, *NUMBERS[1 + at % STEP :: STEP]):
        done = shop.cm(*words, number)
        assert done.code in (0, 2, 3), (number[:20], done.err)
