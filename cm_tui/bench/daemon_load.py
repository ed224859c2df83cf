"""Work that must not be lost or done twice: many clients at once, and a daemon that is killed."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cm_tui.bench.daemon_project import DaemonProject, latency, milliseconds
from cm_tui.bench.speed import QUERIES
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import CmError, NotFoundError


class Load:
    """Many clients, and kill -9.

    Args:
        project: what they work on.
    """

    def __init__(self, project: DaemonProject) -> None:
        self._project = project
        self._options = project.options

    def crowd(self) -> None:
        """Clients that ask and edit at once, beside an index run; then nothing may be lost or there twice."""
        names = [f"crowd_{number}" for number in range(self._options.clients)]
        started = time.perf_counter()
        with ThreadPoolExecutor(len(names) + 1) as pool:
            run = pool.submit(lambda: list(self._project.open_engine().index(full=True))[-1].summary)
            problems = [text for found in pool.map(self._client, names) for text in found]
            run.result()
        seconds = time.perf_counter() - started
        engine = self._project.open_engine()
        for name in names:
            for number in range(self._edits):
                problems += self._wrong(engine, f"{name}_edit_{number}")
        last = list(engine.index())[-1].summary
        if last is None or last.changed:
            problems.append("an index run afterwards found something to do")
        problems += self._different_from_scratch(engine)
        engine.close()
        total = self._options.clients * self._options.operations
        self._project.row(
            f"{self._options.clients} clients × {self._options.operations} operations beside a full index run",
            f"{seconds:.1f} s, {total / seconds:.0f} a second",
        )
        self._project.report("lost, doubled or failed among them", problems)

    @property
    def _edits(self) -> int:
        return int(self._options.operations) // 20

    def _client(self, name: str) -> list[str]:
        """One client's operations; gives what went wrong."""
        chance = random.Random(f"{name}{self._options.seed}")
        engine = self._project.open_engine()
        problems: list[str] = []
        asks: list[Callable[[], Any]] = [
            lambda: engine.search(chance.choice(QUERIES)), lambda: engine.symbols(match="parse", limit=20),
            lambda: engine.definitions("dumps"), lambda: engine.callers("loads"), lambda: engine.source("json/decoder.py", 1, 40),
            lambda: engine.rank(engine.retrieve("parse a date"), engine.profiles()["code"]), engine.status,
        ]  # fmt: skip
        for number in range(self._options.operations):
            try:
                if number % 20 == 10:
                    problems += self._edit(engine, f"{name}_edit_{number // 20}")
                else:
                    chance.choice(asks)()
            except NotFoundError:
                continue  # another tree than the default one need not have these names
            except (CmError, OSError) as error:
                problems.append(f"{name} {number}: {type(error).__name__}: {error}")
        engine.close()
        return problems

    def _edit(self, engine: Engine, name: str) -> list[str]:
        (self._project.tree / f"{name}.py").write_text(f"def {name}():\n    return {name!r}\n", encoding="utf-8")
        for _ in engine.index(paths=[f"{name}.py"]):
            pass
        return self._wrong(engine, name)

    def _wrong(self, engine: Engine, name: str) -> list[str]:
        found = engine.definitions(name).total
        return [] if found == 1 else [f"{name} is there {found} times"]

    def _different_from_scratch(self, engine: Engine) -> list[str]:
        """Tell where the store that saw all this differs from a fresh one."""
        seen = _content(engine)
        for _ in engine.rebuild():
            pass
        fresh = _content(engine)
        return [
            f"{kind} differ from a fresh index: {seen[kind]} and {fresh[kind]}"
            for kind in fresh
            if seen[kind] != fresh[kind]
        ]

    def kills(self) -> None:
        """kill -9 at random moments of index runs; the next question must be answered, and nothing may be lost."""
        from cm_tui.daemon import bootstrap

        engine = self._project.open_engine()
        problems: list[str] = []
        recovered: list[float] = []
        for number in range(self._options.kills):
            report = bootstrap.health()
            assert report is not None
            name = f"killed_{number}"
            (self._project.tree / f"{name}.py").write_text(f"def {name}():\n    return 1\n", encoding="utf-8")
            timer = threading.Timer(self._project.random.uniform(0, 1.0), os.kill, (report["pid"], signal.SIGKILL))
            timer.start()
            try:
                for _ in engine.index(full=number % 5 == 0):
                    pass
                timer.join()
                recovered.append(milliseconds(lambda: engine.search("parse")))
                problems += self._wrong(engine, name)
            except (CmError, OSError) as error:
                problems.append(f"kill {number}: {type(error).__name__}: {error}")
        problems += self._different_from_scratch(engine)
        engine.close()
        self._project.row(f"kill -9, {self._options.kills} times: the first answer after it", latency(recovered))
        self._project.report("of them not recovered, or something lost", problems)


def _content(engine: Engine) -> dict[str, Any]:
    status = engine.status()
    symbols = Counter((symbol.path, symbol.qualname, symbol.start_line) for symbol in engine.symbols(limit=10**6).rows)
    return {
        "files": status.files, "symbols": sorted(symbols.items()), "references": status.references,
        "passages": status.passages, "vectors": status.embedded,
    }  # fmt: skip
