"""Bars: the parts of a score stacked, shares, progress."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.content import Content

from cm_tui import model
from cm_tui.model.score_text import DIGITS, printed, sign_of
from cm_tui.tui.theme.themes import PART_GROUPS, PART_MARKS
from cm_tui.tui.widgets.split import Page, Words
from cm_tui.tui.widgets.text import fit, one_line

SCALE = "scale"
"""The group of the part that brings a score to the scale from 0 to 1."""


@dataclass(frozen=True)
class GroupSums:
    """What each group of score parts gives and takes."""

    gains: dict[str, float]
    losses: dict[str, float]
    """As positive numbers."""

    @property
    def gained(self) -> float:
        """Everything that was added."""
        return sum(self.gains.values())

    @property
    def lost(self) -> float:
        """Everything that was taken away."""
        return sum(self.losses.values())


def group_sums(parts: Iterable[model.ScorePart]) -> GroupSums:
    """Add up score parts by group; the scale, which stands for no reason of its own, is none."""
    gains = dict.fromkeys(PART_GROUPS, 0.0)
    losses = dict.fromkeys(PART_GROUPS, 0.0)
    for part in parts:
        if part.group == SCALE:
            continue
        side = gains if part.contribution >= 0 else losses
        group = part.group if part.group in side else "adjust"
        side[group] += abs(part.contribution)
    return GroupSums(gains, losses)


def cells_of(shares: Sequence[float], width: int) -> list[int]:
    """Split `width` cells by shares that add up to at most 1; the largest remainders get what is left."""
    exact = [max(0.0, share) * width for share in shares]
    cells = [int(value) for value in exact]
    total = min(width, round(sum(exact)))
    order = sorted(range(len(exact)), key=lambda index: exact[index] - cells[index], reverse=True)
    for index in order[: max(0, total - sum(cells))]:
        cells[index] += 1
    return cells


def score_bar(hit: model.Hit, width: int, top: float, *, plain: bool = False) -> Content:
    """The parts of a score, stacked.

    The solid stretch is as long as what was added up, before it was brought to the scale; behind it, thin, what penalties
    took away.

    Args:
        hit: whose score.
        width: cells for the longest bar.
        top: sum of all gains that fills `width`.
        plain: tell groups apart by characters, for terminals without colour.
    """
    sums = group_sums(hit.parts)
    scale = max(top, 1e-9)
    left = max(0.0, sums.gained - sums.lost)
    shrink = left / sums.gained if sums.gained else 0.0
    shares = [sums.gains[group] * shrink / scale for group in PART_GROUPS]
    shares += [sums.losses[group] / scale for group in PART_GROUPS]
    cells = cells_of(shares, width)
    pieces: list[tuple[str, str]] = []
    for index, group in enumerate((*PART_GROUPS, *PART_GROUPS)):
        loss = index >= len(PART_GROUPS)
        mark = "╌" if loss else PART_MARKS[group] if plain else "━"
        pieces.append((mark * cells[index], "$muted" if loss else f"$part-{group}"))
    pieces.append((" " * (width - sum(cells)), ""))
    return Content.assemble(*pieces)


def legend(hit: model.Hit, width: int, *, plain: bool = False) -> list[Content]:
    """What the colours of a stacked bar mean, with each group's sum; all of them add up to the score as printed."""
    totals: dict[str, float] = {}
    for part, adds in zip(hit.parts, printed(hit.parts, hit.score)[0], strict=True):
        group = part.group if part.group in (*PART_GROUPS, SCALE) else "adjust"
        totals[group] = totals.get(group, 0.0) + adds
    lines: list[Content] = []
    for group in (*PART_GROUPS, SCALE):
        if group in totals:
            mark, style = PART_MARKS.get(group, "■") if plain else "■", f"$part-{group}"
            style = "$muted" if group == SCALE else style
            text = f"{totals[group]:+.{DIGITS}f}"
            entry = Content.assemble((f"{mark} ", style), (f"{group} ", "$soft"), text)
            if lines and lines[-1].cell_length + 3 + entry.cell_length <= width:
                lines[-1] = Content.assemble(lines[-1], "   ", entry)
            else:
                lines.append(entry)
    return lines


