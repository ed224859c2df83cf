"""Runs the application."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from cm_tui.config import Config
from cm_tui.tui.app.app import CmApp
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.tasks.engine_tasks import EngineTasks

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
QUIET_SECONDS = 0.3
"""Seconds that the shell may take to come back without a word."""


def finish(tasks: EngineTasks) -> None:
    """Wait for the current step and close the store; report on stderr if that takes a while.

    Ctrl-C ends the process at once; the store recovers when it is opened next.
    """
    closing = threading.Thread(target=tasks.close, name="cm-close")
    try:
        closing.start()
        closing.join(QUIET_SECONDS)
        if closing.is_alive():
            _say("finishing the current step; Ctrl-C quits at once…")
            closing.join()
    except KeyboardInterrupt:
        _say("quit before the step was done; the next run repeats it.")
        # Not by an exception: Python would wait for the threads that are to be left.
        os._exit(INTERRUPTED)


def _say(words: str) -> None:
    sys.stderr.write(f"cm: {words}\n")
    sys.stderr.flush()


def run(
    open_engine: Callable[[], Engine],
    root: Path,
    config: Config,
    *,
    repair: Callable[[], None] | None = None,
    startup_notes: list[str] | None = None,
    episode: str = "",
    settings_root: Path | None = None,
    go_on: Callable[[Path], None] | None = None,
) -> int:
    """Run the application until the user leaves it.

    Args:
        open_engine: opens the engine; called on a worker thread after the first frame.
        root: the project's root folder.
        config: the configuration.
        repair: puts a damaged store out of the way, so that the engine opens again.
        startup_notes: what opening the engine has to say to the user; taken out once it was said.
        episode: name of an episode whose revision is shown.
        settings_root: the folder whose `.cm` holds the project's settings; `root` when not given.
        go_on: called with the project that the user switched to, after everything is closed.

    Returns:
        The exit code.

    Raises:
        Exception: a defect that ended the application.
    """
    app = CmApp(open_engine, root, config, repair, startup_notes, episode, settings_root)
    try:
        app.run()
    finally:
        finish(app.tasks)
    if app.defect is not None:
        raise app.defect
    if app.unused_store is not None:
        from cm_tui.daemon.open_engine import remove

        remove(app.unused_store)
    if app.next_project is not None and go_on is not None:
        go_on(app.next_project)
    return app.return_code or 0
