"""Query latencies within one process: `python warm.py TREE QUERY…` prints JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

ROUNDS = 10
WARM_SECONDS = 5.0
"""What is read into memory behind the first answers is there by then."""


def main(tree: str, queries: list[str]) -> None:
    """Ask every query for a while to warm up, then `ROUNDS` times."""
    from cm_tui.engine.api.engine import Engine

    engine = Engine.open(Path(tree))
    began = time.monotonic()
    while time.monotonic() - began < WARM_SECONDS:
        for query in queries:
            engine.search(query)
    milliseconds = []
    mode = ""
    for _ in range(ROUNDS):
        for query in queries:
            started = time.perf_counter()
            mode = engine.search(query).mode
            milliseconds.append((time.perf_counter() - started) * 1000)
    print(json.dumps({"passages": engine.status().passages, "mode": mode, "milliseconds": milliseconds}))
    engine.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
