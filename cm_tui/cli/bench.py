"""`cm bench`: speed on a project in a store of its own, and quality on questions about cm's own source, each with a definition in it."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cm_tui
from cm_tui import model
from cm_tui.cli.options import chosen_project
from cm_tui.cli.output import as_json, follow, narrate, write
from cm_tui.counts import count
from cm_tui.errors import UsageError

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

_ROUNDS, _NAMES, _DEPTH = 10, 20, 10


def bench(name: Annotated[str | None, typer.Argument(hidden=True)] = None) -> None:
    """Measure speed on the current project, and quality on questions about cm's own source.

    A scratch store is used: nothing of the project is changed. Those behind the figures in the guides need a checkout: just bench NAME.
    """
    from cm_tui.engine.api import projects

    if name is not None:
        hint = f"The measurements behind the figures in the guides run in a checkout of cm: just bench {name}"
        raise UsageError("`cm bench` takes no argument.", hint=hint)
    root, _ = projects.locate(chosen_project())
    narrate("indexing this project, and asking …")
    speed = _speed(root)
    narrate("indexing cm's own source, and asking …")
    quality = _quality()
    if as_json({"speed": speed, "quality": quality}):
        return
    write(f"{root.name}: {count(speed['files'], 'file')}, {count(speed['passages'], 'passage')}", bold=root.name)
    write(f"  whole index        {speed['index_s']:.2f} s; again, nothing changed {speed['unchanged_s']:.2f} s")
    write(f"  a question, warm   p50 {speed['p50_ms']:.1f} ms, p95 {speed['p95_ms']:.1f} ms")
    write(f"  start of a command {speed['start_s']:.2f} s, {speed['start_ratio']:.1f} times that of Python")
    write(f"{quality['questions']} questions about cm's own source", bold="questions")
    write(f"  right file first   {quality['at_1']:.0%}; among {_DEPTH} {quality['at_10']:.0%}")
    write(f"  NDCG@{_DEPTH}            {quality['ndcg']:.3f}; by words alone {quality['words_ndcg']:.3f}")


def _speed(root: Path) -> dict[str, Any]:
    """Return seconds and milliseconds of a project; the start of a command is compared with that of Python."""
    with _indexed(root) as (engine, took):
        status, again = engine.status(), _seconds(lambda: list(engine.index()))
        names = [symbol.name for symbol in engine.symbols(limit=_NAMES).rows] or ["main"]
        for name in names:
            engine.search(name)
        times = [1000 * _seconds(partial(engine.search, name)) for name in names for _ in range(_ROUNDS)]
    start, bare = (
        min(
            _seconds(partial(subprocess.run, [sys.executable, *words], check=True, capture_output=True))
            for _ in range(3)
        )
        for words in (("-m", "cm_tui", "projects", "--json"), ("-c", "import json, socket"))
    )
    return {
        "files": status.files, "passages": status.passages, "index_s": took, "unchanged_s": again,
        "p50_ms": statistics.median(times), "p95_ms": sorted(times)[int(0.95 * (len(times) - 1))],
        "start_s": start, "start_ratio": start / bare,
    }  # fmt: skip


def _quality() -> dict[str, Any]:
    """Return how often the file that answers is the first one and among the first, and the mean gain of its place."""
    package = Path(cm_tui.__file__).parent
    asked = json.loads((package / "data" / "questions.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        # A copy: the package may lie in a repository that ignores it.
        copy = Path(shutil.copytree(package, Path(scratch) / "cm_tui", ignore=shutil.ignore_patterns("__pycache__")))
        sources = {file.relative_to(copy).as_posix(): file.read_text(encoding="utf-8") for file in copy.rglob("*.py")}
        answers = [files_with(one["answer"], sources) for one in asked]
        with _indexed(copy) as (engine, _):
            found = {
                mode: [engine.search(one["question"], limit=_DEPTH, mode=mode).hits for one in asked]
                for mode in ("hybrid", "keyword")
            }
    ranks = {mode: list(map(_rank, hits, answers)) for mode, hits in found.items()}
    gains = {mode: [1 / math.log2(1 + rank) if rank else 0.0 for rank in places] for mode, places in ranks.items()}
    return {
        "questions": len(asked),
        "at_1": sum(rank == 1 for rank in ranks["hybrid"]) / len(asked),
        "at_10": sum(rank > 0 for rank in ranks["hybrid"]) / len(asked),
        "ndcg": statistics.mean(gains["hybrid"]),
        "words_ndcg": statistics.mean(gains["keyword"]),
    }


def _rank(hits: Sequence[model.Hit], files: Collection[str]) -> int:
    """Return the place of the first of some files among those that hits are in; 0: it has none."""
    paths = list(dict.fromkeys(hit.path for hit in hits))
    return next((place for place, path in enumerate(paths, 1) if path in files), 0)


def files_with(answer: str, sources: Mapping[str, str]) -> set[str]:
    """Return the files in which a line begins with an answer, spaces apart."""
    begins = re.compile(rf"^\s*{re.escape(answer)}", re.MULTILINE)
    return {path for path, text in sources.items() if answer in text and begins.search(text)}


@contextmanager
def _indexed(folder: Path) -> Iterator[tuple[Engine, float]]:
    """Have a folder in a store of its own, without a daemon; also seconds that its index took."""
    from cm_tui.daemon.open_engine import open_engine

    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as home:
        os.environ |= {"CM_HOME": home, "CM_DAEMON__USE": "never"}
        try:
            with closing(open_engine(folder)) as engine:
                yield engine, _seconds(lambda: follow(engine.index(full=True)))
        finally:
            os.environ.clear()
            os.environ.update(before)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
