"""Copying from a mode, with words about which way it went."""

from __future__ import annotations

from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.terminal import clipboard


def copy_and_tell(screen: ModeScreen, text: str, what: str) -> None:
    """Copy on a worker, as a tool may take a moment, and say what became of it."""
    driver = screen.app._driver  # noqa: SLF001 - the public way cannot wrap for tmux and screen
    write = driver.write if driver is not None else None

    def work() -> clipboard.Copied | OSError:
        try:
            return clipboard.copy(text, write)
        except OSError as error:
            return error

    def done(result: clipboard.Copied | OSError) -> None:
        if isinstance(result, OSError):
            screen.cm.tell(f"Nothing could be copied or saved: {result}", severity="error")
            return
        screen.cm.tell(f"{what}\n{result.message}" if what else result.message, timeout=4 if result.file else 2)

    screen.cm.tasks.work(work, done, topic=f"{screen.MODE}.copy")
