"""Appends events until it is killed: in the middle of a write when told so. Prints the id of each once it is on disk."""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

from cm_tui.engine.platform.journal.journal import Journal


def main() -> None:
    folder, name, seed, die_after = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    chance = random.Random(seed)
    write = os.write
    calls = 0

    def torn_write(fd: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls == die_after:
            write(fd, data[: chance.randrange(len(data) + 1)])
            os.kill(os.getpid(), signal.SIGKILL)
        return write(fd, data)

    os.write = torn_write
    journal = Journal(folder, segment_bytes=4_000)
    for number in range(100_000):
        event = journal.append("tick", {"by": name, "number": number, "text": "é" * chance.randrange(60)})
        sys.stdout.write(f"{event.id}\n")
        sys.stdout.flush()


main()
