"""The panel on the right: what is known of an item, and its text; of a note as many lines as were looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from textual import getters, on
from textual.app import ComposeResult

from cm_tui.engine.api.weight import tokens
from cm_tui.errors import CmError
from cm_tui.model import Duplicates, Entry, Mention, Note, NoteText
from cm_tui.tui.modes.memory import groups
from cm_tui.tui.screens.mode_screen import ModePanel
from cm_tui.tui.screens.small_lists import names_in
from cm_tui.tui.widgets.sourcelist import ProseList
from cm_tui.tui.widgets.split import Words
from cm_tui.tui.widgets.text import number_of

SETTLING = 0.06
"""Seconds that the cursor stays on a note before it is read, so that scrolling reads nothing."""
ABOUT_DELAY = 0.15
LINES = 400
"""Lines of a note that are read at once."""
NOTHING = "The selected entry or note is shown here."


class ItemPanel(ModePanel):
    """Shows an item; what of it has to be read comes a moment later."""

    item: groups.Item | None = None
    text = ""
    """What is shown of its text."""
    _about = groups.About()
    doubles_of: Callable[[Entry], Sequence[Duplicates]] = staticmethod(lambda _: ())
    """Returns what is known of entries that say nearly the same as one."""
    _next: int | None = None
    """The line of a note that was not read yet; None: all of it is here."""

    def compose(self) -> ComposeResult:
        """Facts, and the text."""
        yield Words(id="item-facts")
        yield ProseList(partial(self.mode.cm.tasks.work, topic="memory.prose"), id="item-text", empty=NOTHING)

    prose = getters.query_one(ProseList)

    @property
    def names(self) -> tuple[Mention, ...]:
        """The names of the code in the line under the cursor, as far as they are known."""
        line, stale = self.prose.current, self._about.stale
        return names_in(line.text, stale.mentions) if line is not None and stale is not None else ()

    # --- what is shown ---

    def show(self, item: groups.Item) -> None:
        """Show an item; an unchanged item keeps its scroll position."""
        if groups.is_same(item, self.item):
            return
        same = self.item is not None and groups.key_of(item) == groups.key_of(self.item)
        self.item = item
        if not same:
            self._about = groups.About()
        self._read_about(item)
        self.label("Note" if isinstance(item, Note) else "Entry")
        if isinstance(item, Note):
            self._read(item, keep=same)
            return
        self.mode.drop_question("text")
        self._take(item.content, None, keep=same)

    def clear(self, words: str = NOTHING) -> None:
        """Show nothing."""
        for topic in ("text", "about"):
            self.mode.drop_question(topic)
        self.item, self.text, self._next = None, "", None
        self.query_one("#item-facts", Words).display = False
        self.label("", "")
        self.prose.clear(words)
        self.mode.refresh_keys()

    def _take(self, text: str, following: int | None, *, keep: bool) -> None:
        changed = text != self.text
        self.text, self._next = text, following
        self._tell()
        if changed or not keep:
            self.prose.show(text, keep=keep)
        self.mode.refresh_keys()

    def _tell(self) -> None:
        facts, item = self.query_one("#item-facts", Words), self.item
        width = self.size.width
        if item is None or not width:
            return
        if isinstance(item, Entry):
            lines_ = groups.entry_facts(item, width, self._about, self.doubles_of(item))
        else:
            weight = tokens(self.text) if self.is_whole and self.text else None
            lines_ = groups.note_facts(item, weight, width, self._about)
        facts.display = True
        facts.update(lines_)
        lines = self.text.count("\n") + 1 if self.text else 0
        total = item.lines if isinstance(item, Note) and not self.is_whole else lines
        self.label(subtitle=number_of(lines, total, "line"))

    def _read_about(self, item: groups.Item) -> None:
        """Ask what there is to say besides; nothing waits for that."""
        path = groups.path_of(item)

        def got(about: groups.About) -> None:
            if about != self._about:
                self._about = about
                self._tell()

        self.mode.ask("about", lambda engine: groups.read_about(engine, path), got, lambda _: None, delay=ABOUT_DELAY)

    def again(self) -> None:
        """Show what is known of the item again."""
        if self.item is not None:
            self._read_about(self.item)
            self._tell()

    def on_resize(self) -> None:
        """The same at the new width."""
        self.call_after_refresh(self._tell)

    def on_show(self) -> None:
        """What was read while the panel had no room."""
        self.call_after_refresh(self._tell)

    # --- notes ---

    def _read(self, note: Note, *, keep: bool) -> None:
        """Read a note: as far as it was read, where it is the same one."""
        lines = max(LINES, self.text.count("\n") + 1) if keep else LINES

        def got(found: NoteText) -> None:
            self.item = note
            self._take(found.text, found.next_line, keep=keep)

        if not keep:
            self.text, self._next = "", None
            self._tell()
        self.mode.ask(
            "text", lambda engine: engine.note(note.id, lines=lines), got, partial(self._unreadable, note),
            delay=0.0 if keep else SETTLING,
        )  # fmt: skip

    def _unreadable(self, note: Note, error: CmError) -> None:
        self.text, self._next = "", None
        self._tell()
        self.prose.clear(f"✖ {note.id}: {error.one_line}")
        self.mode.refresh_keys()

    @on(ProseList.Highlighted)
    def _read_on(self) -> None:
        """Read further lines when the cursor comes near the last one."""
        note, start = self.item, self._next
        if not isinstance(note, Note) or start is None or self.prose.cursor < len(self.prose.rows) - self.size.height:
            return

        def got(found: NoteText) -> None:
            if self._next == start:
                self.text, self._next = f"{self.text}\n{found.text}", found.next_line
                self.prose.add(found.text)
                self._tell()

        self.mode.ask("more", lambda engine: engine.note(note.id, start=start, lines=LINES), got, lambda _: None)

    @property
    def is_whole(self) -> bool:
        """True when all of the text is here."""
        return self._next is None
