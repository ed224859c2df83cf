"""`just bench callers`: how right and how complete the graph's callers are, against Python's own syntax tree."""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cm_tui.engine.code.graph.derived_tables import script
from cm_tui.engine.code.graph.graph import CALLS, Graph
from cm_tui.engine.platform.store.database import Database
from cm_tui.model.text import one_line
from tests.bench.reading import sites
from tests.bench.source import Outside, Target
from tests.bench.truth import Package

Place = tuple[str, int, str]
"""Path, line and called name of a site."""

_EDGES = """
SELECT sf.path, s.line, coalesce(c.qualname, ''), s.name, s.receiver, s.kind, e.tier, e.choices, tf.path, t.qualname,
       t.start_line, c.start_line
FROM site s JOIN graph.file sf ON sf.id = s.file
LEFT JOIN graph.def c ON c.id = s.holder
LEFT JOIN edge e ON e.site = s.id
LEFT JOIN graph.def t ON t.id = e.node LEFT JOIN graph.file tf ON tf.id = t.file
ORDER BY s.id
"""
_FORGET_RECEIVERS = """
DELETE FROM done WHERE expr IN (SELECT id FROM site WHERE coalesce(receiver, '') NOT IN ('', 'self', 'cls', 'super()'))
"""
_BUILTIN_TYPES = (str, bytes, list, dict, set, tuple, int, float, io.StringIO)


@dataclass(slots=True)
class Score:
    """Counts of one package."""

    package: str
    files: int = 0
    truth: int = 0
    found: int = 0
    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    blind_right: int = 0
    blind_wrong: int = 0
    file_truth: int = 0
    file_claims: int = 0
    file_right: int = 0
    seconds: float = 0.0
    examples: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Share of right claims among those that the truth decides."""
        return _share(self.right.total(), self.right.total() + self.wrong.total())

    @property
    def recall(self) -> float:
        """Share of true call sites that are claimed."""
        return _share(self.found, self.truth)

    def record(self) -> dict[str, Any]:
        """As JSON."""
        tiers = sorted({*self.right, *self.wrong, *self.open})
        return {
            "package": self.package, "files": self.files, "true_sites": self.truth,
            "precision": round(self.precision, 4), "recall": round(self.recall, 4),
            "tiers": {t: {"right": self.right[t], "wrong": self.wrong[t], "open": self.open[t],
                          "precision": round(_share(self.right[t], self.right[t] + self.wrong[t]), 4)} for t in tiers},
            "unique_tier_blind": {"right": self.blind_right, "wrong": self.blind_wrong,
                                  "precision": round(_share(self.blind_right, self.blind_right + self.blind_wrong), 4)},
            "unique_names_by_file": {"precision": round(_share(self.file_right, self.file_claims), 4),
                                     "recall": round(_share(self.file_right, self.file_truth), 4)},
            "seconds": round(self.seconds, 2),
        }  # fmt: skip


def load_files(db: Database, files: Iterable[tuple[str, bytes]]) -> None:
    """Put files into a store without the walk, the passages and the vectors of a full index run."""
    import pygit2

    from cm_tui.engine.code.parse import records
    from cm_tui.engine.code.parse.parse_blob import parse_blob
    from cm_tui.engine.code.scan.languages import EXTRACTOR_VERSION, HEAD_BYTES, language_of
    from cm_tui.engine.platform.store import bulk
    from cm_tui.engine.platform.store.generations import GENERATION

    parsed, paths = [], []
    start = int(db.value("SELECT coalesce(max(id), 0) FROM blob"))
    for number, (path, data) in enumerate(files, start + 1):
        parsed.append((number, parse_blob(str(pygit2.hash(data)), language_of(path, data[:HEAD_BYTES]), data)))
        paths.append((path, number))
    with db.transaction() as cursor:
        bulk.insert_tables(db, records.columns_of(parsed, EXTRACTOR_VERSION))
        for path, number in paths:
            cursor.execute("DELETE FROM worktree WHERE path = ?", [path])
            cursor.execute("INSERT INTO worktree VALUES (?, ?)", [path, number])
        db.set_meta(GENERATION, str(int(db.get_meta(GENERATION) or 0) + 1))


def resolve_all(graph: Graph, *, blind: bool = False) -> list[tuple[Any, ...]]:
    """Return every call site with its resolution; ambiguous sites have several rows.

    `blind`: ignore receivers, to measure resolution by names alone. Returns rows of (path, line, caller, name, receiver,
    kind, tier, choices, path and qualname of the definition, its line, line of the caller); the definition is None for
    unresolved sites.
    """
    with graph._tables() as asked:
        resolver = asked.resolver
        resolver._resolve(f"r.kind IN ({', '.join(map(repr, CALLS))})")
        if blind:
            resolver._db.execute(_FORGET_RECEIVERS)
            resolver._db.run(script("edges"))
        return resolver._db.rows(_EDGES)


def measure(folder: Path) -> Score:
    """Compare the graph's claims about a package with the truth."""
    package = Package(folder)
    score = Score(folder.name, files=len(package.modules))
    with tempfile.TemporaryDirectory() as store:
        db = Database(Path(store))
        load_files(db, ((m.path, (package.root / m.path).read_bytes()) for m in package.modules.values()))
        graph = Graph(db)
        start = time.perf_counter()
        edges = resolve_all(graph)
        score.seconds = time.perf_counter() - start
        blind = resolve_all(graph, blind=True)
        db.close()
    _judge(package, edges, score)
    _by_file(package, edges, score)
    _judge_blind(package, blind, score)
    return score


