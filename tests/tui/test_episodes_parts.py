"""The parts of the episodes mode that take data: the filter's line, stories, rows, columns of days."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from cm_tui.cli import episodes as options
from cm_tui.errors import UsageError
from cm_tui.model import Episode, EpisodeFilter, EpisodeStats, Facet, Outcome, Page, Session, Step
from cm_tui.tui.modes.episodes.edits import conclusion, tags_in, words_of
from cm_tui.tui.modes.episodes.query import (
    BY_HAND,
    FIELDS,
    MANY,
    Term,
    facet_rows,
    filter_of,
    terms_of,
    text_of,
    toggled,
)
from cm_tui.tui.modes.episodes.session_list import SessionList, TurnList, activity_text, by_day
from cm_tui.tui.modes.episodes.stories import path_below, session_story, turn_story
from cm_tui.tui.modes.episodes.story import MOST_LINES, OUTCOMES, Part, day_name, fitting, layout
from cm_tui.tui.tasks.ask import GrowingRows
from cm_tui.tui.widgets.bars import sparkline
from cm_tui.tui.widgets.text import wrapped
from tests.tui.recorded_sessions import PATCH, STEPS

NOW = time.mktime((2026, 3, 30, 15, 0, 0, 0, 0, -1))
"""The day after the clocks of many places were put forward."""
ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=200)
EPISODE = Episode(
    id="e1", time=NOW, agent="codex", session="s1", prompts=("keep the slash",), answer="It stays.", files=("src/store.py",),
    root="/work/shop", sha="a" * 40, head="a" * 40, moment=None, why="it is gone", patch_lines=9, patch=PATCH, steps=STEPS,
    step_count=9, outcome="ok", verdict="212 pass", plan="1. read", tokens=900, turn=3,
)  # fmt: skip


def session(id_: str, ended: float, parent: str = "", **fields: object) -> Session:
    values: dict[str, object] = {
        "title": id_,
        "episodes": 2,
        "tokens": 0,
        "files": 0,
        "failed": 0,
        "pinned": 0,
        **fields,
    }
    return Session(id=id_, agent="codex", parent=parent, began=ended - 60, ended=ended, root="/r", **values)  # type: ignore[arg-type]


def plain(parts: tuple[Part, ...], width: int = 60, *, opened: bool = False) -> list[str]:
    laid = layout(parts, width)
    return [line.content.plain for line in laid.lines(set(range(len(parts))) if opened else ())]


# --- the filter's line ---

values = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters='"'), min_size=1, max_size=12
).filter(lambda text: bool(text.strip()))
terms = st.lists(st.builds(Term, values, st.sampled_from(["", *FIELDS])), max_size=5)


@given(terms)
@example([Term("type:x"), Term("a b", "tag"), Term("a,b", "tool"), Term(" ", "file"), Term("x,y")])
def test_a_line_is_read_as_it_was_written(found):
    assert terms_of(text_of(found)) == found


@given(terms, st.builds(Term, values, st.sampled_from(FIELDS)))
def test_what_is_added_can_be_taken_out(found, term):
    line = text_of(one for one in found if one != term)
    with_it = toggled(line, term)
    assert term in terms_of(with_it)
    if term.field not in MANY:
        assert [one.field for one in terms_of(with_it)].count(term.field) == 1
    assert term not in terms_of(toggled(with_it, term))


def test_fields_become_a_filter(monkeypatch):
    monkeypatch.setattr("time.time", lambda: NOW)
    where = filter_of(
        'why TYPE:task,error tool:Bash tag:"big bug" outcome:unsaid,OK file:src/ session:s1 pinned:yes rated:misled'
    )
    assert where == EpisodeFilter(
        text="why", types=("task", "error"), tools=("Bash",), outcomes=("", "ok"), tags=("big bug",), file="src/",
        session="s1", pinned=True, rating=-1,
    )  # fmt: skip
    assert filter_of("since:12h").since == NOW - 12 * 3600
    midnight = time.mktime((2026, 3, 30, 0, 0, 0, 0, 0, -1))
    assert filter_of("since:today").since == midnight
    assert filter_of("until:yesterday").until == midnight
    day = filter_of("since:2026-03-29 until:2026-03-29")
    assert day.since < day.until == midnight
    assert filter_of("see https://example.org/a:b state:forgotten") == EpisodeFilter(
        text="see https://example.org/a:b", state="forgotten"
    )
    assert filter_of("type: since: file:") == EpisodeFilter()


@pytest.mark.parametrize(
    "line", ["type:lie", "outcome:bad", "since:soon", "until:2026-13-01", "since:9999-12-31", "pinned:x", "rated:7", "state:y"]
)  # fmt: skip
def test_a_value_that_a_field_cannot_have_is_told(line):
    if line.startswith("since:9999"):
        # The last day that there is has a beginning.
        assert filter_of(line).since is not None
        return
    with pytest.raises(UsageError) as told:
        filter_of(line)
    assert line.partition(":")[0] in told.value.message
    assert told.value.hint


@given(ANY_TEXT)
def test_no_line_is_more_than_wrong(line):
    with suppress(UsageError):
        assert filter_of(line).state in ("shown", "forgotten", "archived")


def test_values_to_filter_by_have_their_share_and_a_mark():
    stats = EpisodeStats(4, 2, 0, 0, (), (Facet("", 3), Facet("ok", 1)), (Facet("task", 4),), (Facet("", 1),), (), ())
    rows = facet_rows(stats, "outcome:unsaid tag:gone")
    chosen = [row.title for row in rows if row.active]
    assert chosen == ["· no outcome", "gone"], "what nothing has any more can still be taken out"
    assert not any(row.title == "Agent" for row in rows if row.active)
    assert next(row for row in rows if row.term == Term("task", "type")).share == 1.0


# --- stories ---


def test_an_episode_is_told_from_the_prompt_to_the_verdict():
    lines = "\n".join(plain(turn_story(EPISODE)))
    heading = [part.word for part in turn_story(EPISODE) if part.title == "Files"]
    again = replace(EPISODE, patch=PATCH + PATCH)
    assert [part.word for part in turn_story(again) if part.title == "Files"] == heading, "a file is counted once"
    heads = ["Prompt", "Plan", "What it did", "Answer", "Files", "Verdict", "Notes"]
    assert sorted(heads, key=lines.index) == heads
    assert "4 of 9 steps" in lines
    assert "+2 −1" in lines
    assert "It is gone" in lines


def test_lines_of_a_patch_know_where_they_are_in_the_file():
    laid = layout(turn_story(EPISODE), 80)
    lines = {line.content.plain.strip(): line for part in laid.parts for line in part.body}
    added = lines['+        name = name.strip("/")']
    assert (added.path, added.line, added.old_line) == ("src/store.py", 10, 10)
    context = lines["return json.loads(self._read(name))"]
    assert (context.line, context.old_line) == (11, 10)


def test_long_texts_are_cut_and_say_so():
    lines = plain((Part(body="x\n" * (MOST_LINES + 500)),), opened=True)
    assert len(lines) == MOST_LINES + 1
    assert "… 500 lines more" in lines[-1]
    folded = plain((Part("title", body="a\nb\nc", shown=1),))
    assert [line.strip() for line in folded[1:]] == ["a", "… 2 more lines  ⏎"]


@given(st.lists(ANY_TEXT, min_size=7, max_size=7), st.integers(16, 120), st.booleans())
def test_no_text_of_a_stranger_is_wider_than_the_panel_or_moves_the_cursor(texts, width, opened):
    prompt, answer, path, tool, said, note, agent = texts
    steps = (
        Step("tool", said, tool, note, path, True),
        Step("thought", said),
        Step("said", answer),
        Step("plan", note),
    )
    one = replace(
        EPISODE, prompts=(prompt,), answer=answer, files=(path,), steps=steps, plan=said, verdict=note, note=note,
        patch=f"diff --git a/x b/{path}\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n+{said}", agent=agent, tags=(tool,), title=said,
    )  # fmt: skip
    told = (*turn_story(one), *session_story([one], [session(agent, NOW, title=said)], whose=opened))
    laid = layout(told, width)
    for line in laid.lines(set(range(len(told))) if opened else ()):
        text = line.content.plain
        assert text.isprintable() or not text, repr(text)
    for line in (line for part in laid.parts for line in part.head):
        assert cell_len(line.content.plain) <= width
    drawn = [TurnList().draw(one, width + 20).plain]
    listing = SessionList()
    for row in by_day([session(agent or "s", NOW, title=said)], 3):
        drawn += [listing.draw_line(row, 0, width + 20).plain, listing.draw_line(row, 1, width + 20).plain]
    assert all(text.isprintable() for text in drawn)


@given(ANY_TEXT.filter(lambda text: text.isprintable()), st.integers(2, 40))
@example("请把存储层的错误信息改成中文，并且保持原来的日志格式不变", 9)
@example("a" * 90, 20)
def test_wrapping_loses_nothing_but_blanks(text, width):
    lines = wrapped(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cell_len(line) <= width for line in lines)


@pytest.mark.parametrize(
    ("path", "below"),
    [("src/a.py", "src/a.py"), ("/work/shop/src/a.py", "src/a.py"), ("/etc/passwd", ""), ("../x", ""), ("a/../../x", ""),
     ("", ""), ("/work/shop", ""), ("a\0b", ""), ("/work/shopping/x", "")],
)  # fmt: skip
def test_a_path_leads_nowhere_outside_of_the_project(path, below):
    assert path_below("/work/shop", path) == below


# --- rows ---


def test_sub_agents_stand_below_and_a_circle_is_no_relation():
    day = 86_400.0
    found = [
        session("c", NOW - 5, "a"), session("a", NOW - 10), session("b", NOW - 20, "c"), session("x", NOW - 30, "y"),
        session("y", NOW - 40, "x"), session("", NOW - 50, episodes=7), session("old", NOW - 3 * day, "unknown"),
    ]  # fmt: skip
    rows = [(row.session.id if row.session else row.day, row.depth) for row in by_day(found, 9)]
    assert [row for row in rows if row[0]][1:6] == [("a", 0), ("c", 1), ("b", 2), ("x", 0), ("y", 0)]
    assert rows[-1] == ("old", 0)
    assert BY_HAND not in [row.key for row in by_day(found, 9)]
    by_hand = by_day(found, 9, 7)[1]
    assert (by_hand.key, by_hand.total) == (BY_HAND, 7), "what belongs to no session has a row of its own"


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(-1, 9)), max_size=10, unique_by=lambda one: one[0]))
def test_every_session_has_one_row(made):
    found = [session(f"s{one}", NOW - one, f"s{parent}" if parent >= 0 else "") for one, parent in made]
    rows = [row.session.id for row in by_day(found, 0) if row.session]
    assert sorted(rows) == sorted(one.id for one in found)


def test_days_have_names_across_a_change_of_the_clocks(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    now = time.mktime((2026, 3, 30, 0, 30, 0, 0, 0, -1))
    monkeypatch.setattr("time.time", lambda: now)
    try:
        assert day_name(now) == "Today"
        assert day_name(now - 3600) == "Yesterday"
        assert day_name(time.mktime((2026, 3, 28, 23, 59, 0, 0, 0, -1))) == "Saturday 2026-03-28"
        assert day_name(time.mktime((2026, 3, 20, 12, 0, 0, 0, 0, -1))) == "2026-03-20"
        assert day_name(now + 3 * 86_400) == "2026-04-02"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_tags_are_taken_apart_at_commas():
    assert tags_in(" router, #big  bug,,router , #") == ["router", "big bug"]


class Asked:
    """Keeps the newest question of each topic, as the application does."""

    def __init__(self):
        self.waiting = {}

    def ask(self, topic, call, then, fail=None, *, delay=0.0):
        self.waiting[topic] = (call, then)
        return 1

    def drop(self, topic):
        self.waiting.pop(topic, None)

    def answer(self, topic):
        call, then = self.waiting.pop(topic)
        then(call(None))


def test_what_is_read_again_before_it_was_answered_is_still_new():
    asked, told = Asked(), []
    rows = GrowingRows("rows", asked.ask, asked.drop, str, told.append, lambda error: None)
    numbers = list(range(500))

    def read(engine, before, limit):
        first = 0 if before is None else int(before) + 1
        return Page(tuple(numbers[first : first + limit]), len(numbers))

    rows.read(read)
    rows.again()
    asked.answer("rows")
    rows.again()
    asked.answer("rows")
    assert told == [True, False]
    rows.look(10)
    assert "rows-more" not in asked.waiting, "nobody is near the end"
    while len(rows.rows) < 500:
        rows.look(len(rows.rows) - 1)
        asked.answer("rows-more")
    assert rows.rows == numbers
    rows.again()
    asked.answer("rows")
    assert rows.rows == numbers, "as far as it was read"
    rows.look(499)
    assert "rows-more" not in asked.waiting


# --- totals ---


@given(st.lists(st.integers(0, 10_000), max_size=90))
def test_a_day_with_anything_is_higher_than_one_with_nothing(counts):
    columns = sparkline(counts).plain
    assert len(columns) == len(counts)
    for column, number in zip(columns, counts, strict=True):
        assert (column == "▁") == (number == 0)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_totals_fit_every_width(width):
    facets = tuple(Facet(name, 123_456) for name in ("ok", "failed", "interrupted", ""))
    agents = tuple(Facet(name, 99_999) for name in ("claude-code", "codex", "opencode", "cursor"))
    stats = EpisodeStats(500_000, 40_000, 9_999_999_999, 123_456, (1,) * 90, facets, (), agents, (), ())
    lines = activity_text(stats, width).plain.split("\n")
    assert len(lines) == 2
    assert all(cell_len(line) <= width for line in lines)
    assert "sessions" in lines[0]
    assert "✓" in lines[1]
    note = "Still reading, 40 of 261 MB: only the newest 770 are listed and counted so far."
    part = activity_text(replace(stats, note=note), width).plain.split("\n")
    assert part[0] == lines[0]
    assert part[1].startswith(" Still reading, 40 of 261 MB")
    assert cell_len(part[1]) <= width


def test_every_outcome_has_a_sign_and_is_an_option_of_all_filters():
    for outcome in get_args(Outcome):
        assert OUTCOMES[outcome]
        assert filter_of(f"outcome:{outcome or 'unsaid'}").outcomes == (outcome,)
        assert not outcome or outcome in get_args(options.Outcome)
    assert len({mark for mark, _, _ in OUTCOMES.values()}) == len(OUTCOMES)


def test_pieces_are_left_out_whole():
    assert fitting(["one", "two", "three"], 12) == "one · two"
    assert fitting(["a long one"], 6) == "a lon…"


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_agents_that_do_not_fit_are_counted(width):
    names = ("claude-code", "codex", "opencode", "cursor", "somebody-else")
    agents = tuple(Facet(name, 3) for name in names)
    outcomes = tuple(Facet(name, 12) for name in ("ok", "failed", "interrupted", ""))
    second = activity_text(EpisodeStats(60, 5, 0, 0, (1,) * 30, outcomes, (), agents, (), ()), width).plain.split("\n")[
        1
    ]
    shown = sum(f"{name} 3" in second for name in names)
    assert cell_len(second) <= width
    assert shown == len(names) or f"+{len(names) - shown} more" in second


@pytest.mark.parametrize(
    ("answer", "concluded"),
    [
        ("It stays.", "It stays."),
        ("One. Two. Three. Four. Five.", "Three. Four. Five."),
        ("Looked.\n\n## Result\n\nIt stays: `a/` is kept.", "It stays: `a/` is kept."),
        ("It stays.\n\n```sh\npytest -q\n\n212 passed\n```", "It stays."),
        ("It stays.\n\n```sh\nnever closed", "It stays."),
        ("It stays.\n\nShould I commit?", "It stays."),
        ("Rules:\n\n- one\n- two", "Rules:\n- one\n- two"),
        ("```\ncode alone\n```", ""),
        ("", ""),
    ],
)
def test_a_conclusion_is_the_end_of_an_answer(answer: str, concluded: str):
    assert conclusion(answer) == concluded


@given(ANY_TEXT)
def test_a_conclusion_is_made_of_the_answer(answer: str):
    assert set(conclusion(answer).split()) <= set(answer.split())


def test_without_an_answer_the_request_is_proposed():
    assert words_of(EPISODE) == "It stays."
    assert words_of(replace(EPISODE, answer="")) == "keep the slash"
    assert words_of(replace(EPISODE, answer="", prompts=())) == "212 pass"
