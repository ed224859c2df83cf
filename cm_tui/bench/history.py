"""Reading the past: speed beside git's own, growth of the store, latency, a branch switch, and checks against fresh indexes."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from cm_tui.bench.measure import percentiles
from cm_tui.config import load_config
from cm_tui.engine.memory import Memory
from cm_tui.errors import CmError

ROUNDS = 20
_SWITCH = 100


def main(argv: Sequence[str]) -> int:
    """Run the measurements and print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        1 when a moment's answers are not those of an index of its checkout.
    """
    options = _options(argv)
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="cm-bench-") as scratch:
        os.environ.update(
            CM_HOME=str(Path(scratch) / "home"), CM_OWNER__USE="never", CM_EMBEDDING__PROVIDER="none",
            CM_HISTORY__ENABLED="false", GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull,
        )  # fmt: skip
        try:
            bench = _Bench(Path(scratch), options)
            bench.run()
        finally:
            os.environ.clear()
            os.environ.update(before)
    if options.json:
        print(json.dumps(bench.rows, indent=2))
    else:
        for name, value in bench.rows.items():
            print(f"| {name} | {value} |")
    return 1 if bench.failed else 0


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cm bench history", description=__doc__)
    parser.add_argument("--repository", type=Path, help="A git repository; it is cloned, and not written to.")
    parser.add_argument(
        "--releases", type=Path,
        help="A folder of wheels of one project: a history is made of them, a commit for every file that changes.",
    )  # fmt: skip
    parser.add_argument("--samples", type=int, default=5, help="Moments that are compared with a fresh index.")
    parser.add_argument("--seed", type=int, default=1, help="Of what is sampled and asked.")
    parser.add_argument("--json", action="store_true", help="Print JSON.")
    options = parser.parse_args(list(argv))
    if (options.repository is None) == (options.releases is None):
        parser.error("name --repository or --releases")
    return options


class _Bench:
    """Measurements on one repository."""

    def __init__(self, scratch: Path, options: argparse.Namespace) -> None:
        self._scratch = scratch
        self._options = options
        self._random = random.Random(options.seed)
        self.rows: dict[str, Any] = {}
        self.failed = False
        self._root = scratch / "repository"
        if options.repository is not None:
            _git(scratch, "clone", "-q", "--no-hardlinks", str(options.repository.resolve()), str(self._root))
        else:
            make_history(self._root, options.releases)

    def run(self) -> None:
        """All of them, on one store."""
        with closing(Memory.open(self._root)) as memory:
            _, seconds = _timed(lambda: list(memory.index()))
            self.rows["index of HEAD, s"] = round(seconds, 2)
            size = _size(memory.store)
            self._backfill(memory, size)
            self._latency(memory)
            self._switch(memory)
            self._check(memory)

    def _backfill(self, memory: Memory, size: int) -> None:
        commits = memory.history().length
        git = min(
            _timed(lambda: _git(self._root, "log", "--first-parent", "-m", "--raw", "--no-abbrev", "--no-renames"))[1]
            for _ in range(3)
        )
        _, seconds = _timed(lambda: list(memory.backfill()))
        status = memory.history()
        self.rows |= {
            "commits on the line": commits,
            "known": status.known,
            "file contents of the past": status.blobs,
            "git log --first-parent --raw, s": round(git, 2),
            "reading the past, s": round(seconds, 2),
            "commits a second": round(status.known / seconds),
            "file contents a second": round(status.blobs / seconds),
            "times git log": round(seconds / git, 1),
            "store before, MB": round(size / 1e6, 1),
            "store after, MB": round(_size(memory.store) / 1e6, 1),
            "growth per 1,000 commits, MB": round((_size(memory.store) - size) / 1e3 / max(1, commits), 2),
        }

    def _latency(self, memory: Memory) -> None:
        length = memory.history().length
        names = [symbol.name for symbol in memory.symbols(kind="function", limit=5000).rows]
        chosen = [self._random.choice(names) for _ in range(ROUNDS)]
        moments = [f"#{self._random.randint(1, length)}" for _ in range(ROUNDS)]
        middle = f"#{max(1, length // 2)}"
        there = [symbol.name for symbol in memory.symbols_at(middle, kind="function", limit=5000).rows]
        asked = [self._random.choice(there) for _ in range(ROUNDS)]
        for name in asked[:3]:
            memory.callers(name, at=middle)
        self._time("symbols at a moment, first 50", lambda ref: memory.symbols_at(ref, limit=50), moments)
        self._time("files at a moment", memory.files_at, moments)
        self._time("callers at one moment, warm", lambda name: memory.callers(name, at=middle), asked)
        self._time("callers at another moment each time", lambda ref: _callers_of_any(memory, ref), moments)
        self._time("life of a symbol", memory.life, chosen)
        self._time("changes between two moments", lambda ref: memory.changes(ref, "HEAD", limit=100), moments)
        self._time("a page of the line", lambda ref: memory.line(before=int(ref[1:])), moments)

    def _time(self, name: str, ask: Callable[[str], object], words: Sequence[str]) -> None:
        ask(words[0])
        half, most = percentiles([_timed(partial(ask, word))[1] * 1000 for word in words])
        self.rows[f"{name}, ms p50 / p95"] = f"{half:.0f} / {most:.0f}"

    def _switch(self, memory: Memory) -> None:
        """To a branch that left the line a hundred commits ago and has a hundred of its own."""
        length = memory.history().length
        far = min(_SWITCH, length - 1)
        _git(self._root, "checkout", "-q", "-b", "bench-side", f"HEAD~{far}")
        path = next(row.path for row in memory.files().rows if row.symbols)
        for number in range(far):
            file = self._root / path
            file.write_text(file.read_text(errors="replace") if file.exists() else "", errors="replace")
            with file.open("a") as out:
                out.write(f"\ndef added_{number}():\n    return {number}\n")
            _git(self._root, "add", "-A")
            _git(self._root, "commit", "-q", "-m", f"side {number}")
        _, index = _timed(lambda: list(memory.index()))
        _, replay = _timed(lambda: list(memory.backfill()))
        self.rows[f"switch to a branch {far} commits away: index, s"] = round(index, 2)
        self.rows["and the past of it, s"] = round(replay, 2)
        _git(self._root, "checkout", "-q", "-")
        list(memory.index())
        _, replay = _timed(lambda: list(memory.backfill()))
        self.rows[f"back again, {far} commits replayed, s"] = round(replay, 2)

    def _check(self, memory: Memory) -> None:
        length = memory.history().length
        count = min(self._options.samples, length)
        wrong = []
        for ordinal in sorted(self._random.sample(range(1, length + 1), count)):
            place = memory.resolve(f"#{ordinal}")
            checkout = self._scratch / f"checkout-{ordinal}"
            _git(self._scratch, "clone", "-q", "--shared", "--no-checkout", str(self._root), str(checkout))
            _git(checkout, "checkout", "-q", "-f", "--detach", place.sha)
            store = self._scratch / f"store-{ordinal}"
            with closing(Memory(checkout, store, load_config(checkout))) as fresh:
                list(fresh.index())
                differing = list(_differences(memory, fresh, f"#{ordinal}"))
            wrong += [f"#{ordinal} {place.sha[:10]}: {what}" for what in differing]
            shutil.rmtree(checkout)
            shutil.rmtree(store)
        self.rows["moments compared with a fresh index of their checkout"] = count
        self.rows["that differ"] = len(wrong)
        self.failed = bool(wrong)
        for line in wrong:
            sys.stderr.write(f"{line}\n")


def _timed(work: Callable[[], object]) -> tuple[object, float]:
    began = time.perf_counter()
    done = work()
    return done, time.perf_counter() - began


def _differences(memory: Memory, fresh: Memory, ref: str) -> Iterator[str]:
    """In what two doors do not agree: files, symbols, and the callers of every twentieth symbol."""
    mine = [(f.path, f.language, f.lines, f.bytes, f.symbols) for f in memory.files_at(ref).rows]
    theirs = [(f.path, f.language, f.lines, f.bytes, f.symbols) for f in fresh.files().rows]
    if mine != theirs:
        yield f"files {set(mine) ^ set(theirs)}"
    symbols = fresh.symbols(limit=10_000_000).rows
    if memory.symbols_at(ref, limit=10_000_000).rows != symbols:
        yield "symbols"
    for symbol in [one for one in symbols if one.kind in ("function", "method", "class")][::20]:
        if _sites(memory.callers(symbol.key, at=ref).rows) != _sites(fresh.callers(symbol.key).rows):
            yield f"callers of {symbol.path} {symbol.qualname}"


def _sites(edges: Sequence[Any]) -> list[tuple[Any, ...]]:
    return sorted((e.site, e.line, e.qualname, e.resolution, e.target, e.text) for e in edges)


def _callers_of_any(memory: Memory, ref: str) -> object:
    """A question about a moment for which nothing is at hand."""
    found = memory.symbols_at(ref, kind="function", limit=1).rows
    try:
        return memory.callers(found[0].key, at=ref) if found else None
    except CmError:
        return None


def make_history(root: Path, wheels: Path) -> None:
    """A repository from the releases of a project: each file that a release changes is a commit of its own.

    Args:
        root: where to make it.
        wheels: the releases; their files' times say in which order they came.
    """
    root.mkdir(parents=True)
    _git(root, "init", "-q", "-b", "main")
    process = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=root, stdin=subprocess.PIPE)
    assert process.stdin is not None
    before: dict[str, bytes] = {}
    when = 1_500_000_000
    for wheel in sorted(wheels.glob("*.whl"), key=_release):
        with zipfile.ZipFile(wheel) as archive:
            files = {
                name: archive.read(name)
                for name in archive.namelist()
                if not name.endswith("/") and ".dist-info/" not in name and len(name) < 200
            }
        for path in sorted(before.keys() | files.keys()):
            if before.get(path) != files.get(path):
                when += 600
                process.stdin.write(_commit(path, files.get(path), when, f"{wheel.name.split('-')[1]}: {path}"))
        before = files
    process.stdin.close()
    if process.wait():
        raise CmError("git fast-import failed.")
    _git(root, "reset", "-q", "--hard", "main")


def _release(wheel: Path) -> tuple[int, ...]:
    """A release's number, to sort by."""
    version = wheel.name.split("-")[1]
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


def _commit(path: str, data: bytes | None, when: int, subject: str) -> bytes:
    text = subject.encode()
    head = b"commit refs/heads/main\ncommitter Bench <bench@example.org> %d +0000\ndata %d\n%s\n" % (
        when,
        len(text),
        text,
    )
    name = json.dumps(path, ensure_ascii=False).encode()
    if data is None:
        return head + b"D %s\n\n" % name
    return head + b"M 100644 inline %s\ndata %d\n%s\n\n" % (name, len(data), data)


def _git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "core.autocrlf=false")
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def _size(store: Path) -> int:
    return sum(file.stat().st_size for file in store.rglob("*") if file.is_file())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
