"""The command line's contract: JSON shapes, streams and exit codes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.code.freshness import policy
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import StoreError
from cm_tui.model import Progress
from tests.cli.conftest import Shop, git, opened_once


@pytest.fixture(scope="module")
def shop(shop: Shop) -> Iterator[Shop]:
    with opened_once(shop):
        yield shop


def test_index_ends_with_a_summary(new_shop: Shop):
    plan = new_shop.cm("index", "--dry-run", "--json").json
    assert plan["files"] == 6
    assert "shop/cart.py" in plan["added"]
    assert new_shop.cm("search", "cart").code == 3
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


BASKET = """class Basket:
    def put(self, item):
        pass


def load(basket: Basket, first, second, item):
    basket.put(item)
    first.put(item)
    second.put(item)
"""


def test_relations_are_limited_and_say_of_how_many(shop: Shop):
    asked = ("callers", "add_tax"), ("callees", "pay"), ("importers", "shop.cart"), ("definitions", "add_tax")
    for words in (*asked, ("dependencies", "shop/checkout.py")):
        page = shop.cm(*words, "--json").json
        found = shop.cm(*words, "-n", "1", "--json").json
        assert (found["rows"], found["total"]) == (page["rows"][:1], page["total"]), words
        assert (f"1 of {page['total']}" in shop.cm(*words, "--limit", "1").err) is (page["total"] > 1), words


def test_callers_count_what_could_not_be_resolved_and_list_it(new_shop: Shop):
    (new_shop.root / "shop/basket.py").write_text(BASKET)
    git(new_shop.root, "add", "-A")
    git(new_shop.root, "commit", "-qm", "A basket")
    (new_shop.root / "shop/more.py").write_text("def more(third):\n    third.put(3)\n")
    assert new_shop.cm("index").code == 0
    for words, more in (((), 3), (("--at", "HEAD"), 2)):
        found = new_shop.cm("callers", "Basket.put", "--json", *words)
        assert (found.json["total"], found.json["unresolved"]) == (1, more)
        assert f"{more} more sites could not be resolved" in found.err
        assert "--unresolved lists" in new_shop.cm("callers", "Basket.put", *words).err
        listed = new_shop.cm("callers", "Basket.put", "--unresolved", "--json", *words).json
        rows = [(row["qualname"], row["line"], row["text"], row["resolution"]) for row in listed["rows"]]
        assert rows[:2] == [("load", 8, "first.put(item)", "unresolved"), ("load", 9, "second.put(item)", "unresolved")]
        assert {row["candidates"][0]["qualname"] for row in listed["rows"]} == {"Basket.put"}
        assert listed["total"] == listed["unresolved"] == len(rows) == more
    assert "shop/more.py:2" in new_shop.cm("callers", "Basket.put", "--unresolved").out


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


def test_one_file(own_shop: Shop):
    file = own_shop.root / "shop" / "money.py"
    file.write_text(file.read_text() + "\n\ndef zebra_discount():\n    return 1\n")
    assert own_shop.cm("index", str(file), "--json").json["blobs"] == 1
    hit = own_shop.cm("search", "zebra_discount", "--json").json["hits"][0]
    assert hit["symbol"] == "zebra_discount"


def test_reset_asks_first(own_shop: Shop):
    assert own_shop.cm("reset", stdin="n\n").code == 1
    assert own_shop.cm("status", "--json").json["indexed"]
    assert own_shop.cm("reset", "--yes").code == 0
    assert own_shop.cm("search", "cart").code == 3


def record_turns(shop: Shop, count: int) -> None:
    """Episodes in the shop's journal, as an agent's sessions leave them."""
    with mock.patch.dict(os.environ, {"CM_HOME": str(shop.home)}):
        for number in range(count):
            data = EpisodeRecord(prompts=(f"sell {number} boulders",), answer="sold").to_event_data()
            Journal.of(shop.root).append("episode", data)


def test_reset_keeps_episodes_unless_they_are_dropped(own_shop: Shop):
    record_turns(own_shop, 3)
    for words, stdin in ((["--yes"], ""), (["--keep-episodes"], "y\n"), ([], "\ny\n"), ([], "y\ny\n")):
        done = own_shop.cm("reset", *words, stdin=stdin)
        assert done.code == 0, done.err
        assert "3 episodes kept" in done.err
        assert not own_shop.cm("status", "--json").json["indexed"]
    own_shop.cm("index")
    assert own_shop.cm("episodes", "--json").json["total"] == 3
    assert own_shop.cm("search", "boulders", "--profile", "memory", "--json").json["total"] == 3


def test_reset_drops_episodes_when_it_is_told_to(own_shop: Shop):
    for words, stdin in ((["--drop-episodes", "--yes"], ""), (["--drop-episodes"], "y\n"), ([], "n\ny\n")):
        record_turns(own_shop, 3)
        assert own_shop.cm("reset", *words, stdin=f"{stdin[:-2]}n\n").code == (0 if "--yes" in words else 1)
        if "--yes" not in words:
            assert own_shop.cm("episodes", "--json").json["total"] == 3
            done = own_shop.cm("reset", *words, stdin=stdin)
            assert done.code == 0, done.err
            assert "cannot be recreated" in done.err
        assert not any(b"boulders" in file.read_bytes() for file in own_shop.home.rglob("*.jsonl"))
    own_shop.cm("index")
    assert own_shop.cm("episodes", "--json").json["total"] == 0
    assert own_shop.cm("search", "boulders", "--profile", "memory", "--json").json["total"] == 0


def test_reset_everywhere(new_shop: Shop, tmp_path: Path):
    other = Shop(tmp_path / "other", new_shop.home)
    other.root.mkdir()
    (other.root / "a.py").write_text("def one(): pass\n")
    for shop in (new_shop, other):
        shop.cm("index", str(shop.root))
        record_turns(shop, 2)
    assert new_shop.cm("reset", "--everywhere", "--drop-episodes", stdin="n\n").code == 1
    kept = new_shop.cm("reset", "--all", "--yes", "--json")
    assert (len(kept.json["removed"]), kept.json["dropped_episodes"]) == (2, 0)
    gone = new_shop.cm("reset", "--everywhere", "--drop-episodes", "--yes", "--json")
    assert (len(gone.json["removed"]), gone.json["dropped_episodes"]) == (0, 4)
    assert not list(new_shop.home.rglob("*.jsonl"))


def edit(shop: Shop) -> None:
    """Edit a file, add one and delete one."""
    (shop.root / "shop/money.py").write_text("def round_down(cents):\n    return cents\n")
    (shop.root / "shop/refund.py").write_text("def refund():\n    return 1\n")
    (shop.root / "shop/checkout.py").unlink()


def test_without_a_daemon_edits_are_indexed_before_the_answer(own_shop: Shop):
    edit(own_shop)
    for name, code in (("round_down", 0), ("refund", 0), ("pay", 3), ("add_tax", 3)):
        found = own_shop.cm("definitions", name)
        assert (found.code, "changed since" in found.err) == (code, False), name
    assert "shop/refund.py" in own_shop.cm("search", "refund").out
    assert own_shop.cm("importers", "shop.cart", "--json").json["total"] == 1
    assert own_shop.cm("status", "--json").json["freshness"]["behind"] is False


def test_without_a_daemon_an_answer_says_which_edits_are_missing(own_shop: Shop, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(policy, "QUICK_BYTES", 10)
    edit(own_shop)
    behind = "3 files changed since the last index run"
    missing = f"{behind}; `cm index` brings it up to date."
    for words in (("definitions", "pay"), ("callers", "add_tax"), ("search", "receipt"), ("pack", "receipt")):
        found = own_shop.cm(*words)
        assert (found.code, missing in found.err) == (0, True), words
        assert missing in json.dumps(own_shop.cm(*words, "--json").json, ensure_ascii=False), words
    gone = own_shop.cm("definitions", "round_down")
    assert (gone.code, missing in gone.err) == (3, True)
    # What an earlier revision had does not depend on the files.
    assert missing not in own_shop.cm("definitions", "pay", "--at", "HEAD").err
    assert own_shop.cm("status", "--json").json["freshness"]["why"] == behind
    own_shop.cm("index")
    assert missing not in own_shop.cm("definitions", "round_down").err


def test_an_answer_does_not_wait_for_all_vectors(own_shop: Shop, monkeypatch: pytest.MonkeyPatch):
    seen: list[str] = []
    run = Engine.run_index

    def watched(self: Engine) -> Iterator[Progress]:
        for step in run(self):
            seen.append(step.stage)
            yield step

    edit(own_shop)
    with monkeypatch.context() as patch:
        patch.setattr(policy, "QUICK_S", -1.0)
        patch.setattr(Engine, "run_index", watched)
        assert own_shop.cm("definitions", "refund").code == 0
    assert seen[-1] == "store"
    done = own_shop.cm("index", "--json").json
    assert done["passages"] >= done["embedded"] > 0


def test_files_that_cannot_be_compared_are_reported(own_shop: Shop):
    os.mkfifo(own_shop.root / "shop/.gitignore")
    found = own_shop.cm("definitions", "pay")
    assert found.code == 0
    assert "The index is behind: files cannot be compared with the index:" in found.err


def test_edits_that_cannot_be_indexed_are_reported(own_shop: Shop, monkeypatch: pytest.MonkeyPatch):
    def fails(*_args: object, **_how: object) -> None:
        raise StoreError("The disk is full.")

    edit(own_shop)
    monkeypatch.setattr(Engine, "run_index", fails)
    found = own_shop.cm("definitions", "pay")
    assert found.code == 0
    assert "3 files changed since the last index run, and could not be indexed: The disk is full;" in found.err


def test_project_option_before_and_after_the_command(shop: Shop, tmp_path: Path):
    root = str(shop.root)
    assert shop.cm("definitions", "pay", "--json", "--project", root, cwd=tmp_path).json["total"] == 1
    assert shop.cm("--project", root, "definitions", "pay", "--json", cwd=tmp_path).json["total"] == 1
    assert shop.cm("definitions", "pay", "--json", cwd=shop.root / "shop").json["total"] == 1


@pytest.mark.parametrize("words", ["status", "definitions pay", "history line"])
def test_json_option_before_and_after_the_command(shop: Shop, words: str):
    before, after = (shop.cm(*line.split()) for line in (f"--json {words}", f"{words} --json"))
    assert (before.code, before.json.keys()) == (0, after.json.keys())
    assert not shop.cm("history", "status").out.startswith("{")


def test_looking_at_a_project_that_was_never_indexed_leaves_no_store(new_shop: Shop):
    for words in (("status",), ("doctor",), ("index", "--dry-run")):
        assert new_shop.cm(*words).code == 0
        assert not list(new_shop.home.rglob("store.duckdb")), words
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
