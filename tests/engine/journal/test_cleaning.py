"""Secrets are taken out on several cores as in one process, in order, also where a process is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from cm_tui.engine.platform.journal import cleaning
from cm_tui.engine.platform.journal.cleaning import Cleaner, Raw
from cm_tui.engine.platform.journal.event import clean_line

SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cleaning, "SMALL_BYTES", 100)
    monkeypatch.setattr(cleaning, "BATCH_BYTES", 300)


def events(count: int) -> Iterator[Raw]:
    for number in range(count):
        data = {"prompts": [f"use {SECRET} for {number}", "half \ud800 of one\u2028"]}
        fields = {"id": f"{number:024}", "time": 5.0, "kind": "episode", "head": None, "data": data}
        yield Raw(number, fields, is_clean=number % 7 == 0)


def expected(count: int) -> list[tuple[int, bytes]]:
    return [(raw.what, clean_line(raw.fields)) for raw in events(count) if not raw.is_clean]


def test_several_processes_say_what_one_says_in_order():
    with Cleaner(2) as cleaner:
        done = list(cleaner.clean(events(60)))
    assert [what for what, _ in done] == list(range(60))
    assert [one for one in done if one[0] % 7] == expected(60)
    assert SECRET in json.loads(done[0][1])["data"]["prompts"][0], "nothing is looked for in what is clean"


def test_a_process_that_is_lost_costs_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cleaning, "_START", "raise SystemExit(3)")
    with Cleaner(2) as cleaner:
        done = list(cleaner.clean(events(30)))
    assert [one for one in done if one[0] % 7] == expected(30)


def test_what_cannot_be_written_is_an_error_and_no_wrong_line():
    fields = {"id": "x", "time": 5.0, "kind": "episode", "head": None, "data": {"number": float("nan")}}
    with Cleaner(2) as cleaner, pytest.raises(ValueError, match="JSON"):
        list(cleaner.clean([*events(10), Raw(0, fields)]))
