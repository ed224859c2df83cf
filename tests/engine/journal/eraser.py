"""Erases events of a journal, and dies at the N-th step that touches the disk when told so."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from cm_tui.engine.platform.journal import erasure
from cm_tui.engine.platform.journal.erasure import Line
from cm_tui.engine.platform.journal.journal import START, Journal


def main() -> None:
    folder, die_after, names = Path(sys.argv[1]), int(sys.argv[2]), set(sys.argv[3:])
    steps = 0

    def dying(name: str) -> None:
        whole = getattr(os, name)

        def step(*words: object, **named: object) -> object:
            nonlocal steps
            steps += 1
            if steps == die_after:
                os.kill(os.getpid(), signal.SIGKILL)
            return whole(*words, **named)

        setattr(os, name, step)

    for name in ("write", "fsync", "replace", "open", "unlink"):
        dying(name)
    journal = Journal(folder, segment_bytes=2_000)
    with erasure.alone(journal), journal.held():
        again = erasure.ERASING.names(journal)
        lines, at = [], START
        for event in journal.read():
            begin = at.offset if at.segment == event.position.segment else 0
            at = event.position
            if event.id in names and event.kind == "note":
                lines.append(Line(at.segment, begin, at.offset, (event.id, event.time, event.kind)))
        erasure.ERASING.note(journal, [*again, *names])
        erasure.erase_lines(journal, lines, sorted(names))
        erasure.ERASING.forget(journal)


main()
