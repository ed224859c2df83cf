"""Files that hold credentials leave nothing in a store: not now, not of the past, not in a store made before the rule."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cm_tui.engine.code.index import stored_state
from cm_tui.engine.code.index.indexer import Indexer
from cm_tui.engine.code.scan import skip_rules
from cm_tui.engine.platform.store.database import Database
from tests.engine.history.conftest import read
from tests.gitrepo import Repo
from tests.indexing import canonical, configured, fresh, index, now, skipped

SECRET = "Zq7" + "hushhush"
BEGIN = "-----BEGIN " + "PRIVATE KEY-----\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "app")
    repo.write("a.py", "def greet():\n    return 1\n")
    repo.write(".env", f"NAME={SECRET}\n")
    repo.write("blog/wp-config.php", f"<?php\nfunction {SECRET}() {{}}\n")
    repo.write("deploy", f"{BEGIN}{SECRET}\n")
    repo.commit("first")
    return repo


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "store")) as db:
        yield db


def places(db: Database) -> list[str]:
    """Columns in which the secret, a part of its file, or its path stands."""
    columns = db.rows("SELECT table_schema, table_name, column_name FROM information_schema.columns")
    found = []
    for schema, table, column in columns:
        sql = f'SELECT count(*) FROM "{schema}"."{table}" WHERE strpos(lower("{column}"::VARCHAR), ?) > 0'
        if table != "skipped" and db.value(sql, [SECRET.lower()]):
            found.append(f"{table}.{column}")
    return found


@pytest.fixture
def before_the_rule(repo: Repo, db: Database) -> Database:
    """A store, with its history, of a version that knew no such rule."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_state, "RULES_VERSION", "1")
        patch.setattr(skip_rules, "is_credential_file", lambda path: False)
        patch.setattr(skip_rules, "has_credentials", lambda data: False)
        read(db, repo.root)
    assert {".env", "blog/wp-config.php", "deploy"} <= set(now(db))
    assert {"passage.text", "symbol.name"} <= set(places(db))
    return db


def test_they_are_left_out_and_listed(repo: Repo, db: Database):
    index(db, repo.root)
    assert set(now(db)) == {"a.py"}
    assert skipped(db) == dict.fromkeys((".env", "blog/wp-config.php", "deploy"), "credentials")
    assert not places(db)


def test_a_name_brings_one_back(repo: Repo, db: Database):
    index(db, repo.root, configured(include=[".env", "deploy"]))
    assert set(now(db)) == {"a.py", ".env", "deploy"}


def test_a_pattern_that_nobody_trusts_brings_none_back(repo: Repo, db: Database, tmp_path: Path):
    repo.write("copy", f"{BEGIN}{SECRET}\n")
    repo.write("dist/app.min.js", "var a = 1;\n")
    repo.commit()
    config = configured(include=["*", "deploy"], untrusted_include=["*"])
    index(db, repo.root, config)
    # Both hold the same bytes: the verdict on one is not that on the other.
    assert set(now(db)) == {"a.py", "deploy", "dist/app.min.js"}
    index(db, repo.root, config)
    assert set(now(db)) == {"a.py", "deploy", "dist/app.min.js"}
    assert canonical(db) == fresh(tmp_path / "fresh", repo.root, config)
    plan = Indexer(db, repo.root, config).plan()
    assert (plan.added, plan.removed, plan.skipped) == ((), (), {"credentials": 3})
    # Trust changes the verdicts.
    index(db, repo.root, configured(include=["*", "deploy"]))
    assert {".env", "copy"} <= set(now(db))


@pytest.mark.parametrize("paths", [[], ["a.py"]])
def test_a_store_of_before_forgets_them_at_its_next_run(
    repo: Repo, before_the_rule: Database, tmp_path: Path, paths: list[str]
):
    index(before_the_rule, repo.root, paths=paths)
    assert set(now(before_the_rule)) == {"a.py"}
    assert not places(before_the_rule)
    assert canonical(before_the_rule) == fresh(tmp_path / "fresh", repo.root)


def test_the_past_holds_none_of_them(repo: Repo, before_the_rule: Database):
    (repo.root / ".env").unlink()
    repo.commit("without it")
    read(before_the_rule, repo.root)
    assert not places(before_the_rule)
    assert before_the_rule.rows("SELECT DISTINCT path FROM file_span") == [("a.py",)]


def test_versions_of_long_ago_are_not_read(repo: Repo, db: Database):
    for number in range(3):
        repo.write(".env", f"NAME={SECRET}{number}\n")
        repo.write("notes.txt", f"{BEGIN}{SECRET}{number}\n" if number else f"See {number}.\n")
        repo.commit(f"number {number}")
    (repo.root / ".env").unlink()
    repo.write("notes.txt", "Nothing.\n")
    repo.commit("gone")
    view = read(db, repo.root)
    assert view.report.status().complete
    assert not places(db)
    assert view.symbol_histories("greet", 9, callers=False).total == 1
    for revision in ("#1", "#3", "#5"):
        assert ".env" not in {row.path for row in view.files(revision, "").rows}
    assert [row.path for row in view.files("#2", "").rows] == ["a.py", "notes.txt"]
    assert [row.path for row in view.files("#3", "").rows] == ["a.py"]


def test_history_that_is_read_with_a_name_brings_it_back(repo: Repo, db: Database):
    view = read(db, repo.root, configured(include=[".env"]))
    assert SECRET in view.source("#1", ".env", 1, None).text
