"""The explanation of one hit: every part of its score, and their sum."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from cm_tui.model import Hit, ScorePart
from cm_tui.model.score_text import DIGITS, printed, sign_of
from cm_tui.tui.theme.themes import PART_GROUPS, PART_MARKS
from cm_tui.tui.widgets.bars import group_sums, legend, score_bar
from cm_tui.tui.widgets.text import fit, one_line


class ScoreExplanation(VerticalScroll):
    """A table of parts: value × weight = contribution, with the details below each."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._what: object = None
        self._make: Callable[[int], Content] | None = None

    def compose(self) -> ComposeResult:
        """One text."""
        yield Static("", id="why-text", markup=False)

    def show(self, hit: Hit | None, message: str = "") -> None:
        """Explain a hit, or show a message without one."""
        if hit is None:
            self.show_text(None, lambda _: Content.styled(message, "$muted"))
        else:
            self.show_text(hit.passage, lambda width: explain(hit, width, plain=self.app.no_color))

    def show_text(self, what: object, make: Callable[[int], Content]) -> None:
        """Show another text.

        Args:
            what: identifies the content; the same content keeps its scroll position.
            make: creates the content for a width.
        """
        is_new = what is None or what != self._what
        self._what, self._make = what, make
        self._draw()
        if is_new:
            self.scroll_home(animate=False)

    def on_resize(self, _: events.Resize) -> None:
        """Draw again at the new width."""
        self._draw()

    def _draw(self) -> None:
        if self.is_mounted and self._make is not None:
            self.query_one("#why-text", Static).update(self._make(max(30, self.size.width - 1)))


def explain(hit: Hit, width: int, *, plain: bool = False) -> Content:
    """Every part of a score as a table that fits a width."""
    top = group_sums(hit.parts).gained
    lines = [
        score_bar(hit, width - 2, top, plain=plain),
        legend(hit, plain=plain),
        Content(""),
        _heading(width),
    ]
    contributions, score = printed(hit.parts, hit.score)
    for part, adds in zip(hit.parts, contributions, strict=True):
        lines.extend(_part(part, adds, width, plain=plain))
    total = round(sum(contributions), DIGITS)
    agrees = total == score
    lines.append(Content.styled("─" * (width - 2), "$faint"))
    lines.append(
        Content.assemble(
            (fit("sum of the parts", width - 14), "bold"),
            (f"{total:+10.4f}", "bold $success" if agrees else "bold $error"),
        )
    )
    lines.append(
        Content.assemble(
            (fit("score", width - 14), "$muted"),
            (f"{score:+10.4f}", "$muted"),
            ("  ✓" if agrees else "  ≠", "$success" if agrees else "bold $error"),
        )
    )
    if hit.relevance is not None:
        lines.append(Content.styled(f"relevance: {hit.relevance:.0%} of such hits are right", "$muted"))
    return Content("\n").join(lines)


COMPACT = 48
"""Below this width only names and contributions have room."""


def _name_width(width: int) -> int:
    return width - 35 if width >= COMPACT else width - 14


def _heading(width: int) -> Content:
    if width < COMPACT:
        return Content.styled(f"{fit('part', _name_width(width))}{'adds':>10}", "$muted")
    text = f"{fit('part', _name_width(width))}{'value':>9}   {'weight':>7}  {'adds':>10}"
    return Content.styled(text, "$muted")


def _part(part: ScorePart, adds: float, width: int, *, plain: bool) -> list[Content]:
    """One part: whether value times weight is what it adds, as printed, about that, or whether it works differently."""
    value, weight = f"{part.value:9.3f}", f"{part.weight:7.3f}"
    sign = sign_of(part, value, weight, adds)
    color = "$error" if adds < 0 else "$foreground"
    numbers = (
        (value, "$soft"),
        (" × ", "$muted"),
        (weight, "$soft"),
        (f" {sign}", "$muted"),
    )
    row = Content.assemble(
        (
            f"{PART_MARKS.get(part.group, '■') if plain else '■'} ",
            f"$part-{part.group}" if part.group in PART_GROUPS else "$muted",
        ),
        (fit(one_line(part.name), _name_width(width) - 2), "$foreground"),
        *(numbers if width >= COMPACT else ()),
        (f"{adds:+10.4f}", f"bold {color}"),
    )
    if not part.detail:
        return [row]
    details = textwrap.wrap(one_line(part.detail), width - 6)
    return [row, *(Content.styled(f"  {line}", "$muted") for line in details)]
