"""What a user can do wrong, and what cm says."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import cm_tui.cli.app as command_line
from cm_tui.cli.failures import guarded
from cm_tui.cli.tui import launch
from cm_tui.errors import NotFoundError, StoreError
from tests.cli.conftest import Result, Shop, git, make_repository
from tests.planted import GITHUB, PASSWORD, leaked

MISTAKES: tuple[tuple[list[str], int, str], ...] = (
    (["search"], 2, "query"),
    (["search", " "], 2, "empty"),
    (["search", "x", "--mode", "telepathy"], 2, "telepathy"),
    (["search", "--batch", "missing.txt"], 3, "missing.txt"),
    (["definitions", "no_such_thing"], 3, "no_such_thing"),
    (["dependencies", "shop/missing.py"], 3, "shop/missing.py"),
    (["dependencies", "../../etc/passwd"], 4, "outside"),
    (["symbols", "--kind", "nonsense"], 2, "function, method"),
    (["at", "HEAD", "planets"], 2, "symbols"),
    (["at", "HEAD", "--folder", "shop"], 2, "files --folder"),
    (["mcp", "--tools", "hammers"], 2, "graph"),
    (["agent", "install", "clippy"], 2, "claude-code"),
    (["--json", "mcp"], 2, "cm mcp --help"),
    (["--json"], 2, "cm --json status"),
    (["pack", "x", "--format", "pdf"], 2, "pdf"),
    (["index", "--since", "no-such-ref"], 3, "no-such-ref"),
    (["frobnicate"], 2, "frobnicate"),
    (["status", "--project", "/no/such/folder"], 3, "/no/such/folder"),
    (["index", "/"], 4, "/"),
    (["index", str(Path.home())], 4, "home"),
    (["index", "/etc"], 4, "/etc"),
    (["index", "../outside.py"], 4, "outside"),
    (["index", "../outside.py", "--project", ".", "--dry-run"], 4, "outside"),
    (["index", "..", "--project", "."], 4, "outside"),
    (["index", "a" * 300], 3, "aaa"),
    (["status", "--project", "/" + "a/" * 3000], 3, "File name too long"),
)


def test_message_and_exit_code(shop: Shop):
    wrong = [(words, done) for words, code, says in MISTAKES if not said(done := shop.cm(*words), code, says)]
    assert wrong == []


def said(done: Result, code: int, says: str) -> bool:
    return done.code == code and says in done.err and done.out == ""


def test_not_indexed_yet(new_shop: Shop):
    for words in (["search", "x"], ["symbols"], ["callers", "x"], ["pack", "x"], ["skipped"]):
        done = new_shop.cm(*words)
        assert done.code == 3
        assert "cm index" in done.err
    assert not list(new_shop.home.rglob("store.duckdb"))


def test_alone_without_a_terminal(shop: Shop):
    done = shop.cm()
    assert done.code == 2
    assert "terminal" in done.err


@pytest.mark.process
def test_store_in_use_names_the_process(own_shop: Shop):
    code = (
        "import sys, pathlib\n"
        "from cm_tui.engine.api.engine import Engine\n"
        "memory = Engine.open(pathlib.Path(sys.argv[1]))\n"
        "print('open', flush=True)\n"
        "sys.stdin.read()\n"
    )
    environment = {**os.environ, "CM_HOME": str(own_shop.home)}
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(own_shop.root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    try:
        done = own_shop.cm("search", "cart")
        assert done.code == 5
        assert str(holder.pid) in done.err
    finally:
        holder.communicate("")


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


def test_data_folder_that_cannot_be_made(new_shop: Shop, tmp_path: Path):
    blocker = tmp_path / "file"
    blocker.write_text("")
    done = new_shop.cm("index", CM_HOME=str(blocker / "home"))
    assert done.code == 1
    assert "CM_HOME" in done.err


def as_plain_user(shop: Shop, *commands: list[str], **environment: str) -> list[Result]:
    """Run `cm`s without the right to write where permissions forbid it, which the superuser has."""
    command = [sys.executable, "-m", "tests.cli.in_process", json.dumps(commands)]
    if os.geteuid() == 0:
        without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
        try:
            subprocess.run([*without, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("the superuser may write everywhere, and cannot do without that here")
        command = [*without, *command]
    paths = {"PYTHONPATH": os.pathsep.join(sys.path), "CM_HOME": str(shop.home)}
    done = subprocess.run(
        command, cwd=shop.root, env={**os.environ, **paths, **environment}, capture_output=True, text=True, check=True
    )
    results = [Result(*json.loads(line)) for line in done.stdout.splitlines()]
    assert not any("Traceback" in one.err or "Internal error" in one.err for one in results)
    return results


@pytest.mark.process
@pytest.mark.few(1)
@pytest.mark.parametrize("use", ["never", "auto"])
def test_data_that_can_only_be_read_is_read(own_shop: Shop, use: str):
    store = next(own_shop.home.rglob("store.duckdb")).parent
    locked = sorted([own_shop.home, *own_shop.home.rglob("*")], reverse=True)
    for path in locked:
        path.chmod(0o500 if path.is_dir() else 0o400)
    questions = (["search", "cart", "--json"], ["callers", "add_tax", "--json"], ["status", "--json"])
    changes = (["index"], ["rebuild"], ["reset", "--yes"]) if use == "never" else ()
    try:
        *results, doctor = as_plain_user(own_shop, *questions, *changes, ["doctor", "--json"], CM_DAEMON__USE=use)
        for done in results[:3]:
            assert done.code == 0, done.err
            assert done.json
            assert f"{store / 'store.duckdb'} cannot be written" in done.err
            assert ("Working without a daemon" in done.err) == (use == "auto")
        for done in results[3:]:
            assert done.code == 1, done.err
            assert str(store) in done.err
        assert doctor.code == 1
        found = {check["finding"]: check for check in doctor.json["checks"] if check["finding"]}
        assert {"data-read-only", "store-read-only"} <= set(found)
        assert all("CM_HOME" in check["mend"] for check in found.values())
        (own_shop.root / "new.py").write_text("def brand_new():\n    return 1\n")
        git(own_shop.root, "add", "-A")
        git(own_shop.root, "commit", "-qm", "Something new")
        (done,) = as_plain_user(own_shop, questions[0], CM_DAEMON__USE=use)
        assert done.code == 0
        assert done.json["hits"]
        assert "results may be outdated" in done.err
    finally:
        for path in reversed(locked):
            path.chmod(0o700)
    assert own_shop.cm("definitions", "brand_new", "--json").json["total"] == 1


@pytest.mark.process
def test_full_disk_says_so_and_loses_nothing(own_shop: Shop):
    for number in range(4):
        names = "\n\n".join(f"def filler_{number}_{i}():\n    return 'some text {i}'" for i in range(20))
        (own_shop.root / "shop" / f"filler{number}.py").write_text(names)
    # No file may become larger than a few KB: what a full disk does, for this process alone.
    command = 'trap "" XFSZ; ulimit -f 40; exec "$0" -m cm_tui index'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable],
        cwd=own_shop.root, env={**os.environ, "CM_HOME": str(own_shop.home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Cannot write" in done.stderr
    assert "Traceback" not in done.stderr
    assert own_shop.cm("search", "add_tax", "--json").json["hits"][0]["symbol"] == "add_tax"
    assert own_shop.cm("index").code == 0
    assert own_shop.cm("definitions", "filler_3_19").code == 0


WORK_UNTIL_THE_KEY = """
import sys
from cm_tui.__main__ import main
from cm_tui.engine.code.index.indexer import Indexer
steps = Indexer.run
def run(*args, **how):
    for number, step in enumerate(steps(*args, **how)):
        yield step
        if number == 1:
            sys.stdin.read()
