"""Two processes that append to one journal while a daemon that follows it is killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from cm_tui.engine.journal.journal import Journal

_WRITERS = 2
_EVERY_S = 1.0
"""Seconds between two kills."""
_WRITER = """
import sys, pathlib
from cm_tui.engine.journal.journal import Journal
journal = Journal.of(pathlib.Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    journal.append("episode", {"session": sys.argv[2], "prompts": [f"{sys.argv[2]} {number}"], "root": sys.argv[1]})
"""


def run(root: Path, count: int) -> tuple[int, int, int]:
    """Append, and kill the daemon until both are done.

    Args:
        root: of a project with an index.
        count: how many events each of two processes appends.

    Returns:
        How many were lost; how many are there twice, in the journal or in lists; how often the daemon was killed.
    """
    from cm_tui.daemon.open_engine import open_engine

    engine = open_engine(root)
    for _ in engine.index():
        pass
    names = [f"writer-{number}-{os.getpid()}" for number in range(_WRITERS)]
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(root), name, str(count)]) for name in names]
    kills = 0
    while any(writer.poll() is None for writer in writers):
        # A question starts the daemon anew, and has it read the journal.
        engine.episode_stats()
        time.sleep(_EVERY_S)
        kills += _kill_the_daemon()
    if any(writer.returncode for writer in writers):
        return _WRITERS * count, 0, kills
    wanted = {f"{name} {number}" for name in names for number in range(count)}
    written = Counter(str(event.data["prompts"][0]) for event in Journal.of(root).read() if event.kind == "episode")
    listed = Counter[str]()
    before = None
    while (page := engine.episodes(limit=5_000, before=before)).rows:
        listed.update(one.prompts[0] for one in page.rows)
        before = page.rows[-1].id
    engine.close()
    lost = sum(not written[one] or not listed[one] for one in wanted)
    twice = sum(written[one] > 1 or listed[one] > 1 for one in wanted)
    return lost, twice, kills


def _kill_the_daemon() -> int:
    from cm_tui.daemon import bootstrap

    report = bootstrap.health()
    if not report:
        return 0
    os.kill(int(report["pid"]), signal.SIGKILL)
    return 1
