"""`cm episodes` and `cm undo`: what they print, what they refuse, and what stays as it was."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest

from cm_tui.engine.platform.journal.journal import Journal
from tests.cli.conftest import Shop, ShopTemplate, opened_once


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> ShopTemplate:
    return ShopTemplate(tmp_path_factory.mktemp("told"), tell)


def tell(shop: Shop) -> list[str]:
    """Ids of two episodes, the older one first."""
    head = shop.cm("status", "--json").json["head"]
    journal, who = Journal.of(shop.root), {"root": str(shop.root), "session": "s1", "agent": "codex"}
    first = {
        **who,
        "prompts": ["round the \x1b[31mtax"],
        "tools": ["Edit"],
        "files": ["shop/money.py"],
        "outcome": "failed",
    }
    second = {**who, "prompts": ["sell more"], "tokens": 1_200, "title": "Spring", "session": "s2"}
    return [journal.append("episode", data, head=head).id for data in (first, second)]


@pytest.fixture
def telling(kept: ShopTemplate, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A project with two episodes."""
    with opened_once(kept.put_back(monkeypatch)) as shop:
        yield shop


@pytest.fixture
def told(kept: ShopTemplate) -> list[str]:
    """Ids of the two episodes, the older one first."""
    return list(kept.found)


def test_they_are_listed_filtered_and_counted(telling: Shop, told: list[str]):
    def ids(*words: str) -> list[str]:
        return [row["id"] for row in telling.cm("episodes", "list", *words, "--json").json["rows"]]

    assert ids() == told[::-1]
    assert ids("--tool", "Edit", "--outcome", "failed", "--file", "shop") == told[:1]
    assert ids("--outcome", "none") == ids("--session", "s2") == ids("--match", "SPRING") == told[1:]
    assert ids("--since", "1d") == told[::-1]
    assert ids("--until", "2020-01-01") == ids("--state", "archived") == ids("--pinned") == []
    sessions = telling.cm("episodes", "list", "--sessions", "--json").json
    assert [(row["id"], row["title"]) for row in sessions["rows"]] == [
        ("s2", "Spring"),
        ("s1", "round the \x1b[31mtax"),
    ]
    stats = telling.cm("episodes", "list", "--stats", "--json").json
    assert (stats["episodes"], stats["tokens"], stats["per_day"][-1]) == (2, 1_200, 2)
    for words in (("list",), ("list", "--sessions"), ("list", "--stats"), ("last",), (told[0],)):
        done = telling.cm("episodes", *words)
        assert (done.code, "\x1b" in done.out) == (0, False)
    # As it was before there were commands below it.
    assert json.loads(telling.cm("--json", "episodes").out)["total"] == 2
    assert telling.cm("episodes", "--json", "--match", "tax").json["rows"][0]["id"] == told[0]
    assert telling.cm("episodes", told[0][:20], "--json").json["id"] == told[0]
    assert telling.cm("episodes", "--json", "show", "last").json["id"] == told[1]


def test_edits_are_told_and_taken_back(telling: Shop, told: list[str]):
    edited = telling.cm("episodes", "tag", *told, "--add", "bug", "--json").json
    assert edited["ids"] == told
    assert telling.cm("episodes", "pin", told[0]).code == 0
    assert telling.cm("episodes", "rate", told[0], "--misleading").code == 0
    assert telling.cm("episodes", "forget", told[1]).code == 0
    row = telling.cm("episodes", "list", "--json").json["rows"]
    assert [(one["tags"], one["pinned"], one["rating"]) for one in row] == [(["bug"], True, -1)]
    assert "forgotten" in telling.cm("undo", "--dry-run").err
    assert telling.cm("episodes", "--json").json["total"] == 1
    assert telling.cm("undo", "--json").json["ids"] == told[1:]
    noted = telling.cm("episodes", "record", "-", "--tag", "note", "--json", stdin="by hand\n").json
    assert (noted["actor"], noted["prompts"], noted["session"][:6]) == ("person", ["by hand\n"], "notes-")
    for words in ("recorded by hand", "misleading", "pinned", "tagged bug"):
        assert words in telling.cm("undo").err
    done = telling.cm("undo")
    assert (done.code, "No change of yours" in done.err) == (3, True)


WRONG = (
    (("list", "--state", "gone"), 2), (("list", "--session", "nosuch"), 3), (("list", "--since", "soon"), 2),
    (("list", "--sessions", "--stats"), 2), (("--match", "x", "list"), 2), (("tag", "last"), 2), (("rate", "last"), 2),
    (("pin", "zzzz"), 3), (("record", "  "), 2), (("record", "x", "--file", "../../etc/passwd"), 4),
    (("retention", "--older-than", "-1"), 2), (("retention", "--older-than", "soon"), 2), (("purge",), 2),
)  # fmt: skip


def test_what_is_wrong_is_told(shop: Shop):
    for words, code in WRONG:
        done = shop.cm("episodes", *words)
        assert done.code == code, (words, done.err)
        assert "Traceback" not in done.err


