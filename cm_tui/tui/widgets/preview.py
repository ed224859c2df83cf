"""Source with line numbers, at its place in the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual


class Preview(ScrollView, can_focus=True):
    """Lines of a file; a range of them is marked, some of these more strongly, and words in the range stand out."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"preview--range", "preview--match"}
    DEFAULT_CSS = """
    Preview { height: 1fr; width: 1fr; scrollbar-size-vertical: 1; scrollbar-size-horizontal: 0; text-wrap: nowrap; }
    Preview > .preview--range { background: $foreground 4%; }
    Preview > .preview--match { background: $accent 14%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", show=False),
        Binding("down,j", "scroll_down", show=False),
        Binding("left,h", "scroll_left", show=False),
        Binding("right,l", "scroll_right", show=False),
        Binding("home,g", "scroll_home", show=False),
        Binding("end,G", "scroll_end", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._lines: Sequence[Content] = ()
        self._first = 1
        self._range = range(0)
        self._matches = range(0)
        self._words: re.Pattern[str] | None = None
        self._message = ""

    @property
    def first_line(self) -> int:
        """Number of the first line that is on screen."""
        return self._first + self.scroll_offset.y

    def show_message(self, message: str) -> None:
        """Say why there is no source."""
        self._lines, self._message = (), message
        self.virtual_size = Size(0, 0)
        self.refresh()

    def show(
        self,
        lines: Sequence[Content],
        *,
        first: int = 1,
        marked: range = range(0),
        matches: range = range(0),
        words: Iterable[str] = (),
        scroll: bool = True,
    ) -> None:
        """Show source.

        Args:
            lines: styled lines.
            first: number of the first of them.
            marked: lines of interest, numbered as in the file.
            matches: those of them that match.
            words: stand out within `marked`.
            scroll: bring the match on screen; False keeps the place, for the same source in colours.
        """
        self._lines, self._message, self._first = lines, "", first
        self._range, self._matches = marked, matches
        known = sorted({word for word in words if word}, key=len, reverse=True)
        self._words = re.compile("|".join(map(re.escape, known)), re.IGNORECASE) if known else None
        longest = max((len(line.plain) for line in lines), default=0)
        self.virtual_size = Size(longest + self._gutter + 2, len(lines))
        self.refresh()
        if scroll:
            goal = matches or marked
            above = max(1, (self.size.height - min(len(goal), self.size.height)) // 3)
            self.scroll_to(0, (goal.start if goal else first) - first - above, animate=False, force=True)

    def on_resize(self, _: events.Resize) -> None:
        """Draw again at the new size."""
        self.refresh()

    @property
    def _gutter(self) -> int:
        return max(3, len(str(self._first + len(self._lines)))) + 3

    def render_line(self, y: int) -> Strip:
        """A line number and a line of source."""
        width = self.size.width
        index = y + self.scroll_offset.y
        if not self._lines:
            return self._draw(Content.styled(f" {self._message}" if y == 0 else "", "$foreground 60%"), "")
        if index >= len(self._lines):
            return Strip.blank(width, self.visual_style.rich_style)
        number = self._first + index
        inside = number in self._range
        digits = self._gutter - 3
        gutter = Content.assemble(
            ("▌" if inside else " ", "$accent"),
            (f"{number:>{digits}}", "$foreground 75%" if inside else "$foreground 35%"),
            "  ",
        )
        text = self._lines[index]
        if inside and self._words:
            for found in self._words.finditer(text.plain):
                text = text.stylize("bold underline", found.start(), found.end())
        if left := self.scroll_offset.x:
            text = text[left:] if left < len(text.plain) else Content("")
        name = "preview--match" if number in self._matches else "preview--range" if inside else ""
        return self._draw(Content.assemble(gutter, text), name)

    def _draw(self, content: Content, component: str) -> Strip:
        width = self.size.width
        style = self.get_visual_style(component) if component else self.visual_style
        if cell_len(content.plain) > width:
            content = content[: width + 1]
        strips = Visual.to_strips(self, content, width, 1, style, apply_selection=False)
        strip = strips[0] if strips else Strip.blank(width)
        return strip.crop_extend(0, width, style.rich_style)
