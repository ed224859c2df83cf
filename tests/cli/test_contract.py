"""The command line's contract: JSON shapes, streams and exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Shop, git


def test_index_ends_with_a_summary(new_shop: Shop):
    done = new_shop.cm("index", "--json")
    assert done.code == 0
    summary = done.json
    assert summary["files"] == 6
    assert summary["blobs"] == 6
    assert summary["symbols"] >= 10
    assert summary["references"] >= 5
    assert summary["passages"] == summary["embedded"]
    assert sum(summary["skipped"].values()) == 1
    assert all(seconds >= 0 for seconds in summary["seconds"].values())


def test_second_run_parses_nothing(shop: Shop):
    summary = shop.cm("index", "--json").json
    assert summary["blobs"] == 0
    assert summary["embedded"] == 0
    assert summary["files"] == 6


def test_search_object(shop: Shop):
    done = shop.cm("search", "sum of all items with tax", "--json", "--limit", "3")
    result = done.json
    assert {"query", "mode", "took_ms", "hits"} <= set(result)
    assert result["mode"] == "hybrid"
    first = result["hits"][0]
    assert {
        "rank", "source", "path", "start_line", "end_line", "symbol", "kind", "language", "score", "snippet", "parts",
    } <= set(first)  # fmt: skip
    assert first["path"] in {"shop/cart.py", "shop/money.py"}
    assert len(result["hits"]) == 3
    for hit in result["hits"]:
        assert {"name", "value", "weight", "contribution", "detail"} <= set(hit["parts"][0])
        assert sum(part["contribution"] for part in hit["parts"]) == pytest.approx(hit["score"], abs=1e-6)


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
def test_modes(shop: Shop, mode: str):
    result = shop.cm("search", "format_price", "--mode", mode, "--json").json
    assert result["mode"] == mode
    assert result["hits"][0]["path"] == "shop/money.py"


def test_search_for_people_explains(shop: Shop):
    done = shop.cm("search", "format_price", "--explain", "--limit", "1")
    assert "shop/money.py:" in done.out
    assert "= sum" in done.out
    assert "candidates" in done.err


def test_batch_keeps_the_order(shop: Shop, tmp_path: Path):
    queries = ["refund money", "", "Cart", "'; DROP TABLE passage; --", "[/bold] [red]"]
    file = tmp_path / "queries.txt"
    file.write_text("\n".join(queries))
    lines = shop.cm("search", "--batch", str(file)).out.splitlines()
    assert [json.loads(line)["query"] for line in lines] == queries
    piped = shop.cm("search", "--batch", "-", stdin="\n".join(queries)).out.splitlines()
    assert [json.loads(line)["query"] for line in piped] == queries


def test_definitions(shop: Shop):
    page = shop.cm("definitions", "Cart.total", "--json").json
    assert page["total"] == 1
    row = page["rows"][0]
    assert (row["path"], row["qualname"], row["kind"]) == ("shop/cart.py", "Cart.total", "method")
    assert row["line"] == 16


def test_callers_have_lines_and_resolutions(shop: Shop):
    page = shop.cm("callers", "add_tax", "--json").json
    rows = [(row["path"], row["qualname"], row["line"], row["resolution"]) for row in page["rows"]]
    assert rows == [("shop/cart.py", "Cart.total", 18, "import")]


def test_callers_by_receiver_type_and_depth(shop: Shop):
    page = shop.cm("callers", "Cart.total", "--json", "--depth", "2").json
    rows = {(row["qualname"], row["depth"], row["resolution"]) for row in page["rows"]}
    assert rows == {("receipt", 1, "receiver"), ("pay", 2, "same-file")}


def test_callees(shop: Shop):
    page = shop.cm("callees", "receipt", "--json").json
    assert {(row["qualname"], row["path"]) for row in page["rows"]} >= {
        ("format_price", "shop/money.py"),
        ("Cart.total", "shop/cart.py"),
    }


def test_imports_both_ways(shop: Shop):
    out = shop.cm("dependencies", "shop/checkout.py", "--json").json
    assert {row["target"] for row in out["rows"]} == {"shop/cart.py", "shop/money.py"}
    for target in ("shop/money.py", "shop.money"):
        into = shop.cm("importers", target, "--json").json
        assert {row["path"] for row in into["rows"]} == {"shop/cart.py", "shop/checkout.py"}


def test_symbols_by_file_kind_and_fuzzy_name(shop: Shop):
    names = [row["qualname"] for row in shop.cm("symbols", "--file", "shop/cart.py", "--json").json["rows"]]
    assert names[:2] == ["Cart", "Cart.__init__"]
    kinds = {row["kind"] for row in shop.cm("symbols", "--kind", "class", "--json").json["rows"]}
    assert kinds == {"class"}
    assert shop.cm("symbols", "--match", "fmtprice", "--json").json["rows"][0]["qualname"] == "format_price"


def test_pack_is_within_its_budget(shop: Shop):
    done = shop.cm("pack", "how is tax added", "--budget", "600")
    assert "def add_tax" in done.out
    packed = shop.cm("pack", "how is tax added", "--budget", "600", "--format", "json").json
    assert packed["tokens"] <= packed["budget"] == 600


def test_dry_run_changes_nothing(new_shop: Shop):
    plan = new_shop.cm("index", "--dry-run", "--json").json
    assert plan["files"] == 6
    assert "shop/cart.py" in plan["added"]
    assert new_shop.cm("search", "cart").code == 3


def test_status_skipped_and_doctor(shop: Shop):
    status = shop.cm("status", "--json").json
    assert status["indexed"]
    assert status["files"] == 6
    assert status["embedded"] == status["passages"]
    skipped = shop.cm("skipped", "--json").json
    assert skipped["rows"][0]["path"] == "package-lock.json"
    doctor = shop.cm("doctor", "--json")
    assert doctor.code == 0, doctor.out
    assert {check["state"] for check in doctor.json["checks"]} == {"ok"}


def test_one_file(new_shop: Shop):
    new_shop.cm("index")
    file = new_shop.root / "shop" / "money.py"
    file.write_text(file.read_text() + "\n\ndef zebra_discount():\n    return 1\n")
    assert new_shop.cm("index", str(file), "--json").json["blobs"] == 1
    hit = new_shop.cm("search", "zebra_discount", "--json").json["hits"][0]
    assert hit["symbol"] == "zebra_discount"


def test_a_commit_is_noticed_before_the_next_question(new_shop: Shop):
    new_shop.cm("index")
    file = new_shop.root / "shop" / "later.py"
    file.write_text("def came_later():\n    return 1\n")
    git(new_shop.root, "add", "-A")
    git(new_shop.root, "commit", "-qm", "Add more")
    assert new_shop.cm("definitions", "came_later", "--json").json["total"] == 1


def test_reset_asks_first(new_shop: Shop):
    new_shop.cm("index")
    assert new_shop.cm("reset", stdin="n\n").code == 1
    assert new_shop.cm("status", "--json").json["indexed"]
    assert new_shop.cm("reset", "--yes").code == 0
    assert new_shop.cm("search", "cart").code == 3


def test_rebuild_gives_the_same_answers(new_shop: Shop):
    new_shop.cm("index")
    before = new_shop.cm("search", "tax", "--json").json["hits"]
    assert new_shop.cm("rebuild", "--json").code == 0
    after = new_shop.cm("search", "tax", "--json").json["hits"]
    ids = {"passage"}
    assert [{k: v for k, v in h.items() if k not in ids} for h in after] == [
        {k: v for k, v in h.items() if k not in ids} for h in before
    ]


def test_project_option_before_and_after_the_command(shop: Shop, tmp_path: Path):
    root = str(shop.root)
    assert shop.cm("definitions", "pay", "--json", "--project", root, cwd=tmp_path).json["total"] == 1
    assert shop.cm("--project", root, "definitions", "pay", "--json", cwd=tmp_path).json["total"] == 1
    assert shop.cm("definitions", "pay", "--json", cwd=shop.root / "shop").json["total"] == 1


@pytest.mark.parametrize("words", ["status", "definitions pay", "history line", "agent status", "doctor"])
def test_json_option_before_and_after_the_command(shop: Shop, words: str):
    before, after = (shop.cm(*line.split()) for line in (f"--json {words}", f"{words} --json"))
    assert (before.code, before.json.keys()) == (0, after.json.keys())
    assert not shop.cm("history", "status").out.startswith("{")


@pytest.mark.parametrize("words", [["status"], ["doctor"], ["index", "--dry-run"]])
def test_looking_at_a_project_that_was_never_indexed_leaves_no_store(new_shop: Shop, words: list[str]):
    assert new_shop.cm(*words).code == 0
    assert not list(new_shop.home.rglob("store.duckdb"))
    assert new_shop.cm("index").code == 0
    assert list(new_shop.home.rglob("store.duckdb"))


@pytest.mark.parametrize(
    ("old", "new", "words"), [("vacuum", "prune", ["--all", "--dry-run"]), ("hooks", "git-hooks", ["status"])]
)
def test_what_was_renamed_goes_by_its_old_name_too(shop: Shop, old: str, new: str, words: list[str]):
    one, other = shop.cm(new, *words, "--json"), shop.cm(old, *words, "--json")
    assert (other.code, other.json) == (0, one.json)
    assert other.err == f"`cm {old}` is called `cm {new}` now.\n{one.err}"
    assert not re.search(rf"^[│ ]*{old} ", shop.cm("--help", NO_COLOR="1").out, re.MULTILINE)