def test_ages_are_the_same_for_every_option(telling: Shop):
    for age in ("0", "0.5", "2 weeks", "1mo"):
        assert telling.cm("episodes", "retention", "--older-than", age).code == 0
    for age in ("2w", "3 days", "2 weeks ago", "12h"):
        assert telling.cm("episodes", "list", "--since", age, "--json").json["total"] >= 2
        assert telling.cm("recall", "reverted", "--since", age).code == 0
        assert f"the mainline has no commit before {age}" in telling.cm("at", age).err


def test_what_is_forgotten_is_still_there_and_says_so(telling: Shop, told: list[str]):
    telling.cm("forget", f"episode/{told[0][:18]}", "--reason", "it \x1b[2Jmisled")
    shown = telling.cm("episodes", "show", told[0][:18])
    assert (shown.code, "\x1b" in shown.out) == (0, False)
    assert "forgotten by you at 20" in shown.out
    assert "misled; `cm forget --undo" in shown.out
    assert "round the" in shown.out
    forgotten = telling.cm("episodes", told[0], "--json").json
    assert (forgotten["state"], forgotten["forgotten"]["actor"]) == ("forgotten", "person")
    assert "is already forgotten" in telling.cm("forget", told[0][:18]).err
    assert telling.cm("episodes", "last", "--json").json["id"] == told[1]
    assert "restored the episode" in telling.cm("forget", "--undo", f"episode/{told[0]}").err
    assert telling.cm("episodes", told[0], "--json").json["forgotten"] is None
    wrong = telling.cm("episodes", "list", "--state", "hidden")
    assert "'shown', 'forgotten', 'archived'" in wrong.err
    by_hand = telling.cm("episodes", "record", "a note", "--json").json["id"]
    telling.cm("undo")
    assert "forgotten by you: its recording was undone" in telling.cm("episodes", by_hand).out


def test_a_beginning_that_is_too_short_is_told(telling: Shop, told: list[str]):
    for words in (("episodes", "show", told[0][:3]), ("forget", told[0][:3]), ("remember", "--id", "abc")):
        done = telling.cm(*words)
        assert (done.code, "at least 4 characters" in done.err) == (3, True), words
    assert "at least" not in telling.cm("episodes", "show", "no-such-id").err


def test_a_session_goes_by_the_beginning_of_its_id(own_shop: Shop):
    journal = Journal.of(own_shop.root)
    for session in ("abcd-1", "abcd-2", "efgh-1"):
        journal.append("episode", {"prompts": [f"ask {session}"], "session": session})
    assert own_shop.cm("episodes", "list", "--session", "session/efgh", "--json").json["total"] == 1
    assert own_shop.cm("episodes", "list", "--session", "efgh-1", "--until", "today", "--json").json["total"] == 1
    assert own_shop.cm("episodes", "list", "--session", "efgh-1", "--until", "yesterday", "--json").json["total"] == 0
    several = own_shop.cm("episodes", "list", "--session", "abcd")
    assert (several.code, "abcd-1, abcd-2" in several.err) == (2, True)
    page = own_shop.cm("episodes", "list", "--sessions", "--before", "efgh", "--json").json
    assert [row["id"] for row in page["rows"]] == ["abcd-2", "abcd-1"]
    assert len(own_shop.cm("recall", "ask", "--session", "efgh", "--since", "30d", "--json").json["hits"]) == 1


def test_without_an_index_nothing_is_said_of_commits(new_shop: Shop):
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=new_shop.root, capture_output=True, text=True, check=True)
    for sha in (head.stdout.strip(), "f" * 40):
        Journal.of(new_shop.root).append("episode", {"prompts": ["ask"]}, head=sha)
    assert "not in this repository" not in new_shop.cm("episodes").out
    new_shop.cm("index")
    assert new_shop.cm("episodes").out.count("(not in this repository)") == 1


def test_retention_asks_unless_it_is_told(kept: ShopTemplate, told: list[str], monkeypatch: pytest.MonkeyPatch):
    # Deleting for good puts another file in place of the store's.
    telling = kept.put_back(monkeypatch)
    report = telling.cm("episodes", "retention", "--older-than", "0", "--json").json
    assert (report["archived"], report["dry_run"]) == (2, True)
    refused = telling.cm("episodes", "retention", "--older-than", "0", "--apply")
    assert (refused.code, "--yes" in refused.err) == (4, True)
    assert telling.cm("episodes", "retention", "--older-than", "0", "--apply", "--yes").code == 0
    assert telling.cm("episodes", "--json").json["total"] == 0
    assert telling.cm("episodes", "list", "--state", "archived", "--json").json["total"] == 2
    assert telling.cm("episodes", "purge", told[0]).code == 4
    assert telling.cm("episodes", "purge", told[0], "--yes", "--json").json["ids"] == told[:1]
    assert telling.cm("episodes", "list", "--state", "archived", "--json").json["total"] == 1
