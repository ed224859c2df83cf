"""`cm proposals`: what waits is listed, shown with its evidence and decided; and whatever is typed gets a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from cm_tui.engine.api.engine import Engine
from tests.cli.conftest import Shop, ShopTemplate, opened_once
from tests.cli.taught import COMMAND, teach

NOTE = ".cm/notes/project.md"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> ShopTemplate:
    return ShopTemplate(tmp_path_factory.mktemp("taught"), teach_and_narrate, indexed=False)


@pytest.fixture
def taught(kept: ShopTemplate, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A project whose sessions taught a rule and a command, and of which nothing was decided yet."""
    with opened_once(kept.put_back(monkeypatch)) as shop:
        yield shop


def teach_and_narrate(shop: Shop) -> dict:
    """Return the only statement."""
    teach(shop)
    assert shop.cm("narrate").code == 0
    return only(shop, "statement")


@pytest.fixture
def rule(kept: ShopTemplate) -> dict:
    """The only statement that waits in `taught`."""
    return dict(kept.found)


def waiting(shop: Shop, kind: str = "") -> list[dict]:
    words = ["--kind", kind] if kind else []
    return shop.cm("proposals", "list", *words, "--json").json["rows"]


def only(shop: Shop, kind: str) -> dict:
    rows = waiting(shop, kind)
    assert len(rows) == 1, rows
    return rows[0]


def note(shop: Shop) -> str:
    file = shop.root / NOTE
    return file.read_text() if file.exists() else ""


def test_listed_alone_and_by_filters(taught: Shop):
    done = taught.cm("proposals")
    assert done.code == 0, done.err
    rows = waiting(taught)
    assert [line.split()[0] for line in done.out.splitlines()] == [row["id"] for row in rows]
    assert "cm proposals show ID" in done.err
    assert {"of", "id", "kind", "text", "why", "confidence", "parts", "evidence_ids", "state", "digest"} <= set(rows[0])
    rule = only(taught, "statement")
    assert "push to main" in rule["text"]
    assert rule["sessions"] == 4
    assert only(taught, "command")["text"].count(COMMAND) == 1
    # How sure something is grows old with each second.
    plain, listed = (
        [{**row, "confidence": 0, "parts": []} for row in taught.cm(*words).json["rows"]]
        for words in (("--json", "proposals"), ("proposals", "--json", "list"))
    )
    assert plain == listed
    found = taught.cm("proposals", "list", "--match", "fridays main", "--json").json
    assert [row["id"] for row in found["rows"]] == [rule["id"]]
    one = taught.cm("proposals", "list", "--limit", "1", "--json").json
    assert (len(one["rows"]), one["total"]) == (1, len(rows))
    assert taught.cm("proposals", "list", "--state", "approved", "--json").json["total"] == 0


def test_shown_with_diff_and_evidence(taught: Shop, rule: dict):
    shown = taught.cm("proposals", "show", rule["id"])
    assert shown.code == 0, shown.err
    assert f"+- {rule['text']}" in shown.out
    assert rule["why"] in shown.out
    assert f"{rule['evidence_ids'][0]}  " in shown.out
    assert "Fridays" in shown.out
    whole = taught.cm("proposals", "show", rule["id"], "--json").json
    assert whole["evidence"][0]["episode"] in whole["evidence_ids"]
    assert whole["diff"]
    assert f"{rule['id']}@{whole['digest']}" in shown.err
    product = 1.0
    for part in whole["parts"]:
        assert f"{part['name']:<10} {part['value']:.2f}" in shown.out
        product *= part["value"]
    assert product == pytest.approx(whole["confidence"], abs=0.001)
    assert taught.cm("proposals", "show", rule["id"][:4]).out == shown.out, "the beginning of an id"
    assert taught.cm("episodes", whole["evidence"][0]["episode"]).code == 0
    assert note(taught) == "", "looking writes nothing"


def test_approved_written_and_taken_back(taught: Shop, rule: dict):
    done = taught.cm("proposals", "approve", rule["id"])
    assert done.code == 0, done.err
    assert NOTE in done.out
    assert f"cm proposals undo {rule['id']}" in done.err
    assert f"- {rule['text']} <!-- cm:narrator {rule['id']} -->" in note(taught)
    assert not waiting(taught, "statement")
    (approved,) = taught.cm("proposals", "list", "--state", "approved", "--json").json["rows"]
    assert (approved["id"], approved["decided_by"]) == (rule["id"], "person")
    again = taught.cm("proposals", "approve", rule["id"])
    assert again.code == 1, "it is decided"
    undone = taught.cm("proposals", "undo", rule["id"], "--json")
    assert (undone.code, undone.json["done"]) == (0, True)
    assert rule["text"] not in note(taught)
    assert only(taught, "statement")["id"] == rule["id"]


