"""Narrator: proposals are shown with all that a decision takes, decided from the keyboard, and come back when refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest
from textual.widgets import Input, TextArea

from cm_tui.engine.api.engine import Engine
from cm_tui.errors import StoreError
from cm_tui.model import (
    Cancel,
    EntryEdit,
    Evidence,
    ModelCost,
    NarratedDecision,
    NarratedFilter,
    NarratedProposal,
    Page,
    Progress,
    Proposal,
    StaleItem,
    TopicMap,
)
from cm_tui.tui.modes.episodes.screen import EpisodesScreen
from cm_tui.tui.modes.memory.screen import MemoryScreen
from cm_tui.tui.modes.review.dialogs import (
    LineDialog,
    ReasonList,
    RejectDialog,
    SplitDialog,
    sections_of,
    title_and_tags,
)
from cm_tui.tui.modes.review.inbox import InboxFilter, Other, key_of, read_line
from cm_tui.tui.modes.review.screen import ReviewScreen
from cm_tui.tui.modes.review.stock import Stock
from cm_tui.tui.screens.question import Question
from cm_tui.tui.state.filter_line import with_field
from cm_tui.tui.state.remembered import load_state
from tests.tui.mode_driver import PATIENCE, Driver, at, driving, each
from tests.tui.proposed import Teller, made_up, proposal, topics_made_up
from tests.tui.recorded_sessions import record_story, sha_of_head

EVIL = "[bold]load[/foo]\x1b[31m\x07 \u202egnp"
PRICES = ".cm/notes/topics/prices.md"


class Narrated:
    """A project whose narrator proposes what a test gives it."""

    def __init__(self, root: Path, proposals: Sequence[NarratedProposal] = ()) -> None:
        self.root = root
        self.engine: Teller | None = None
        self._proposals = proposals
        self.topics = TopicMap(())

    def open(self) -> Teller:
        """Open it, as the application does."""
        self.engine = Teller.over(self.root)
        self.as_made()
        return self.engine

    def as_made(self) -> None:
        """Propose again what it was made with."""
        self.propose(self._proposals, self.topics)

    def propose(self, proposals: Sequence[NarratedProposal] = (), topics: TopicMap | None = None) -> None:
        """Propose something else; nothing was decided."""
        self.told.propose(proposals)
        self.told.topic_map = topics or TopicMap(())

    @property
    def told(self) -> Teller:
        """The engine that the application has."""
        assert self.engine is not None
        return self.engine


@pytest.fixture
def narrated(project: Path) -> Narrated:
    """The project with proposals of every sort, and topics."""
    found = Narrated(project, made_up(time.time()))
    found.topics = topics_made_up(time.time())
    return found


def many(number: int) -> list[NarratedProposal]:
    return [proposal(place, now=time.time()) for place in range(number)]


def screen_of(driver: Driver) -> ReviewScreen:
    screen = driver.app.screen_stack[0]
    assert isinstance(screen, ReviewScreen)
    return screen


def ids(driver: Driver) -> list[str]:
    return [getattr(row, "id", "…") for row in screen_of(driver).proposals.rows]


def flat(driver: Driver) -> str:
    return " ".join(driver.text.replace("│", " ").split())


def listed(driver: Driver) -> str:
    return " ".join(driver.text_in("#proposals").replace("│", " ").split())


def panel_of(driver: Driver) -> str:
    """Return all that the panel says, also what is below its edge."""
    return " ".join(" ".join(row.content.plain for row in screen_of(driver).panel.lines.rows).split())


async def to(driver: Driver, name: str) -> None:
    await driver.press("home")
    while screen_of(driver).item.id != name:
        before = screen_of(driver).proposals.cursor
        await driver.press("down")
        assert screen_of(driver).proposals.cursor > before, f"{name} is not listed"


# --- what is shown ---


@at((80, 24), (200, 50))
async def a_proposal_shows_what_a_decision_takes(driver, narrated):
    assert "7 waiting" in driver.text
    assert ids(driver) == [f"n{number:06}" for number in range(1, 8)]
    told = panel_of(driver)
    for words in (
        "new: not saved yet", "command", ".cm/notes/project.md below “Commands”", "+ - Run the tests with `pytest -q`.",
        "It was run in 3 sessions, and ended well each time.", "4× in 3 sessions, from ", "(37 days)", "Confidence 0.95",
        "support 0.98", "4 episodes of 3 sessions", "agreement 0.97", "3 of 3 episodes", "“please run the tests with",
    ):  # fmt: skip
        assert words in told, words
    await to(driver, "n000003")
    told = panel_of(driver)
    assert "contradicts a saved memory" in told
    assert "- - The tests are run with `python -m unittest`." in told
    assert "+ - The tests are run with pytest, not with unittest." in told
    assert ".cm/notes/project.md:12" in told
    assert "+ - The tests are run with pytest" in driver.text, "the diff is on screen at every size"


@at((200, 50))
async def what_is_known_stands_beside_it_where_there_is_room(driver, narrated):
    await to(driver, "n000004")
    line = next(line for line in driver.text.splitlines() if "A missing module is installed" in line)
    assert "`ImportError: no module named yaml`" in line.partition("││")[2]


async def what_a_stranger_wrote_is_no_markup_and_moves_no_cursor(driver, narrated):
    one = proposal(
        1, f"Say {EVIL} now", now=time.time(), why=f"because {EVIL}", other=f"known {EVIL}", relation="contradicts",
        other_place=f"{EVIL}.md:3", target=f"x{EVIL}.md", heading=EVIL, proposed_by=EVIL, reason=EVIL, tags=(EVIL,),
    )  # fmt: skip
    long = proposal(2, "word " * 2_000, now=time.time(), why="because " * 500, other="known " * 500)
    narrated.propose([one, long])
    await driver.anew("7")
    assert "[bold]load[/foo]" in panel_of(driver)
    assert not any(sign in driver.text for sign in ("\x1b", "\x07", "\u202e"))
    await driver.press("x", "escape", "down")
    assert "word word" in panel_of(driver)
    await driver.press("enter", "escape", "A", "escape", "f", "escape")
    assert screen_of(driver).item.id == "n000002"


async def the_filter_leaves_words_kinds_and_states(driver, narrated):
    screen = screen_of(driver)
    await driver.press("slash")
    await driver.type("tests pytest")
    assert ids(driver) == ["n000001", "n000003"]
    await driver.press("escape", "escape")
    assert len(ids(driver)) == 7
    await driver.press("f")
    await driver.type("fix")
    await driver.press("enter")
    assert screen.filter_input.value == "kind:fix"
    assert ids(driver) == ["n000004"]
    await driver.press("escape", "d", "s")
    assert screen.filter_input.value == "state:deferred"
    assert ids(driver) == ["n000004"], "the cursor stays on what it was on"
    await driver.press("s")
    assert "No matches for state:decided." in flat(driver)
    screen.filter_input.value = "kind:nonsense"
    await driver.settle()
    assert "unknown value 'nonsense'" in driver.text


def test_the_line_of_the_filter_is_read_and_changed():
    assert read_line("redis kind:fix,command state:all") == (InboxFilter("redis", ("fix", "command"), "all"), "")
    where, wrong = read_line("kind:x state:y a:b")
    assert where == InboxFilter("a:b")
    assert "'x'" in wrong
    assert "'y'" in wrong
    assert read_line("kind:entry")[0].narrated is None
    assert read_line("state:automatic")[0].narrated.policy is True
    assert with_field("a kind:fix", "kind", "command") == "a kind:command"
    assert with_field("a kind:fix", "kind", "") == "a"


# --- states ---


async def nothing_proposed_says_what_the_narrator_does_and_the_key(driver, narrated):
    record_story(narrated.root, sha_of_head(narrated.root), now=time.time())
    narrated.propose()
    await driver.anew("7")
    told = listed(driver)
    assert "The narrator looks for lessons in sessions" in told
    assert "n runs it now" in told
    await driver.press("a", "x", "d", "e", "o", "A", "R", "m")
    assert any("nothing under the cursor" in words for words in driver.told)
    await driver.press("n")
    assert ids(driver) == ["n000001"]
    assert any("12 episodes read: 1 new" in words for words in driver.told)


async def no_episodes_says_how_to_have_some(driver, narrated):
    narrated.propose()
    await driver.anew("7")
    assert "no sessions are recorded here" in listed(driver)
    assert "Everything that waits for your decision" in driver.text
    assert "`cm import`" in listed(driver)


async def what_cannot_be_read_says_so(driver, narrated):
    def fail(*_: object, **__: object) -> None:
        raise StoreError("The journal cannot be read.", hint="`cm doctor` says why.")

    with mock.patch.object(Teller, "narrated", fail):
        await driver.anew("7")
        assert "✖ The journal cannot be read. `cm doctor` says why." in flat(driver)


async def one_that_is_gone_meanwhile_says_so(driver, narrated):
    del narrated.told.told["n000007"]
    await to(driver, "n000007")
    assert "Proposal not found: n000007. It was withdrawn." in panel_of(driver)
    assert screen_of(driver).command("review.approve").why_not(screen_of(driver))


async def ten_thousand_are_read_as_far_as_somebody_looks(driver, narrated):
    narrated.propose(many(10_000))
    await driver.anew("7")
    screen = screen_of(driver)
    assert len(ids(driver)) == 10_000
    assert "10,000 waiting" in driver.text
    assert sum(row is not None for row in screen.proposals.rows) == 200
    await driver.press("a", "a", "end")
    await driver.until(lambda: screen.item is not None)
    await driver.settle()
    assert len(ids(driver)) == 9_998
    assert screen.item.id == ids(driver)[-1]


# --- decisions ---


async def each_decision_names_what_was_shown_and_the_next_is_chosen(driver, narrated):
    screen = screen_of(driver)
    await driver.press("a")
    assert screen.item.id == "n000002"
    await driver.press("d")
    assert screen.item.id == "n000003"
    await driver.press("x", "enter")
    assert screen.item.id == "n000004"
    assert "4 waiting · 1 deferred" in driver.text
    assert "✗ rejected, u undoes it: “The tests" in driver.text
    assert narrated.told.decided == [
        (("n000001@d1",), NarratedDecision("approve")),
        (("n000002@d2",), NarratedDecision("defer")),
        (("n000003@d3",), NarratedDecision("reject")),
    ]


async def twenty_in_a_row_wait_for_no_answer(driver, narrated):
    narrated.propose(many(25))
    await driver.anew("7")
    narrated.told.busy.clear()
    for number in range(20):
        assert screen_of(driver).item.id == f"n{number:06}"
        await driver.pilot.press("a")
    assert ids(driver) == [f"n{number:06}" for number in range(20, 25)]
    assert "5 waiting" in driver.text
    assert not narrated.told.decided, "the engine has answered nothing yet"
    narrated.told.busy.set()
    await driver.settle()
    assert [names for names, _ in narrated.told.decided] == [(f"n{number:06}@d{number}",) for number in range(20)]
    assert ids(driver) == [f"n{number:06}" for number in range(20, 25)]


async def the_next_ones_are_read_before_anybody_comes_to_them(driver, narrated):
    narrated.propose(many(25))
    await driver.anew("7")
    screen = screen_of(driver)
    assert [screen.details.is_fresh(row) for row in screen.stock.rows[:6]] == [True] * 5 + [False]
    narrated.told.readable.clear()
    await driver.pilot.press("a")
    await driver.until(lambda: "+ - Run the tests of part 1 " in panel_of(driver))
    narrated.told.readable.set()


def test_what_was_read_before_a_decision_was_done_brings_nothing_back():
    rows = [proposal(number, now=time.time()) for number in range(3)]
    answers = []
    stock = Stock(lambda _, call, then, *__, **___: answers.append((call, then)) or 0, lambda: None, lambda _: None)
    engine = Told(rows)
    stock.read()
    call, then = answers.pop()
    then(call(engine))
    first = rows[0]
    stock.decided({key_of(first): replace(first, state="approved")})
    assert (len(stock.rows), stock.waiting) == (2, 2)
    stock.read()
    call, then = answers.pop()
    before = call(engine)
    stock.done([key_of(first)])
    then(before)
    assert (len(stock.rows), stock.waiting) == (2, 2), "it was read before the engine had done it"
    engine.rows = rows[1:]
    stock.read()
    call, then = answers.pop()
    then(call(engine))
    assert (len(stock.rows), stock.waiting) == (2, 2)
    engine.rows = rows
    stock.read()
    call, then = answers.pop()
    then(call(engine))
    assert len(stock.rows) == 3, "it was undone elsewhere"


class Told:
    """Answers what an inbox asks."""

    def __init__(self, rows: list[NarratedProposal]) -> None:
        self.rows = rows
        self.root = Path("/nowhere")

    def stale_items(self) -> Page[StaleItem]:
        return Page((), 0)

    def proposals(self) -> Page[Proposal]:
        return Page((), 0)

    def narrated(self, where: NarratedFilter, *, limit: int) -> Page[NarratedProposal]:
        found = tuple(row for row in self.rows if row.state in where.states)
        return Page(found[:limit], len(found))


async def what_the_engine_refuses_comes_back_with_the_reason_and_is_read_again(driver, narrated):
    screen, told = screen_of(driver), narrated.told.told
    told["n000001"] = replace(told["n000001"], digest="changed", text="Run the tests with `pytest -x`.")
    await driver.press("a")
    assert told["n000001"].state == "waiting"
    assert ids(driver)[0] == "n000001"
    assert "▲" in driver.text
    assert any("was not changed, marked ▲: Its note has changed" in words for words in driver.told)
    assert screen.item.id == "n000002", "the next key must not decide on what nobody looked at"
    narrated.told.readable.clear()
    await driver.pilot.press("up")
    await driver.pilot.press("a")
    assert any("it has changed since you saw it; reading it again" in words for words in driver.told)
    assert told["n000001"].state == "waiting"
    narrated.told.readable.set()
    await driver.settle()
    assert "+ - Run the tests with `pytest -x`." in panel_of(driver)
    assert "Its note has changed since it was shown." in panel_of(driver)
    await driver.press("a")
    assert told["n000001"].state == "approved"
    assert narrated.told.decided[-1][0] == ("n000001@changed",)


async def what_fails_altogether_comes_back(driver, narrated):
    def fail(*_: object) -> None:
        raise StoreError("The disk is full.", hint="Make room.")

    with mock.patch.object(narrated.told, "decide_narrated", fail):
        await driver.press("a")
    assert ids(driver)[0] == "n000001"
    assert any("The disk is full. Make room." in words for words in driver.told)
    await driver.press("u")
    assert any("there is no decision yet" in words for words in driver.told)


async def what_cannot_be_written_says_why_before_a_key_is_pressed(driver, narrated):
    one = proposal(1, now=time.time(), problem="the note may not be written")
    narrated.propose([one])
    await driver.anew("7")
    assert "▲ the note may not be written" in panel_of(driver)
    await driver.press("a")
    assert any("the note may not be written" in words for words in driver.told)
    assert "▲ the note may not be written" in panel_of(driver)
    await driver.press("x", "enter")
    assert not ids(driver)


async def a_line_is_changed_then_approved(driver, narrated):
    await driver.press("e")
    assert isinstance(driver.app.screen, LineDialog)
    area = driver.app.screen.query_one(TextArea)
    area.text = "two\nlines"
    await driver.press("ctrl+s")
    assert "Only one line is possible" in driver.text
    area.text = ""
    await driver.press("ctrl+s")
    assert "Nothing to write" in driver.text
    area.text = "Run all tests with `pytest`."
    await driver.press("ctrl+s")
    assert driver.app.screen is screen_of(driver)
    assert narrated.told.decided == [
        (("n000001@d1",), NarratedDecision("approve", text="Run all tests with `pytest`."))
    ]
    assert "✓ approved, u undoes it: “Run all" in driver.text


async def a_line_is_changed_in_the_persons_own_editor(driver, narrated):
    left = iter(["Run the tests with `pytest -q`.\n", "Run them all.\n"])

    def edit(_app: object, folder: Path, name: str, _line: int) -> None:
        assert (folder / name).read_text() == "Run the tests with `pytest -q`.\n"
        (folder / name).write_text(next(left))

    with mock.patch("cm_tui.tui.screens.writing.edit_over", edit):
        await driver.press("E")
        assert any("the proposal is unchanged" in words for words in driver.told)
        await driver.press("E")
    assert narrated.told.decided == [(("n000001@d1",), NarratedDecision("approve", text="Run them all."))]


async def a_rule_another_note_and_why_not(driver, narrated):
    await driver.press("R")
    assert any("it is not an instruction" in words for words in driver.told)
    await driver.press("down", "R")
    assert "Let agents follow this Rule in all your projects?" in flat(driver)
    assert not narrated.told.decided, "an agent's instructions widen after a confirmation only"
    await driver.press("n", "R", "y")
    assert narrated.told.decided[-1] == (("n000002@d2",), NarratedDecision("approve", as_rule=True))
    await driver.press("m")
    assert any("it changes an existing line" in words for words in driver.told)
    await driver.press("up", "m")
    await driver.type("prices")
    await driver.press("enter")
    assert narrated.told.decided[-1] == (("n000001@d1",), NarratedDecision("approve", target=PRICES))
    await to(driver, "n000004")
    await driver.press("m")
    await driver.type("topics/new.md")
    assert "⏎ Use topics/new.md" in driver.text
    await driver.press("enter")
    assert narrated.told.decided[-1][1].target == "topics/new.md"
    await to(driver, "n000007")
    await driver.press("e")
    assert any("writes no line of its own" in words for words in driver.told)


@at((80, 24), (120, 40))
async def reasons_are_given_by_a_number_or_typed_and_remembered(driver, narrated):
    await driver.press("x")
    assert isinstance(driver.app.screen, RejectDialog)
    await driver.press("1", "x")
    await driver.type("Jenkins is gone")
    await driver.press("enter", "x")
    assert [row.reason for row in driver.app.screen.query_one(ReasonList).rows][:3] == [
        "",
        "Jenkins is gone",
        "not true",
    ]
    await driver.press("1", "x", "escape")
    assert len(ids(driver)) == 4
    given = [decision.reason for _, decision in narrated.told.decided]
    assert given == ["not true", "Jenkins is gone", "Jenkins is gone"]


async def all_of_a_kind_are_approved_after_a_question_with_their_number(driver, narrated):
    found = [proposal(number, now=time.time()) for number in range(12)]
    found[3] = replace(found[3], relation="contradicts")
    found[4] = replace(found[4], problem="read only")
    found.append(proposal(20, now=time.time(), kind="fix"))
    narrated.propose(found)
    await driver.anew("7")
    await driver.press("A")
    assert isinstance(driver.app.screen, Question)
    told = flat(driver)
    assert "Approve 10 proposals of the kind “command”?" in told
    assert "and 2 more" in told
    assert "2 that contradict saved memories" in told
    await driver.press("n")
    assert not narrated.told.decided
    await driver.press("A", "y")
    assert [len(names) for names, _ in narrated.told.decided] == [10]
    assert ids(driver) == ["n000003", "n000004", "n000020"]
    await driver.press("u")
    assert len(ids(driver)) == 13
    assert "10 proposals wait again" in driver.text


# --- undo ---


async def the_last_decision_and_any_chosen_one_are_taken_back(driver, narrated):
    screen = screen_of(driver)
    await driver.press("a", "x", "1", "d", "u")
    assert narrated.told.undone == ["n000003"]
    assert screen.item.id == "n000003"
    await driver.press("s", "s")
    assert "rejected by the user" in panel_of(driver) or "approved by the user" in panel_of(driver)
    await to(driver, "n000001")
    assert "approved by the user" in panel_of(driver)
    await driver.press("a")
    assert any("already approved; u undoes it" in words for words in driver.told)
    await driver.press("u")
    assert narrated.told.undone == ["n000003", "n000001"]
    assert ids(driver) == ["n000002"]
    assert "“not true”" in panel_of(driver)
    await driver.press("s", "s", "s", "u")
    assert narrated.told.undone[-1] == "n000002"
    assert len(ids(driver)) == 7


async def what_was_decided_elsewhere_is_said_and_undone(driver, narrated):
    for id_, state, by in (("n000001", "approved", "person"), ("n000002", "rejected", "policy careful")):
        one = narrated.told.told[id_]
        narrated.told.told[id_] = replace(one, state=state, decided=narrated.told.now() - 190, decided_by=by)
        await to(driver, id_)
        driver.app.clear_notifications()
        await driver.press("x", "1")
        who = {"person": "the user"}.get(by, f"the {by}")
        assert any(f"was {state} elsewhere by {who} 3 minutes ago. Nothing" in words for words in driver.told)
        assert not any("cm`" in words or "▲" in words for words in driver.told)
        assert id_ not in ids(driver)
        assert narrated.told.told[id_].state == state
    await driver.press("u", "u")
    assert narrated.told.undone == ["n000002", "n000001"]
    assert {"n000001", "n000002"} <= {*ids(driver)}


async def what_was_decided_before_the_application_was_started_is_taken_back(driver, narrated):
    old = proposal(1, now=time.time(), state="approved", decided=time.time() - 9 * 86_400, decided_by="policy careful")
    narrated.propose([old, proposal(2, now=time.time())])
    await driver.anew("7")
    screen_of(driver).filter_input.value = "state:automatic"
    await driver.settle()
    assert ids(driver) == ["n000001"]
    assert "approved by the policy careful" in panel_of(driver)
    screen_of(driver).filter_input.value = ""
    await driver.settle()
    await driver.press("u")
    assert narrated.told.undone == ["n000001"]
    assert ids(driver) == ["n000001", "n000002"]
    await driver.press("U")
    assert narrated.told.told["n000001"] == old
    assert any("Redone: approved: “Run the tests of part 1" in words for words in driver.told)
    assert ids(driver) == ["n000002"]


# --- what agents wish to do with entries ---


async def wishes_of_agents_about_entries_wait_here_too(driver, narrated):
    with Engine.open(narrated.root) as engine:
        sql = engine.remember("All SQL has parameters.", title="SQL", category="Rule")
        fridays = engine.remember("Never push on fridays", category="Rule")
        engine.update_entry(
            sql.id, EntryEdit(content="SQL has no parameters."), actor="agent", agent="codex", reason="short"
        )
        engine.forget_memory(fridays.id, actor="agent", agent="codex")
    await driver.anew("7")
    screen = screen_of(driver)
    wishes = [row.record for row in screen.proposals.rows if isinstance(row, Other)]
    assert len(wishes) == 2
    assert "9 waiting" in driver.text
    change = next(one for one in wishes if one.kind == "change")
    await to(driver, change.id)
    told = panel_of(driver)
    assert "codex would change the entry" in told
    assert "- All SQL has parameters." in told
    assert "+ SQL has no parameters." in told
    assert "Why short" in told
    await driver.press("d", "e", "R")
    assert any("request about an entry" in words for words in driver.told), driver.told
    await driver.press("x", "y")
    assert change.id not in ids(driver)
    forget = next(one for one in wishes if one.kind == "forget")
    await to(driver, forget.id)
    await driver.press("a")
    assert forget.id not in ids(driver)
    assert narrated.told.entry(sql.id).content == "All SQL has parameters."
    assert narrated.told.entry(fridays.id).forgotten is not None
    await driver.press("alt+u")
    assert "forgot the entry “Never push on fridays”, as codex proposed" in driver.text
    await driver.press("escape", "u")
    assert narrated.told.entry(fridays.id).forgotten is None


async def several_are_selected_and_decided_after_one_question(driver, narrated):
    with Engine.open(narrated.root) as engine:
        sql = engine.remember("All SQL has parameters.", title="SQL", category="Rule")
        engine.update_entry(sql.id, EntryEdit(content="SQL has no parameters."), actor="agent", agent="codex")
    await driver.anew("7")
    screen = screen_of(driver)
    wish = next(row.record for row in screen.proposals.rows if isinstance(row, Other))
    line = next(row for row in screen.proposals.rows if isinstance(row, NarratedProposal) and row.action == "add")
    for each_ in (wish, line):
        await to(driver, each_.id)
        await driver.press("space")
    assert "2 selected" in driver.text
    await driver.press("a")
    assert "Approve 2 items?" in driver.text
    assert "+ SQL has no parameters." in driver.text
    assert " ".join(line.text.split())[:40] in " ".join(driver.text.split())
    await driver.press("n")
    assert {wish.id, line.id} <= {*ids(driver)}
    await driver.press("x")
    assert "Reject" in driver.text
    await driver.press("escape", "a", "y")
    assert not {wish.id, line.id} & {*ids(driver)}
    assert "selected" not in driver.text
    assert narrated.told.entry(sql.id).content == "SQL has no parameters."


async def an_agents_rule_for_all_projects_is_accepted_after_a_confirmation(driver, narrated):
    with Engine.open(narrated.root) as engine:
        engine.propose_entry("Always deploy at night.", category="Rule", agent="codex")
    await driver.anew("7")
    wish = next(row for row in screen_of(driver).proposals.rows if isinstance(row, Other))
    await to(driver, wish.id)
    await driver.press("a")
    assert "Let agents follow this Rule in all your projects?" in flat(driver)
    assert "Always deploy at night." in driver.text
    await driver.press("n")
    assert wish.id in ids(driver)
    await driver.press("a", "y")
    assert wish.id not in ids(driver)
    await driver.until(lambda: "all your projects" not in driver.text)


# --- where it leads ---


async def the_evidence_is_told_in_episodes_and_the_place_is_kept(driver, narrated):
    names = record_story(narrated.root, sha_of_head(narrated.root), now=time.time())
    said = tuple(Evidence(name, time.time() - 600, "s1", "agent", f"run {name}") for name in names[1:3])
    one = proposal(1, now=time.time(), evidence_ids=(names[1], names[2]), evidence=said)
    narrated.propose([one, proposal(2, now=time.time())])
    await driver.anew("7")
    await driver.press("o")
    assert isinstance(driver.app.screen, EpisodesScreen)
    assert driver.app.screen.story.episode.id == names[1]
    await driver.press("7", "enter")
    lines = screen_of(driver).panel.lines
    assert lines.has_focus
    assert lines.current.goal.startswith(f"episode:{names[1]}")
    await driver.press("down", "down", "enter")
    assert driver.app.screen.story.episode.id == names[2]
    await driver.press("7", "escape", "down", "o")
    assert isinstance(driver.app.screen, EpisodesScreen)


async def what_others_decide_and_propose_comes_by_itself(driver, narrated):
    await to(driver, "n000003")
    narrated.told.told.pop("n000001")
    narrated.told.told["n000030"] = proposal(30, now=time.time())
    driver.app.project.index_news += 1
    screen_of(driver).show_project()
    await driver.until(lambda: "n000030" in ids(driver))
    assert "n000001" not in ids(driver)
    assert screen_of(driver).item.id == "n000003"


# --- a pass ---


async def what_a_model_takes_is_said_before_and_after(driver, narrated):
    narrated.told.cost_now = ModelCost("small-model", 12_345, 20_000)
    await driver.press("n")
    assert isinstance(driver.app.screen, Question)
    told = flat(driver)
    assert "About 12,345 tokens, and 20,000 at most" in told
    assert "small-model" in told
    await driver.press("n")
    assert len(ids(driver)) == 7
    await driver.press("n", "y")
    assert len(ids(driver)) == 8
    assert any("321 tokens of small-model in 2 calls" in words for words in driver.told)


async def a_pass_shows_how_far_it_is_and_is_stopped(driver, narrated):
    go_on = threading.Event()

    def narrate(*, since=None, dry_run=False, cancel=None):
        del since, dry_run
        yield Progress("read", 1_200, 5_000)
        go_on.wait(PATIENCE)
        (cancel or Cancel()).check()
        yield Progress("done", 1, 1)

    with mock.patch.object(narrated.told, "narrate", narrate):
        await driver.pilot.press("n")
        await driver.until(lambda: "1,200 of 5,000" in driver.text)
        await driver.pilot.press("n")
        await driver.until(lambda: any("a pass is already in progress" in words for words in driver.told))
        await driver.pilot.press("N")
        await driver.until(lambda: any("Stopping the pass" in words for words in driver.told))
        go_on.set()
        await driver.settle()
        assert "1,200 of 5,000" not in driver.text
        assert any("its progress is kept" in words for words in driver.told)


# --- topics ---


@at((80, 24), (200, 50))
async def topics_are_a_map_of_size_tags_freshness_and_overlap(driver, narrated):
    await driver.press("t")
    told = flat(driver)
    assert "3 topics · 1 retired" in told
    for words in ("Prices", "30 of 32 KB", "Soap"):
        assert words in told, words
    told = panel_of(driver)
    for words in (
        PRICES, "30 of 32 KB (91%), 412 lines", "2 days ago", "Recalled", "#money #cents #tax", "75% .cm/notes/topics/tax.md",
        "merge with .cm/notes/topics/tax.md", "compress: 30 of 32 KB",
    ):  # fmt: skip
        assert words in told, words
    await driver.press("escape")
    assert not screen_of(driver).on_topics
    assert "7 waiting" in driver.text


async def topics_are_made_merged_split_retired_and_restored_by_keys(driver, narrated):
    topics = narrated.root / ".cm/notes/topics"
    topics.mkdir(parents=True)
    (topics / "prices.md").write_text(
        "# Prices\n\nAll.\n\n## Cents\n\nInts.\n\n```\n# no heading\n```\n\n## Tax\n\n7 %.\n"
    )
    screen = screen_of(driver)
    await driver.press("t")
    assert "Ints." in panel_of(driver)
    await driver.press("M")
    assert "Merge into “Prices”?" in flat(driver)
    await driver.press("y")
    assert narrated.told.changes[-1] == ("merge", (PRICES, ".cm/notes/topics/tax.md"), "", ())
    await driver.press("home", "down", "space", "home", "space")
    assert "2 selected" in driver.text
    await driver.press("home", "M", "y")
    assert narrated.told.changes[-1][1] == (".cm/notes/topics/tax.md", PRICES), "the first one stays"
    await driver.press("home", "S")
    assert isinstance(driver.app.screen, SplitDialog)
    await driver.press("ctrl+s")
    assert "Mark what to move first" in driver.text
    await driver.press("space", "tab")
    await driver.type("Whole numbers")
    await driver.press("enter")
    assert narrated.told.changes[-1] == ("split", (PRICES, "Cents"), "Whole numbers", ())
    await driver.press("c")
    await driver.type("Router #net #dns")
    await driver.press("enter")
    assert narrated.told.changes[-1] == ("create", (), "Router", ("net", "dns"))
    await driver.press("home", "D", "y")
    assert narrated.told.changes[-1] == ("retire", (PRICES,), "", ())
    assert screen.topics.topic.retired
    assert "D restores it" in panel_of(driver)
    await driver.press("S")
    assert any("it is retired" in words for words in driver.told)
    await driver.press("D")
    assert narrated.told.changes[-1] == ("restore", (PRICES,), "", ())
    await driver.press("a")
    assert any("topics are listed" in words for words in driver.told)
    await driver.press("enter")
    assert isinstance(driver.app.screen, MemoryScreen)
    assert driver.app.screen.item.id == PRICES


def test_sections_and_titles_are_read():
    text = "---\ntags: [a]\n---\n# T\n\n## One\n\n~~~\n## not\n~~~\n\n### Inside\n\n## Two ##\n"
    assert [(row.name, row.level) for row in sections_of(text)] == [("One", 2), ("Inside", 3), ("Two", 2)]
    assert sections_of("no heading") == []
    assert title_and_tags("The router #net #net #") == ("The router", ("net",))


async def no_topics_says_what_they_are(driver, narrated):
    narrated.propose()
    await driver.anew("7")
    await driver.press("t")
    assert "No topics yet." in flat(driver)
    await driver.press("M", "S", "D", "space")
    assert any("nothing under the cursor" in words for words in driver.told)


# --- sizes, keys, what is remembered ---


@at((80, 24), (200, 50), (60, 20))
async def every_size_shows_list_and_proposal(driver, narrated):
    assert "Run the tests with" in driver.text
    assert ".cm/notes/project.md" in driver.text
    await driver.press("enter", "z", "z", "escape")
    assert screen_of(driver).proposals.has_focus
    await driver.resize((200, 50))
    await driver.resize((80, 24))
    await driver.press("down", "up")
    assert "+ - Run the tests" in driver.text


async def test_the_overview_says_how_many_wait_and_filter_and_topics_are_found_again(narrated):
    async with driving(narrated.root, open_engine=narrated.open, mode="1") as driver:
        await driver.until(lambda: "7 items wait" in driver.text)
        await driver.press("7", "a", "a", "1")
        await driver.until(lambda: "5 items wait" in driver.text)
        narrated.told.told.clear()
        driver.app.project.index_news += 1
        # Only the application counts what waits; a mode that hears of a change does not.
        driver.app._project_changed()
        await driver.until(lambda: "Review: proposals" in driver.text)
        await driver.press("7")
        screen_of(driver).filter_input.value = "kind:fix"
        await driver.settle()
        await driver.press("t")
        await driver.until(lambda: load_state(narrated.root)[0].of("review").get("topics") is True)
    async with driving(narrated.root, open_engine=narrated.open) as driver:
        await driver.press("7")
        assert screen_of(driver).on_topics
        await driver.press("t")
        assert screen_of(driver).query_one(Input).value == "kind:fix"
        assert ids(driver) == ["n000004"]


@at((120, 60))
async def the_help_lists_every_command_and_why_not(driver, narrated):
    await driver.press("question_mark")
    told = flat(driver)
    for words in ("Approve", "Reject", "All of a kind", "As Rule", "Topics", "not an instruction"):
        assert words in told, words


async def test_proposals_are_shown_filtered_followed_and_decided(narrated):
    await each(
        narrated,
        a_proposal_shows_what_a_decision_takes,
        what_is_known_stands_beside_it_where_there_is_room,
        what_a_stranger_wrote_is_no_markup_and_moves_no_cursor,
        the_filter_leaves_words_kinds_and_states,
        no_episodes_says_how_to_have_some,
        what_cannot_be_read_says_so,
        one_that_is_gone_meanwhile_says_so,
        ten_thousand_are_read_as_far_as_somebody_looks,
        the_next_ones_are_read_before_anybody_comes_to_them,
        every_size_shows_list_and_proposal,
        the_help_lists_every_command_and_why_not,
        what_others_decide_and_propose_comes_by_itself,
        topics_are_a_map_of_size_tags_freshness_and_overlap,
        no_topics_says_what_they_are,
        nothing_proposed_says_what_the_narrator_does_and_the_key,
        the_evidence_is_told_in_episodes_and_the_place_is_kept,
        each_decision_names_what_was_shown_and_the_next_is_chosen,
        twenty_in_a_row_wait_for_no_answer,
        what_the_engine_refuses_comes_back_with_the_reason_and_is_read_again,
        what_fails_altogether_comes_back,
        what_cannot_be_written_says_why_before_a_key_is_pressed,
        a_line_is_changed_then_approved,
        a_line_is_changed_in_the_persons_own_editor,
        a_rule_another_note_and_why_not,
        reasons_are_given_by_a_number_or_typed_and_remembered,
        all_of_a_kind_are_approved_after_a_question_with_their_number,
        the_last_decision_and_any_chosen_one_are_taken_back,
        what_was_decided_elsewhere_is_said_and_undone,
        what_was_decided_before_the_application_was_started_is_taken_back,
        what_a_model_takes_is_said_before_and_after,
        a_pass_shows_how_far_it_is_and_is_stopped,
        topics_are_made_merged_split_retired_and_restored_by_keys,
        wishes_of_agents_about_entries_wait_here_too,
        several_are_selected_and_decided_after_one_question,
        an_agents_rule_for_all_projects_is_accepted_after_a_confirmation,
        mode="7",
        root=narrated.root,
        open_engine=narrated.open,
        before=narrated.as_made,
    )
