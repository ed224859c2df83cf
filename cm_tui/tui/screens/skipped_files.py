"""The list of files that are not indexed, and why."""

from __future__ import annotations

from textual.content import Content

from cm_tui.model import Page, SkippedFile
from cm_tui.tui.screens.list_dialog import ListDialog
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import ask
from cm_tui.tui.widgets.text import count, elide_middle, fit, one_line


def list_skipped(screen: ModeScreen) -> None:
    """List the files that are not indexed, by reason."""

    def got(page: Page[SkippedFile]) -> None:
        rows = sorted(page.rows, key=lambda row: (row.reason, row.path))
        title, hint = (
            f" {count(page.total, 'file')} skipped ",
            " esc closes · index.include in config.toml includes files ",
        )
        ask(screen, ListDialog(title, hint, rows, _draw, empty="No files were skipped.", close="s,q"))

    screen.ask("skipped", lambda engine: engine.skipped(), got)


def _draw(row: SkippedFile, width: int) -> Content:
    path = elide_middle(one_line(row.path), width - 26)
    return Content.assemble((fit(f" {row.reason}", 25), "$secondary"), (path, "$foreground"))