def test_several_are_taken_back_each_by_itself(taught: Shop, rule: dict):
    both = [rule["id"], only(taught, "command")["id"]]
    assert taught.cm("proposals", "approve", *both).code == 0
    undone = taught.cm("proposals", "undo", *both, "--json")
    assert (undone.code, undone.json["total"], undone.json["done"]) == (0, 2, 2)
    assert {row["id"] for row in waiting(taught)} >= set(both)
    assert taught.cm("proposals", "reject", both[1]).code == 0
    some = taught.cm("proposals", "undo", *both)
    assert some.code == 1
    assert some.out.startswith(f"{both[1]}  undone")
    assert f"{both[0]}: {both[0]} is still waiting: there is no decision to undo; nothing was undone" in some.err
    assert taught.cm("proposals", "undo").code == 2


def test_rejected_for_good(taught: Shop, rule: dict):
    done = taught.cm("proposals", "reject", rule["id"], "--reason", "we push every day now")
    assert done.code == 0, done.err
    assert taught.cm("narrate").code == 0
    assert not waiting(taught, "statement"), "the same is not proposed again"
    (rejected,) = taught.cm("proposals", "list", "--state", "rejected", "--json").json["rows"]
    assert rejected["reason"] == "we push every day now"
    assert "we push every day now" in taught.cm("proposals", "show", rule["id"]).out
    assert taught.cm("proposals", "undo", rule["id"]).code == 0
    assert only(taught, "statement")["id"] == rule["id"]


def test_deferred_and_several_at_once(taught: Shop):
    ids = [row["id"] for row in waiting(taught)]
    assert len(ids) > 1
    done = taught.cm("proposals", "defer", *ids, "--json")
    assert (done.code, done.json["done"]) == (0, len(ids)), done.err
    assert waiting(taught) == []
    deferred = taught.cm("proposals", "list", "--state", "deferred", "--json").json["rows"]
    assert {row["id"] for row in deferred} == set(ids)
    assert taught.cm("proposals", "approve", *ids).code == 0, "what was put off is decided like any other"


def test_all_of_a_kind(taught: Shop):
    ids = [row["id"] for row in waiting(taught, "command")]
    assert ids
    refused = taught.cm("proposals", "approve", "--kind", "command", "--all")
    assert (refused.code, waiting(taught, "command") != []) == (4, True), "no terminal to ask in"
    done = taught.cm("proposals", "approve", "--kind", "command", "--all", "--yes", "--json")
    assert done.code == 0, done.err
    assert [row["id"] for row in done.json["rows"]] == ids
    assert waiting(taught, "statement"), "others wait on"
    again = taught.cm("proposals", "approve", "--kind", "command", "--all", "--yes")
    assert (again.code, "no proposal of the kind command waits" in again.err) == (0, True)


def test_a_rule_is_a_persons_at_a_terminal(taught: Shop, rule: dict):
    done = taught.cm("proposals", "approve", rule["id"], "--as-rule")
    assert (done.code, "terminal" in done.err) == (4, True)
    assert only(taught, "statement")["id"] == rule["id"]
    assert taught.cm("entries", "list", "--json").json["total"] == 0


def test_as_rule_at_a_terminal_is_given_to_agents(taught: Shop, rule: dict):
    import typer

    from cm_tui.cli import options

    terminal = mock.Mock(stdin=mock.Mock(isatty=lambda: True), stderr=mock.Mock(isatty=lambda: True))
    with mock.patch.object(options, "sys", terminal), mock.patch.object(typer, "confirm") as asked:
        done = taught.cm("proposals", "approve", rule["id"], "--as-rule")
    assert (done.code, asked.call_count) == (0, 1), done.err
    assert rule["text"] in taught.cm("entries", "inject").out
    assert note(taught) == ""
    assert taught.cm("proposals", "undo", rule["id"]).code == 0
    assert rule["text"] not in taught.cm("entries", "inject").out


def test_edited_then_approved(taught: Shop, rule: dict, tmp_path: Path):
    import click

    from cm_tui.cli import options

    assert taught.cm("proposals", "edit", rule["id"]).code == 2, "there is no terminal"
    terminal = mock.Mock(stdin=mock.Mock(isatty=lambda: True))
    for edited, code in ((None, 1), ("  \n", 1), ("Push on mondays,\nnever later.\n", 0)):
        with (
            mock.patch.object(options, "sys", terminal),
            mock.patch.object(click, "edit", return_value=edited) as opened,
        ):
            done = taught.cm("proposals", "edit", rule["id"])
        assert done.code == code, done.err
        assert opened.call_args.args == (f"{rule['text']}\n",)
    assert "- Push on mondays, never later. <!--" in note(taught)


