"""The texts of the time mode."""

from __future__ import annotations

from datetime import UTC, datetime

from textual.content import Content

from cm_tui.model import Moment
from cm_tui.tui.past import SHORT_SHA, name_of
from cm_tui.tui.widgets.text import one_line


def head_text(point: Moment | None, mark: Moment | None) -> Content:
    """The moment under the cursor, and the other one that it is compared with."""
    if point is None:
        return Content("")
    rows = [
        Content.assemble(
            (f"#{point.ordinal:,}", "bold $accent"), (f"  {point.sha[:SHORT_SHA]}", "$secondary"),
            (f"  {minute(point.time)}", "$foreground"), (f"  {one_line(point.author)}", "$muted"),
        ),
        Content.styled(one_line(point.subject) or "(no subject)", "bold"),
    ]  # fmt: skip
    if mark is not None:
        rows.append(
            Content.assemble(("◆ compared with ", "$accent"), name_of(mark), (f"  {one_line(mark.subject)}", "$muted"))
        )
    return Content("\n").join(rows)


def minute(seconds: float) -> str:
    """Day and time of a commit, in UTC; commits can have absurd dates."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
    except (OverflowError, OSError, ValueError):
        return "no date"
