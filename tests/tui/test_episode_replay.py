"""What an agent saw: chosen from the list or by name, with its prompts and its patch, in every mode; and what cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from tests.gitrepo import Repo
from tests.tui.mode_driver import Driver, at, driving, each, starting
from tests.tui.test_history_mode import rows, side

SMALL = (80, 24)

PATCH = """diff --git a/shop/cart.py b/shop/cart.py
index 1..2 100644
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -1,2 +1,2 @@
 def one():
-    return 11
+    return 12
diff --git a/shop/new.py b/shop/new.py
new file mode 100644
--- /dev/null
+++ b/shop/new.py
@@ -0,0 +1 @@
+\tEVIL\x1b[31m = 1
"""


def record(repo: Repo, head: str | None, prompt: str = "make one twelve", **data: Any) -> Event:
    said = {"agent": "codex", "session": "s1", "prompts": [prompt], "root": str(repo.root), "patch": ""}
    return Journal.of(repo.root).append("episode", {**said, **data}, head=head)


def sha(repo: Repo, ordinal: int) -> str:
    return repo.git("rev-list", "--first-parent", "--reverse", "main").split()[ordinal - 1]


def listed(driver: Driver) -> list[str]:
    return [row.prompts[0] for row in driver.app.screen.turn_list.rows]


async def to_episode(driver: Driver, repo: Repo, prompt: str) -> None:
    """Go from History to an episode in Episodes."""
    await driver.press("e")
    assert driver.app.current_mode == "episodes"
    events = [one for one in Journal.of(repo.root).read() if one.kind == "episode"]
    event = next(one for one in reversed(events) if one.data["prompts"][0] == prompt)
    driver.app.screen.open_turn(event.id, str(event.data["session"]))
    await driver.settle()


async def choose(driver: Driver, repo: Repo, prompt: str) -> None:
    """Choose an episode in Episodes, and show in History what its agent saw."""
    await to_episode(driver, repo, prompt)
    await driver.press("r")
    assert driver.app.current_mode == "history"


@at((80, 24), (200, 50))
async def what_an_agent_saw_is_chosen_from_the_list_and_shown_in_every_mode(driver, story):
    assert len([line for line in driver.text.splitlines() if " @ " in line]) == 2
    await choose(driver, story, "make one twelve")
    screen = driver.app.screen
    assert screen.point.ordinal == 2
    assert driver.app.revision.moment.ordinal == 2
    assert "◀ PAST  #2" in driver.text
    assert "seen by codex" in driver.text
    assert rows(driver) == [
        ("›", "make one twelve", "asked"),
        ("@", screen.rows.rows[2].name, "it saw"),
        ("‹", "twelve it is", "answered"),
        ("Δ", "2 files differ from it", "14 lines"),
        ("~", "shop/cart.py", "+1 −1"),
        ("+", "shop/new.py", "+1 −0"),
        ("·", "read.md", "touched"),
    ]
    await driver.press("down", "down")
    assert "it is" in side(driver)
    await driver.press("down", "down")
    assert "+    return 12" in driver.text
    await driver.press("v")
    assert "return 11" in driver.text
    assert "return gone" not in driver.text
    await driver.press("v")
    assert "callers exist for symbols only" in side(driver)
    await driver.press("v", "v", "down")
    assert "EVIL·[31m" in driver.text
    assert "\x1b" not in driver.text
    screen.activate("symbols")
    await driver.settle()
    assert {"one", "gone", "user"} == {name for _, name, _ in rows(driver)}
    await driver.press("3")
    assert "seen by codex" in driver.text
    await driver.press("0")
    assert "PAST" not in driver.text


async def control_characters_never_reach_the_screen(driver, story):
    record(story, sha(story, 3), "a\x1b[2Jb\x07\rc\u202e", agent="x\x1b]0;y\x07", session="\x9b1m", files=["\x1bq"])
    for keys in ((), ("r",), ("down", "up")):
        if keys:
            await driver.press(*keys)
        else:
            await to_episode(driver, story, "a\x1b[2Jb\x07\rc\u202e")
        assert not {"\x1b", "\x07", "\r", "\x9b", "\u202e"} & set(driver.text)
    assert "a [2Jb" in driver.text


async def before_the_first_episode_the_tab_says_where_they_are(driver, story):
    assert not any(" @ " in line for line in driver.text.splitlines())
    driver.app.screen.activate("episode")
    await driver.settle()
    assert "e opens the recorded episodes" in side(driver)
    # What the next steps look at.
    record(story, sha(story, 5), "something later")
    record(story, sha(story, 2), patch=PATCH, files=["shop/cart.py", "read.md"], answer="twelve\nit is")


@at((80, 24))
async def what_cannot_be_replayed_says_why_and_is_told_all_the_same(driver, story):
    record(story, None, "without git")
    record(story, "f" * 40, "on a commit that is gone", patch=PATCH)
    record(story, story.git("rev-parse", "side"), "on the side")
    await choose(driver, story, "on a commit that is gone")
    assert driver.app.revision.moment is None
    assert any("cannot be replayed" in words for words in driver.told)
    assert [word for _, _, word in rows(driver)][:2] == ["asked", "no commit"]
    assert "shop/new.py" in driver.text
    await choose(driver, story, "without git")
    assert any("no commit recorded" in words for words in driver.told)
    await choose(driver, story, "on the side")
    assert driver.app.revision.moment.ordinal == 2
    assert driver.app.revision.moment.sha == story.git("rev-parse", "side")
    assert "off the mainline, 1 commit after #2" in side(driver)


@pytest.mark.deep
async def test_the_application_opens_at_an_episode(story):
    record(story, sha(story, 3), patch=PATCH)
    async with starting(story.root, size=SMALL, episode="last") as driver:
        await driver.until(lambda: driver.app.revision.moment is not None)
        await driver.settle()
        assert driver.app.current_mode == "history"
        screen = driver.app.screen
        assert (screen.point.ordinal, screen.commits.current.ordinal, driver.app.revision.moment.ordinal) == (3, 3, 3)
        assert "make one twelve" in driver.text


async def what_is_said_of_a_commit_goes_away_once_its_history_is_read(driver, story):
    record(story, sha(story, 3))
    await driver.press("d")
    await driver.type("all")
    await driver.press("enter", "y")
    await choose(driver, story, "make one twelve")
    assert "was removed" in side(driver)
    assert "was removed" in driver.app.revision.note
    await driver.press("b")
    await driver.until(lambda: driver.app.revision.note == "")
    await driver.settle()
    assert "was removed" not in side(driver)
    assert rows(driver)[0] == ("›", "make one twelve", "asked")


async def test_the_name_of_no_episode_is_told(story):
    async with starting(story.root, episode="nothing") as driver:
        await driver.until(lambda: bool(driver.told))
        await driver.settle()
        assert any("cm episodes" in words for words in driver.told)
        assert driver.app.revision.moment is None
        assert driver.app.current_mode == "history"


async def an_episode_that_ended_at_another_commit_says_so(driver, story):
    record(story, sha(story, 4), base=sha(story, 2), patch=PATCH, patch_cut=True, redacted=1, note="a note")
    await choose(driver, story, "make one twelve")
    assert driver.app.revision.moment.ordinal == 2
    words = side(driver)
    assert "when it stopped" in words
    assert "1 secret redacted" in words
    assert "only its beginning" in words or "this is its beginning" in words
    assert "a note" in words


def said_with(repo: Repo, prompt: str) -> Event:
    """An episode with the events that it was made from."""
    journal, who = Journal.of(repo.root), {"root": str(repo.root), "session": "s1"}
    journal.append("hook.prompt", {**who, "prompt": prompt})
    for _ in range(2):
        journal.append("hook.edit", {**who, "paths": ["a.py"]})
    stop = journal.append("hook.stop", {**who, "answer": "ok"})
    return record(repo, sha(repo, 2), prompt, stop=stop.id)


def kinds(repo: Repo) -> list[str]:
    return [event.kind for event in Journal.of(repo.root).read()]


@at((80, 24))
async def an_episode_is_erased_from_the_list_after_two_answers(driver, story):
    said_with(story, "the one that goes")
    record(story, sha(story, 5), "the one that stays")
    await to_episode(driver, story, "the one that goes")
    for keys in (("delete", "n"), ("delete", "escape"), ("delete", "y", "escape")):
        await driver.press(*keys)
    assert listed(driver) == ["the one that goes", "the one that stays"]
    await driver.press("delete")
    await driver.until(lambda: "Erase “the one that goes”" in driver.text)
    assert (
        "1 prompt, 2 notes of edits, 1 answer, 1 episode"
        in driver.app.screen.query_one(".question-box Static").content.plain
    )
    await driver.press("y")
    await driver.type("yes")
    await driver.press("enter")
    assert "erased" not in kinds(story)
    await driver.press("backspace", "backspace", "backspace")
    await driver.type("erase")
    await driver.press("enter")
    await driver.until(lambda: listed(driver) == ["the one that stays"])
    assert kinds(story) == ["erased"] * 5 + ["episode", "journal.erased"]
    assert "the one that goes" not in driver.text
    await driver.press("4")


async def the_episode_that_is_shown_is_erased_from_the_palette_and_shown_no_more(driver, story):
    said_with(story, "the one that goes")
    erased = kinds(story).count("erased")
    await driver.press("delete")
    assert any("no episode is shown" in words for words in driver.told)
    await choose(driver, story, "the one that goes")
    assert "seen by codex" in driver.text
    driver.app.screen.rows.focus()
    await driver.press("delete", "y")
    await driver.type("erase")
    await driver.press("enter")
    await driver.until(lambda: kinds(story).count("erased") > erased and "PAST" not in driver.text)
    assert "the one that goes" not in driver.text
    assert driver.app.screen.loader.episode is None
    assert driver.app.revision.episode is None


@pytest.mark.deep
async def test_the_question_names_what_goes_and_other_episodes_with_the_same_lines_on_a_small_screen(story):
    prompt = "please " + "write it all down, " * 8
    first = said_with(story, prompt).id
    ids = [record(story, sha(story, 5), prompt, session=f"s{number}").id for number in range(2, 5)]
    async with driving(story.root, mode="4", size=SMALL) as driver:
        await driver.press("e")
        driver.app.screen.open_turn(first, "s1")
        await driver.settle()
        await driver.press("delete")
        await driver.until(lambda: "permanently?" in driver.text)
        text = driver.text
        for words in (
            "prompt: please write it all",
            "note of an edit: a.py",
            "The whole turn is erased",
            "3 other episodes",
        ):
            assert words in text
        assert ids[0] in text
        assert "--with-patches" in text
        assert "Cancel (n)" in text
        box = driver.app.screen.query_one(".question-box")
        assert box.region.y >= 0
        assert box.region.bottom <= 24


async def test_what_agents_saw_is_listed_and_shown(story):
    await each(
        story,
        before_the_first_episode_the_tab_says_where_they_are,
        what_an_agent_saw_is_chosen_from_the_list_and_shown_in_every_mode,
        control_characters_never_reach_the_screen,
        what_cannot_be_replayed_says_why_and_is_told_all_the_same,
        an_episode_that_ended_at_another_commit_says_so,
        what_is_said_of_a_commit_goes_away_once_its_history_is_read,
        mode="4",
        root=story.root,
    )


async def test_episodes_are_erased(story):
    await each(
        story,
        an_episode_is_erased_from_the_list_after_two_answers,
        the_episode_that_is_shown_is_erased_from_the_palette_and_shown_no_more,
        mode="4",
        root=story.root,
    )
