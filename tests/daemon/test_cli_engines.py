"""Every command says and does the same, whichever engine it takes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cm_tui.cli.quick_search import quick_search
from cm_tui.daemon import bootstrap, endpoint, runtime_dir
from tests.cli.conftest import Result, Shop, git
from tests.daemon.conftest import daemons_allowed, make_project, pid_of_daemon

WORDS: list[list[str]] = [
    ["status"],
    ["search", "tax"],
    ["index", "--dry-run"],
    ["index"],
    ["index", "--full", "--json"],
    ["status", "--json"],
    ["search", "add tax", "--json"],
    ["search", "Cart", "--explain", "-n", "2"],
    ["search", "x", "--profile", "nope"],
    ["search", "--batch", "-"],
    ["symbols", "--file", "shop/cart.py"],
    ["symbols", "--file", "../../etc/passwd"],
    ["definitions", "add_tax", "--json"],
    ["definitions", "no_such_thing"],
    ["callers", "add_tax", "--depth", "2"],
    ["callees", "pay"],
    ["dependencies", "shop/checkout.py"],
    ["importers", "shop.money"],
    ["skipped", "--json"],
    ["pack", "what is the tax"],
    ["index", "shop/cart.py"],
    ["index", "missing.py"],
    ["index", "--since", "no-such-ref"],
    ["index", "/"],
    ["status", "--project", "/no/such/folder"],
    ["doctor", "--json"],
    ["rebuild"],
    ["reset", "--yes"],
    ["search", "tax"],
    ["index"],
    ["search", "tax", "--project", "shop"],
]
CHANGING = re.compile(
    r"[\d.]+ (?:ms|s)\b|\"(?:took_ms|indexed_at|disk_bytes|scan|parse|store|keywords|vectors|graph)\": [\d.]+"
    r"|\([\d.]+ MB\)|store +\S+.*|\"store\": \"[^\"]*\"|about [\d.]+"
    r"|(?s:\n  \"freshness\": \{.*?\n  \})"  # only a daemon watches
)


@pytest.fixture
def local(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return Shop(make_project(tmp_path / "shop"), tmp_path_factory.mktemp("local"))


def test_every_command_says_the_same(local: Shop, owned: Path):
    remote = Shop(local.root, owned)
    # One after the other: a daemon in this process takes the settings of the moment for its own.
    ones = [local.cm(*words, stdin="tax\ncart\n", CM_DAEMON__USE="never") for words in WORDS]
    for words, one in zip(WORDS, ones, strict=True):
        other = remote.cm(*words, stdin="tax\ncart\n")
        assert _steady(one, local) == _steady(other, remote), words
    assert Path(runtime_dir.folder() / runtime_dir.INFO).exists()


def _steady(done: Result, shop: Shop) -> tuple[int, str, str]:
    texts = (CHANGING.sub("…", text.replace(str(shop.home), "HOME")) for text in (done.out, done.err))
    return (done.code, *texts)  # type: ignore[return-value]


def test_a_commit_is_said_before_the_answer(shop: Shop):
    shop.cm("index")
    git(shop.root, "commit", "-q", "--allow-empty", "-m", "on")
    done = shop.cm("search", "tax")
    assert "HEAD moved" in done.err
    assert "note" not in done.err


@pytest.mark.process  # pytest would hand on the daemon's log between its own processes, which cannot hold such a name
def test_a_folder_whose_name_is_not_utf8(shop: Shop, tmp_path: Path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    Path(folder).mkdir()
    one, other = (shop.cm("status", "--project", folder, CM_DAEMON__USE=use) for use in ("never", "auto"))
    assert (other.code, other.err) == (one.code, one.err)
    assert one.code == 2


def test_not_indexed_makes_no_store(shop: Shop):
    assert shop.cm("search", "x").code == 3
    assert not list(shop.home.rglob("store.duckdb"))


@pytest.mark.process
def test_settings_of_a_terminal_that_differ_are_said(shop: Shop):
    shop.cm("index")
    assert "other CM_* settings" in shop.cm("search", "tax", CM_EMBEDDING__PROVIDER="none").err
    assert "settings" not in shop.cm("search", "tax").err


def test_damaged_store_is_mended_through_the_daemon(shop: Shop):
    shop.cm("index")
    bootstrap.stop_daemon()
    next(shop.home.rglob("store.duckdb")).write_bytes(os.urandom(20_000))
    assert shop.cm("status").code == 1
    assert "cm rebuild" in shop.cm("search", "tax").err
    failed = [check for check in shop.cm("doctor", "--json").json["checks"] if check["state"] == "failed"]
    assert [check["name"] for check in failed] == ["store"]
    assert shop.cm("rebuild").code == 0
    assert shop.cm("search", "tax", "--json").json["hits"]


def test_serve_status_and_stop(shop: Shop):
    assert shop.cm("serve", "--status", "--json").json == {"running": False}
    assert "no daemon" in shop.cm("serve", "--stop").err
    shop.cm("index")
    report = shop.cm("serve", "--status", "--json").json
    assert report["running"]
    assert report["pid"] == pid_of_daemon()
    assert str(shop.root) in shop.cm("serve", "--status").out
    assert shop.cm("serve", "--stop", "--json").json == {"stopped": True}
    assert bootstrap.health() is None
    assert shop.cm("serve", "--stop", "--status").code == 2


def test_the_file_of_the_user_decides(shop: Shop):
    (shop.home / "config").mkdir()
    (shop.home / "config/config.toml").write_text('[daemon]\nuse = "never"\n')
    # The shop's own settings are undone after this test's would be.
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CM_DAEMON__USE")
        assert shop.cm("index").code == 0
        assert endpoint.daemon_info() is None
        (shop.home / "config/config.toml").write_text('[daemon]\nuse = "sometimes"\n')
        done = shop.cm("status")
    assert done.code == 2
    assert "daemon.use" in done.err


@pytest.mark.process
def test_two_homes_have_two_daemons(shop: Shop, tmp_path: Path):
    shop.cm("index")
    first = pid_of_daemon()
    with daemons_allowed(tmp_path / "other"):
        Shop(shop.root, tmp_path / "other").cm("index")
        assert pid_of_daemon() != first
    assert pid_of_daemon() == first


def test_a_search_with_few_modules_prints_what_the_whole_command_line_prints(
    indexed: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    indexed.cm("remember", "The tax is rounded half to even.")
    # Its vector, which is made in the background otherwise, would change the scores between two searches.
    indexed.cm("index")
    monkeypatch.chdir(indexed.root)
    for words in (
        ["tax"], ["add tax", "--json"], ["Cart", "-n", "2"], ["tax", "-p", str(indexed.root)], ["tax path:shop lang:go"],
        ["nowhere_to_be_found"],
    ):  # fmt: skip
        whole = indexed.cm("search", *words)
        code = quick_search(words)
        assert code == 0, words
        assert _steady(Result(code, *capsys.readouterr()), indexed) == _steady(whole, indexed), words


def test_a_search_that_needs_more_is_left_to_the_whole_command_line(
    indexed: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(indexed.root)
    assert quick_search(["tax"]) is None, "no daemon runs yet"
    indexed.cm("status")
    assert quick_search(["tax"]) == 0
    capsys.readouterr()
    for words in (
        [],
        ["tax", "two"],
        ["tax", "--explain"],
        ["tax", "-n", "x"],
        ["tax", "-n", "0"],
        ["tax", "-p", "/nowhere"],
    ):
        assert quick_search(words) is None, words
    monkeypatch.setenv("CM_SEARCH__PROFILE", "memory")
    assert quick_search(["tax"]) is None
    monkeypatch.delenv("CM_SEARCH__PROFILE")
    (indexed.root / ".cm").mkdir(exist_ok=True)
    (indexed.root / ".cm" / "config.toml").write_text('[search]\nprofile = "memory"\n')
    assert quick_search(["tax"]) is None
    (indexed.root / ".cm" / "config.toml").unlink()
    (indexed.root / "zoo.py").write_text("def giraffe():\n    pass\n")
    git(indexed.root, "add", "-A")
    git(indexed.root, "commit", "-qm", "Zoo")
    assert quick_search(["giraffe"]) is None, "the index is behind"
    assert capsys.readouterr() == ("", "")
