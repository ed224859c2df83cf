"""Lists that open over a mode: choices, themes, the code that a line names, and the files that are not indexed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from rich.cells import cell_len
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from cm_tui import model
from cm_tui.tui.screens.messages import OpenPath, OpenSearch
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import Finder, Host, ListDialog, ask
from cm_tui.tui.widgets.text import count, elide_end, elide_middle, elide_path, fit, one_line

# --- the palette: every command of the application and of the mode on screen, found by name ---


class CommandPalette(Provider):
    """Every command of the application and of the mode on screen, with its key."""

    def _rows(self) -> list[tuple[str, str, str, Callable[[], None]]]:
        """Label, help, what is said beside it, and what runs each command."""
        screen = self.screen
        if not isinstance(screen, ModeScreen):
            return []
        rows: list[tuple[str, str, str, Callable[[], None]]] = []
        done: set[object] = set()
        for command in screen.all_commands:
            # What a mode and the application both offer is listed once.
            if command.palette and command.run not in done:
                done.add(command.run)
                reason = command.why_not(screen)
                text = f"not now: {reason}" if reason else f"{screen.cm.keys_of(command)}  {command.help}"
                rows.append((command.label, command.help, text, partial(screen.run_command, command)))
        return rows

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for label, _, text, run in self._rows():
            yield DiscoveryHit(label, run, help=text)

    async def search(self, query: str) -> Hits:
        """Those that match what was typed."""
        matcher = self.matcher(query)
        for label, words, text, run in self._rows():
            score = max(matcher.match(label), 0.7 * matcher.match(words))
            if score > 0:
                yield Hit(score, matcher.highlight(label), run, help=text)


# --- lists that open over a mode ---

_CHOICES = 14
"""Lines of a list of choices, at most."""


class ChoiceRow(NamedTuple):
    """Something to choose."""

    value: str
    words: str
    more: str = ""
    """Said at the right."""


def choose(
    host: Host, title: str, rows: Sequence[ChoiceRow], then: Callable[[str], None], *, value: str = "", typed: str = ""
) -> None:  # fmt: skip
    """Choose from a list.

    Args:
        host: the application, or a mode of it.
        title: what is asked.
        rows: what there is to choose.
        then: gets the value that is chosen.
        value: the one that the cursor is on at first.
        typed: what else can be typed; empty: typed words only narrow the list down.
    """
    make = (lambda text: ChoiceRow(text, text)) if typed else None
    dialog = ListDialog(
        f" {title} ", " ⏎ Select · type to filter · esc Cancel ", rows, _draw_choice, lambda row: then(row.value),
        empty="No matches.", finder=Finder[ChoiceRow](" ".join, typed or "type to find", make), look="small",
    )  # fmt: skip
    dialog.list.put_cursor(next((place for place, row in enumerate(rows) if row.value == value), 0))
    dialog.list.styles.height = min(_CHOICES, max(1, len(rows)))
    ask(host, dialog)


def _draw_choice(row: ChoiceRow, width: int) -> Content:
    more = elide_end(one_line(row.more), width // 2)
    words = elide_path(one_line(row.words), max(4, width - cell_len(more) - 4))
    gap = " " * max(1, width - cell_len(words) - cell_len(more) - 2)
    return Content.assemble(" ", (words, "$foreground"), gap, (more, "$muted"), " ")


def choose_theme(host: Host) -> None:
    """Choose a theme; the current one is marked, and the cursor is on it."""
    current = host.app.theme
    rows = [ChoiceRow(name, name, "● current" * (name == current)) for name in sorted(host.app.available_themes)]
    choose(host, "Theme", rows, partial(setattr, host.app, "theme"), value=current)


def names_in(text: str, mentions: Iterable[model.Mention]) -> tuple[model.Mention, ...]:
    """Return the mentions that a line has, each name once, in the order of the line.

    Args:
        text: of the line.
        mentions: of all of the item.
    """
    found: dict[str, tuple[int, model.Mention]] = {}
    for one in mentions:
        place = re.search(rf"(?<![\w/.]){re.escape(one.text)}(?!\w)", text) if one.text else None
        if place is not None:
            found.setdefault(one.text, (place.start(), one))
    return tuple(one for _, one in sorted(found.values(), key=lambda at: at[0]))


def open_names(mode: ModeScreen, names: Sequence[model.Mention]) -> None:
    """Open the code that is named; of several names the user chooses one."""
    if len(names) == 1:
        _open(mode, names[0])
    elif names:
        hint = " ⏎ opens it · esc closes "
        ask(mode, ListDialog(" Code in this line ", hint, names, _draw, partial(_open, mode), close="q"))


def _draw(row: model.Mention, width: int) -> Content:
    """Draw a name, and where it is or what became of it."""
    where = f"{row.path}:{row.start_line}" if row.start_line else row.path
    about = where if row.state in ("alive", "changed") else row.fate
    name = elide_end(one_line(row.text), max(12, width // 2))
    return Content.assemble(" ", (name, "bold"), "  ", (elide_end(one_line(about), width - len(name) - 4), "$soft"))


def _open(mode: ModeScreen, one: model.Mention) -> None:
    """Show the file at its line; a folder, or what is gone, is looked for in Search."""
    if one.path and one.state not in ("gone", "unknown") and not one.text.endswith("/"):
        mode.cm.go_to_now()
        mode.post_message(OpenPath(one.path, one.start_line or 1, back=mode.MODE))
    else:
        mode.post_message(OpenSearch(one.text))


def list_skipped(screen: ModeScreen) -> None:
    """List the files that are not indexed, by reason."""

    def got(page: model.Page[model.SkippedFile]) -> None:
        rows = sorted(page.rows, key=lambda row: (row.reason, row.path))
        title = f" {count(page.total, 'file')} skipped "
        hint = " esc closes · index.include in config.toml includes files "
        ask(screen, ListDialog(title, hint, rows, _draw_skipped, empty="No files were skipped.", close="s,q"))

    screen.ask("skipped", lambda engine: engine.skipped(), got)


def _draw_skipped(row: model.SkippedFile, width: int) -> Content:
    path = elide_middle(one_line(row.path), width - 26)
    return Content.assemble((fit(f" {row.reason}", 25), "$secondary"), (path, "$foreground"))
