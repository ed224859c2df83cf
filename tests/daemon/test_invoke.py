"""What is said with an answer, and where there is none."""

from __future__ import annotations

import pytest

from cm_tui.engine.code.freshness.policy import noted, with_note
from cm_tui.errors import NotFoundError, NotIndexedError
from cm_tui.model import Page

BEHIND = "The index is behind: a.py changed."


def test_a_note_stands_apart_from_the_page_s_own():
    assert with_note(Page((), 0), BEHIND).note == BEHIND
    assert with_note(Page((), 0, "2 more sites could not be resolved"), BEHIND).note == (
        f"2 more sites could not be resolved; {BEHIND}"
    )


@pytest.mark.parametrize("kind", [NotFoundError, NotIndexedError])
def test_what_is_not_found_says_that_the_index_is_behind(kind: type[NotFoundError]):
    told = noted(kind("No definition found: x.", hint="Did you mean y?"), BEHIND)
    assert type(told) is kind
    assert (told.message, told.hint) == ("No definition found: x.", f"Did you mean y? {BEHIND}")
    assert noted(kind("Nothing."), "").hint == ""
