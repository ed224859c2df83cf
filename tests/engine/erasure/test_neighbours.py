"""An episode that is erased may have its lines in others: they are told, and taken along where it is asked for."""

from __future__ import annotations

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.doctor.installation import examine
from cm_tui.engine.platform.journal import erasure
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import StoreError
from tests.engine.erasure.conftest import SECRET, index, say, stored, turn

PATCH = "diff --git a/notes b/notes\n--- a/notes\n+++ b/notes\n@@ -0,0 +1,2 @@\n+zanzibar = tortoise\n+x = 1\n"
"""Lines that are not committed."""


def recorded(engine: Engine, prompt: str, patch: str, answer: str = "Done.", root: str = "") -> list[Event]:
    """One turn with its episode and its patch."""
    where = {"root": root} if root else {}
    events = [say(engine, "hook.prompt", prompt=prompt, **where), say(engine, "hook.stop", answer=answer, **where)]
    record = {"prompts": [prompt], "answer": answer, "patch": patch, "stop": events[-1].id}
    return [*events, say(engine, "episode", **{**record, **where})]


@pytest.fixture
def turns(engine: Engine) -> list[list[Event]]:
    """Three turns that repeat a line, one that shares what tells nothing, and one of another checkout."""
    made = [
        recorded(engine, "write the notes", PATCH),
        recorded(engine, "and now the rest", PATCH.replace("+x = 1\n", "+    y = 2\n")),
        recorded(engine, "indent it", PATCH.replace("+zanzibar", "+        zanzibar")),
        recorded(engine, "plant a hedge", PATCH.replace("+zanzibar = tortoise\n", " zanzibar = tortoise\n")),
        recorded(engine, "elsewhere", PATCH, root="/another/checkout"),
    ]
    index(engine)
    return made


def ids(turns: list[list[Event]]) -> list[str]:
    return [event.id for events in turns for event in events]


def test_episodes_with_the_same_lines_are_told_and_stay(engine: Engine, turns: list[list[Event]]):
    for dry_run in (True, False):
        report = engine.erase([turns[0][2].id], dry_run=dry_run)
        assert [event.id for event in report.events] == ids(turns[:1])
        assert report.neighbours == (turns[1][2].id, turns[2][2].id)
    assert engine.episodes().total == 4


def test_they_are_taken_along_as_whole_turns(engine: Engine, turns: list[list[Event]]):
    for dry_run in (True, False):
        report = engine.erase([turns[1][0].id], with_patches=True, dry_run=dry_run)
        assert [event.id for event in report.events] == ids(turns[:3])
        assert report.neighbours == ()
    assert [one.prompts[0] for one in engine.episodes().rows] == ["elsewhere", "plant a hedge"]
    assert all("and now the rest" not in str(event.data) for event in Journal.of(engine.root).read())


def test_long_lines_that_were_said_count_as_well(engine: Engine):
    said = "the zanzibar tortoise is worth four hundred"
    one = recorded(engine, f"Remember:\n{said}", "", "All right, done.")
    two = recorded(engine, "What was it?", "", f"It was this:\n  {said}")
    recorded(engine, "And now?", "", "All right, done.")
    assert engine.erase([one[2].id], dry_run=True).neighbours == (two[2].id,)
    engine.erase([one[2].id], with_patches=True)
    assert stored("zanzibar") == []
    index(engine)
    assert engine.episodes().total == 1


def test_nothing_is_compared_where_all_that_looks_like_a_secret_goes(engine: Engine):
    recorded(engine, "one", f"{PATCH}+{SECRET}\n")
    recorded(engine, "two", PATCH)
    assert engine.erase(found=True, dry_run=True).neighbours == ()
    assert len(engine.erase(found=True, with_patches=True, dry_run=True).events) == 6


def test_what_would_go_can_be_recognised_without_its_secrets(engine: Engine):
    events = turn(engine, f"send {SECRET} to\n the\x1b[31m harbour {'and back ' * 20}")
    words = {event.kind: event.words for event in engine.erase([events[0].id], dry_run=True).events}
    assert words["hook.prompt"] == words["episode"]
    assert words["episode"].lower().startswith("send [redacted: slack token] to the [31m harbour and")
    assert len(words["episode"]) == 60
    assert (words["hook.edit"], words["hook.stop"]) == ("a.py", "Done.")
    assert {event.words for event in engine.erase([events[0].id]).events} == {""}


def test_it_is_said_why_more_goes_than_was_named(engine: Engine):
    alone = say(engine, "hook.git", hook="post-commit")
    whole = turn(engine, "pave the driveway")
    assert engine.erase([alone.id], dry_run=True).reasons == ()
    [reason] = engine.erase([whole[3].id], dry_run=True).reasons
    assert "the whole turn is erased" in reason
    assert engine.erase([event.id for event in whole], dry_run=True).reasons == ()
    first = say(engine, "hook.prompt", prompt="one")
    second = say(engine, "hook.prompt", prompt="two")
    report = engine.erase([second.id], dry_run=True)
    assert [event.id for event in report.events] == [first.id, second.id]
    assert "2 prompts of turns that have not ended are erased" in " ".join(report.reasons)


def test_the_doctor_tells_of_an_erasure_that_was_interrupted(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise StoreError("The disk is full.")

    events = turn(engine, "pave the driveway")
    with monkeypatch.context() as patch:
        patch.setattr(erasure, "erase_lines", full)
        with pytest.raises(StoreError):
            engine.erase([events[0].id])
    check = next(one for one in examine(engine.root) if one.name == "journal")
    assert (check.state, "interrupted" in check.message) == ("warning", True)
    assert "cm forget --erase" in check.mend
    engine.erase([events[0].id])
    assert next(one for one in examine(engine.root) if one.name == "journal").state == "ok"
