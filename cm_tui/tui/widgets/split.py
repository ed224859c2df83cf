"""Two parts of a mode with a border that can be moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import ceil
from typing import Any, ClassVar

from textual.binding import BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.tui.widgets.text import elide_middle, elide_path, fit, one_line

WAITING = "-waiting"
"""The class of a panel that shows what is not wanted any more."""


def show_waiting(panel: Widget, words: str) -> None:
    """Dim a panel until its content is there, and say in its border what is being read."""
    panel.add_class(WAITING)
    panel.border_subtitle = Content(words)


def end_waiting(panel: Widget) -> None:
    """Show a panel's content as what was wanted; its border is for the panel to word again."""
    panel.remove_class(WAITING)


class Page(VerticalScroll):
    """A text that is scrolled as a whole, also with the keys of lists."""

    BINDINGS: ClassVar[list[BindingType]] = [("j", "scroll_down"), ("k", "scroll_up")]


class Panel(Vertical):
    """A bordered part of a mode."""

    def __init__(self, *children: Widget, title: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(*children, id=id, classes="panel")
        self.label(title)

    def label(self, title: str | None = None, subtitle: str | None = None) -> None:
        """Change what the upper and the lower border say; None: it stays."""
        if title is not None:
            self.border_title = Content(title)
        if subtitle is not None:
            self.border_subtitle = Content(subtitle)


_FRAME = 6
"""Cells of a border that a title cannot have."""


class PathPanel(Panel):
    """Fits its title to its width."""

    _path = ""

    def show_path(self, path: str) -> None:
        """Title the panel with a path."""
        self._path = one_line(path)
        self._title()

    def show_title(self, words: str, subtitle: str | None = None) -> None:
        """Title it with words."""
        self._path = ""
        self.label(words, subtitle)

    def on_resize(self) -> None:
        """The path at the new width."""
        if self._path:
            self._title()

    def _title(self) -> None:
        width = self.outer_size.width - _FRAME
        self.border_title = Content(elide_path(self._path, width) if width > 0 else self._path)


LEAST, MOST, STEP = 20, 80, 4


class Split(Container):
    """The first part takes a share of the room, the second one the rest: side by side, or one above the other.

    Which of the two it is, the style sheet says by `layout`. A share that was never changed is the style sheet's too.
    """

    DEFAULT_CSS = "Split { height: 1fr; }"
    share: int | None = None
    """Per cent; None: as the style sheet has it."""

    def set_share(self, share: object) -> None:
        """Take a share, such as one that was remembered; anything that is none leaves it to the style sheet."""
        self.share = max(LEAST, min(MOST, share)) if isinstance(share, int) else None
        self.apply()

    def widen(self, steps: int) -> None:
        """Give the first part more room, or less; a step is at least a line."""
        first = self._first.outer_size
        whole, part = (self.size.height, first.height) if self._stacked else (self.size.width, first.width)
        now = self.share if self.share is not None else round(100 * part / max(1, whole))
        self.set_share(now + steps * max(STEP, ceil(100 / max(1, whole))))

    def apply(self) -> None:
        """Lay out by the share."""
        styles = self._first.styles
        styles.clear_rule("width")
        styles.clear_rule("height")
        if self.share is None or self.screen.has_class("-zoomed"):
            return
        if self._stacked:
            styles.height = f"{self.share}%"
        else:
            styles.width = f"{self.share}%"

    def on_resize(self) -> None:
        """Which way the parts stand may depend on the size."""
        self.call_after_refresh(self.apply)

    @property
    def _first(self) -> Widget:
        return self.children[0]

    @property
    def _stacked(self) -> bool:
        layout = self.styles.layout
        return layout is not None and layout.name == "vertical"


class Words(Static):
    """A text that is never read as markup; the one that is shown already causes no layout of the whole screen."""

    def __init__(self, content: Content | str = "", **options: Any) -> None:
        super().__init__(content, markup=False, **options)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show another text."""
        shown, text = self.content, Content(content) if isinstance(content, str) else content
        if not (isinstance(shown, Content) and isinstance(text, Content) and shown.is_same(text)):
            super().update(text, layout=layout)


class FittedText(Words):
    """A panel with text that is laid out for the width it has, whenever that changes; not shown without text."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__(id=name, classes="panel")
        self.border_title = Content(title)
        self._make: Callable[[int], Content] = lambda _: Content("")

    def show(self, make: Content | Callable[[int], Content], subtitle: str | None = None) -> None:
        """Show a text, or what a function makes of a width."""
        self._make = make if callable(make) else lambda _: make
        if subtitle is not None:
            self.border_subtitle = Content(subtitle)
        self.redraw()

    def on_resize(self) -> None:
        """Lay out again: lines and bars are as wide as the panel."""
        self.redraw()

    def redraw(self) -> None:
        """Lay out again where the text reads differently by now, such as an age."""
        content = self._make(max(30, self.size.width))
        self.display = bool(content.plain)
        self.update(content)


def facts_table(pairs: Iterable[tuple[str, str]], width: int, label: int) -> Content:
    """Return a line for each fact that has a value, behind its name in `label` cells."""
    return Content("\n").join(
        Content.assemble((fit(name, label), "$muted"), (elide_middle(one_line(value), width - label), "$foreground"))
        for name, value in pairs
        if value
    )


def numbers_table(numbers: Mapping[str, int]) -> list[Content]:
    """Return a line for each number, the greatest first, before its name."""
    return [
        Content.assemble((f"{number:>7,}  ", "bold"), (one_line(name), "$soft"))
        for name, number in sorted(numbers.items(), key=lambda item: -item[1])
    ]


class FittedLine(Widget):
    """One line, or as many as the style sheet says, drawn for the width there is without a layout of the screen."""

    DEFAULT_CSS = "FittedLine { height: 1; }"
    _make: Callable[[int], Content] = staticmethod(lambda _: Content(""))

    def show(self, make: Callable[[int], Content]) -> None:
        """Show what a function makes of a width."""
        self._make = make
        self.refresh()

    def render(self) -> Content:
        """The line."""
        return self._make(self.size.width)
