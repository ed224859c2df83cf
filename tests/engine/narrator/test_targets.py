"""Where a fact belongs, with the numbers of the mission."""

from __future__ import annotations

import pytest

from cm_tui.engine.memory.narrator.confidence import Candidate, Tally
from cm_tui.engine.memory.narrator.targets import (
    PROJECT_NOTE,
    USER_NOTE,
    key_of,
    match,
    share_of,
    target_of,
    whole_keys,
)
from cm_tui.model import FactKind, Topic

TALLY = Tally(3, 3, 0, 0.0, 1.0, 0.0, 1.0)


def fact(text: str, kind: FactKind = "statement", scope: str = "project", terms: tuple[str, ...] = ()) -> Candidate:
    return Candidate(kind, "s", "c", (), text, terms, scope, TALLY, ())


def topic(id_: str, *tags: str, modified: float = 0.0, scope: str = "project", retired: bool = False) -> Topic:
    return Topic(id_, id_, scope, tags, 1, 1, 1, modified, retired)  # type: ignore[arg-type]


def test_more_than_three_tenths_of_the_keywords_are_tags():
    tags = topic("t", "alpha", "beta", "gamma")
    ten = [f"w{number}" for number in range(7)]
    assert match({*ten, "alpha", "beta", "gamma"}, [tags]) is None, "3 of 10 are not more than 0.3"
    assert match({*ten[:6], "alpha", "beta", "gamma"}, [tags]) is tags
    assert match({"alpha"}, [tags]) is tags
    assert match(set(), [tags]) is None


def test_of_equal_shares_the_topic_that_was_changed_last_counts():
    old, new, most = topic("z", "a", modified=1.0), topic("b", "a", modified=2.0), topic("c", "a", "b", modified=0.0)
    assert match({"a", "x"}, [old, new]) is new
    assert match({"a", "x"}, [new, old]) is new
    assert match({"a", "b"}, [new, most]) is most
    assert match({"a"}, [topic("r", "a", modified=9.0, retired=True), old]) is old


def test_the_words_of_a_topic_are_compared_by_their_stems():
    found = target_of(fact("Routes are registered in one place.", terms=("rout", "regist")), [
        topic(".cm/notes/topics/http.md", "HTTP routing", "registration"),
    ])  # fmt: skip
    assert found == ("topic", ".cm/notes/topics/http.md", "Rules", ("HTTP routing",))
    assert key_of("HTTP-Routing") == key_of("http routing")


@pytest.mark.parametrize(
    ("kind", "heading"),
    [("command", "Commands"), ("workflow", "Workflows"), ("fix", "Fixes"), ("decision", "Decisions"), ("rejected", "Decisions"),
     ("convention", "Conventions"), ("cochange", "Changes together"), ("correction", "Rules")],
)  # fmt: skip
def test_what_matches_no_topic_is_of_the_project(kind: FactKind, heading: str):
    assert target_of(fact("Something.", kind), [topic("t", "else")]) == ("project", PROJECT_NOTE, heading, ())


@pytest.mark.parametrize(
    "text",
    ["Prefer short answers.", "Always use `uv` instead of `pip`.", "Write names in `snake_case`.", "Prefer `cargo nextest`.",
     "Never use emojis in commit messages."],
)  # fmt: skip
def test_what_is_about_the_person_is_the_users(text: str):
    assert target_of(fact(text, scope="user"), [])[:2] == ("user", USER_NOTE)
    assert target_of(fact(text, scope="project"), []).scope == "project"


@pytest.mark.parametrize(
    "text",
    ["Always run `just check` first.", "Never touch `parse_config`.", "Keep src/main.py short.", "In this repo prefer tabs.",
     "Call OrderService() once.", "Use `make lint`."],
)  # fmt: skip
def test_what_names_the_project_is_never_the_users(text: str):
    assert target_of(fact(text, scope="user"), []).scope == "project"


def test_only_what_a_person_said_is_the_users():
    assert target_of(fact("Runs the tests.", "command", scope="user"), []).scope == "project"


def test_a_topic_of_the_user_counts_as_the_users_and_takes_nothing_of_a_project():
    mine = topic("user:topics/style.md", "style", "names", scope="user")
    assert target_of(fact("Prefer short names.", scope="user", terms=("name", "style")), [mine]) == (
        "user", "user:topics/style.md", "Rules", ("style", "names"),
    )  # fmt: skip
    assert target_of(fact("Names are short.", terms=("name", "style")), [mine]).note_id == PROJECT_NOTE
    theirs = topic(".cm/notes/topics/style.md", "style")
    assert target_of(fact("Prefer short names.", scope="user", terms=("style",)), [theirs]).note_id == USER_NOTE


def test_overlap_is_the_share_of_the_tags_of_both():
    assert share_of(whole_keys(["a", "b", "c", "d"]), whole_keys(["a", "b", "c", "e"])) == 3 / 5
    assert share_of(whole_keys(["Routing"]), whole_keys(["routes", "route"])) == 1.0
    assert share_of(whole_keys([]), whole_keys([])) == 0.0
