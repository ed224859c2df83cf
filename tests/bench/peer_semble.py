"""semble on the same tree, in an environment of its own: `python peer_semble.py TREE MODEL QUERY…` prints JSON."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

ROUNDS = 10


def main(tree: str, model: str, queries: list[str]) -> None:
    """Index the tree, then ask every query `ROUNDS` times."""
    from semble import SembleIndex

    options: dict[str, Any] = {"model_path": model} if model else {}
    started = time.perf_counter()
    index = SembleIndex.from_path(tree, **options)
    index_seconds = time.perf_counter() - started
    milliseconds = []
    for _ in range(ROUNDS):
        for query in queries:
            started = time.perf_counter()
            index.search(query)
            milliseconds.append((time.perf_counter() - started) * 1000)
    print(json.dumps({"index_seconds": index_seconds, "milliseconds": milliseconds[len(queries) :]}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