def _judge(package: Package, edges: list[tuple[Any, ...]], score: Score) -> None:
    """A claim is right when line, caller and definition are; it is open where the truth does not decide."""
    true: dict[Place, set[tuple[Target, str]]] = defaultdict(set)
    decided: dict[Place, bool] = {}
    for site in sites(package):
        place = (site.path, site.line, site.name)
        decided[place] = decided.get(place, True) and site.target is not None
        if isinstance(site.target, Target):
            true[place].add((site.target, site.caller))
    claimed: set[tuple[Place, Target, str]] = set()
    for path, line, caller, name, receiver, _, tier, choices, to_path, to_name, *_ in edges:
        if to_path is None or choices != 1:
            continue
        place, target = (path, line, name), Target(to_path, to_name)
        claimed.add((place, target, caller))
        right = (target, caller) in true.get(place, ())
        verdict = "right" if right else "wrong" if decided.get(place, True) else "open"
        getattr(score, verdict)[tier] += 1
        score.examples.append(
            f"{verdict:7} {tier:9} {path}:{line} {receiver}.{name} in {caller} -> {to_path} {to_name}"
        )
    for place, targets in true.items():
        score.truth += len(targets)
        missing = [(target, caller) for target, caller in targets if (place, target, caller) not in claimed]
        score.found += len(targets) - len(missing)
        score.examples += [f"missing {place[0]}:{place[1]} {place[2]} -> {t.path} {t.qualname}" for t, _ in missing]


def _judge_blind(package: Package, edges: list[tuple[Any, ...]], score: Score) -> None:
    """What the unique tier says when receivers are forgotten, where the truth knows better: how far to trust it."""
    truth: dict[Place, set[object]] = defaultdict(set)
    for site in sites(package):
        truth[site.path, site.line, site.name].add(site.target)
    for path, line, _, name, _, _, tier, choices, to_path, to_name, *_ in edges:
        targets = truth.get((path, line, name), set())
        if tier == "unique" and choices == 1 and targets and None not in targets:
            right = Target(to_path, to_name) in targets
            score.blind_right += right
            score.blind_wrong += not right


def _by_file(package: Package, edges: list[tuple[Any, ...]], score: Score) -> None:
    """The coarse yardstick by which others are measured: files that call a name which is defined once."""
    last: dict[str, set[Target]] = defaultdict(set)
    for target in {d.target for d in package.definitions}:
        last[target.qualname.rpartition(".")[2]].add(target)
    # `x.append(y)` is no evidence for somebody's `append`: names that built-in types bear are left out.
    builtin = {name for kind in _BUILTIN_TYPES for name in dir(kind)}
    unique = {name: next(iter(targets)) for name, targets in last.items() if len(targets) == 1 and name not in builtin}
    truth = {(s.path, unique[s.name]) for s in sites(package) if s.name in unique and not isinstance(s.target, Outside)}
    # Calls by another name (aliases, objects that are called) are beyond this yardstick.
    named = (e for e in edges if e[8] is not None and e[7] == 1 and e[9].rpartition(".")[2] == e[3])
    claims = {(e[0], Target(e[8], e[9])) for e in named}
    claims = {(path, target) for path, target in claims if unique.get(target.qualname.rpartition(".")[2]) == target}
    score.examples += [f"file    {path} {target.path} {target.qualname}" for path, target in sorted(truth - claims)]
    score.file_truth, score.file_claims, score.file_right = len(truth), len(claims), len(truth & claims)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the packages whose folders are given; prints one JSON object a package and one for all."""
    parser = argparse.ArgumentParser(prog="just bench callers", description=__doc__)
    parser.add_argument("folder", nargs="+", type=Path, help="a Python package: the folder that holds its __init__.py")
    parser.add_argument(
        "--examples",
        choices=("wrong", "missing", "open", "file"),
        action="append",
        default=[],
        help="also print each call site of this verdict on stderr",
    )
    options = parser.parse_args(argv)
    total = Score("all")
    for folder in options.folder:
        score = measure(folder)
        print(json.dumps(score.record()))
        for example in score.examples:
            if example.split()[0] in options.examples:
                print(one_line(example), file=sys.stderr)
        for name in ("right", "wrong", "open"):
            getattr(total, name).update(getattr(score, name))
        for name in (
            "files",
            "truth",
            "found",
            "blind_right",
            "blind_wrong",
            "file_truth",
            "file_claims",
            "file_right",
            "seconds",
        ):
            setattr(total, name, getattr(total, name) + getattr(score, name))
    print(json.dumps(total.record()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
