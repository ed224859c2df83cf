"""The question whether entries that came with a repository are trusted: a list of them, and the text of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button

from cm_tui.counts import count, noun
from cm_tui.model import Entry
from cm_tui.model.dates import age, local_minute
from cm_tui.tui.screens.app_services import AppServices
from cm_tui.tui.screens.question import Option, Question
from cm_tui.tui.state.authors import who_is
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.sourcelist import ProseList
from cm_tui.tui.widgets.split import Words
from cm_tui.tui.widgets.text import elide_end, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.entry_trust import HeldEntries


_TITLE = 60


class EntryScreen(ModalScreen[None]):
    """Shows an entry; its text is never read as markup.

    Args:
        entry: what was written down.
        cm: the application.
        copy: puts a text where the user pastes from; None: not offered.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter,v", "dismiss"), ("c,y", "copy")]

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
            yield Words(Content(entry_facts(entry)), id="entry-facts")
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
    who = who_is(entry.actor, entry.agent)
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


MOST = 200
"""Most entries trusted at once: more could not be read."""


class HeldList(RowList[Entry]):
    """Entries with a mark at those that are chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [("tab", "app.focus_next")]
    chosen: frozenset[str] = frozenset()

    def draw(self, row: Entry, width: int) -> Content:
        """Mark, category, title, and how the text begins."""
        title = " ".join(one_line(row.title[:200]).split())
        text = " ".join(one_line(row.content[:400]).split())
        room = width - 14
        title = elide_end(title, max(8, room // 2))
        rest = "" if text.startswith(title.rstrip("…")) and len(title) >= len(text) else text
        return Content.assemble(
            ("▪ " if row.id in self.chosen else "  ", "$accent"), (f"{row.category:<11} ", "$secondary"),
            (title, "bold"), "  ", (elide_end(rest, max(0, room - len(title) - 2)), "$muted"),
        )  # fmt: skip


class EntryTrustQuestion(Question):
    """Shows the entries that wait, and asks what becomes of them.

    No single key trusts, so that typing while the question appears does not answer it.

    Args:
        held: the entries that wait, and how many were trusted before.
        cm: the application.
        answered: gets `trusted`, `refused` or `revoked`, and the entries that are meant.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("v", "text"), ("m", "mark")]

    def __init__(self, held: HeldEntries, cm: AppServices, answered: Callable[[str, HeldEntries], None]) -> None:
        options = [Option("Not now", "escape")]
        if held.trusted:
            options.append(Option("Take trust back", then=lambda: answered("revoked", self._selected)))
        if held.entries:
            options.append(Option("Leave out", then=lambda: answered("refused", self._selected)))
            options.append(Option("", then=lambda: answered("trusted", self._selected)))
        hint = Words(Content.styled("v shows the text · m marks one", "$muted"), id="held-hint")
        self._rows = HeldList(id="held-list")
        body = (self._rows, hint) if held.entries else ()
        super().__init__(question(held), options, title="Entries of this repository", body=body, look="large")
        self._held, self._cm = held, cm
        self._chosen: set[str] = set()

    def on_mount(self) -> None:
        """List the entries."""
        if self._held.entries:
            self._rows.set_rows(self._held.entries)
            self._show_chosen()

    def _show_chosen(self) -> None:
        many, chosen = len(self._held.entries), len(self._chosen)
        button = self.query(Button).last()
        button.label = Content(
            f"Trust {chosen:,} marked" if chosen else "Trust it" if many == 1 else f"Trust all {many:,}"
        )
        button.disabled = (chosen or many) > MOST
        self._rows.chosen = frozenset(self._chosen)
        self._rows.redraw()

    def action_scroll(self, lines: int) -> None:
        """Move the cursor of the list, wherever the focus is."""
        self._rows.cursor += lines

    def action_text(self) -> None:
        """Show the entry under the cursor whole."""
        if self._rows.current is not None:
            self.app.push_screen(EntryScreen(self._rows.current, self._cm))

    def action_mark(self) -> None:
        """Mark the entry under the cursor, or not any more: of what is marked alone is it asked."""
        if self._rows.current is not None:
            self._chosen ^= {self._rows.current.id}
            self._show_chosen()
            self._rows.cursor += 1

    @on(HeldList.Chosen)
    def _enter(self) -> None:
        self.action_text()

    @property
    def _selected(self) -> HeldEntries:
        """What is marked, or everything where nothing is."""
        if not self._chosen:
            return self._held
        return replace(self._held, entries=tuple(one for one in self._held.entries if one.id in self._chosen))


def question(held: HeldEntries) -> str:
    """Return what is asked, in words."""
    number, file = len(held.entries), one_line(held.file.removeprefix(f"{held.root}/"))
    known = f"You trusted {count(held.trusted, 'entry', 'entries')} of it before." if held.trusted else ""
    if not number:
        return f"{known}\n\nIts file is {file}. Without trust they are in no answer."
    refused = "You left them out. " if held.state == "refused" else ""
    they, them = noun(number, "it", "they"), noun(number, "it", "them")
    many = f"More than {MOST:,} are not trusted at once: mark what you read.\n" if number > MOST else ""
    return (
        f"{count(number, 'entry', 'entries')} of {file} came with it, and {noun(number, 'is', 'are')} in no answer, to you or to "
        f"agents, until you trust {them}. {refused}{known}\n\nTrusted, {they} may be taken for your own words by agents. Read {them} first.\n{many}"
    ).rstrip()
