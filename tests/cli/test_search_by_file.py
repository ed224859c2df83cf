"""`cm search --by file`: text and JSON."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.conftest import Shop, make_repository

QUESTION = "tax of the money in a cart"


@pytest.fixture(scope="module")
def coins(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """The shop with a file of five passages, the first of which answers best; only asked."""
    base = tmp_path_factory.mktemp("coins")
    shop = Shop(base / "shop", base / "home")
    make_repository(shop.root)
    body = "".join(f"    amount = amount + {n}  # a coin of so many cents, counted again\n" for n in range(14))
    text = "".join(f"def coin_{n}(amount):\n{body}    return amount\n\n\n" for n in range(5))
    (shop.root / "coins.py").write_text(text)
    assert shop.cm("index").code == 0
    return shop


def test_a_file_stands_once_with_lines_of_its_best_passage_and_places_of_the_next(coins: Shop):
    done = coins.cm("search", "coin_2 cents tax", "--by", "file")
    heads = re.findall(r"^ *(\d+)\. (.+)$", done.out, re.MULTILINE)
    assert [int(rank) for rank, _ in heads] == list(range(1, len(heads) + 1))
    assert len({path for _, path in heads}) == len(heads) > 1
    assert re.search(rf"{len(heads)} of {len(heads)} files, \d+ candidates, hybrid", done.err)
    listed = done.out.split("coins.py\n", 1)[1].split("\n\n", 1)[0].splitlines()
    places = [
        place for place, line in enumerate(listed) if re.fullmatch(r" {5}\d+-\d+  function coin_\d  0\.\d{3}", line)
    ]
    assert "coin_2" in listed[0]
    assert places == [0, len(listed) - 3, len(listed) - 2]
    assert all(re.match(r" +\d+  ", line) for line in listed[1 : places[1]])
    assert listed[-1] == "     and 2 more passages"


def test_what_is_not_listed_is_counted_in_json(coins: Shop):
    [file] = coins.cm("search", "coin", "--by", "file", "--limit", "1", "--json").json["files"]
    assert (file["path"], len(file["hits"]), file["more"]) == ("coins.py", 3, 2)


def test_every_part_of_every_score_is_explained(shop: Shop):
    done = shop.cm("search", QUESTION, "--by", "file", "--limit", "2", "--explain")
    places = re.findall(r"^ {5}\d+-\d+  ", done.out, re.MULTILINE)
    assert done.out.count("= sum") == len(places) > 2


def test_the_limit_counts_files(shop: Shop):
    most = shop.cm("search", QUESTION, "--by", "file", "--json").json["files"]
    for limit in (1, 2, 3):
        result = shop.cm("search", QUESTION, "--by", "file", "--json", "--limit", str(limit)).json
        assert result["files"] == most[:limit]
        assert result["total_files"] == len(most)


def test_batch_and_mistakes(shop: Shop):
    lines = shop.cm("search", "--batch", "-", "--by", "file", stdin="tax\n\ncart").out.splitlines()
    assert [bool(json.loads(line)["files"]) for line in lines] == [True, False, True]
    wrong = shop.cm("search", "tax", "--by", "folder")
    assert wrong.code == 2
    assert "'folder' is not one of 'passage', 'file'" in wrong.err
