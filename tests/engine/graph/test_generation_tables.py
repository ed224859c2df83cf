"""Derived tables of the states of the code: made once, seen by all, dropped when nobody can ask about them any more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.code.graph import resolve
from cm_tui.engine.code.graph.derived_tables import DerivedTables
from cm_tui.engine.code.graph.generation_tables import GenerationTables, TableSet
from tests.gitrepo import Repo
from tests.waiting import PATIENCE, let_others_go, until

SHOP = {
    "shop/money.py": "def add_tax(price):\n    return price * 1.2\n",
    "shop/cart.py": "from shop.money import add_tax\n\n\ndef total(items):\n    return add_tax(sum(items))\n",
}
MORE = {"shop/till.py": "from shop.money import add_tax\n\n\ndef pay(price):\n    return add_tax(price)\n"}


def schemas(db) -> list[str]:
    return [row[0] for row in db.rows("SELECT database_name FROM duckdb_databases() WHERE database_name LIKE 'graph%'")]


def test_a_question_that_began_before_a_change_is_answered_without_it(project: Callable) -> None:
    shop = project(SHOP)
    with shop.db.reading():
        before = shop.sites("add_tax")
        writing = threading.Thread(target=shop.write, args=(MORE,))
        writing.start()
        writing.join()
        assert shop.sites("add_tax") == before == ["shop/cart.py:5 total"]
    assert len(shop.sites("add_tax")) == 2


def test_old_tables_go_though_the_question_that_ends_has_written_into_them(project: Callable) -> None:
    shop = project(SHOP)

    def change() -> None:
        for number in range(3):
            shop.write({"shop/till.py": f"{MORE['shop/till.py']}# {number}\n"})
            shop.sites("add_tax")

    with shop.db.reading():
        before = shop.sites("add_tax")
        (own,) = schemas(shop.db)
        writing = threading.Thread(target=change)
        writing.start()
        writing.join()
        shop.db.execute(f"CREATE OR REPLACE TABLE {own}.main.resolved_now (site INTEGER)")
        # They stay as long as this question goes on.
        for _ in range(3):
            assert shop.sites("add_tax") == before
    assert own not in schemas(shop.db)


def test_tables_are_alike_whether_anything_is_in_a_package_or_not(project: Callable) -> None:
    found = []
    for files in (SHOP, {**SHOP, "till/till.go": "package till\n\nfunc Pay() int { return Tax() }\n"}):
        shop = project(files)
        assert shop.sites("add_tax") == ["shop/cart.py:5 total"]
        (own,) = schemas(shop.db)
        names = shop.db.rows("SELECT table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY 1", [own])
        assert bool(shop.db.value(f"SELECT count(*) FROM {own}.package")) == (files is not SHOP)
        found.append({name: [row[:2] for row in shop.db.rows(f"DESCRIBE {own}.{name}")] for (name,) in names})
    assert found[0] == found[1]


def test_what_is_resolved_behind_the_answers_is_the_same(project: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cm_tui.engine.code.graph.generation_tables.SMALL", -1)
    monkeypatch.setattr(resolve, "SMALL", -1)
    giving_way: list[str] = []
    monkeypatch.setattr(
        "cm_tui.engine.code.graph.generation_tables.lower_thread_priority",
        lambda: giving_way.append(threading.current_thread().name),
    )
    shop = project(SHOP | MORE)
    first = shop.called_from("add_tax")
    with shop.db.reading():
        # What this question has looked at stays, whatever is made meanwhile.
        assert shop.called_from("add_tax") == first
        behind = GenerationTables.of(shop.db)._background
        assert behind is not None
        behind.join()
        assert shop.called_from("add_tax") == first
    assert shop.called_from("add_tax") == first
    assert giving_way == ["cm-graph"]


def test_neither_the_first_pack_nor_a_question_waits_for_the_thread_that_resolves_all_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    monkeypatch.setattr("cm_tui.engine.code.graph.generation_tables.SMALL", -1)
    repo = Repo(tmp_path / "shop")
    for name, text in (SHOP | MORE).items():
        repo.write(name, text)
    repo.commit()
    begun, go_on, over = threading.Event(), threading.Event(), threading.Event()
    behind = GenerationTables.resolve_behind

    def blocked(_: resolve.Resolver) -> None:
        begun.set()
        go_on.wait(PATIENCE)
        over.set()

    def resolve_behind(self: GenerationTables, found: TableSet) -> None:
        behind(self, found)
        assert begun.wait(PATIENCE)

    monkeypatch.setattr(resolve.Resolver, "resolve_all", blocked)
    monkeypatch.setattr(GenerationTables, "resolve_behind", resolve_behind)
    with Engine.open(repo.root) as engine:
        for _ in engine.index():
            pass
        try:
            pack = engine.pack("how is the tax added to a total")
            assert begun.is_set()
            assert {"shop/money.py", "shop/cart.py"} <= {item.path for item in pack.items}
            assert len(engine.callers("add_tax").rows) == 2
            assert not over.is_set()
        finally:
            go_on.set()


@pytest.mark.parametrize("is_large", [False, True])
def test_a_question_waits_for_what_was_prepared_for_it_unless_the_project_is_large(
    project: Callable, monkeypatch: pytest.MonkeyPatch, is_large: bool
) -> None:
    monkeypatch.setattr("cm_tui.engine.code.graph.generation_tables.SMALL", -1)
    if is_large:
        monkeypatch.setattr("cm_tui.engine.code.graph.generation_tables.PREPARED", -1)
    begun, go_on, resolved, answers = threading.Event(), threading.Event(), [], []
    resolve_some = resolve.Resolver._resolved

    def recorded(self: resolve.Resolver, wanted: str) -> object:
        resolved.append(wanted)
        if wanted == "true":
            begun.set()
            go_on.wait(PATIENCE)
        return resolve_some(self, wanted)

    monkeypatch.setattr(resolve.Resolver, "_resolved", recorded)
    shop = project(SHOP | MORE)
    shop.graph.prepare()
    assert begun.wait(PATIENCE)
    (tables,) = GenerationTables.of(shop.db)._sets.values()
    asking = threading.Thread(target=lambda: answers.append(shop.called_from("add_tax")))
    asking.start()
    try:
        until(lambda: answers if is_large else tables.users > 1, "the question")
        let_others_go()
    finally:
        go_on.set()
    asking.join()
    assert len(resolved) == (2 if is_large else 1)
    assert answers == [shop.called_from("add_tax")]


def test_tables_that_could_not_be_made_are_made_by_the_next_question(
    project: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = project(SHOP)
    with monkeypatch.context() as patch:

        def fail(self, *_: object) -> None:
            self._db.value("SELECT 'a'::INTEGER")

        patch.setattr(DerivedTables, "_hierarchy", fail)
        with pytest.raises(duckdb.ConversionException):
            shop.sites("add_tax")
    assert shop.sites("add_tax") == ["shop/cart.py:5 total"]


def test_nothing_is_made_for_nobody(project: Callable) -> None:
    shop = project(SHOP)
    shop.sites("add_tax")
    for number in range(3):
        with shop.db.generations.changing():
            shop.write({"shop/till.py": f"{MORE['shop/till.py']}# {number}\n"})
    # The first of them was made ready for whoever asks next; nobody did.
    assert len(schemas(shop.db)) == 2


def test_closing_ends_what_goes_on_behind_the_answers(project: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cm_tui.engine.code.graph.generation_tables.SMALL", -1)
    shop = project(SHOP)
    begun = threading.Event()

    def forever(self: resolve.Resolver) -> None:
        begun.set()
        self._db.value("SELECT max(hash(a.range, b.range)) FROM range(1000000) a, range(1000000) b")

    monkeypatch.setattr(resolve.Resolver, "resolve_all", forever)
    for _ in range(2):
        shop.sites("add_tax")
    assert begun.wait(60)
    shop.db.generations.close()
    behind = GenerationTables.of(shop.db)._background
    assert behind is not None
    assert not behind.is_alive()
