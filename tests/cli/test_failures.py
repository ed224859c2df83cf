"""What a user can do wrong, and what cm says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Shop


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["search"], 2, "query"),
        (["search", "x", "--mode", "telepathy"], 2, "telepathy"),
        (["search", "x", "--profile", "nope"], 2, "nope"),
        (["search", "--batch", "missing.txt"], 3, "missing.txt"),
        (["definitions", "no_such_thing"], 3, "no_such_thing"),
        (["callers", "no_such_thing"], 3, "no_such_thing"),
        (["dependencies", "shop/missing.py"], 3, "shop/missing.py"),
        (["dependencies", "../../etc/passwd"], 4, "outside"),
        (["symbols", "--file", "missing.py"], 3, "missing.py"),
        (["pack", "x", "--format", "pdf"], 2, "pdf"),
        (["index", "--since", "no-such-ref"], 3, "no-such-ref"),
        (["bench", "nothing"], 2, "nothing"),
        (["frobnicate"], 2, "frobnicate"),
        (["status", "--project", "/no/such/folder"], 3, "/no/such/folder"),
        (["index", "/no/such/folder/at/all"], 3, "/no/such/folder"),
        (["index", "/"], 4, "/"),
        (["index", str(Path.home())], 4, "home"),
        (["index", "/etc"], 4, "/etc"),
    ],
)
def test_message_and_exit_code(shop: Shop, words: list[str], code: int, says: str):
    done = shop.cm(*words)
    assert done.code == code, done.err
    assert says in done.err
    assert done.out == ""


def test_not_indexed_yet(new_shop: Shop):
    for words in (["search", "x"], ["symbols"], ["callers", "x"], ["pack", "x"]):
        done = new_shop.cm(*words)
        assert done.code == 3
        assert "cm index" in done.err
    assert not list(new_shop.home.rglob("store.duckdb"))


def test_alone_without_a_terminal(shop: Shop):
    done = shop.cm()
    assert done.code == 2
    assert "terminal" in done.err


@pytest.mark.parametrize(
    "query", ["", " ", "?!…", "x" * 100_000, "\x1b[31m", "SELECT * FROM passage; --", "[bold]x[/]", "日本語"]
)
def test_odd_queries(shop: Shop, query: str):
    done = shop.cm("search", "--json", "--", query) if query != "\0" else None
    assert done is not None
    assert done.code == 0, done.err
    assert done.json["query"] == query


def test_store_in_use_names_the_process(new_shop: Shop):
    new_shop.cm("index")
    code = (
        "import sys, pathlib\n"
        "from cm_tui.engine.memory import Memory\n"
        "memory = Memory.open(pathlib.Path(sys.argv[1]))\n"
        "print('open', flush=True)\n"
        "sys.stdin.read()\n"
    )
    environment = {**os.environ, "CM_HOME": str(new_shop.home)}
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(new_shop.root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    try:
        done = new_shop.cm("search", "cart")
        assert done.code == 5
        assert str(holder.pid) in done.err
    finally:
        holder.communicate("")


def test_truncated_store_is_named_and_mended(new_shop: Shop):
    new_shop.cm("index")
    store = next(new_shop.home.rglob("store.duckdb"))
    store.write_bytes(store.read_bytes()[:5000])
    done = new_shop.cm("search", "cart")
    assert done.code == 1
    assert "cm rebuild" in done.err
    assert new_shop.cm("rebuild").code == 0
    assert new_shop.cm("search", "cart", "--json").json["hits"]


def test_garbage_store(new_shop: Shop):
    new_shop.cm("index")
    next(new_shop.home.rglob("store.duckdb")).write_bytes(os.urandom(20_000))
    done = new_shop.cm("status")
    assert done.code == 1
    assert "cm rebuild" in done.err


def test_broken_settings_name_the_file(new_shop: Shop):
    settings = new_shop.root / ".cm" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("[search\n")
    done = new_shop.cm("status")
    assert done.code == 2
    assert "config.toml" in done.err
    settings.write_text('[index]\nmax_file_bytes = "big"\n')
    done = new_shop.cm("status")
    assert done.code == 2
    assert "max_file_bytes" in done.err


def test_without_a_model_keyword_search_answers_and_says_so(shop: Shop):
    result = shop.cm("search", "format_price", "--json", CM_EMBEDDING__PROVIDER="none").json
    assert result["mode"] == "keyword"
    assert result["hits"][0]["symbol"] == "format_price"
    assert result["notes"]


def test_data_folder_that_cannot_be_made(new_shop: Shop, tmp_path: Path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    done = new_shop.cm("index", CM_HOME=str(blocker / "home"))
    assert done.code == 1
    assert "CM_HOME" in done.err
