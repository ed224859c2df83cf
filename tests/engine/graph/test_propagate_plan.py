"""What a step of reading expressions costs does not hang on what the planner takes for true of the tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cm_tui.engine.code.graph.derived_tables import DerivedTables, script
from cm_tui.engine.code.graph.generation_tables import NOW

SCOPES = 400
NAMES = 30


def joins(node: dict[str, Any]) -> Iterator[str]:
    if "JOIN" in node["name"]:
        yield str(node["extra_info"].get("Conditions", ""))
    for child in node["children"]:
        yield from joins(child)


@pytest.mark.few(2)
@pytest.mark.parametrize("scopes_of_a_place", [1, 4, 40])
def test_no_name_is_looked_for_in_all_scopes(project: Callable, scopes_of_a_place: int) -> None:
    """Joined by the name first, sites times scopes that know it are made: gigabytes for a project of 2,000 files."""
    body = "".join(f"    def name_{n}(self):\n        return self.name_{n + 1}()\n" for n in range(NAMES))
    shop = project({f"part_{n}.py": f"class Part{n}:\n{body}" for n in range(SCOPES // 20)})
    shop.sites("name_1")
    tables = DerivedTables(shop.db, next(name for name in schemas(shop.db)), NOW)
    view = tables.view
    view.run(script("sites").replace("{wanted}", "true").replace("{scope}", "scope"))
    # As if many bases and packages stood behind each scope.
    view.execute(
        "INSERT INTO graph.lookup BY NAME SELECT key, anc, rank + i AS rank FROM graph.lookup, "
        f"range(1, {scopes_of_a_place}) AS t(i)"
    )
    plan = json.loads(view.rows("EXPLAIN (FORMAT json) " + script("propagate"))[0][1])
    found = [conditions for node in plan for conditions in joins(node)]
    by_name = [one for one in found if "name = step" in one or "step = name" in one]
    assert by_name, found
    assert all("anc" in one and "scope" in one for one in by_name), found


def schemas(db) -> list[str]:
    return [row[0] for row in db.rows("SELECT database_name FROM duckdb_databases() WHERE database_name LIKE 'graph%'")]
