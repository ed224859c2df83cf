"""An entry as it was written, in a dialog: who wrote it, when, and all of its text."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from cm_tui.model import Entry
from cm_tui.model.dates import age, local_minute
from cm_tui.tui.widgets.prose import ProseList
from cm_tui.tui.widgets.text import elide_end, one_line

if TYPE_CHECKING:
    from cm_tui.tui.screens.app_services import AppServices

_TITLE = 60


class EntryScreen(ModalScreen[None]):
    """Shows an entry; its text is never read as markup.

    Args:
        entry: what was written down.
        cm: the application.
        copy: puts a text where the user pastes from; None: not offered.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,v", "dismiss", show=False),
        Binding("c,y", "copy", show=False),
    ]

    def __init__(self, entry: Entry, cm: AppServices, copy: Callable[[str], None] | None = None) -> None:
        super().__init__()
        self._entry = entry
        self._cm = cm
        self._copy = copy

    def compose(self) -> ComposeResult:
        """What is known of it, and its text."""
        entry = self._entry
        with Vertical(id="entry-box") as box:
            box.border_title = Content(f" {entry.category}: {elide_end(one_line(entry.title), _TITLE)} ")
            box.border_subtitle = Content(" c copies · esc " if self._copy else " esc ")
            yield Static(Content(entry_facts(entry)), id="entry-facts", markup=False)
            work = partial(self._cm.tasks.work, topic="app.entry-text")
            yield ProseList(work, entry.content, id="entry-text", empty="It has no text.")

    def on_mount(self) -> None:
        """Begin to read."""
        self.query_one(ProseList).focus()

    def action_copy(self) -> None:
        """Copy its text."""
        if self._copy is not None:
            self._copy(self._entry.content)


def entry_facts(entry: Entry) -> str:
    """Return who wrote it and when, and where it counts, in two lines."""
    who = {"person": "a person", "narrator": "the narrator"}.get(entry.actor) or one_line(entry.agent) or "an agent"
    at = entry.timestamp / 1000
    first = [entry.id, who, f"{local_minute(at)}, {age(time.time() - at)}"]
    if entry.session:
        first.append(f"session {elide_end(one_line(entry.session), 20)}")
    second = ["for all projects" if entry.scope == "user" else "for this project"]
    if entry.pinned:
        second.append("pinned")
    if entry.held:
        second.append("not trusted: in no answer")
    if entry.keywords:
        second.append(elide_end(", ".join(one_line(word) for word in entry.keywords), 80))
    return "\n".join(" · ".join(part) for part in (first, second))
