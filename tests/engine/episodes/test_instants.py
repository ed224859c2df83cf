"""Days as people name them: one way for every option and filter."""

from __future__ import annotations

import time
from datetime import UTC

import pytest

from cm_tui.errors import UsageError
from cm_tui.model.dates import age_of, instant, length, local_moment, short_age


def day(year: int, month: int, number: int) -> float:
    return time.mktime((year, month, number, 0, 0, 0, 0, 0, -1))


def test_a_day_is_meant_whole():
    assert instant("2026-01-31", "--since") == day(2026, 1, 31)
    assert instant("2026-01-31", "--until", end=True) == day(2026, 2, 1)
    now = time.localtime()[:3]
    assert instant(" Today ", "--since") == day(*now)
    assert instant("yesterday", "--until", end=True) == day(*now)


def test_another_day_than_today_is_named():
    noon = day(2026, 1, 31) + 43_200
    assert [local_moment(noon + hours * 3_600, noon) for hours in (1, 13, -13)] == [
        "13:00", "2026-02-01 01:00", "2026-01-30 23:00",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12h", 43_200),
        ("30d", 2_592_000),
        ("-7d", 604_800),
        ("4W", 2_419_200),
        ("2 weeks ago", 1_209_600),
        ("3 days", 259_200),
        ("1d 12h", 129_600),
        ("90min", 5_400),
        ("1 month ago", 2_629_800),
        ("2y", 63_115_200),
    ],
)
def test_so_long_ago_is_the_same_at_both_ends(text: str, seconds: int):
    for end in (False, True):
        assert abs(time.time() - seconds - instant(text, "--until", end=end)) < 60


def test_a_time_of_a_day_is_meant_as_it_is():
    assert instant("2026-01-31 12:30", "--until", end=True) == day(2026, 1, 31) + 45_000
    assert instant("2026-01-31T12:30Z", "--since") == 1_769_862_600
    assert instant("2026-01-31", "--since", zone=UTC) == 1_769_817_600


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "3 moons",
        "6m",
        "12h 3d",
        "ago",
        "2weeksagoo",
        "-",
        "d",
        "2026-02-30",
        "30",
        "9" * 30 + "d",
        "99999999-01-01",
        "\x1b[2J",
        "1e9d",
    ],
)
def test_what_is_none_is_told(text: str):
    with pytest.raises(UsageError, match=r"--since: not a date: "):
        instant(text, "--since")


def test_a_note_is_a_day_old_and_an_episode_hours():
    midnight = time.mktime((2026, 3, 2, 0, 0, 0, 0, 0, -1))
    now = midnight + 18 * 3_600
    assert (age_of("note", midnight, now), age_of("episode", midnight, now)) == ("today", "18 hours ago")
    assert age_of("note", midnight - 86_400, now) == "1 day ago"
    assert (age_of("note", midnight, now, short_age), age_of("episode", midnight, now, short_age)) == ("today", "18h")


def test_an_age_of_a_column_is_read_back_as_an_age():
    day = 86_400
    ages = [short_age(seconds) for seconds in (-90, 0, 59, 60, 7_200, 3 * day, 59 * day, 700 * day, 20_785 * day)]
    assert ages == ["now", "now", "now", "1min", "2h", "3d", "1mo", "1y", "56y"]
    assert all(length(age, m="mo") for age in ages[3:])
