"""Every command says and does the same, whichever engine it takes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cm_tui.cli.quick_search import quick_search
from cm_tui.daemon import bootstrap, endpoint
from tests.cli.conftest import Result, Shop, git
from tests.daemon.conftest import pid_of_daemon

CHANGING = re.compile(
    r"[\d.]+ (?:ms|s)\b|\"(?:took_ms|indexed_at|disk_bytes|scan|parse|store|keywords|vectors|graph)\": [\d.]+"
    r"|\([\d.]+ MB\)|store +\S+.*|\"store\": \"[^\"]*\"|about [\d.]+"
    r"|(?s:\n  \"freshness\": \{.*?\n  \})"  # only a daemon watches
)


def _steady(done: Result, shop: Shop) -> tuple[int, str, str]:
    texts = (CHANGING.sub("…", text.replace(str(shop.home), "HOME")) for text in (done.out, done.err))
    return (done.code, *texts)  # type: ignore[return-value]


@pytest.mark.process  # pytest would hand on the daemon's log between its own processes, which cannot hold such a name
def test_a_folder_whose_name_is_not_utf8(shop: Shop, tmp_path: Path):
    folder = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")
    Path(folder).mkdir()
    one, other = (shop.cm("status", "--project", folder, CM_DAEMON__USE=use) for use in ("never", "auto"))
    assert (other.code, other.err) == (one.code, one.err)
    assert one.code == 2


@pytest.mark.process
def test_settings_of_a_terminal_that_differ_are_said(shop: Shop):
    shop.cm("index")
    assert "other CM_* settings" in shop.cm("search", "tax", CM_EMBEDDING__PROVIDER="none").err
    assert "settings" not in shop.cm("search", "tax").err


def test_serve_status_and_stop(shop: Shop):
    assert shop.cm("serve", "--status", "--json").json == {"running": False}
    assert "No daemon" in shop.cm("serve", "--stop").err
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


def test_without_a_daemon_too_a_search_prints_what_the_whole_command_line_prints(
    indexed: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    indexed.cm("remember", "The tax is rounded half to even.")
    indexed.cm("index")
    indexed.cm("serve", "--stop")
    monkeypatch.setenv("CM_DAEMON__USE", "never")
    monkeypatch.chdir(indexed.root)
    (indexed.root / "edited.py").write_text("def rate_of_vat(): ...\n")
    for words in (
        ["vat"], ["tax"], ["add tax", "--json"], ["Cart", "-n", "2"], ["tax", "-p", str(indexed.root)],
        ["tax path:shop lang:go"], ["nowhere_to_be_found"], ["path:["], ["tax", "-p", "/nowhere"],
    ):  # fmt: skip
        code = quick_search(words)
        mine = _steady(Result(code or 0, *capsys.readouterr()), indexed)
        assert code is not None, words
        assert mine == _steady(indexed.cm("search", *words), indexed), words
    # What the user's settings rank by is followed.
    monkeypatch.setenv("CM_SEARCH__PROFILE", "notes")
    assert quick_search(["tax"]) is None


@pytest.mark.process
def test_a_search_without_a_daemon_and_memories_loads_no_history_and_no_library_of_commands(indexed: Shop):
    indexed.cm("index")
    indexed.cm("serve", "--stop")
    asked = (
        "import sys; sys.argv = ['cm', 'search', 'tax']; from cm_tui.__main__ import _run; _run(); print(*sys.modules)"
    )
    environment = {**os.environ, "CM_DAEMON__USE": "never"}
    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=indexed.root, env=environment, capture_output=True, text=True, check=True
    )
    assert "shop/" in done.stdout
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "cm_tui.engine.search.ranking.pipeline" in loaded
    assert (
        not {"typer", "cm_tui.engine.code.history.time_travel", "cm_tui.engine.memory.mentions.mention_index"} & loaded
    )


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
        ["tax", "-p"],
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
