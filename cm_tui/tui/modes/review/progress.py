"""How far a pass of the narrator is, in one line."""

from __future__ import annotations

from textual.content import Content

from cm_tui.model import Progress
from cm_tui.tui.widgets.bars import share_bar

_STAGES = {
    "read": "reading episodes", "weigh": "weighing what was seen", "propose": "making proposals",
    "model": "asking the model", "done": "done",
}  # fmt: skip
_BAR = 24


def progress_text(step: Progress | None, width: int) -> Content:
    """Return how far it is; nothing, where none is on its way."""
    if step is None:
        return Content("")
    share = step.done / step.total if step.total else 0.0
    numbers = f" {step.done:,} of {step.total:,}" if step.total > 1 else ""
    words = f" ◐ The narrator is {_STAGES.get(step.stage, step.stage)} "
    bar = share_bar(share, max(4, min(_BAR, width - len(words) - len(numbers) - 12)), "$accent")
    return Content.assemble((words, "$accent"), bar, (f"{numbers}  N stops it", "$soft"))
