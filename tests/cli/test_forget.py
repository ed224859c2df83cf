"""`cm secrets scan` and `cm forget`: told without the secret, erased only when said twice."""

from __future__ import annotations

import json

import pytest
import typer

from cm_tui.cli import forget as module
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model.dates import local_minute
from tests.cli.conftest import Shop
from tests.earlier_filter import nothing_redacted

SECRET = "xox" + "b-283746501928-Kq7RzmW2pLx9"


def say(shop: Shop, prompt: str) -> list[str]:
    journal = Journal.of(shop.root)
    who = {"root": str(shop.root), "session": "s", "agent": "codex"}
    with nothing_redacted():
        asked = journal.append("hook.prompt", {**who, "prompt": prompt})
        stop = journal.append("hook.stop", {**who, "answer": "ok"})
        return [asked.id, stop.id, journal.append("episode", {**who, "prompts": [prompt], "stop": stop.id}).id]


def in_journal(shop: Shop, text: str) -> bool:
    return any(text in file.read_text() for file in Journal.of(shop.root).folder.glob("*.jsonl"))


def test_a_scan_finds_and_an_erasure_ends_it(own_shop: Shop):
    clean = own_shop.cm("secrets", "scan")
    assert (clean.code, clean.out) == (0, "")
    assert "no recognised secrets" in clean.err
    assert "cm forget --erase ID" in clean.err
    ids = say(own_shop, f"send {SECRET} away")
    say(own_shop, "an innocent word")
    done = own_shop.cm("secrets", "scan")
    assert done.code == 1
    assert [line.split()[5] for line in done.out.splitlines()] == [ids[0], ids[2]]
    assert "1 × slack token" in done.out.lower()
    for told in (done, own_shop.cm("secrets", "scan", "--json"), own_shop.cm("secrets", "scan", "--all", "--json")):
        assert told.code == 1
        assert SECRET not in told.out + told.err
    report = own_shop.cm("secrets", "scan", "--all", "--json").json
    assert {one["id"] for one in report["findings"]} == {ids[0], ids[2]}
    assert (report["secrets"], report["in_source"], report["interrupted"]) == (2, 0, False)
    trial = own_shop.cm("forget", "--erase", "--found", "--dry-run", "--json").json
    assert [one["id"] for one in trial["events"]] == ids
    told = own_shop.cm("forget", "--erase", ids[0], "--dry-run")
    assert local_minute(trial["events"][0]["time"]) in told.out
    assert "“send [redacted: slack token] away”" in told.out.lower()
    assert "the whole turn is erased" in told.err
    assert in_journal(own_shop, SECRET)
    erased = own_shop.cm("forget", "--erase", "--found", "--confirm", "found")
    assert erased.code == 0
    assert [line.split()[1] for line in erased.out.splitlines()] == ids
    assert not in_journal(own_shop, SECRET)
    assert in_journal(own_shop, "an innocent word")
    assert own_shop.cm("secrets", "scan", "--all").code == 0
    assert own_shop.cm("episodes", "--json").json["total"] == 1


def test_nothing_is_erased_in_a_script_that_says_it_once(new_shop: Shop):
    ids = say(new_shop, f"send {SECRET} away")
    for words in (
        ("--found",), (ids[0],), (ids[0], "--confirm", "found"), (ids[0], "--confirm", ids[1]),
        (ids[0], "--found", "--confirm", ids[0]), (ids[0], ids[1], "--confirm", ids[0]), ("--found", "--confirm", "yes"),
    ):  # fmt: skip
        done = new_shop.cm("forget", "--erase", *words)
        assert (done.code, done.out) == (4, ""), words
        assert "--confirm" in done.err
    assert in_journal(new_shop, SECRET)
    assert new_shop.cm("forget", "--erase", ids[0], "--confirm", ids[0]).code == 0
    assert not in_journal(new_shop, SECRET)


TOGETHER = (
    (), ("--erase",), ("--found",), ("x" * 9, "--with-patches"), ("x" * 9, "--dry-run"), ("x" * 9, "--confirm", "x" * 9),
    ("--erase", "--undo", "x" * 9),
)  # fmt: skip


def test_words_that_do_not_go_together(new_shop: Shop):
    for words in TOGETHER:
        done = new_shop.cm("forget", *words)
        assert (done.code, done.out) == (2, ""), words


def test_a_name_that_is_none_is_said(own_shop: Shop):
    say(own_shop, "one")
    assert own_shop.cm("forget", "no-such-event").code == 3
    assert own_shop.cm("forget", "--erase", "no-such-event", "--confirm", "no-such-event").code == 3


