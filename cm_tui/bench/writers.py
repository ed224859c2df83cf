"""Two editors, an agent and the application write the same notes and entries: whether anything is lost."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cm_tui.bench import writer_clients
from cm_tui.bench.writer_clients import ENTRIES, KINDS, MARK, NOTES
from cm_tui.engine.api.engine import Engine

_SETTLED_S = 4.0
"""After the last save, until the daemon has looked at it."""


def main(argv: Sequence[str]) -> int:
    """Measure and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The process's exit code: 1 where something is lost.
    """
    parser = argparse.ArgumentParser(prog="cm bench writers", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="How long they write.")
    parser.add_argument(
        "--hold", type=float, default=6, help="Seconds that a text is open before it is saved, at most."
    )
    parser.add_argument("--seed", type=int, default=1, help="Of all that they do.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(list(argv))
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        os.environ["CM_HOME"] = str(Path(scratch) / "home")
        try:
            rows, lost = _measured(Path(scratch), options)
        finally:
            from cm_tui.daemon import bootstrap

            bootstrap.stop_daemon()
            os.environ.clear()
            os.environ.update(before)
    print(
        json.dumps(rows, indent=1)
        if options.json
        else "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    )
    return 1 if lost else 0


def _measured(scratch: Path, options: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    from cm_tui.daemon.open_engine import open_engine

    root = scratch / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    engine = open_engine(root)
    for name in NOTES:
        engine.write_note(name, f"# {Path(name).stem}\n\nThe router listens on port 8080.\n\nIt has two lines.\n")
    engine.remember("The router has a name.")
    logs = {kind: scratch / f"{kind}.log" for kind in KINDS}
    writers = [_started(kind, root, log, options) for kind, log in logs.items()]
    codes = [writer.wait() for writer in writers]
    time.sleep(_SETTLED_S)
    done = {kind: [json.loads(line) for line in log.read_text("utf-8").splitlines()] for kind, log in logs.items()}
    rows = {f"saves of the {kind}": sum("wrote" in one for one in done[kind]) for kind in KINDS}
    rows["ended badly"] = sum(code != 0 for code in codes)
    rows["refused"] = sum("refused" in one for kind in KINDS for one in done[kind])
    changes = [one for kind in KINDS for one in done[kind] if "wrote" in one]
    found, lost = _verdict(root, engine, changes)
    for mark in lost:
        print(f"lost: {mark}{_saved_over(mark, changes)}", file=sys.stderr)
    return rows | found, lost


def _started(kind: str, root: Path, log: Path, options: argparse.Namespace) -> subprocess.Popen[bytes]:
    words = [kind, str(options.seed), str(root), str(log), str(options.seconds), str(options.hold)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen([sys.executable, "-P", writer_clients.__file__, *words], env=environment)


def _saved_over(mark: str, changes: Sequence[dict[str, Any]]) -> str:
    """Return how soon the other editor saved the same file over a save: faster than anybody can look, it was never seen."""
    mine = next(one for one in changes if mark in one["wrote"])
    later = [one["at"] - mine["at"] for one in changes if one["file"] == mine["file"] and one["at"] > mine["at"] > 0]
    return f", saved over after {min(later) * 1000:.0f} ms" if later else ""


def _verdict(root: Path, engine: Engine, changes: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """Return what became of everything that was written, and what is neither there nor shown."""
    removed = {mark for one in changes for mark in one["removed"]}
    kept = [mark for one in changes for mark in one["wrote"] if mark not in removed]
    there = Counter(mark for piece in _pieces(root) for mark in set(MARK.findall(piece)))
    conflicts = engine.note_conflicts()
    shown = {mark for one in conflicts for mark in MARK.findall(f"{one.mine} {one.theirs}")}
    lost = [mark for mark in kept if not there[mark] and mark not in shown]
    return {
        "marks that nobody took away": len(kept),
        "lost": len(lost),
        "only in a conflict that waits": sum(not there[mark] and mark in shown for mark in kept),
        "conflicts that wait": len(conflicts),
        "more than once": sum(number > 1 for number in there.values()),
        "taken away, and there again": sum(mark in there for mark in removed),
        "taken away": len(removed),
    }, lost


def _pieces(root: Path) -> Iterator[str]:
    """Yield the lines of the notes, and the entries."""
    for name in NOTES:
        yield from (root / name).read_text("utf-8").splitlines()
    for item in json.loads((root / ENTRIES).read_text("utf-8"))["entries"]:
        yield json.dumps(item)