def share_bar(share: float, width: int, style: str = "$primary") -> Content:
    """A bar for a share between 0 and 1."""
    filled = round(min(1.0, max(0.0, share)) * width)
    return Content.assemble(("━" * filled, style), ("─" * (width - filled), "$faint"))


def cell_bar(share: float, width: int) -> str:
    """A bar in eighths of a cell; what costs anything shows at least one of them."""
    eighths = min(8 * width, max(1 if share else 0, round(share * 8 * width)))
    whole, part = divmod(eighths, 8)
    return ("█" * whole + (" ▏▎▍▌▋▊▉"[part] if part else "")).ljust(width)


def budget_bar(used: int, budget: int, room: int, colour: str = "$success", *, over: bool = False) -> Content:
    """Return how full a budget is; `over`: more was requested than it has room for."""
    filled = min(room, max(1 if used else 0, round(room * used / budget))) if budget else 0
    rest = ("╍", "$warning") if over else ("─", "$faint")
    return Content.assemble(" ", ("━" * filled, colour), (rest[0] * (room - filled), rest[1]))


def slider(share: float, width: int, *, active: bool) -> Content:
    """A slider with its knob at a share between 0 and 1."""
    place = round(min(1.0, max(0.0, share)) * (width - 1))
    style = "$accent" if active else "$primary"
    return Content.assemble(("━" * place, style), ("●", f"bold {style}"), ("─" * (width - 1 - place), "$faint"))


_COLUMNS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[int]) -> Content:
    """Return one column for each value, as high as its share of the largest one; the last one stands for today."""
    top = max(values, default=0)
    pieces = []
    for place, value in enumerate(values):
        shown = "$accent" if place == len(values) - 1 else "$primary"
        pieces.append((_column(value, top), shown if value > 0 else "$faint"))
    return Content.assemble(*pieces)


def _column(value: int, top: int) -> str:
    """Return a column: anything that happened is higher than nothing."""
    if value <= 0 or top <= 0:
        return _COLUMNS[0]
    return _COLUMNS[max(1, min(len(_COLUMNS) - 1, round(value / top * (len(_COLUMNS) - 1))))]


class ScoreExplanation(Page):
    """A table of parts: value × weight = contribution, with the details below each."""

    _what: object = None
    _make: Callable[[int], Content] | None = None

    def compose(self) -> ComposeResult:
        """One text."""
        yield Words(id="why-text")

    def show(self, hit: model.Hit | None, message: str = "") -> None:
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
            self.query_one("#why-text", Words).update(self._make(max(30, self.size.width - 1)))


def explain(hit: model.Hit, width: int, *, plain: bool = False) -> Content:
    """Every part of a score as a table that fits a width."""
    top = group_sums(hit.parts).gained
    lines = [
        score_bar(hit, width - 2, top, plain=plain),
        *legend(hit, width, plain=plain),
        Content(""),
        _heading(width),
    ]
    contributions, score = printed(hit.parts, hit.score)
    for part, adds in zip(hit.parts, contributions, strict=True):
        lines.extend(_part(part, adds, width, plain=plain))
    total = round(sum(contributions), DIGITS)
    colour, sign = ("$success", "  ✓") if total == score else ("$error", "  ≠")
    lines += [
        Content.styled("─" * (width - 2), "$faint"),
        Content.assemble((fit("sum of the parts", width - 14), "bold"), (f"{total:+10.4f}", f"bold {colour}")),
        Content.assemble((fit("score", width - 14), "$muted"), (f"{score:+10.4f}", "$muted"), (sign, colour)),
    ]
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


def _part(part: model.ScorePart, adds: float, width: int, *, plain: bool) -> list[Content]:
    """One part: whether value times weight is what it adds, as printed, about that, or whether it works differently."""
    value, weight = f"{part.value:9.3f}", f"{part.weight:7.3f}"
    sign = sign_of(part, value, weight, adds)
    color = "$error" if adds < 0 else "$foreground"
    numbers = ((value, "$soft"), (" × ", "$muted"), (weight, "$soft"), (f" {sign}", "$muted"))
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
