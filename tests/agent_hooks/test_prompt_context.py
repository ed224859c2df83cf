"""Packs for prompts: within the budget, once a minute, never too long for an agent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import httpx

from cm_tui.agent_hooks.http import _HookRequests as HookRequests
from cm_tui.agent_hooks.http import prompts
from cm_tui.agent_hooks.prompt_context import MARKS_TOKENS, PromptContexts
from cm_tui.agent_hooks.reply import CHARACTERS
from cm_tui.model import Assembly, Pack, PackItem
from tests.fake_clock import FakeClock

ROOT = Path("/repo")
ASKED = "How is tax added to the cart?"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Packs:
    """Makes packs as long as the budget lets it, at some characters a token."""

    def __init__(self, characters: int = 3) -> None:
        self.asked: list[tuple[str, int]] = []
        self.characters = characters
        self.empty = False
        self.indexed = True

    def __call__(self, root: Path, question: str, budget: int) -> Pack | None:
        self.asked.append((question, budget))
        item = PackItem("a.py", 1, 2, "a", "code", budget, "why", included=not self.empty)
        text = "x" * (budget * self.characters)
        return Pack(question, (item,), budget, budget, text) if self.indexed else None


def test_a_pack_within_the_budget_is_marked():
    packs = Packs()
    text = PromptContexts(packs).prompt(ROOT, "s", ASKED, budget=2000, seconds=1)
    assert packs.asked == [(ASKED, 2000 - MARKS_TOKENS)]
    assert text.startswith("<cm-memory>")
    assert text.endswith("</cm-memory>")


def test_the_prompt_is_not_said_again():
    class Asked(Packs):
        def __call__(self, root: Path, question: str, budget: int) -> Pack | None:
            pack = super().__call__(root, question, budget)
            return pack and replace(pack, markdown=f"{question.strip()}\n\n### `a.py:1-2`\n\n{question.strip()}")

    text = PromptContexts(Asked()).prompt(ROOT, "s", f"  {ASKED}\n", budget=2000, seconds=1)
    assert text.count(ASKED) == 1, "what a file says stays"
    assert text.endswith(f"\n\n### `a.py:1-2`\n\n{ASKED}\n</cm-memory>")


def test_once_in_a_minute_for_each_session():
    clock, packs = Clock(), Packs()
    answers = PromptContexts(packs, clock)

    def ask(session: str = "s", prompt: str = ASKED) -> bool:
        return bool(answers.prompt(ROOT, session, prompt, budget=2000, seconds=1))

    assert [ask(), ask(), ask(prompt=f" {ASKED.upper()} "), ask(session="other")] == [True, False, False, True]
    clock.now = 61.0
    assert ask()


def test_an_answer_that_came_too_late_does_not_count():
    clock = Clock()

    class Slow(Packs):
        def __call__(self, root: Path, question: str, budget: int) -> Pack | None:
            clock.now += 2.0
            return super().__call__(root, question, budget)

    answers = PromptContexts(Slow(), clock)
    assert answers.prompt(ROOT, "s", ASKED, budget=2000, seconds=1.5)
    assert answers.prompt(ROOT, "s", ASKED, budget=2000, seconds=1.5)


def test_nothing_is_said_where_there_is_nothing_to_say():
    packs = Packs()
    answers = PromptContexts(packs)
    assert answers.prompt(ROOT, "s", "yes, continue", budget=2000, seconds=1) == ""
    assert answers.prompt(ROOT, "s", ASKED, budget=0, seconds=1) == ""
    assert packs.asked == []
    packs.empty = True
    assert answers.prompt(ROOT, "s", ASKED, budget=2000, seconds=1) == ""
    packs.indexed = False
    assert answers.prompt(ROOT, "t", ASKED, budget=2000, seconds=1) == ""


def test_a_pack_of_long_words_is_asked_for_again_smaller():
    packs = Packs(characters=9)
    text = PromptContexts(packs).prompt(ROOT, "s", ASKED, budget=2000, seconds=1)
    assert 0 < len(text) <= CHARACTERS
    assert len(packs.asked) == 2


class Assemblies:
    """Assembles a text of so many characters a token."""

    def __init__(self, characters: int = 4) -> None:
        self.asked: list[tuple[int, bool]] = []
        self.characters = characters

    def __call__(self, budget: int, keep: bool) -> Assembly:
        self.asked.append((budget, keep))
        text = "x" * (budget * self.characters)
        return Assembly("a" if keep else "", 0.0, ASKED, budget, budget, text, ())


def test_an_assembly_is_handed_over_instead_and_kept_once():
    packs, made, given = Packs(), Assemblies(), []
    answers = PromptContexts(packs)
    text = answers.prompt(ROOT, "s", ASKED, budget=2000, seconds=1, assemble=made, on_given=given.append)
    assert made.asked == [(2000 - MARKS_TOKENS, False), (2000 - MARKS_TOKENS, True)]
    assert packs.asked == []
    assert [one.id for one in given] == ["a"]
    assert text.startswith("<cm-memory>")
    assert answers.prompt(ROOT, "s", ASKED, budget=2000, seconds=1, assemble=made) == ""
    assert answers.prompt(ROOT, "s", "yes, continue", budget=2000, seconds=1, assemble=made) == ""


def test_of_assemblies_that_are_too_long_no_snapshot_is_kept():
    made = Assemblies(characters=9)
    text = PromptContexts(Packs()).prompt(ROOT, "s", ASKED, budget=2000, seconds=1, assemble=made)
    assert 0 < len(text) <= CHARACTERS
    assert [keep for _, keep in made.asked] == [False, False, True]
    assert made.asked[1][0] == made.asked[2][0] < made.asked[0][0]


def test_an_empty_assembly_adds_nothing():
    made, given = Assemblies(characters=0), []
    answers = PromptContexts(Packs())
    assert answers.prompt(ROOT, "s", ASKED, budget=2000, seconds=1, assemble=made, on_given=given.append) == ""
    assert given == []
    assert made.asked == [(2000 - MARKS_TOKENS, False)]


def test_of_an_assembly_that_came_too_late_no_snapshot_is_kept():
    clock, given = Clock(), []

    class Slow(Assemblies):
        def __call__(self, budget: int, keep: bool) -> Assembly:
            clock.now += 2.0
            return super().__call__(budget, keep)

    made = Slow()
    answers = PromptContexts(Packs(), clock)
    assert answers.prompt(ROOT, "s", ASKED, budget=2000, seconds=1.5, assemble=made, on_given=given.append) == ""
    assert [keep for _, keep in made.asked] == [False]
    assert given == []


def test_a_defect_is_no_malformed_request(tmp_path: Path):
    """It is an error of the server, which logs it: a hook would hide it from everyone."""

    def broken(root: Path) -> None:
        raise ValueError(f"a defect in {root}")

    async def status_of(question: dict[str, Any]) -> int:
        dispatcher: Any = None
        transport = httpx.ASGITransport(app=prompts(dispatcher, broken), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://cm") as client:
            return (await client.post("/prompt", json=question)).status_code

    assert asyncio.run(status_of({"root": str(tmp_path), "seconds": 1})) == 500
    assert asyncio.run(status_of({"root": str(tmp_path), "seconds": "soon"})) == 400


def test_right_after_a_daemons_start_packs_go_without_callers(tmp_path: Path):
    clock, asked = FakeClock(), []

    class Engine:
        def call(self, name: str, _where: object, arguments: dict[str, Any], *, client: str) -> None:
            assert not client
            asked.append(arguments.get("neighbours") if name == "pack" else name)

        def on_nudge(self, _root: Path) -> None: ...

    requests: Any = HookRequests(cast("Any", Engine()), Engine(), clock)
    for seconds in (0.0, 4.9, 0.2):
        clock.advance(seconds)
        requests._pack(tmp_path, ASKED, 100)
    assert [one for one in asked if one != "stale_reason"] == [False, False, True]
