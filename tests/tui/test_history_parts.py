"""The parts of the history mode that draw: lifelines, differences, moments."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from cm_tui.daemon.jobs import JobRecord
from cm_tui.model import (
    CommitPoint,
    HistoryStatus,
    Progress,
    Symbol,
    SymbolChange,
    SymbolEvent,
    SymbolHistory,
    SymbolKey,
    SymbolSpan,
)
from cm_tui.model.dates import day
from cm_tui.tui.modes.health.daemon_texts import DaemonFacts, jobs_text
from cm_tui.tui.modes.history.commit_panel import coverage_text
from cm_tui.tui.modes.history.detail_panel import diff_lines
from cm_tui.tui.modes.history.rows import Spot, of_changes
from cm_tui.tui.state.revision import ShownRevision, name_of
from cm_tui.tui.widgets.lifeline import life_words, lifeline_of

KEY = SymbolKey("a.py", "f", "function")


def moment(ordinal: int) -> CommitPoint:
    return CommitPoint(ordinal, f"{ordinal:040x}", 1_600_000_000 + 86_400 * ordinal, "A", f"subject {ordinal}")


def status(length: int, first: int = 1) -> HistoryStatus:
    whole = first == 1
    return HistoryStatus(
        moment(length),
        length,
        length - first + 1,
        moment(first),
        moment(length),
        complete=whole,
        running=False,
        blobs=0,
    )


def life(spans: list[tuple[int, int | None]], changes: list[int] = []) -> SymbolHistory:  # noqa: B006 - never changed
    events = [("came" if n == 0 else "returned", span[0]) for n, span in enumerate(spans)]
    events += [("left", end) for _, end in spans if end]
    events += [("changed", ordinal) for ordinal in changes]
    return SymbolHistory(
        KEY, "f", spans[-1][1] is None, tuple(SymbolSpan(*span, "a.py") for span in spans),
        tuple(SymbolEvent(moment(o), what, "a.py", "f", 1, "def f()") for what, o in sorted(events, key=lambda e: e[1])),
        moment(spans[0][0]), moment(spans[-1][1] or 1), moment(spans[-1][1]) if spans[-1][1] else None,
    )  # fmt: skip


def test_a_lifeline_has_its_gap_and_what_is_not_known():
    drawn = lifeline_of(life([(3, 5), (7, None)], [8]), status(10, first=3), 10).plain
    assert drawn == "╌╌┿━··┿┿━━"
    assert lifeline_of(life([(1, None)]), status(10), 10, here=4).plain == "┿━━▼━━━━━━"
    assert lifeline_of(life([(1, None)]), status(2), 10).plain == "┿━━━━━━━━━"


@given(st.integers(1, 400), st.integers(1, 120), st.data())
def test_every_change_and_the_point_are_drawn_at_any_width(length, width, data):
    changed = data.draw(st.integers(1, length))
    drawn = lifeline_of(life([(1, None)], [changed]), status(length), width).plain
    assert len(drawn) == width
    assert drawn[0] == "┿"
    assert set(drawn) <= {"┿", "━"}
    assert "▼" in lifeline_of(life([(1, None)]), status(length), width, here=changed).plain


def test_a_reading_shows_the_numbers_that_health_has_of_it_whoever_began_it():
    step = Progress("history", 312, 5_000, "312 of 5,000 commits read")
    job = JobRecord("7", "/p", "backfill", "running", 0.0, None, step)
    of_others = replace(status(9_700, 9_389), running=True, wanted=5_000)
    shown = [coverage_text(of_others, None, None, 60).plain, coverage_text(status(9_700, 9_389), step, None, 60).plain]
    assert all("312 of 5,000" in text and "9,700" not in text for text in shown)
    facts = DaemonFacts(used=True, daemon=object(), jobs=(job,))
    assert "312 of 5,000" in jobs_text(facts, 60).plain


def test_a_life_in_words():
    assert life_words(life([(1, 3), (5, None)], [6])) == "added 2020-09-14, 1 change, added again once, still exists"
    assert life_words(life([(1, 3)])) == "added 2020-09-14, 0 changes, removed 2020-09-16"


def test_differences():
    lines = [line.content.plain for line in diff_lines(["a", "b"], ["a", "c"])]
    assert lines == ["@@ -1,2 +1,2 @@", " a", "-b", "+c"]
    assert [line.content.plain for line in diff_lines(["a"], ["a"])] == [" a"]
    assert diff_lines([], []) == []


def test_what_is_gone_is_read_at_the_earlier_moment():
    def symbol(path: str, line: int) -> Symbol:
        return Symbol(path, "f", "f", "function", "python", "def f()", "", line, line + 1)

    gone, moved = of_changes(
        [SymbolChange("removed", symbol("a.py", 3)), SymbolChange("moved", symbol("b.py", 5), symbol("a.py", 7))],
        "old", "new",
    )  # fmt: skip
    assert gone.spot is None
    assert gone.before == Spot(KEY, "old", 3)
    assert gone.key == KEY
    assert (moved.spot, moved.before) == (Spot(SymbolKey("b.py", "f", "function"), "new", 5), Spot(KEY, "old", 7))
    assert moved.word == "from a.py"


def test_absurd_dates_are_said():
    assert day(10**18) == "no date"
    assert day(-(10**18)) == "no date"
    assert name_of(moment(3112)).startswith("#3,112 · ")


def test_standing_somewhere_else_is_told_once():
    told: list[int] = []
    past = ShownRevision(lambda: told.append(1))
    past.go(moment(3))
    past.go(moment(3))
    assert past.at == moment(3).sha
    past.go(None)
    assert past.at is None
    assert len(told) == 2
