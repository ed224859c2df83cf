"""Freshness: what the check before a question costs, and how long an edit takes to be searchable by each layer."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from cm_tui.bench.measure import percentiles
from cm_tui.engine.freshness.changes import path_filter
from cm_tui.engine.freshness.project_sync import ProjectSync
from cm_tui.engine.index.summary import run_to_end
from cm_tui.engine.journal.journal import Journal
from cm_tui.engine.local.engine import LocalEngine
from cm_tui.errors import CmError, NotFoundError

_WAIT_SECONDS = 120.0
_CHECKS = 200
_EDITS = 5


def main(argv: Sequence[str]) -> int:
    """Run the measurements and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="cm bench freshness", description=__doc__)
    parser.add_argument("--tree", type=Path, help="A git checkout, which is copied; default: --files generated files.")
    parser.add_argument("--files", type=int, default=3000, help="How many files to generate.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch, _home(Path(scratch)):
        root = Path(scratch) / "tree"
        if options.tree:
            shutil.copytree(options.tree, root, symlinks=True)
            # git knows its files by their inodes too, which a copy does not keep.
            subprocess.run(["git", "status", "--short"], cwd=root, check=True, capture_output=True)
        else:
            _generate(root, options.files)
        rows = {**_appends(Path(scratch)), **_layers(root)}
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for name, value in rows.items():
            print(f"| {name} | {value} |")
    return 0


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    """Stores and settings of its own, and no vectors: they follow behind and are measured elsewhere."""
    before = dict(os.environ)
    os.environ.update({"CM_HOME": str(folder / "home"), "CM_EMBEDDING__PROVIDER": "none"})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _generate(root: Path, files: int) -> None:
    for number in range(files):
        file = root / f"pkg{number % 100}" / f"module{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"def function{number}(value):\n    return value + {number}\n", encoding="utf-8")
    identity = ["-c", "user.name=cm", "-c", "user.email=cm@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *identity, *words], cwd=root, check=True)


def _appends(folder: Path) -> dict[str, str]:
    journal = Journal(folder / "journal" / "bench")
    return {"journal append": _spread(_timed(lambda: journal.append("bench", {"text": "x" * 200}), _CHECKS))}


def _layers(root: Path) -> dict[str, str]:
    with LocalEngine.open(root) as engine:
        sync = _sync_of(engine)
        sync.start()
        try:
            if sync.watcher is not None:
                sync.watcher.wait_until_watching(_WAIT_SECONDS)
            sync.scheduler.flush(_WAIT_SECONDS)
            _until(lambda: not sync.before_query(_WAIT_SECONDS).behind)
            edits = _Edits(root, engine, sync)
            return {
                "files in the index": f"{engine.files().total:,}",
                "check before a question, nothing changed": _spread(_timed(sync.before_query, _CHECKS)),
                "edit to searchable, check before a question": edits.measure(None),
                "edit to searchable, save hook": edits.measure(lambda path: sync.signal("save", frozenset({path}))),
                "edit to searchable, git hook": edits.measure(lambda _: sync.signal("git hooks")),
                "edit to searchable, watcher": edits.measure(lambda _: None),
            }
        finally:
            sync.stop()


def _sync_of(engine: LocalEngine) -> ProjectSync:
    make_filter = partial(path_filter, engine.root, engine.store / "shadow", engine.config)
    return ProjectSync(
        engine.root, lambda paths: run_to_end(engine.index(paths=paths)), make_filter, engine.config.watch
    )


class _Edits:
    """Adds a function to a new file, and waits until it is found."""

    def __init__(self, root: Path, engine: LocalEngine, sync: ProjectSync) -> None:
        self._root = root
        self._engine = engine
        self._sync = sync
        self._count = 0

    def measure(self, tell: Callable[[str], object] | None) -> str:
        """Seconds from the edit until it is found; `tell` is the layer, and None a question again and again."""
        return _spread([self._once(tell) for _ in range(_EDITS)])

    def _once(self, tell: Callable[[str], object] | None) -> float:
        self._count += 1
        name = f"measured{self._count}"
        started = time.perf_counter()
        (self._root / f"{name}.py").write_text(f"def {name}():\n    return {self._count}\n", encoding="utf-8")
        if tell is not None:
            tell(f"{name}.py")
        _until(lambda: self._found(name, asking=tell is None))
        seconds = time.perf_counter() - started
        # The other layers come to rest before the next edit.
        _until(lambda: not self._sync.before_query(_WAIT_SECONDS).behind)
        return seconds

    def _found(self, name: str, *, asking: bool) -> bool:
        if asking:
            self._sync.before_query(_WAIT_SECONDS)
        try:
            return self._engine.symbols(file=f"{name}.py").total > 0
        except NotFoundError:
            return False


def _until(there: Callable[[], object]) -> None:
    end = time.monotonic() + _WAIT_SECONDS
    while not there():
        if time.monotonic() > end:
            raise CmError(f"The index did not follow within {_WAIT_SECONDS:.0f} s.")
        time.sleep(0.005)


def _timed(act: Callable[[], object], times: int) -> list[float]:
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        seconds.append(time.perf_counter() - started)
    return seconds


def _spread(seconds: Sequence[float]) -> str:
    p50, p95 = percentiles([one * 1000 for one in seconds])
    return f"{p50:,.1f} ms (p95 {p95:,.1f})"