def test_an_episode_is_hidden_and_shown_again(own_shop: Shop):
    ids = [say(own_shop, f"prompt {n}")[2] for n in range(2)]
    assert own_shop.cm("forget", ids[0], "--json").json == {"forgotten": [ids[0]]}
    assert [row["id"] for row in own_shop.cm("episodes", "--json").json["rows"]] == [ids[1]]
    assert own_shop.cm("forget", "--undo", ids[0], "--json").json == {"restored": [ids[0]]}
    assert own_shop.cm("episodes", "--json").json["total"] == 2


def test_what_one_command_forgot_or_restored_is_one_change(own_shop: Shop):
    ids = [say(own_shop, f"prompt {n}")[2] for n in range(2)]
    ids.append(own_shop.cm("remember", "Never push on fridays.", "--json").json["id"])

    def seen() -> int:
        return own_shop.cm("episodes", "--json").json["total"] + own_shop.cm("remember", "--json").json["total"]

    assert own_shop.cm("forget", *ids, "--json").json == {"forgotten": ids}
    assert seen() == 0
    assert own_shop.cm("undo").code == 0
    assert seen() == 3
    own_shop.cm("forget", *ids)
    assert own_shop.cm("forget", "--undo", *ids, "--json").json == {"restored": ids}
    assert own_shop.cm("undo").code == 0
    assert seen() == 0


def test_what_was_forgotten_before_a_wrong_name_is_told(own_shop: Shop):
    ids = [say(own_shop, f"prompt {n}")[2] for n in range(2)]
    done = own_shop.cm("forget", ids[0], "no-such-event", ids[1], "--json")
    assert (done.code, json.loads(done.out)) == (3, {"forgotten": [ids[0]]})
    assert [row["id"] for row in own_shop.cm("episodes", "--json").json["rows"]] == [ids[1]]


def test_why_something_is_forgotten_is_kept_whole_or_refused(own_shop: Shop):
    episode, why = say(own_shop, "prompt")[2], "w" * 500
    assert own_shop.cm("forget", episode, "--reason", f"{why}w").code == 2
    assert own_shop.cm("forget", episode, "--reason", why).code == 0
    assert own_shop.cm("episodes", "show", episode, "--json").json["forgotten"]["reason"] == why


def test_on_a_terminal_two_answers_are_asked_for(
    own_shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    ids = say(own_shop, f"send {SECRET} away")
    monkeypatch.chdir(own_shop.root)
    monkeypatch.setattr(module.sys.stdin, "isatty", lambda: True, raising=False)
    asked: list[str] = []

    def answers(first: bool, second: str) -> None:
        asked.clear()

        def confirm(text: str, **_: object) -> bool:
            asked.append(text)
            if not first:
                raise typer.Abort
            return True

        def prompt(text: str, **_: object) -> str:
            asked.append(text)
            return second

        monkeypatch.setattr(module.typer, "confirm", confirm)
        monkeypatch.setattr(module.typer, "prompt", prompt)

    def run() -> None:
        # Also where it was said twice already: whoever can be asked is asked.
        module.forget([ids[0]], erase=True, confirm=[ids[0]])

    for first, second, questions in ((False, "erase", 1), (True, "yes", 2), (True, "", 2)):
        answers(first, second)
        with pytest.raises(typer.Abort):
            run()
        assert len(asked) == questions
    assert in_journal(own_shop, SECRET)
    answers(True, "erase")
    run()
    assert not in_journal(own_shop, SECRET)
    assert ids[2] in capsys.readouterr().out


def test_a_project_that_is_no_more_is_scanned_with_all(new_shop: Shop):
    folder = new_shop.home / "data" / "journal" / "gone-0123456789ab"
    with nothing_redacted():
        Journal(folder).append("hook.prompt", {"prompt": SECRET})
    assert new_shop.cm("secrets", "scan").code == 0
    done = new_shop.cm("secrets", "scan", "--all", "--json")
    assert done.code == 1
    assert json.loads(done.out)["findings"][0]["where"].startswith(str(folder))


def test_other_episodes_with_the_same_lines_are_told_and_taken_along(new_shop: Shop):
    journal = Journal.of(new_shop.root)
    ids = [
        journal.append(
            "episode", {"root": str(new_shop.root), "prompts": [prompt], "patch": "+a line that is repeated"}
        ).id
        for prompt in ("one", "two")
    ]
    told = new_shop.cm("forget", "--erase", ids[0], "--confirm", ids[0], "--dry-run")
    assert f"1 other episode holds lines of the same patch or words: {ids[1]}" in told.err
    assert "--with-patches" in told.err
    gone = new_shop.cm("forget", "--erase", ids[0], "--with-patches", "--confirm", ids[0], "--json").json
    assert [event["id"] for event in gone["events"]] == ids


def test_one_place_is_one_place(new_shop: Shop):
    with nothing_redacted():
        Journal.of(new_shop.root).append("hook.prompt", {"root": str(new_shop.root), "prompt": SECRET})
    assert "1 in 1 place;" in new_shop.cm("secrets", "scan").err