Indexer.run = run
sys.argv = ["cm", "index"]
sys.exit(main())
"""


@pytest.mark.process
def test_ctrl_c_says_that_it_stopped(new_shop: Shop):
    process = subprocess.Popen(
        [sys.executable, "-c", WORK_UNTIL_THE_KEY],
        cwd=new_shop.root, env={**os.environ, "CM_HOME": str(new_shop.home)},
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # What a shell starts in the background ignores the key, and so would this process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread here
    )  # fmt: skip
    with process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("scan")
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert "cm: Stopped." in rest
    assert "Traceback" not in rest
    assert new_shop.cm("index").code == 0


# DuckDB raises a RuntimeError when the key comes in the middle of a query.
@pytest.mark.parametrize(
    "error", [StoreError("The index was closed while it was asked."), RuntimeError("Query interrupted")]
)
def test_an_error_that_ctrl_c_caused_is_not_reported(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def run(_: object) -> int:
        try:
            raise KeyboardInterrupt
        finally:
            raise error

    monkeypatch.setattr(command_line, "_run", run)
    assert command_line.run(["index"]) == 130
    assert "cm: Stopped." in capsys.readouterr().err


@pytest.mark.process
def test_a_reader_that_has_gone(shop: Shop):
    command = '"$0" -m cm_tui symbols --json | head -c 1; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(
        ["bash", "-c", command, sys.executable],
        cwd=shop.root, env={**os.environ, "CM_HOME": str(shop.home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "{0\n"
    assert done.stderr == ""


@pytest.mark.process
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only some systems have a device that is always full")
def test_output_that_cannot_be_written(shop: Shop):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cm_tui", "status"],
            cwd=shop.root, env={**os.environ, "CM_HOME": str(shop.home)}, stdout=full, stderr=subprocess.PIPE,
            text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("cm: Cannot write the output")
    assert "Internal error" not in done.stderr


@pytest.mark.process
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only some systems have a device that is always full")
@pytest.mark.parametrize("buffered", ["", "1"])
def test_what_was_changed_before_output_failed_stays_and_is_reported(new_shop: Shop, buffered: str):
    environment = {**os.environ, "CM_HOME": str(new_shop.home), "PYTHONUNBUFFERED": buffered}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cm_tui", "remember", "tests need redis", "--json"],
            cwd=new_shop.root, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "Changes made by the command remain." in done.stderr
    assert new_shop.cm("entries", "--json").json["total"] == 1


def test_a_folder_whose_name_is_longer_than_any(shop: Shop, monkeypatch: pytest.MonkeyPatch):
    name = "x" * 100_000
    done = shop.cm("status", "--project", name)
    assert done.code in (2, 3)
    assert "the path is too long" in done.err or "File name too long" in done.err
    assert len(done.err) < 1_000
    assert "where:" not in done.err
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    with pytest.raises(NotFoundError, match="File name too long"):
        launch(Path(name))


def test_a_file_that_is_nowhere(own_shop: Shop):
    done = own_shop.cm("index", "shop/missing.py")
    assert done.code == 3
    assert "shop/missing.py" in done.err
    (own_shop.root / "shop" / "money.py").unlink()
    assert own_shop.cm("index", "shop/money.py", "--json").json["changed"] == 1
    assert own_shop.cm("definitions", "add_tax").code == 3


def test_a_project_folder_that_is_not_utf8(new_shop: Shop, tmp_path: Path):
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    try:
        Path(os.fsdecode(folder)).mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    for command in ("index", "status"):
        done = new_shop.cm(command, "--project", os.fsdecode(folder))
        assert done.code == 2
        assert "not valid UTF-8" in done.err


def test_each_line_of_a_batch_is_one_query_and_one_answer(shop: Shop):
    odd = ["cart\x0btotal\x0c", "price\u2028tax", "pay\x85", "", "last"]
    done = shop.cm("search", "--batch", "-", stdin="\n".join(odd) + "\r\n")
    lines = done.out.split("\n")
    assert lines.pop() == ""
    assert [json.loads(line)["query"] for line in lines] == odd
    assert done.out.splitlines() == lines


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Indexed, with files that are hard to read, show or name; only asked."""
    base = tmp_path_factory.mktemp("odd")
    shop = Shop(base / "repo", base / "home")
    make_repository(shop.root)
    for name, text in {
        "größe.py": "def messen():\n    return 'größe'\n",
        "pages.py": "def page_one():\n    return 1\n\x0c\ndef page_two():\n    return 2\n",
        "deep.py": "needle_in_it = " + "(" * 5000 + "1" + ")" * 5000 + "\n",
        "queue.js": "// @flow\nconst a = 1;\nexport class Queue {\n  parse: Object;\n  +ready: ?Push<<T>;\n  run() { }\n}\n",
    }.items():
        (shop.root / name).write_text(text)
    assert shop.cm("index").code == 0
    return shop


