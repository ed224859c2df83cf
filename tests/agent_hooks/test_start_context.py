"""A session that begins is given entries and the newest lines of the day logs, within what its agent takes."""

from __future__ import annotations

import json

import pytest

from cm_tui.agent_hooks.reply import CHARACTERS, answer
from cm_tui.agent_hooks.start_context import fitting_start
from cm_tui.engine.context.budget import tokens
from cm_tui.engine.context.injection import InjectionTable, Wanted
from cm_tui.model import Entry, Injection, Note, NoteText

ENTRY = Entry("gabcdef", "Rule", "Rounding", "Round half up.", (), "project", 1_750_000_000_000)


def log(day: str, text: str) -> NoteText:
    note = Note(f".cm/memory/{day}.md", "day", "project", f"/x/{day}.md", day, None, 0.0, len(text), 1, "d")
    return NoteText(note, text, 1, text.count("\n") + 1)


def inject(budget: int, entries: tuple[Entry, ...] = (ENTRY,)) -> Injection:
    return InjectionTable(entries).inject(Wanted(budget), {}, 1_750_000_000.0)


def test_entries_come_first_and_then_the_days():
    found = fitting_start(inject, [log("2026-01-01", "- yesterday"), log("2026-01-02", "- today")], 2_000)
    assert found.paths == ("entry/gabcdef",)
    order = [
        found.text.index(one)
        for one in ("- [Rule] Rounding", "2026-01-01.md", "- yesterday", "2026-01-02.md", "- today")
    ]
    assert order == sorted(order)
    assert found.text.startswith("<cm-memory>")
    assert "A person approved the lines marked [Rule]" in found.text


def test_of_long_logs_the_newest_lines_stay():
    long = "\n".join(f"- {number} happened, and took a while to tell" for number in range(2_000))
    found = fitting_start(inject, [log("2026-01-01", long), log("2026-01-02", long)], 1_000)
    assert tokens(found.text) <= 1_000
    assert "- 1999 happened" in found.text
    assert "earlier lines left out" in found.text
    assert "- [Rule] Rounding" in found.text


@pytest.mark.parametrize("budget", [0, 100, 125, 400, 20_000])
def test_it_fits_whatever_the_budget_is(budget: int):
    entries = tuple(
        Entry(f"g{n:06}", "Knowledge", "", f"{n} " + "a long line of words " * 30, (), "user", 0) for n in range(200)
    )
    found = fitting_start(lambda tokens: inject(tokens, entries), [log("2026-01-01", "x\n" * 9_000)], budget)
    assert len(found.text) <= CHARACTERS
    assert bool(found.text) is (budget > 200)


def test_nothing_is_said_where_nothing_is_remembered():
    assert fitting_start(lambda tokens: inject(tokens, ()), [], 2_000).text == ""


def test_each_agent_gets_its_own_format():
    for agent in ("claude-code", "codex"):
        said = json.loads(answer(agent, "session-start", "x"))["hookSpecificOutput"]
        assert said == {"hookEventName": "SessionStart", "additionalContext": "x"}
    assert json.loads(answer("cursor", "session-start", "x")) == {"additional_context": "x"}
    assert json.loads(answer("opencode", "session-start", "x")) == {"context": "x"}
    assert answer("claude-code", "session-start", "") == ""
