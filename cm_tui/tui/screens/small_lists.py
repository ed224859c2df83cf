"""Lists that open over a mode: the code that a line names, and the files that are not indexed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial

from textual.content import Content

from cm_tui.model import Mention, Page, SkippedFile
from cm_tui.tui.screens.messages import OpenPath, OpenSearch
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import ListDialog, ask
from cm_tui.tui.widgets.text import count, elide_end, elide_middle, fit, one_line


def names_in(text: str, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Return the mentions that a line has, each name once, in the order of the line.

    Args:
        text: of the line.
        mentions: of all of the item.
    """
    found: dict[str, tuple[int, Mention]] = {}
    for one in mentions:
        place = re.search(rf"(?<![\w/.]){re.escape(one.text)}(?!\w)", text) if one.text else None
        if place is not None:
            found.setdefault(one.text, (place.start(), one))
    return tuple(one for _, one in sorted(found.values(), key=lambda at: at[0]))


def open_names(mode: ModeScreen, names: Sequence[Mention]) -> None:
    """Open the code that is named; of several names the user chooses one."""
    if len(names) == 1:
        _open(mode, names[0])
    elif names:
        ask(
            mode,
            ListDialog(
                " Code in this line ", " ⏎ opens it · esc closes ", names, _draw, partial(_open, mode), close="q"
            ),
        )


def _draw(row: Mention, width: int) -> Content:
    """Draw a name, and where it is or what became of it."""
    where = f"{row.path}:{row.start_line}" if row.start_line else row.path
    about = where if row.state in ("alive", "changed") else row.fate
    name = elide_end(one_line(row.text), max(12, width // 2))
    return Content.assemble(" ", (name, "bold"), "  ", (elide_end(one_line(about), width - len(name) - 4), "$soft"))


def _open(mode: ModeScreen, one: Mention) -> None:
    """Show the file at its line; a folder, or what is gone, is looked for in Search."""
    if one.path and one.state not in ("gone", "unknown") and not one.text.endswith("/"):
        mode.cm.go_to_now()
        mode.post_message(OpenPath(one.path, one.start_line or 1, back=mode.MODE))
    else:
        mode.post_message(OpenSearch(one.text))


def list_skipped(screen: ModeScreen) -> None:
    """List the files that are not indexed, by reason."""

    def got(page: Page[SkippedFile]) -> None:
        rows = sorted(page.rows, key=lambda row: (row.reason, row.path))
        title, hint = (
            f" {count(page.total, 'file')} skipped ",
            " esc closes · index.include in config.toml includes files ",
        )
        ask(screen, ListDialog(title, hint, rows, _draw_skipped, empty="No files were skipped.", close="s,q"))

    screen.ask("skipped", lambda engine: engine.skipped(), got)


def _draw_skipped(row: SkippedFile, width: int) -> Content:
    path = elide_middle(one_line(row.path), width - 26)
    return Content.assemble((fit(f" {row.reason}", 25), "$secondary"), (path, "$foreground"))