def test_json_is_whole_in_any_encoding(odd: Shop):
    for encoding in ("ascii", "latin-1", "utf-8"):
        hit = odd.cm("search", "messen", "--json", PYTHONIOENCODING=encoding).json["hits"][0]
        assert hit["path"] == "größe.py"
        assert "größe" in hit["snippet"]


def test_form_feeds_do_not_shift_line_numbers(odd: Shop):
    shown = odd.cm("search", "page_two", "--limit", "1").out
    assert re.search(r"^ *4 +def page_two", shown, re.MULTILINE), shown


def test_files_that_were_not_parsed_whole_are_listed_with_the_line(odd: Shop):
    rows = {row["path"]: row["reason"] for row in odd.cm("skipped", "--unparsed", "--json").json["rows"]}
    assert set(rows) == {"deep.py", "queue.js"}
    assert rows["deep.py"]
    assert "line 3 (class Queue)" in rows["queue.js"], "an error swallowed a definition"
    assert odd.cm("search", "needle_in_it", "--json").json["hits"][0]["path"] == "deep.py"


def test_doctor_tries_the_model_that_was_chosen(shop: Shop):
    def chosen(**environment: str) -> dict[str, str]:
        checks = shop.cm("doctor", "--json", **environment).json["checks"]
        return next(({**check} for check in checks if check["name"] == "chosen model"), {})

    assert chosen() == {}
    assert chosen(CM_EMBEDDING__PROVIDER="none")["state"] == "warning"
    wrong = chosen(CM_EMBEDDING__PROVIDER="fastembed", CM_EMBEDDING__PATH="/no/such/folder")
    assert wrong["state"] == "failed"
    assert "/no/such/folder" in wrong["message"]


def test_the_configured_profile_is_the_default(shop: Shop):
    assert shop.cm("search", "cart", "--json").json["profile"] == "code"
    assert shop.cm("search", "cart", "--json", CM_SEARCH__PROFILE="notes").json["profile"] == "notes"
    named = shop.cm("search", "cart", "--profile", "memory", "--json", CM_SEARCH__PROFILE="notes")
    assert named.json["profile"] == "memory"
    assert shop.cm("search", "cart", CM_SEARCH__PROFILE="nope").code == 2


def test_the_report_of_a_crash_is_private_and_holds_no_secret(
    cm_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash() -> int:
        raise RuntimeError(f"cannot reach https://ada:{PASSWORD}@example.org with {GITHUB}")

    assert guarded(crash) == 1
    said = capsys.readouterr().err
    assert "cannot reach" in said
    assert leaked(said) == []
    (report,) = (one for one in cm_home.rglob("error.log"))
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert "RuntimeError: cannot reach" in report.read_text()
    assert leaked(report.read_text()) == []
