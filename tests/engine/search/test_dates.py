"""Dates in texts: what is read as a date, in which language, and which days it means."""

from __future__ import annotations

from datetime import date

import pytest

from cm_tui.engine.search.ranking.dates import read

ON = date(2026, 11, 28)
"""A Saturday."""


def days(text: str, on: date = ON) -> list[str]:
    """The likeliest days of each date in a text, as `first..last`."""
    found = []
    for mention in read(text):
        span = mention.days(on)[0]
        first, last = (date.fromordinal(day).isoformat() for day in (span.first, span.last))
        found.append(first if first == last else f"{first}..{last}")
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what did we do on May 3, 2023?", "2023-05-03"),
        ("the crash of 8 May, 2023", "2023-05-08"),
        ("since 2023-05-08T10:00", "2023-05-08..2026-11-28"),
        ("am 8.5.2023", "2023-05-08"),
        ("le 8 mai 2023", "2023-05-08"),
        ("el 8 de mayo de 2023", "2023-05-08"),
        ("em 8 de março de 2023", "2023-03-08"),
        ("2023年5月8日の変更", "2023-05-08"),
        ("2023년 5월 8일", "2023-05-08"),
        ("8 мая 2023", "2023-05-08"),
        ("in March", "2026-03-01..2026-03-31"),
        ("im Dezember", "2025-12-01..2025-12-31"),
        ("w grudniu", "2025-12-01..2025-12-31"),
        ("at the beginning of November 2022", "2022-11-01..2022-11-11"),
        ("a finales de septiembre de 2025", "2025-09-21..2025-10-01"),
        ("between March and May 2023", "2023-03-01..2023-05-31"),
        ("von März bis Mai", "2026-03-01..2026-05-31"),
        ("May - July 2023", "2023-05-01..2023-07-31"),
        ("last spring", "2026-03-01..2026-05-31"),
        ("l'été dernier", "2026-06-01..2026-08-31"),
        ("summer 2021", "2021-06-01..2021-08-31"),
        ("去年夏天", "2025-06-01..2025-08-31"),
        ("yesterday", "2026-11-27"),
        ("позавчера", "2026-11-26"),
        ("letzten Dienstag", "2026-11-24"),
        ("the Sunday before October 25, 2022", "2022-10-23"),
        ("the week before August 3, 2023", "2023-07-27..2023-08-02"),
        ("two weeks after May 3, 2023", "2023-05-17"),
        ("two weeks ago", "2026-11-14"),
        ("vor zwei Wochen", "2026-11-14"),
        ("il y a deux semaines", "2026-11-14"),
        ("hace dos semanas", "2026-11-14"),
        ("há duas semanas", "2026-11-14"),
        ("due settimane fa", "2026-11-14"),
        ("twee weken geleden", "2026-11-14"),
        ("две недели назад", "2026-11-14"),
        ("dwa tygodnie temu", "2026-11-14"),
        ("iki hafta önce", "2026-11-14"),
        ("2週間前", "2026-11-14"),
        ("2주 전", "2026-11-14"),
        ("3天前", "2026-11-25"),
        ("la semana pasada", "2026-11-16..2026-11-22"),
        ("na przeszłość w zeszłym tygodniu", "2026-11-16..2026-11-22"),
        ("geçen hafta", "2026-11-16..2026-11-22"),
        ("next month", "2026-12-01..2026-12-31"),
        ("next December", "2026-12-01..2026-12-31"),
        ("in the last three months", "2026-08-29..2026-11-28"),
        ("in 2023", "2023-01-01..2023-12-31"),
    ],
)
def test_a_date_is_read_in_any_language(text: str, expected: str):
    assert days(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "this may help", "we may march on", "the spring boot starter", "port 2023 is taken", "fix #2024", "version 1.2.3",
        "it takes two weeks", "a day counter", "src/2023/main.py", "32/13/2023", "2023-02-31", "fall back to the default", "",
    ],
)  # fmt: skip
def test_other_words_and_numbers_are_no_dates(text: str):
    assert days(text) == []


def test_what_happened_at_a_date_is_named():
    [mention] = read("What did we change two weeks before the release, and why?")
    assert mention.event == "the release"
    assert [one.first for one in mention.days(date(2026, 5, 15))] == [date(2026, 5, 1).toordinal()]
    [turkish] = read("sürümden iki hafta önce")
    assert turkish.event == "sürüm"


def test_a_month_without_a_year_is_that_of_every_year():
    [mention] = read("in June")
    assert [date.fromordinal(one.first).year for one in mention.days(date(2023, 5, 1))][:2] == [2022, 2021]
    assert date.fromordinal(mention.days(date(2023, 5, 1))[-1].first).year == 2024


def test_a_long_text_is_read_quickly_and_no_further_than_its_beginning():
    assert len(read("yesterday " * 10_000)) < 1_000


@pytest.mark.parametrize(
    "text", ["1 day before " * 500, "monday before " * 500, "9" * 5_000 + "天前", "400 years before 1950-01-01"]
)
def test_hostile_texts_end_nothing(text: str):
    for mention in read(text):
        assert len(mention.days(ON)) < 50
