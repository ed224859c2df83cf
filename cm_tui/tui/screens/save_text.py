"""Writing text to a file that a person names; one that exists is only replaced after a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from cm_tui.files import write_atomically
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import Line, ask_line, confirm
from cm_tui.tui.terminal import clipboard
from cm_tui.tui.widgets.text import at_home

_MOST = 10_000_000
"""Tokens of a budget."""


def target_file(root: Path, answer: str) -> Path:
    """The file that a person named; relative to the project's root."""
    return root / Path(answer.strip()).expanduser()


def number_in(text: str) -> int | None:
    """A budget such as `4000`, `4,000` or `8k`; None for anything else."""
    plain = text.strip().lower().replace(",", "").replace("_", "")
    factor = 1000 if plain.endswith("k") else 1
    digits = plain.removesuffix("k")
    number = int(digits) * factor if digits.isascii() and digits.isdigit() else 0
    return number if 0 < number <= _MOST else None


def ask_budget(screen: ModeScreen, budget: int, hint: str, then: Callable[[int], object], *, most: int = _MOST) -> None:
    """Ask for a budget in tokens."""

    def check(text: str) -> str | None:
        number = number_in(text)
        return None if number and number <= most else "Enter a number, such as 4000 or 8k."

    line = Line(lambda answer: then(number_in(answer) or budget), str(budget), hint, check)
    ask_line(screen, "Budget in tokens", line)


def note_recalled(screen: ModeScreen, paths: Sequence[str]) -> None:
    """Count memories that are taken along."""
    if paths:
        screen.do(lambda engine: engine.note_recalled(tuple(paths)), lambda _: None)


def span_in(text: str) -> tuple[int, int] | None:
    """First and last line, such as `10-42` or `7`; None for anything else."""
    first, _, last = text.strip().partition("-")
    numbers = [part.strip() for part in (first, last or first)]
    if not all(part.isascii() and part.isdigit() and len(part) < 9 for part in numbers):
        return None
    start, end = int(numbers[0]), int(numbers[1])
    return (start, end) if 1 <= start <= end else None


def copy_and_report(screen: ModeScreen, text: str, what: str) -> None:
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
            screen.cm.tell(f"Could not copy or save: {result.strerror or result}", severity="error")
            return
        message = at_home(result.message)
        screen.cm.tell(f"{what}\n{message}" if what else message, timeout=4 if result.file else 2)

    screen.cm.tasks.work(work, done, topic=f"{screen.MODE}.copy")


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
    state, root = screen.choices, screen.cm.root

    def named(answer: str) -> None:
        state["file"] = answer.strip()
        screen.remember()
        file = target_file(root, answer)

        def write() -> None:
            _write(screen, file, text)
            then()

        if file.exists():
            confirm(screen, f"{file} exists. Replace its content?", "Replace it", write)
        else:
            write()

    hint = "A path; relative ones start at the project's root."
    ask_line(screen, title, Line(named, screen.kept("file", suggestion), hint, partial(_wrong, root)))


def _wrong(root: Path, answer: str) -> str | None:
    if not answer.strip():
        return "Enter the path of a file."
    file = target_file(root, answer)
    if file.is_dir():
        return f"{file} is a folder."
    return None if file.parent.is_dir() else f"Folder not found: {file.parent}."


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
