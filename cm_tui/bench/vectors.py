"""Vectors: how fast text is embedded, and how fast and how exactly vectors are found, by size of the index."""

from __future__ import annotations

import argparse
import hashlib
import json
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cm_tui.config import load_config
from cm_tui.engine.embed.choice import provider_for
from cm_tui.engine.embed.provider import Provider, passage_text
from cm_tui.engine.store.database import Database
from cm_tui.engine.vectors.index import VectorIndex
from cm_tui.model import CODE

QUERIES = (
    "parse a date from a string", "open a socket and send data", "where is the configuration file read",
    "thread pool that runs callables", "compress bytes", "walk a folder tree", "HTTP server that serves files",
    "encode an email header", "regular expression compiler", "unit test discovery", "format a traceback",
    "read rows of a csv file", "shared memory between processes", "event loop that waits for sockets",
    "decimal arithmetic rounding", "copy a file with its metadata", "XML tree parser", "command line arguments",
)  # fmt: skip

Row = dict[str, Any]


def main(argv: Sequence[str]) -> int:
    """Measure and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="cm bench vectors", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 30_000, 100_000], help="Passages.")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    provider = provider_for(load_config().embedding)
    rows = [throughput(provider)]
    for size in options.sizes:
        with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
            rows.append(measure(provider, Path(scratch), size))
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        for name, value in row.items():
            print(f"| {name} | {value} |")
        print()
    return 0


def chunks(lines: int) -> Iterator[tuple[str, str]]:
    """Pieces of Python's standard library, of so many lines each: (path, text)."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for file in sorted(root.rglob("*.py")):
        if "site-packages" in file.parts:
            continue
        source = file.read_text(encoding="utf-8", errors="replace").split("\n")
        for start in range(0, len(source), lines):
            text = "\n".join(source[start : start + lines])
            if len(text) > 40:
                yield file.relative_to(root).as_posix(), text


def throughput(provider: Provider) -> Row:
    """Texts a second, and the time that a query takes."""
    texts = [text for _, text in chunks(25)][:6000]
    start = time.perf_counter()
    provider.embed_query("anything")
    load = time.perf_counter() - start
    start = time.perf_counter()
    provider.embed(texts)
    seconds = time.perf_counter() - start
    query = percentile([_seconds(partial(provider.embed_query, text)) for text in QUERIES * 10], 50)
    return {
        "model": provider.fingerprint,
        "load and first query (ms)": round(1000 * load, 1),
        "texts of 25 lines a second": round(len(texts) / seconds),
        "embed a query, p50 (ms)": round(query, 3),
    }


def measure(provider: Provider, folder: Path, size: int) -> Row:
    """Fill, save, open, change and search an index of so many passages, exactly and by a graph."""
    db = Database(folder)
    try:
        insert(db, size)
        index = VectorIndex(db, folder, provider)
        fill = _seconds(lambda: list(index.fill()))
        opening = [_seconds(lambda: VectorIndex(db, folder, provider)) for _ in range(5)]
        with db.transaction() as cursor:
            cursor.execute(
                "UPDATE passage SET id = id + 1000000, hash = 'changed ' || id, text = text || ' changed' WHERE id < 6"
            )
            db.set_meta("passage_generation", "2")
        edit = _seconds(lambda: list(index.fill()))
        lagging = _seconds(lambda: VectorIndex(db, folder, provider))
        (folder / "vectors.bin").unlink()
        rebuild = _seconds(lambda: VectorIndex(db, folder, provider))
        exact, truth = _ask(index, provider)
        graphed = VectorIndex(db, folder, provider, graph_rows=1)
        build = _seconds(lambda: list(graphed.build_graph()))
        graph, found = _ask(graphed, provider)
        pairs = list(zip(truth, found, strict=True))
        return {
            "passages": index.coverage()[0],
            "fill (s)": round(fill, 2),
            "open (ms)": round(1000 * min(opening), 1),
            "five passages changed (ms)": round(1000 * edit, 1),
            "open after that (ms)": round(1000 * lagging, 1),
            "rebuild from the store (ms)": round(1000 * rebuild, 1),
            "file (MB)": round((folder / "vectors.bin").stat().st_size / 1e6, 1),
            "exact, p50 / p95 (ms)": f"{percentile(exact, 50):.2f} / {percentile(exact, 95):.2f}",
            "graph, p50 / p95 (ms)": f"{percentile(graph, 50):.2f} / {percentile(graph, 95):.2f}",
            "graph, build (s)": round(build, 1),
            "graph, file (MB)": round((folder / "vectors.hnsw").stat().st_size / 1e6, 1),
            "graph, recall of the first 50": round(float(np.mean([_share(a[:50], b[:50]) for a, b in pairs])), 4),
            "graph, recall of the first 200": round(float(np.mean([_share(a, b) for a, b in pairs])), 4),
        }
    finally:
        db.close()


def insert(db: Database, size: int) -> None:
    """Write so many passages, as indexing would."""
    from arro3.core import DataType

    pieces: list[tuple[str, str]] = []
    while len(pieces) < size:
        copy = len(pieces)
        pieces += [(path, f"{text}\n# {copy}" if copy else text) for path, text in chunks(6)][: size - copy]
    texts = [text for _, text in pieces]
    columns: dict[str, Sequence[Any]] = {
        "id": range(1, size + 1),
        "source": [CODE] * size,
        "path": [path for path, _ in pieces],
        "start_line": [1] * size,
        "end_line": [6] * size,
        "title": [""] * size,
        "text": texts,
        "hash": [hashlib.sha1(passage_text("", text).encode(), usedforsecurity=False).hexdigest() for text in texts],
    }
    whole = {"id", "start_line", "end_line"}
    with db.transaction():
        db.insert("passage", columns, {n: DataType.int32() if n in whole else DataType.utf8() for n in columns})
        db.set_meta("passage_generation", "1")


def _ask(index: VectorIndex, provider: Provider) -> tuple[list[float], list[list[int]]]:
    """Seconds that each query took, and the ids that it found."""
    vectors = [provider.embed_query(text) for text in QUERIES]
    times: list[float] = []
    found: list[list[int]] = []
    for _ in range(5):
        found = []
        for vector in vectors:
            start = time.perf_counter()
            ids, _ = index.search(vector, 200)
            times.append(time.perf_counter() - start)
            found.append(ids.tolist())
    return times, found


def _share(truth: Sequence[int], found: Sequence[int]) -> float:
    return len(set(truth) & set(found)) / len(truth)


def percentile(seconds: Sequence[float], share: float) -> float:
    """A percentile in milliseconds."""
    return float(np.percentile(seconds, share)) * 1000


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
