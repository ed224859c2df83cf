"""What is not looked at more closely, to be quick, can have no secret."""

from __future__ import annotations

import itertools
import random
import re
import string
from collections.abc import Iterator
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from cm_tui.engine.platform.redaction.kinds import SHAPES, SHORTEST
from cm_tui.engine.platform.redaction.records import redact_record
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.redaction.strength import goes_on

SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]
LONG = [(shape.kind, shape.pattern) for shape in SHAPES if not shape.is_short]


def _sets(parsed: Any, *, denied: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield the sets of characters that a pattern may take, or asks for beside it."""
    for name, given in parsed:
        if name in {sre.ASSERT, sre.ASSERT_NOT}:
            yield from _sets(given[1], denied=name is sre.ASSERT_NOT)
        elif name is sre.BRANCH:
            for one in given[1]:
                yield from _sets(one, denied=denied)
        elif name is sre.SUBPATTERN:
            yield from _sets(given[3], denied=denied)
        elif name in {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}:
            yield from _sets(given[2], denied=denied)
        elif name not in {sre.AT, sre.GROUPREF} and not denied:
            yield str(name), [(name, given)]


def _takes(given: Any, sign: str) -> bool:
    pattern = _parser.SubPattern(_parser.State())
    pattern.data = given
    pattern.state.str = ""
    return re._compiler.compile(pattern).fullmatch(sign) is not None  # type: ignore[attr-defined]


@pytest.mark.parametrize(("kind", "pattern"), LONG)
def test_a_secret_of_a_form_of_its_own_is_one_long_word(kind: str, pattern: str):
    parsed = _parser.parse(pattern)
    assert parsed.getwidth()[0] >= SHORTEST
    assert [name for name, given in _sets(parsed) if any(_takes(given, space) for space in SPACES)] == []


def test_what_does_not_go_on_has_no_beginning_that_does():
    chance = random.Random(5)
    signs = string.ascii_letters + string.digits + "+/_~=.%-"
    for _ in range(3_000):
        word = "".join(
            chance.choices(chance.choice([signs, string.ascii_letters, "abX1.", "aB"]), k=chance.randrange(40))
        )
        if not goes_on(word):
            assert not any(goes_on(word[:end]) for end in range(len(word))), word


@pytest.mark.parametrize("quote", ['"', "'", "`", '\\"', "\\'"])
@pytest.mark.parametrize(
    "before", ["password = ", "password =\n  ", "don't: db_password=", 'f("x", password: ', "PASSWORD => b"]
)
def test_a_text_of_a_record_that_ends_in_an_open_quotation_is_seen_whole(quote: str, before: str):
    text = f"{before}{quote}hunter2x9"
    if not redact(text).secrets:
        return
    for number in range(3):
        fields = dict.fromkeys("abc", "nothing here") | {"abc"[number]: text}
        record, secrets = redact_record(fields)
        assert secrets == 1
        assert "hunter2x9" not in str(record)


def test_texts_of_a_record_do_not_make_one_word_of_two():
    parts = ["sk", "live", "AKIA", "password = ", "hunter2x9", "tail"]
    for first, second in itertools.permutations(parts, 2):
        assert redact_record({"a": first, "b": second}) == ({"a": first, "b": second}, 0)
