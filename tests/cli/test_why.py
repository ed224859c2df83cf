"""`cm search --why-not` and `--compare`: text, JSON and mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.cli.conftest import Shop, opened_once

QUESTION = "tax of the money in a cart"


@pytest.fixture(scope="module")
def shop(shop: Shop) -> Iterator[Shop]:
    with opened_once(shop):
        yield shop


def test_why_not_names_rank_parts_and_what_would_lift_it(shop: Shop):
    ranked = shop.cm("search", QUESTION, "--json", "--limit", "99").json["hits"]
    low = ranked[-1]
    place = f"{low['path']}:{low['start_line']}-{low['end_line']}"
    done = shop.cm("search", QUESTION, "--why-not", place, "--limit", "2")
    assert done.code == 0
    head = done.out.splitlines()[0]
    assert f"({place}) is at rank {low['rank']} of {len(ranked)} ranked passages; 2 are shown." in head
    assert "it lacks most: " in done.out.splitlines()[1]
    assert " this     first      last" in done.out
    assert f"{low['score']:+.3f}" in next(line for line in done.out.splitlines() if line.startswith("     score"))
    answer = shop.cm("search", QUESTION, "--why-not", place, "--limit", "2", "--json").json
    assert (answer["state"], answer["hit"]["rank"], answer["first"]["rank"], answer["last"]["rank"]) == (
        "ranked", low["rank"], 1, 2,
    )  # fmt: skip
    for name, hit in (("this", "hit"), ("first", "first"), ("last", "last")):
        assert sum(part[name] for part in answer["parts"]) == pytest.approx(answer[hit]["score"])


def test_a_file_that_is_not_indexed_says_why(new_shop: Shop):
    (new_shop.root / ".gitignore").write_text("secret.py\n")
    for name, text in (("secret.py", b"x = 1\n"), ("logo.png", b"\x89PNG\0"), ("empty.py", b"")):
        (new_shop.root / name).write_bytes(text)
    assert new_shop.cm("index").code == 0
    said = {
        name: new_shop.cm("search", "tax", "--why-not", name)
        for name in ("secret.py", "logo.png", "package-lock.json", "empty.py:3", ".cm/config.toml")
    }
    assert said["secret.py"].out.splitlines()[0] == "secret.py is not indexed: git ignores it."
    assert said["logo.png"].out.splitlines()[0] == "logo.png is not indexed: binary."
    assert said["package-lock.json"].out.splitlines()[0] == "package-lock.json is not indexed: lock file."
    assert "index.include in .cm/config.toml includes it." in said["package-lock.json"].out
    assert said["empty.py:3"].out.splitlines()[0] == "empty.py is not indexed: it has no lines to search."
    assert {done.code for name, done in said.items() if not name.startswith(".cm")} == {0}
    assert said[".cm/config.toml"].code == 3


def test_another_piece_of_the_same_function_stands_for_it(new_shop: Shop):
    body = "".join(f"    amount = amount + {n}  # a step of so many cents, added once more\n" for n in range(120))
    text = f"def settle(amount):\n{body}    return amount  # the tax of the cart is settled\n"
    (new_shop.root / "settle.py").write_text(text)
    assert new_shop.cm("index").code == 0
    answer = new_shop.cm("search", "tax of the cart settled", "--why-not", "settle.py:40", "--json").json
    assert (answer["state"], answer["hit"]["symbol"], answer["instead"]["symbol"]) == ("piece", "settle", "settle")
    assert answer["instead"]["end_line"] == 122
    assert "are a piece of settle, whose best piece" in answer["said"]


def test_names_that_are_nowhere(shop: Shop):
    done = shop.cm("search", QUESTION, "--why-not", "add_txa")
    assert (done.code, done.out) == (3, "")
    assert "Nothing in the index is named add_txa." in done.err
    assert "The nearest names are add_tax." in done.err
    for name in (
        "../../etc/passwd",
        "/etc/passwd",
        "\udcff",
        "x" * 5000,
        "'; DROP TABLE passage; --",
        "money.py:99999999999",
    ):
        assert shop.cm("search", QUESTION, "--why-not", name).code in {2, 3}, name
    assert shop.cm("search", QUESTION, "--why-not", " ").code == 2
    assert shop.cm("search", QUESTION, "--json", "--why-not", "nothing_of_this").code == 3


def test_two_hits_side_by_side(shop: Shop):
    hits = shop.cm("search", QUESTION, "--json").json["hits"]
    answer = shop.cm("search", QUESTION, "--compare", "1,3", "--json").json
    assert answer["hits"] == [hits[0], hits[2]]
    difference = sum(part["#1"] - part["#3"] for part in answer["parts"])
    assert difference == pytest.approx(hits[0]["score"] - hits[2]["score"])
    done = shop.cm("search", QUESTION, "--compare", "3,1")
    lines = done.out.splitlines()
    assert lines[0].startswith(f"#3  {hits[2]['path']}:")
    assert any(line.startswith(f"#1  {hits[0]['path']}:") for line in lines)
    assert f"{hits[2]['score'] - hits[0]['score']:+.3f}" in lines[-1]
    table = lines[lines.index(next(line for line in lines if "difference" in line)) + 1 : -2]
    sizes = [abs(float(line.split()[-1])) for line in table if not re.match(r" +\d+ more ", line)]
    assert len(sizes) > 3
    assert sizes == sorted(sizes, reverse=True)


def test_ranks_that_are_none(shop: Shop):
    for ranks in ("1", "1,1", "0,2", "a,b", "1,2,3", "-1,2", "1,٣", "", "1,999999999"):
        assert shop.cm("search", QUESTION, f"--compare={ranks}").code == 2, ranks


def test_options_that_go_against_each_other(shop: Shop):
    assert shop.cm("search", QUESTION, "--compare", "1,9999").code == 3
    for more in (["--by", "file"], ["--why-not", "Cart"]):
        assert shop.cm("search", QUESTION, "--compare", "1,2", *more).code == 2
    assert shop.cm("search", "--batch", "-", "--why-not", "Cart", stdin="tax\n").code == 2
