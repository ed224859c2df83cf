"""The panel on the right: a session or one of its episodes as a story, with parts that fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from cm_tui.errors import CmError
from cm_tui.model import EPISODES, Episode, Mention, StaleItem
from cm_tui.tui.modes.episodes.stories import turn_head, turn_story
from cm_tui.tui.modes.episodes.story import Part, StoryLayout, StoryLine, first_in, layout
from cm_tui.tui.screens.mode_screen import ModePanel
from cm_tui.tui.screens.small_lists import names_in, open_names
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.split import Words, end_waiting, show_waiting

Parts = Callable[[], tuple[Part, ...]]
SETTLING = 0.06
"""Seconds that the cursor stays on a row before it is read, so that scrolling asks nothing."""
_NAMES_DELAY = 0.3
_SIDEWAYS = 8


class StoryList(RowList[StoryLine]):
    """Lines of a story. Left and right move sideways along long ones."""

    BINDINGS: ClassVar[list[BindingType]] = [("right,l", "sideways(1)"), ("left,h", "sideways(-1)")]
    left = 0

    def draw(self, row: StoryLine, width: int) -> Content:  # noqa: ARG002 - lines were laid out for this width
        """Return the line from where the list was moved to."""
        if not self.left:
            return row.content
        return row.content[self.left :] if self.left < len(row.content.plain) else Content("")

    def action_sideways(self, by: int) -> None:
        """Move along the lines."""
        self.left = max(0, self.left + by * _SIDEWAYS)
        self.refresh()


class StoryPanel(ModePanel):
    """Loads a story, lays it out off the screen's thread, and folds it."""

    @dataclass
    class Leads(Message):
        """Enter on a line that leads to an episode or a session."""

        goal: str

    _parts: Parts | None = None
    _laid: StoryLayout | None = None
    _opened: frozenset[int] = frozenset()
    _goal: object = None
    """Key of the story that is shown or loading: an episode's id, or another key."""
    _fresh = False
    """The story is loading, and another one is still on screen."""
    episode: Episode | None = None
    """The episode shown in full; None: a session or nothing."""
    _mentions: tuple[Mention, ...] = ()
    """Names of the code in that episode."""

    def compose(self) -> ComposeResult:
        """A few words, and the lines."""
        yield Words(id="story-head")
        yield StoryList(id="story")

    lines = getters.query_one(StoryList)

    # --- the story ---

    def read(self, name: str) -> None:
        """Show an episode; what is on screen stays, dimmed, until it is loaded."""
        if name == self._goal:
            return
        self._goal, self._fresh = name, True
        if self._parts:
            show_waiting(self, "Reading…")
        self._ask_for(name)

    def again(self) -> None:
        """Reload the shown episode after a change."""
        if isinstance(self._goal, str):
            self._ask_for(self._goal)

    def _ask_for(self, name: str) -> None:
        def got(episode: Episode) -> None:
            fresh, self._fresh = self._fresh, False
            self._take(episode, partial(turn_story, episode), keep=not fresh)
            self._read_names(episode)

        self.mode.ask("story", lambda engine: engine.episode(name), got, self._failed, delay=SETTLING)

    def _read_names(self, episode: Episode) -> None:
        """Ask which code the episode names; nothing waits for that."""

        def got(item: StaleItem) -> None:
            if self.episode is not None and self.episode.id == episode.id:
                self._mentions = item.mentions

        path = f"{EPISODES}/{episode.id}"
        self.mode.ask("names", lambda engine: engine.mentions_of(path), got, lambda _: None, delay=_NAMES_DELAY)

    def tell(self, key: object, parts: Parts, *, keep: bool = False) -> None:
        """Show a story that is loaded already.

        Args:
            key: identifies the story.
            parts: creates the story's parts, on a worker thread.
            keep: keep the cursor and unfolded parts if the key is the same.
        """
        self.mode.drop_question("story")
        keep = keep and key == self._goal
        self._goal, self._fresh = key, False
        self._take(None, parts, keep=keep)

    def say(self, words: str) -> None:
        """Show no story, and say why."""
        self.mode.drop_question("story")
        self._goal, self.episode, self._parts, self._laid = None, None, None, None
        end_waiting(self)
        self.label(subtitle="")
        self.head("")
        self.lines.set_rows((), empty=words)
        self.mode.refresh_keys()

    def head(self, words: Content | str) -> None:
        """Set the two lines of the header."""
        self.query_one("#story-head", Words).update(words, layout=False)

    def _take(self, episode: Episode | None, parts: Parts, *, keep: bool) -> None:
        self.episode, self._parts = episode, parts
        if not keep:
            self._opened, self._mentions = frozenset(), ()
        self._lay_out(keep=keep)

    def _failed(self, error: CmError) -> None:
        self.say(error.one_line)

    # --- laying out ---

    def _lay_out(self, *, keep: bool) -> None:
        width, parts = self.lines.scrollable_content_region.width, self._parts
        if not width or parts is None:
            return

        def got(laid: StoryLayout) -> None:
            self._laid = laid
            end_waiting(self)
            self.label(subtitle="")
            lines = laid.lines(self._opened)
            if not keep:
                self.lines.left = 0
            self.lines.set_rows(lines, cursor=self._same(lines) if keep else 0)
            if self.episode is not None:
                self.head(turn_head(self.episode))
            self.mode.refresh_keys()

        self.mode.cm.tasks.work(lambda: layout(parts(), width), got, topic="episodes.layout")

    def _same(self, lines: Sequence[StoryLine]) -> int:
        """Return where the line under the cursor is among others: as far into the same part."""
        here = self.lines.current
        if here is None:
            return 0
        into = self.lines.cursor - first_in(self.lines.rows, here.part)
        return first_in(lines, here.part) + into

    def on_resize(self) -> None:
        """The same at the new width."""
        if self._parts and (self._laid is None or self._laid.width != self.lines.scrollable_content_region.width):
            self.call_after_refresh(self._lay_out, keep=True)

    # --- folding ---

    @on(StoryList.Chosen)
    def _chosen(self, event: StoryList.Chosen) -> None:
        line: StoryLine = event.row
        if line.goal:
            self.post_message(self.Leads(line.goal))
        elif names := self._names_of(line):
            open_names(self.mode, names)
        elif self._laid is not None and self._laid.parts[line.part].folds:
            self._opened ^= {line.part}
            self._refold(line.part)

    def _names_of(self, line: StoryLine) -> tuple[Mention, ...]:
        """Return what a line of prose names; heads fold, and lines of a file have their own key."""
        if self._laid is None or line.path or line not in self._laid.parts[line.part].body:
            return ()
        return names_in(line.content.plain, self._mentions)

    @property
    def folds(self) -> bool:
        """True when some of it can be folded."""
        return self._laid is not None and any(part.folds for part in self._laid.parts)

    def unfold(self) -> None:
        """Show all of it, or fold it again."""
        if self._laid is None:
            return
        folding = frozenset(number for number, part in enumerate(self._laid.parts) if part.folds)
        self._opened = frozenset() if self._opened >= folding else folding
        self._refold(self.lines.current.part if self.lines.current else 0)

    def _refold(self, part: int) -> None:
        assert self._laid is not None
        lines = self._laid.lines(self._opened)
        self.lines.set_rows(lines, cursor=first_in(lines, part))

    @property
    def place(self) -> StoryLine | None:
        """The line under the cursor where it is one of a file, else the first one that is."""
        here = self.lines.current
        if here is not None and here.path:
            return here
        return next((line for line in self.lines.rows if line.path), None)
