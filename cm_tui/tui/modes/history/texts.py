"""The texts of the history mode."""

from __future__ import annotations

from textual.content import Content

from cm_tui.errors import CmError
from cm_tui.model import HistoryStatus, Progress
from cm_tui.model.history import reading_text
from cm_tui.tui.widgets.bars import share_bar


def known_text(status: HistoryStatus | None, reading: Progress | None, error: CmError | None, width: int) -> Content:
    """How much of the history is known, in honest words."""
    if reading is not None:
        return Content("\n").join(_reading(reading.done, reading.total, width, "x stops"))
    lines = [Content.styled(f"{error.message} {error.hint}".strip(), "$error")] if error is not None else []
    if status is not None:
        lines += _reading(status.known, status.wanted, width) if status.wanted else _known(status)
    return Content("\n").join(lines)


def _reading(known: int, wanted: int, width: int, key: str = "") -> list[Content]:
    """Show the progress of reading history, in the same numbers as Health."""
    share = known / wanted if wanted else 0.0
    bar = share_bar(share, max(6, width - 16))
    return [
        Content.assemble(bar, (f" {100 * share:3.0f}%  ", "$soft"), (key, "$accent")),
        Content.styled(reading_text(known, wanted), "$soft"),
    ]


def _known(status: HistoryStatus) -> list[Content]:
    lines = []
    if status.text:
        lines.append(Content.styled(status.text, "$soft" if status.complete else "$warning"))
    if status.vacuumed:
        lines.append(Content.styled(status.vacuumed, "$muted"))
    if status.running:
        lines.append(Content.styled("It is being read now.", "$accent"))
    elif status.known < status.length and not status.complete:
        lines.append(Content.assemble(("b", "bold $accent"), (" reads the rest", "$soft")))
    return lines + [Content.styled(words, "$muted") for words in status.notes]
