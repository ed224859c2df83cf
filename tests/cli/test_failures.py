"""What a user can do wrong, and what cm says."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import cm_tui.cli.app as command_line
from cm_tui.errors import StoreError
from tests.cli.conftest import Shop, git


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
        (["symbols", "--kind", "nonsense"], 2, "function, method"),
        (["symbols", "--match", "pay", "--kind", ""], 2, "function, method"),
        (["at", "HEAD", "--kind", "nonsense"], 2, "function, method"),
        (["at", "HEAD", "planets"], 2, "symbols"),
        (["at", "HEAD", "files", "--kind", "class"], 2, "--folder"),
        (["at", "HEAD", "--folder", "shop"], 2, "files --folder"),
        (["mcp", "--tools", "hammers"], 2, "graph"),
        (["agent", "install", "clippy"], 2, "claude-code"),
        (["agent", "install", "codex", "--scope", "world"], 2, "user"),
        (["bench", "callers", "--examples", "nonsense", "."], 2, "missing"),
        (["bench", "quality", "--profile", "nonsense"], 2, "notes"),
        (["--json", "mcp"], 2, "cm mcp --help"),
        (["--json"], 2, "cm --json status"),
        (["pack", "x", "--format", "pdf"], 2, "pdf"),
        (["index", "--since", "no-such-ref"], 3, "no-such-ref"),
        (["bench", "nothing"], 2, "nothing"),
        (["frobnicate"], 2, "frobnicate"),
        (["status", "--project", "/no/such/folder"], 3, "/no/such/folder"),
        (["index", "/no/such/folder/at/all"], 3, "/no/such/folder"),
        (["index", "/"], 4, "/"),
        (["index", str(Path.home())], 4, "home"),
        (["index", "/etc"], 4, "/etc"),
        (["index", "../outside.py"], 4, "outside"),
        (["index", "../outside.py", "--dry-run"], 4, "outside"),
        (["index", "../outside.py", "--project", "."], 4, "outside"),
        (["index", "../outside.py", "--project", ".", "--dry-run"], 4, "outside"),
        (["index", "..", "--project", "."], 4, "outside"),
        (["index", "a" * 300], 3, "aaa"),
        (["status", "--project", "a" * 300], 3, "File name too long"),
        (["status", "--project", "/" + "a/" * 3000], 3, "File name too long"),
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
        "from cm_tui.engine.local.engine import LocalEngine\n"
        "memory = LocalEngine.open(pathlib.Path(sys.argv[1]))\n"
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


def as_plain_user(shop: Shop, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`cm` without the right to write where permissions forbid it, which the superuser has."""
    command = [sys.executable, "-m", "cm_tui", *words]
    if os.geteuid() == 0:
        without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
        try:
            subprocess.run([*without, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("the superuser may write everywhere, and cannot do without that here")
        command = [*without, *command]
    done = subprocess.run(
        command,
        cwd=shop.root, env={**os.environ, "CM_HOME": str(shop.home), **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "Internal error" not in done.stderr
    return done


@pytest.mark.parametrize("use", ["never", "auto"])
def test_data_that_can_only_be_read_is_read(new_shop: Shop, use: str):
    new_shop.cm("index")
    store = next(new_shop.home.rglob("store.duckdb")).parent
    locked = sorted([new_shop.home, *new_shop.home.rglob("*")], reverse=True)
    for path in locked:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        questions = (["search", "cart", "--json"], ["callers", "add_tax", "--json"], ["status", "--json"])
        for words in questions:
            done = as_plain_user(new_shop, *words, CM_DAEMON__USE=use)
            assert done.returncode == 0, (words, done.stderr)
            assert json.loads(done.stdout)
            assert f"{store / 'store.duckdb'} cannot be written" in done.stderr
            assert ("Working without a daemon" in done.stderr) == (use == "auto")
        for words in (["index"], ["rebuild"], ["reset", "--yes"]):
            done = as_plain_user(new_shop, *words)
            assert done.returncode == 1, (words, done.stderr)
            assert str(store) in done.stderr
        done = as_plain_user(new_shop, "doctor", "--json", CM_DAEMON__USE=use)
        assert done.returncode == 1
        found = {check["finding"]: check for check in json.loads(done.stdout)["checks"] if check["finding"]}
        assert {"data-read-only", "store-read-only"} <= set(found)
        assert all("CM_HOME" in check["mend"] for check in found.values())
        (new_shop.root / "new.py").write_text("def brand_new():\n    return 1\n")
        git(new_shop.root, "add", "-A")
        git(new_shop.root, "commit", "-qm", "Something new")
        done = as_plain_user(new_shop, *questions[0], CM_DAEMON__USE=use)
        assert done.returncode == 0
        assert json.loads(done.stdout)["hits"]
        assert "this is what was known before" in done.stderr
    finally:
        for path in reversed(locked):
            path.chmod(0o700)
    assert new_shop.cm("definitions", "brand_new", "--json").json["total"] == 1


def test_full_disk_says_so_and_loses_nothing(new_shop: Shop):
    assert new_shop.cm("index").code == 0
    for number in range(40):
        names = "\n\n".join(f"def filler_{number}_{i}():\n    return 'some text {i}'" for i in range(60))
        (new_shop.root / "shop" / f"filler{number}.py").write_text(names)
    # No file may become larger than the store is: what a full disk does, for this process alone.
    blocks = (next(new_shop.home.rglob("store.duckdb")).stat().st_size) // 512
    command = f'trap "" XFSZ; ulimit -f {blocks // 8}; exec "$0" -m cm_tui index'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable],
        cwd=new_shop.root, env={**os.environ, "CM_HOME": str(new_shop.home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Cannot write" in done.stderr
    assert "Traceback" not in done.stderr
    assert new_shop.cm("search", "add_tax", "--json").json["hits"][0]["symbol"] == "add_tax"
    assert new_shop.cm("index").code == 0
    assert new_shop.cm("definitions", "filler_39_59").code == 0


def test_killed_while_it_indexes(new_shop: Shop):
    for number in range(30):
        names = "\n\n".join(f"def filler_{number}_{i}():\n    return {i}" for i in range(40))
        (new_shop.root / "shop" / f"filler{number}.py").write_text(names)
    environment = {**os.environ, "CM_HOME": str(new_shop.home)}
    for stage in ("scan", "parse", "store", "vectors"):
        process = subprocess.Popen(
            [sys.executable, "-m", "cm_tui", "index"],
            cwd=new_shop.root, env=environment, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith(stage):
                break
        process.kill()
        process.communicate()
        assert new_shop.cm("search", "add_tax").code in (0, 3)
    assert new_shop.cm("index").code == 0
    killed = new_shop.cm("symbols", "--limit", "9999", "--json").json
    assert new_shop.cm("rebuild").code == 0
    assert new_shop.cm("symbols", "--limit", "9999", "--json").json == killed
    assert new_shop.cm("doctor").code == 0


def test_ctrl_c_says_that_it_stopped(new_shop: Shop):
    for number in range(1500):  # enough to be still at work when the key is pressed
        (new_shop.root / f"part{number}.py").write_text(f"def part_{number}():\n    return {number}\n" * 20)
    process = subprocess.Popen(
        [sys.executable, "-m", "cm_tui", "index"],
        cwd=new_shop.root, env={**os.environ, "CM_HOME": str(new_shop.home)}, stderr=subprocess.PIPE, text=True,
        # What a shell starts in the background ignores the key, and so would this process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread here
    )  # fmt: skip
    assert process.stderr is not None
    assert process.stderr.readline().startswith("scan")
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    assert process.wait() == 130
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


@pytest.mark.parametrize("damage", ["cut", "garbage", "gone"])
def test_damaged_file_of_vectors_is_made_again(new_shop: Shop, damage: str):
    new_shop.cm("index")
    whole = new_shop.cm("search", "raise an amount", "--json").json["hits"]
    file = next(new_shop.home.rglob("vectors.bin"))
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:500] if damage == "cut" else os.urandom(5000))
    result = new_shop.cm("search", "raise an amount", "--json").json
    assert result["hits"] == whole
    assert result["mode"] == "hybrid"
    assert damage == "gone" or "vectors.bin" in " ".join(result["notes"])
    assert new_shop.cm("doctor").code == 0


def change_store(shop: Shop, *statements: str) -> None:
    connection = duckdb.connect(str(next(shop.home.rglob("store.duckdb"))))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_newer_schema_is_refused_and_kept(new_shop: Shop):
    new_shop.cm("index")
    change_store(new_shop, "UPDATE meta SET value = '99' WHERE key = 'schema'")
    for words in (["search", "cart"], ["index"], ["status"]):
        done = new_shop.cm(*words)
        assert done.code == 1
        assert "schema 99" in done.err
        assert "Update cm" in done.err
    assert "schema 99" in new_shop.cm("doctor").out
    assert new_shop.cm("rebuild").code == 0
    assert new_shop.cm("search", "cart", "--json").json["hits"]


def test_vectors_of_another_model_are_never_compared(new_shop: Shop):
    new_shop.cm("index")
    right = new_shop.cm("search", "raise an amount", "--json").json["hits"]
    change_store(new_shop, "UPDATE embedding SET fingerprint = 'another/model/256'")
    next(new_shop.home.rglob("vectors.bin")).unlink()
    result = new_shop.cm("search", "raise an amount", "--json").json
    assert result["mode"] == "keyword"
    assert result["notes"]
    assert new_shop.cm("index", "--json").json["embedded"] > 0
    assert new_shop.cm("search", "raise an amount", "--json").json["hits"] == right


def test_a_reader_that_has_gone(shop: Shop):
    command = '"$0" -m cm_tui symbols --json | head -c 1; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(
        ["bash", "-c", command, sys.executable],
        cwd=shop.root, env={**os.environ, "CM_HOME": str(shop.home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "{0\n"
    assert done.stderr == ""


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


def test_a_file_that_is_nowhere(new_shop: Shop):
    new_shop.cm("index")
    done = new_shop.cm("index", "shop/missing.py")
    assert done.code == 3
    assert "shop/missing.py" in done.err
    (new_shop.root / "shop" / "money.py").unlink()
    assert new_shop.cm("index", "shop/money.py", "--json").json["changed"] == 1
    assert new_shop.cm("definitions", "add_tax").code == 3


def test_names_that_are_not_utf8(shop: Shop):
    odd = os.fsdecode(b"caf\xe9.py")
    for words in (
        ["symbols", "--file", odd],
        ["definitions", odd],
        ["callers", odd],
        ["importers", odd],
        ["index", odd],
    ):
        done = shop.cm(*words)
        assert done.code in (2, 3), (words, done.err)
        assert done.err
    assert shop.cm("search", "--json", "--", odd).json["query"] == odd


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


def test_json_is_whole_in_any_encoding(new_shop: Shop):
    (new_shop.root / "größe.py").write_text("def messen():\n    return 'größe'\n")
    new_shop.cm("index")
    for encoding in ("ascii", "latin-1", "utf-8"):
        hit = new_shop.cm("search", "messen", "--json", PYTHONIOENCODING=encoding, PYTHONUTF8="0").json["hits"][0]
        assert hit["path"] == "größe.py"
        assert "größe" in hit["snippet"]


def test_form_feeds_do_not_shift_line_numbers(new_shop: Shop):
    (new_shop.root / "pages.py").write_text("def page_one():\n    return 1\n\x0c\ndef page_two():\n    return 2\n")
    new_shop.cm("index")
    shown = new_shop.cm("search", "page_two", "--limit", "1").out
    assert re.search(r"^ *4 +def page_two", shown, re.MULTILINE), shown


def test_not_indexed_yet_lists_nothing_as_left_out(new_shop: Shop):
    assert new_shop.cm("skipped").code == 3


def test_a_file_that_cannot_be_parsed_is_listed_and_found(new_shop: Shop):
    (new_shop.root / "deep.py").write_text("needle_in_it = " + "(" * 5000 + "1" + ")" * 5000 + "\n")
    new_shop.cm("index")
    rows = new_shop.cm("skipped", "--unparsed", "--json").json["rows"]
    assert [row["path"] for row in rows] == ["deep.py"]
    assert rows[0]["reason"]
    assert new_shop.cm("search", "needle_in_it", "--json").json["hits"][0]["path"] == "deep.py"


def test_a_file_of_which_an_error_swallowed_a_definition_is_listed_with_the_line(new_shop: Shop):
    text = "// @flow\nconst a = 1;\nexport class Queue {\n  parse: Object;\n  +ready: ?Push<<T>;\n  run() { }\n}\n"
    (new_shop.root / "queue.js").write_text(text)
    new_shop.cm("index")
    rows = new_shop.cm("skipped", "--unparsed", "--json").json["rows"]
    assert [row["path"] for row in rows] == ["queue.js"]
    assert "line 3 (class Queue)" in rows[0]["reason"]


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
