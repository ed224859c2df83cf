"""Measurements beside the mainline: tags that are not on it, and switches to a branch and back."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.code.mainline import former_commits
from tests.bench.releases import git

_DIFFERING = "SELECT count(*) FROM side_file WHERE side = (SELECT max(id) FROM side_commit)"
_BLOCKS = "SELECT used_blocks * block_size FROM pragma_database_size() WHERE database_name = current_database()"


def timed(work: Callable[[], object]) -> tuple[object, float]:
    """Return what was done, and the seconds that it took."""
    began = time.perf_counter()
    done = work()
    return done, time.perf_counter() - began


def used(engine: Engine) -> float:
    """Return the megabytes of the blocks that the store uses, all of it written down: its file may have free ones."""
    engine._db.execute("CHECKPOINT")
    return float(engine._db.value(_BLOCKS)) / 1e6


def tags(engine: Engine, root: Path, most: int, chosen_by: random.Random) -> list[str]:
    """Return some tags off the mainline, the oldest first."""
    listed = git(root, "tag", "--sort=creatordate").split()
    names = [name for name in listed if engine.resolve(name).moment.ahead]
    return sorted(chosen_by.sample(names, min(most, len(names))), key=names.index)


def ask(engine: Engine, names: list[str], before: float, points: list[tuple[float, float]]) -> dict[str, Any]:
    """Ask about tags that no reading has met.

    Args:
        engine: which store.
        names: of the tags.
        before: megabytes of the store.
        points: takes files that differ and seconds of the first answer, by tag.

    Returns:
        rows of a table.
    """
    side = engine._history.side
    firsts, nexts, parsed, places = [], [], [], []
    for name in names:
        done = side.parsed
        _, first = timed(partial(engine.symbols_at, name, limit=50))
        _, again = timed(partial(engine.symbols_at, name, limit=50))
        points.append((int(engine._db.value(_DIFFERING)), first))
        firsts.append(first)
        nexts.append(again * 1000)
        parsed.append(side.parsed - done)
        places.append(engine.resolve(name).moment.ahead)
    if not names:
        return {"tags off the mainline": 0}
    points.sort()
    return {
        "tags off the mainline that were asked about": len(names),
        "commits between, least / most": f"{min(places):,} / {max(places):,}",
        "files that differ, least / most": f"{points[0][0]:,} / {points[-1][0]:,}",
        "contents parsed for one, least / most / for all": f"{min(parsed)} / {max(parsed)} / {sum(parsed)}",
        "first answer, s, median / most": f"{_median(firsts):.2f} / {max(firsts):.2f}",
        "next answer, ms, median / most": f"{_median(nexts):.0f} / {max(nexts):.0f}",
        "growth of the store for all of them, MB": round(used(engine) - before, 1),
    }


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def switch(engine: Engine, root: Path, branch: str, depth: int | None) -> dict[str, str]:
    """Switch to a branch and back: the first time, with what is kept of commits, and without that.

    Args:
        engine: which store.
        root: its checkout.
        branch: where to.
        depth: how many commits of each mainline are read; None: all.

    Returns:
        rows of a table.
    """
    head, history, db = git(root, "rev-parse", "HEAD").strip(), engine._history, engine._db
    rows: dict[str, str] = {}
    for label, keep in (("first time", True), ("with what is kept", True), ("without it", False)):
        for way, to in (("there", branch), ("back", head)):
            if not keep:
                with db.transaction():
                    former_commits.clear(db)
            git(root, "checkout", "-q", "--detach", to)
            compared = history.compared
            _, index = timed(lambda: list(engine.index()))
            if not keep:
                with db.transaction():
                    former_commits.clear(db)
            _, replay = timed(lambda: list(engine.backfill(depth=depth)))
            count = history.compared - compared
            rows[f"{branch}, {label}, {way}"] = f"{count:,} commits compared in {replay:.2f} s; index run {index:.2f} s"
    return rows
