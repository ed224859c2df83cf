"""Writing text to a file that a person names; one that exists is only replaced after a question."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from cm_tui.files import write_atomically
from cm_tui.tui.screens.input_parsing import target_file
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import Line, ask_line, confirm


def ask_and_save(
    screen: ModeScreen, title: str, text: str, suggestion: str, then: Callable[[], None] = lambda: None
) -> None:
    """Ask where to, and write there; the answer is suggested the next time.

    Args:
        screen: the mode that it is done for.
        title: what is asked.
        text: what is written.
        suggestion: a name for the first time.
        then: called when it is being written, and not given up.
    """
    state, root = screen.cm.state.of(screen.MODE), screen.cm.root
    kept = state.get("file")

    def named(answer: str) -> None:
        state["file"] = answer.strip()
        screen.remember()
        file = target_file(root, answer)

        def write() -> None:
            _write(screen, file, text)
            then()

        if file.exists():
            confirm(screen, f"{file} exists. Replace what is in it?", "Replace it", write)
        else:
            write()

    hint = "A path; relative ones start at the project's root."
    value = kept if isinstance(kept, str) else suggestion
    ask_line(screen, title, Line(named, value, hint, partial(_wrong, root)))


def _wrong(root: Path, answer: str) -> str | None:
    if not answer.strip():
        return "Give the path of a file."
    file = target_file(root, answer)
    if file.is_dir():
        return f"{file} is a folder."
    return None if file.parent.is_dir() else f"There is no folder {file.parent}."


def _write(screen: ModeScreen, file: Path, text: str) -> None:
    def work() -> OSError | None:
        try:
            write_atomically(file, text.encode("utf-8", "replace"), permissions=None)
        except OSError as error:
            return error
        return None

    def done(error: OSError | None) -> None:
        if error is None:
            screen.cm.tell(f"Saved to {file}")
        else:
            screen.cm.tell(f"{file} could not be written: {error.strerror or error}", severity="error")

    screen.cm.tasks.work(work, done, topic=f"{screen.MODE}.save")
