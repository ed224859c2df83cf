"""`cm tune`: marks and what they move, and profiles taken back."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Shop

QUESTION = "what does a customer pay"


def test_a_mark_comes_is_listed_is_turned_round_and_goes(own_shop: Shop):
    shop = own_shop
    assert shop.cm("tune", "marks").err.strip() == "nothing to list"
    done = shop.cm("tune", "mark", QUESTION, "checkout.py:8", "--right")
    assert done.code == 0
    assert done.out.startswith("marked right: shop/checkout.py:")
    assert "of the" in done.err or "is at rank" in done.err or "no candidate" in done.err
    assert shop.cm("tune", "mark", QUESTION, "add_tax", "--wrong", "--json").json["mark"]["path"] == "shop/money.py"
    rows = shop.cm("tune", "marks", "--json").json["rows"]
    assert [(row["path"], row["right"]) for row in rows] == [("shop/checkout.py", True), ("shop/money.py", False)]
    assert shop.cm("tune", "mark", f"  {QUESTION} ", "add_tax", "--right").code == 0
    listed = shop.cm("tune", "marks").out.splitlines()
    assert listed[0] == QUESTION
    assert [line.split()[0] for line in listed[1:]] == ["right", "right"]
    assert shop.cm("tune", "unmark", QUESTION, "shop/money.py:7").code == 0
    assert len(shop.cm("tune", "marks", "--json").json["rows"]) == 1
    assert shop.cm("tune", "unmark", QUESTION).code == 0
    assert shop.cm("tune", "marks", "--json").json["rows"] == []


def test_mistakes(own_shop: Shop):
    shop = own_shop
    for words, code in (
        (["mark", QUESTION, "add_tax"], 2), (["mark", QUESTION, "add_tax", "--right", "--wrong"], 2),
        (["mark", " ", "add_tax", "--right"], 2), (["mark", QUESTION, "add_txa", "--right"], 3),
        (["mark", QUESTION, "package-lock.json", "--right"], 3), (["unmark", "never asked"], 3),
        (["mark", QUESTION, "\udcff", "--right"], 2), (["mark", "\udcff", "add_tax", "--right"], 2), (["nothing"], 2),
    ):  # fmt: skip
        done = shop.cm("tune", *words)
        assert done.code == code, (words, done)
        assert "Traceback" not in done.err
    assert shop.cm("tune").err.strip() == "nothing to list"
    assert not (shop.root / ".cm/marks.json").exists()


REST = '# mine\n[search]\nprofile = "code" # kept\n\n[profiles.code]\nlimit = 7\n\n[profiles.code.adjustments]\ntests = 0.1\n\n# of notes\n[profiles.notes]\nlimit = 3\n'


def test_a_saved_profile_is_taken_back_and_the_rest_of_the_file_stays(own_shop: Shop):
    shop = own_shop
    file = shop.root / ".cm/config.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(REST)
    assert len(shop.cm("search", "cart", "--json").json["hits"]) <= 7
    done = shop.cm("tune", "--reset")
    assert (done.code, done.out) == (0, "")
    assert "limit, adjustments.tests" in done.err
    kept = [line for line in file.read_text().split("\n") if line]
    assert kept == ["# mine", "[search]", 'profile = "code" # kept', "# of notes", "[profiles.notes]", "limit = 3"]
    assert "code has no changes" in shop.cm("tune", "--reset", "code").err
    assert shop.cm("tune", "--reset", "notes", "--json").json["removed"] == ["limit"]
    assert shop.cm("tune", "--reset=recall").code == 0
    assert "profiles" not in file.read_text()


def test_what_cannot_be_taken_back_is_left_as_it_is(own_shop: Shop):
    file = own_shop.root / ".cm/config.toml"
    file.parent.mkdir(exist_ok=True)
    for text, name, code in (
        ("", "nope", 2),
        ("[profiles.mine]\nlimit = 3\n", "mine", 4),
        ("[profiles\n", "code", 2),
        ("profiles.code.limit = 3\n", "code", 2),
        ("[profiles.code]\nlimit = 0\n", "code", 0),
    ):
        file.write_text(text)
        done = own_shop.cm("tune", "--reset", name)
        assert done.code == code, done.err
        assert "Traceback" not in done.err
        # A file in which nothing is left goes.
        assert file.read_text() == text if code else not file.exists()


def paths(shop: Shop, question: str = QUESTION) -> list[str]:
    return [hit["path"] for hit in shop.cm("search", question, "--json").json["hits"]]


def test_a_mark_moves_its_result_for_its_question_alone(own_shop: Shop):
    shop = own_shop
    before, other = paths(shop), paths(shop, "refunds of the shop")
    assert before[0] != before[-1]
    assert shop.cm("tune", "mark", QUESTION, before[-1], "--right").code == 0
    assert shop.cm("tune", "mark", QUESTION, before[0], "--wrong").code == 0
    found = shop.cm("search", f" {QUESTION}", "--json").json["hits"]
    assert (found[0]["path"], found[-1]["path"]) == (before[-1], before[0])
    (part,) = [part for part in found[0]["parts"] if part["name"] == "mark"]
    assert part["detail"] == "marked right for this question"
    assert sum(part["contribution"] for part in found[0]["parts"]) == pytest.approx(found[0]["score"])
    assert paths(shop, "refunds of the shop") == other
    assert shop.cm("tune", "unmark", QUESTION).code == 0
    assert paths(shop) == before


def test_what_no_side_finds_is_found_where_it_was_marked_right(own_shop: Shop):
    question = "zyzzyva qwfp"
    assert own_shop.cm("tune", "mark", question, "add_tax", "--right").code == 0
    (hit, *_) = own_shop.cm("search", question, "--mode", "keyword", "--json").json["hits"]
    assert (hit["path"], hit["start_line"] <= 7 <= hit["end_line"]) == ("shop/money.py", True)


def test_marks_that_cannot_be_understood_change_nothing_and_it_is_said(own_shop: Shop):
    shop = own_shop
    before = paths(shop)
    file = shop.root / ".cm/marks.json"
    file.parent.mkdir(exist_ok=True)
    strange = {"question": "x\x1b[31m", "path": "shop/cart.py", "lines": [1, 2], "right": True}
    file.write_text(
        json.dumps({"marks": [strange, {"question": QUESTION, "path": "../x", "lines": [1, 1], "right": True}]})
    )
    listed = shop.cm("tune", "marks")
    assert "\x1b" not in listed.out
    assert "1 mark" in listed.err
    assert paths(shop) == before
    file.write_text("{")
    assert "not valid" in shop.cm("tune").err
    assert paths(shop) == before
    assert shop.cm("tune", "mark", QUESTION, "add_tax", "--right").code == 0
    assert list(file.parent.glob("marks.damaged-*.json"))
    file.unlink()
    file.symlink_to(shop.root / "README.md")
    found = shop.cm("search", QUESTION, "--json").json
    assert [hit["path"] for hit in found["hits"]] == before
    assert any("Marks are not applied" in note for note in found["notes"])
