"""A repository, its store, and answers about its history in a form that two stores can be compared by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cm_tui.config import Config
from cm_tui.engine.code.graph.graph import Graph
from cm_tui.engine.code.history.time_travel import HistoricalView
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.store.database import Database
from cm_tui.model import Cancel
from tests.bench.callers import resolve_all
from tests.gitrepo import Repo
from tests.indexing import configured, index
from tests.tiers import is_full_size


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "app")


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "store")) as db:
        yield db


def view_of(db: Database, root: Path, config: Config | None = None) -> HistoricalView:
    """A view of the history of a store, made anew."""
    return HistoricalView(db, Repository(root.resolve(), db.folder / "shadow"), config or configured())


def read(db: Database, root: Path, config: Config | None = None, **how: Any) -> HistoricalView:
    """Index, then read the mainline."""
    index(db, root, config)
    view = view_of(db, root, config)
    for _ in view.backfill(depth=how.get("depth"), since=how.get("since"), cancel=Cancel()):
        pass
    return view


def state(db: Database, alive: str) -> dict[str, list[Any]]:
    """Files, symbols and references of a relation of (path, blob)."""
    return {
        "files": sorted(
            db.rows(f"SELECT f.path, b.oid, b.language, b.lines FROM {alive} f JOIN blob b ON b.id = f.blob")
        ),
        "symbols": sorted(
            db.rows(f"SELECT f.path, s.* EXCLUDE (blob) FROM {alive} f JOIN symbol s ON s.blob = f.blob"), key=repr
        ),
        "references": sorted(
            db.rows(f"SELECT f.path, r.* EXCLUDE (blob) FROM {alive} f JOIN reference r ON r.blob = f.blob"), key=repr
        ),
        "imports": sorted(
            db.rows(f'SELECT f.path, i.* EXCLUDE (blob) FROM {alive} f JOIN "import" i ON i.blob = f.blob'), key=repr
        ),
    }


def edges(graph: Graph) -> list[Any]:
    """Every call site and what it is tied to."""
    return sorted(resolve_all(graph), key=repr)


def compare_with_fresh(
    db: Database, root: Path, ordinal: int, folder: Path, config: Config | None = None, *, graph: bool = True
) -> None:
    """The answers at an ordinal are those of an index made from nothing of that commit's checkout.

    Args:
        db: the store whose history is asked.
        root: its checkout.
        ordinal: which revision.
        folder: an empty place for the checkout and its store.
        config: what is indexed.
        graph: resolve every call, too, which follows from the rest and takes most of the time.
    """
    view = view_of(db, root, config)
    moment = view.commits.at(ordinal)
    assert moment is not None
    alive = view.snapshots.at(ordinal)
    assert alive != "head_file"
    _compare(db, root, moment.sha, alive, view.graph_at(ordinal) if graph else None, folder, config)


def compare_each_with_fresh(
    db: Database, root: Path, ordinals: Sequence[int], folder: Path, config: Config | None = None
) -> None:
    """The same for several of one store: outside of the deep tier every call is resolved at the last of them alone."""
    for ordinal in ordinals:
        graph = is_full_size() or ordinal == ordinals[-1]
        compare_with_fresh(db, root, ordinal, folder / str(ordinal), config, graph=graph)


def compare_any_with_fresh(db: Database, root: Path, sha: str, folder: Path, config: Config | None = None) -> None:
    """The same for any commit of the repository, on the mainline or off it."""
    view = view_of(db, root, config)
    alive = view.snapshots.of(view.snapshots.require(sha))
    graphs: list[Graph] = []
    view.ask(sha, lambda graph: (graphs.append(graph), graph.symbols(limit=0))[1])
    _compare(db, root, sha, alive, graphs[0], folder, config)


Tables = dict[str, list[Any]]

_OF_TREES: dict[tuple[str, str, str, bool], tuple[Tables, list[Any]]] = {}


def _compare(
    db: Database, root: Path, sha: str, alive: str, graph: Graph | None, folder: Path, config: Config | None
) -> None:
    # What an index made from nothing says of a commit follows from its tree and the settings: it is made once for each.
    tree = Repo(root, init=False).git("rev-parse", f"{sha}^{{tree}}")
    whole = tree, root.name, repr(config), True
    of_tree = whole if graph is not None or whole in _OF_TREES else (*whole[:3], False)
    if of_tree not in _OF_TREES:
        _OF_TREES[of_tree] = _answers_of_checkout(root, sha, folder, config, graph=graph is not None)
    tables, calls = _OF_TREES[of_tree]
    assert state(db, alive) == tables
    assert graph is None or edges(graph) == calls


def _answers_of_checkout(
    root: Path, sha: str, folder: Path, config: Config | None, *, graph: bool
) -> tuple[Tables, list[Any]]:
    checkout = Repo(folder / root.name, init=False)
    checkout.git("clone", "-q", "--no-checkout", str(root), ".")
    checkout.git("checkout", "-q", "-f", "--detach", sha)
    with closing(Database(folder / "store")) as fresh:
        index(fresh, checkout.root, config)
        return state(fresh, "head_file"), edges(Graph(fresh)) if graph else []
