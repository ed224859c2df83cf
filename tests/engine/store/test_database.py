import ast
import os
import shutil
import subprocess
import textwrap
import threading
import weakref
from contextlib import closing, suppress
from pathlib import Path

import duckdb
import numpy as np
import pytest

from cm_tui.engine.platform.store import schema
from cm_tui.engine.platform.store.connection import connect_in_memory
from cm_tui.engine.platform.store.database import LOG, Database
from cm_tui.errors import StoreBusyError, StoreDamagedError, StoreError, StoreTooNewError
from cm_tui.paths import STORE_DATABASE
from tests.forked import run_python


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "stores" / "app-1"


def fill(folder: Path, rows: int = 20_000) -> None:
    db = Database(folder)
    with db.transaction():
        db.insert(
            "skipped",
            {"path": [f"path/{n}" for n in range(rows)], "reason": [f"reason {n * 7919}" for n in range(rows)]},
        )
    db.close()


def in_another_process(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return run_python(textwrap.dedent(script), *words)


def test_a_store_in_an_older_format_of_duckdb_is_read_and_written(folder):
    folder.mkdir(parents=True)
    with duckdb.connect(str(folder / STORE_DATABASE)) as old:
        assert "v1.0" in str(old.execute("SELECT tags FROM duckdb_databases() WHERE NOT internal").fetchone())
        old.execute("CREATE TABLE other (text VARCHAR); INSERT INTO other VALUES ('kept'); CHECKPOINT")
    for number in range(2):
        with closing(Database(folder)) as db:
            assert db.value("SELECT text FROM other") == "kept"
            assert db.get_meta("number") == (str(number - 1) if number else None)
            db.set_meta("number", str(number))


def test_a_text_that_is_repeated_costs_its_place_once(folder):
    def size(texts: list[str]) -> int:
        with closing(Database(folder)) as db:
            db.insert("skipped", {"path": texts, "reason": texts})
            db.execute("CHECKPOINT")
            return (folder / STORE_DATABASE).stat().st_size

    once = [f"{number * 7919:0200x}" for number in range(1000)]
    assert size(once) < 3_000_000
    assert size(once * 50) < 6_000_000


def test_a_new_store_has_a_schema_and_is_private(folder):
    db = Database(folder)
    assert int(db.get_meta("schema")) >= 1
    assert db.rows("SELECT * FROM now_file") == []
    db.close()
    assert folder.stat().st_mode & 0o077 == 0


def test_what_was_written_is_there_after_closing(folder):
    fill(folder, 10)
    db = Database(folder)
    assert db.value("SELECT count(*) FROM skipped") == 10
    db.close()


def test_a_failed_transaction_leaves_nothing(folder):
    db = Database(folder)

    def fail_half_way() -> None:
        with db.transaction():
            db.set_meta("a", "1")
            with db.transaction():
                db.set_meta("b", "1")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert db.get_meta("a") is None
    assert db.get_meta("b") is None
    with db.transaction():
        db.set_meta("a", "2")
    assert db.get_meta("a") == "2"
    db.close()


def test_other_threads_read_the_old_state_until_it_is_committed(folder):
    db = Database(folder)
    written, seen, read = threading.Event(), [], threading.Event()

    def reader() -> None:
        written.wait(60)
        seen.append(db.get_meta("x"))
        read.set()

    thread = threading.Thread(target=reader)
    thread.start()
    with db.transaction():
        db.set_meta("x", "1")
        written.set()
        assert read.wait(60)
    thread.join()
    assert seen == [None]
    assert db.get_meta("x") == "1"
    db.close()


def test_writers_of_several_threads_wait_for_each_other(folder):
    db = Database(folder)
    db.set_meta("n", "0")
    errors = []

    def count() -> None:
        try:
            for _ in range(20):
                with db.transaction():
                    db.set_meta("n", str(int(db.get_meta("n")) + 1))
        except Exception as error:  # noqa: BLE001 - whatever a thread raises is the finding
            errors.append(error)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert db.get_meta("n") == "80"
    db.close()


@pytest.mark.parametrize("share", [0.001, 0.3, 0.7, 0.99])
def test_a_truncated_store_is_named_as_damaged(folder, share):
    fill(folder)
    file = folder / STORE_DATABASE
    os.truncate(file, int(file.stat().st_size * share))
    # DuckDB reads blocks when they are asked for: what lies in front of the cut can be opened.
    with pytest.raises(StoreDamagedError, match=STORE_DATABASE) as damaged, closing(Database(folder)) as db:
        db.rows("SELECT max(path), max(reason) FROM skipped")
    assert "cm rebuild" in damaged.value.hint


@pytest.mark.parametrize("content", [b"not a database at all" * 400, b"\0" * 20_000, b"x"])
def test_a_file_that_is_no_store_is_named_as_damaged(folder, content):
    folder.mkdir(parents=True)
    (folder / STORE_DATABASE).write_bytes(content)
    with pytest.raises(StoreDamagedError):
        Database(folder)


def test_blocks_that_were_overwritten_are_named_as_damaged(folder):
    fill(folder, 200_000)
    file = folder / STORE_DATABASE
    size = file.stat().st_size
    with file.open("r+b") as handle:
        for offset in range(12_288 + 4096, size, 50_000):
            handle.seek(offset)
            handle.write(b"\xff" * 64)

    def read_all() -> None:
        with closing(Database(folder)) as db:
            db.rows("SELECT * FROM skipped")

    with pytest.raises(StoreDamagedError):
        read_all()


def test_a_store_of_a_newer_version_is_left_alone(folder):
    db = Database(folder)
    db.set_meta("schema", "999")
    db.close()
    before = (folder / STORE_DATABASE).read_bytes()
    with pytest.raises(StoreTooNewError, match="999"):
        Database(folder)
    assert (folder / STORE_DATABASE).read_bytes() == before


def test_a_store_in_use_names_the_process(folder):
    db = Database(folder)
    done = in_another_process(
        """
        import sys
        from pathlib import Path
        from cm_tui.engine.platform.store.database import Database
        from cm_tui.errors import StoreBusyError
        try:
            Database(Path(sys.argv[1]))
        except StoreBusyError as error:
            print(error.message)
            sys.exit(error.exit_code)
        """,
        str(folder),
    )
    db.close()
    assert done.returncode == StoreBusyError.exit_code, done.stderr
    assert str(os.getpid()) in done.stdout


def test_a_folder_that_cannot_be_made_is_a_plain_message(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Cannot make") as failed:
        Database(tmp_path / "file" / "store")
    assert "CM_HOME" in failed.value.hint


@pytest.mark.skipif(os.name == "nt", reason="needs users and modes")
@pytest.mark.parametrize("made", [True, False])
def test_a_read_only_folder_is_read_or_a_plain_message(folder, made, tmp_path, tmp_path_factory):
    folder.mkdir(parents=True)
    if made:
        fill(folder, 10)
    warm = tmp_path_factory.mktemp("warm")
    for place in tmp_path.parents:
        # However deep the tests run: up to what everybody may enter.
        if place.stat().st_mode & 0o055 == 0o055 or place.stat().st_uid != os.geteuid():
            break
        place.chmod(place.stat().st_mode | 0o055)
    for place in (folder, *folder.parents[:2]):
        place.chmod(0o555)
    if made:
        (folder / STORE_DATABASE).chmod(0o444)
    script = """
        import os, sys
        from pathlib import Path
        from cm_tui.engine.platform.store.database import Database
        from cm_tui.errors import StoreError
        Database(Path(sys.argv[2])).close()
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            print(Database(Path(sys.argv[1])).is_read_only)
        except StoreError as error:
            print(error.message)
            sys.exit(7)
        """
    done = in_another_process(script, str(folder), str(warm))
    for place in (folder, *folder.parents[:2]):
        place.chmod(0o755)
    assert done.returncode == (0 if made else 7), done.stderr
    assert ("True" if made else "ermission") in done.stdout or "Read-only" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs resource limits")
def test_a_full_disk_is_a_plain_message_and_loses_nothing(folder):
    fill(folder, 100)
    done = in_another_process(
        """
        import resource, signal, sys
        from pathlib import Path
        from cm_tui.engine.platform.store.database import Database
        from cm_tui.paths import STORE_DATABASE
        from cm_tui.errors import StoreError
        folder = Path(sys.argv[1])
        db = Database(folder)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = (folder / STORE_DATABASE).stat().st_size + 100_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            for batch in range(50):
                with db.transaction():
                    paths = [f"{batch} {n} {n * 7919 % 10007}" for n in range(50_000)]
                    db.insert("skipped", {"path": paths, "reason": paths})
        except StoreError as error:
            print(error)
        else:
            sys.exit(8)
        try:
            assert db.value("SELECT count(*) FROM skipped") >= 100
        except StoreError:
            assert db.must_reopen
        sys.exit(7)
        """,
        str(folder),
    )
    assert done.returncode == 7, (done.returncode, done.stderr)
    assert "space" in done.stdout
    db = Database(folder)
    assert db.value("SELECT count(*) FROM skipped") >= 100
    assert db.value("SELECT count(*) FROM skipped WHERE reason LIKE 'reason %'") == 100
    db.close()


def test_without_room_nothing_is_written_and_what_is_there_answers(folder, monkeypatch):
    fill(folder, 100)
    db = Database(folder)
    db.insert("skipped", {"path": ["late"], "reason": ["late"]})
    usage = shutil.disk_usage(folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=4_096))
    with pytest.raises(StoreError, match="The disk is full"), db.transaction():
        pytest.fail("begun without room")
    # DuckDB gives up on a checkpoint that fails, and answers nothing from then on.
    log = (folder / LOG).read_bytes()
    db.shrink()
    assert (folder / LOG).read_bytes() == log != b""
    assert db.value("SELECT count(*) FROM skipped") == 101
    assert not db.must_reopen
    monkeypatch.undo()
    db.shrink()
    assert not (folder / LOG).exists()
    with db.transaction() as cursor:
        cursor.execute("DELETE FROM skipped")
    assert db.value("SELECT count(*) FROM skipped") == 0
    db.close()


@pytest.mark.skipif(os.name == "nt", reason="needs resource limits")
def test_a_store_that_could_not_be_made_on_a_full_disk_is_made_once_there_is_room(folder):
    """Half of one would pass for a damaged store, which only a rebuild replaces."""
    done = in_another_process(
        """
        import resource, signal, sys
        from pathlib import Path
        from cm_tui.engine.platform.store.database import Database
        from cm_tui.errors import StoreDamagedError, StoreError
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        told = []
        for limit in (0, 5_000, 13_000):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            try:
                Database(Path(sys.argv[1])).close()
            except StoreError as error:
                told.append((limit, type(error) is StoreDamagedError, error.hint))
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        print(told)
        """,
        str(folder),
    )
    assert done.returncode == 0, done.stderr
    told = ast.literal_eval(done.stdout)
    assert [limit for limit, *_ in told] == [0, 5_000, 13_000]
    assert not any(is_damaged for _, is_damaged, _ in told)
    assert all("Free some space" in hint for *_, hint in told)
    Database(folder).close()


def test_insert_keeps_order_nulls_and_odd_text(folder):
    db = Database(folder)
    odd = ["'; DROP TABLE skipped; --", "é\n\t", "\u0000", "[bold]"]
    db.insert("skipped", {"path": odd, "reason": odd})
    assert [row[0] for row in db.rows("SELECT path FROM skipped")] == odd
    db.insert("worktree", {"path": ["a"], "blob": [None]})
    assert db.rows("SELECT * FROM worktree") == [("a", None)]
    db.insert("worktree", {"path": [], "blob": []})
    db.close()


def test_the_last_row_is_found_after_others_were_deleted(folder):
    with closing(Database(folder)) as db:
        with db.transaction():
            db.execute("CREATE TABLE number (n INTEGER)")
            db.execute("INSERT INTO number SELECT unnest(range(1, 17))")
        db.execute("CHECKPOINT")
        with db.transaction():
            db.execute("DELETE FROM number WHERE n > 12")
            db.execute("INSERT INTO number VALUES (13)")
        assert db.rows("SELECT n FROM number ORDER BY n DESC LIMIT 1") == [(13,)]


def test_giving_space_back_does_not_fail_beside_another_writer(folder):
    with closing(Database(folder)) as db:
        writing, done = threading.Event(), threading.Event()

        def write() -> None:
            with db.transaction():
                db.set_meta("a", "1")
                writing.set()
                done.wait(60)

        other = threading.Thread(target=write)
        other.start()
        assert writing.wait(60)
        db.shrink()
        done.set()
        other.join()
        db.shrink()
        assert db.get_meta("a") == "1"


def test_what_it_says_of_itself_is_that_of_now_whoever_writes(folder):
    db = Database(folder)
    db.set_meta("what", "one")
    assert db.get_meta("what") == "one"
    said, go_on, read = [], threading.Event(), threading.Event()

    def other() -> None:
        with db.transaction():
            db.set_meta("what", "two")
            said.append(db.get_meta("what"))
            read.set()
            go_on.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    read.wait(60)
    assert db.get_meta("what") == "one", "it is not committed"
    go_on.set()
    thread.join()
    assert said == ["two"]
    assert db.get_meta("what") == "two"
    with suppress(ZeroDivisionError), db.transaction():
        db.set_meta("what", "three")
        raise ZeroDivisionError
    assert db.get_meta("what") == "two"
    db.execute("DELETE FROM meta WHERE key = 'what'")
    assert db.get_meta("what") is None
    db.close()


def test_a_store_of_before_has_the_journal_read_again(folder):
    folder.mkdir(parents=True)
    with closing(duckdb.connect(str(folder / STORE_DATABASE))) as made:
        for number, sql in schema.migrations():
            if number < 7:
                made.execute(sql)
        made.execute("INSERT INTO meta VALUES ('schema', '6')")
        made.execute("INSERT INTO episode_position VALUES (1, 100, 'e', 1, '{}')")
        made.execute("INSERT INTO episode_edit VALUES (1, 'c', 'e', '{}', 'person', false)")
    db = Database(folder)
    assert db.get_meta("schema") == str(schema.migrations()[-1][0])
    for table in ("episode_position", "episode_edit", "episode", "episode_shown"):
        assert db.rows(f"SELECT * FROM {table}") == []
    db.close()


def test_ids_of_episodes_are_words_no_more(folder):
    folder.mkdir(parents=True)
    with closing(duckdb.connect(str(folder / STORE_DATABASE))) as made:
        for number, sql in schema.migrations():
            if number < 14:
                made.execute(sql)
        made.execute("INSERT INTO meta VALUES ('schema', '13')")
        columns = [name for name, *_ in made.execute("DESCRIBE episode").fetchall()]
        for seq, id_ in ((1, "0a"), (2, "0b")):
            given = {"seq": seq, "id": id_, "state": "shown"}
            made.execute(
                f"INSERT INTO episode VALUES ({', '.join('?' * len(columns))})",
                [given.get(name, "0") for name in columns],
            )
        made.execute("INSERT INTO episode_word VALUES ('0a', [1]), ('0b', [1, 2]), ('0b', [1]), ('word', [1])")
    db = Database(folder)
    assert sorted(db.rows("SELECT word, seqs FROM episode_word")) == [("0b", [1]), ("0b", [1, 2]), ("word", [1])]
    db.close()


def test_rows_that_were_read_are_released_before_the_transaction_ends(tmp_path: Path) -> None:
    db = Database(tmp_path)
    with db.transaction() as cursor:
        numbers = np.arange(50_000)
        held = weakref.ref(numbers)
        cursor.register("given", {"number": numbers})
        cursor.execute("CREATE TABLE kept AS SELECT number FROM given")
        cursor.unregister("given")
        del numbers
        assert held() is None
    assert db.value("SELECT count(*) FROM kept") == 50_000
    db.close()


def test_what_a_killed_process_spilled_is_removed_and_nothing_goes_into_the_current_folder(tmp_path: Path) -> None:
    spilled = tmp_path / f"{STORE_DATABASE}.tmp"
    spilled.mkdir()
    (spilled / "duckdb_temp_storage-0.tmp").write_text("erased since")
    Database(tmp_path).close()
    assert not spilled.exists()
    with closing(connect_in_memory()) as memory:
        assert memory.execute("SELECT current_setting('temp_directory')").fetchall() == [("",)]


def test_letting_go_of_blocks_writes_nothing_beside_the_store(tmp_path: Path) -> None:
    db = Database(tmp_path)
    with db.transaction() as cursor:
        cursor.execute("CREATE TABLE said AS SELECT 'the zanzibar tortoise ' || range AS text FROM range(20000)")
    db.release_blocks()
    written = [file for file in tmp_path.rglob("*") if file.is_file() and file.suffix == ".tmp"]
    assert [file.name for file in written if b"tortoise" in file.read_bytes()] == []
    assert db.value("SELECT count(*) FROM said") == 20_000
    db.close()


def test_settling_compresses_tables_in_memory_and_leaves_those_in_use(tmp_path: Path) -> None:
    db = Database(tmp_path)
    db.execute("ATTACH ':memory:' AS graph (READ_WRITE, COMPRESS)")
    db.execute("CREATE TABLE graph.site AS SELECT range % 7 AS node, 'same' AS name FROM range(200000)")
    used = "SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'IN_MEMORY_TABLE'"
    before = db.value(used)
    with db.transaction():
        db.execute("INSERT INTO graph.site VALUES (8, 'new')")
        thread = threading.Thread(target=db.settle)
        thread.start()
        thread.join()
    db.settle()
    assert db.value(used) < before / 2
    assert db.value("SELECT count(*) FROM graph.site") == 200_001
    db.close()