def test_wishes_of_agents_are_decided_in_the_same_inbox(taught: Shop, rule: dict):
    with Engine.open(taught.root) as engine:
        written = engine.propose_entry("Never on fridays.", category="Rule", agent="codex", actor="agent").proposal
        other = engine.propose_entry("Always on sundays.", category="Rule", agent="codex", actor="agent").proposal
    rows = waiting(taught)
    assert [row["id"] for row in rows[-2:]] == [written, other], "after what was found"
    assert {row["of"] for row in rows} == {"note", "entry"}
    mine = waiting(taught, "agent")
    assert [(row["id"], row["proposed_by"], row["state"]) for row in mine] == [
        (written, "codex", "waiting"), (other, "codex", "waiting"),
    ]  # fmt: skip
    assert taught.cm("status", "--json").json["proposals"] is None, "there is no index yet"
    assert "Never on fridays." in taught.cm("proposals", "show", written).out
    assert taught.cm("proposals", "approve", written, "--text", "x").code == 2
    assert taught.cm("proposals", "defer", written).code == 2
    done = taught.cm("proposals", "approve", written, rule["id"], "--json")
    assert (done.code, [row["id"] for row in done.json["rows"]]) == (0, [written, rule["id"]]), done.err
    assert taught.cm("proposals", "reject", f"proposal/{other}").code == 0
    assert waiting(taught, "agent") == []
    contents = [row["content"] for row in taught.cm("entries", "list", "--json").json["rows"]]
    assert contents == ["Never on fridays."]
    gone = taught.cm("proposals", "approve", written)
    assert (gone.code, "cm undo" in gone.err) == (3, True)


def test_what_waits_is_counted(taught: Shop):
    number = len(waiting(taught))
    assert taught.cm("index").code == 0
    assert f"{number} wait for you: `cm proposals`" in taught.cm("status").out
    assert taught.cm("status", "--json").json["proposals"] == number


WRONG = (
    (("show", ""), 2), (("show", "n" * 5000), 2), (("show", "\x1b[31m\n"), 2), (("show", "../../etc"), 3), (("show", "nabc\u202e"), 2),
    (("approve",), 2), (("approve", "nzzzzzz"), 3), (("approve", "--all"), 2), (("approve", "--kind", "nope", "--all"), 2),
    (("reject", "nzzzzzz", "--reason", "x" * 501), 2), (("undo", "nzzzzzz"), 3), (("list", "--state", "nope"), 2), (("nope",), 2),
)  # fmt: skip


def test_whatever_is_typed_gets_a_sentence(shop: Shop):
    for words, code in WRONG:
        done = shop.cm("proposals", *words)
        assert (done.code, done.out) == (code, ""), (words, done.err)
        assert done.err.isprintable() or "\n" in done.err, words
        assert not {"\x1b", "\u202e"} & set(done.err), words
        assert len(done.err) < 2_000, words


def test_one_that_cannot_be_approved_says_what_to_do(taught: Shop, rule: dict):
    done = taught.cm("proposals", "approve", f"{rule['id']}@00000000")
    assert done.code == 1
    assert ".;" not in done.err
    assert f"cm proposals show {rule['id']}" in done.err
    row = taught.cm("proposals", "approve", f"{rule['id']}@00000000", "--json").json["rows"][0]
    assert row["problem"]
    assert f"cm proposals show {rule['id']}" in row["hint"]


def test_an_empty_name_of_a_note_is_not_another_one(taught: Shop, rule: dict):
    for name in ("", " ", "topics/", "user:", "user:topics/", ".cm/notes/"):
        done = taught.cm("proposals", "approve", rule["id"], "--to", name)
        assert done.code in (1, 2), name
        assert ("Not a note name" if name.strip() else "needs the name of a note") in done.err, name
    assert only(taught, "statement")["id"] == rule["id"]
    assert not note(taught)


def test_what_cannot_be_approved_is_not_said_to_be_written(taught: Shop, rule: dict):
    file = taught.root / NOTE
    file.parent.mkdir(parents=True)
    file.write_text("# Project\n")
    file.chmod(0o444)
    shown = taught.cm("proposals", "show", rule["id"])
    assert "is read-only" in shown.out
    assert "writes exactly this" not in shown.err
    assert "--to NOTE" in shown.err


def test_what_a_person_said_is_not_told_as_an_agents(taught: Shop, rule: dict):
    said = [line for line in taught.cm("proposals", "show", rule["id"]).out.splitlines() if "“" in line]
    assert said
    assert not any("  agent  " in line for line in said)
