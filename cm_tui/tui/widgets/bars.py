"""Bars: the parts of a score stacked, shares, progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual.content import Content

from cm_tui.model import Hit, ScorePart
from cm_tui.model.score_text import DIGITS, printed
from cm_tui.tui.theme.themes import PART_GROUPS, PART_MARKS

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


def group_sums(parts: Iterable[ScorePart]) -> GroupSums:
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


def score_bar(hit: Hit, width: int, top: float, *, plain: bool = False) -> Content:
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
    kept = max(0.0, sums.gained - sums.lost)
    shrink = kept / sums.gained if sums.gained else 0.0
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


def legend(hit: Hit, *, plain: bool = False) -> Content:
    """What the colours of a stacked bar mean, with each group's sum; all of them add up to the score as printed."""
    totals: dict[str, float] = {}
    for part, adds in zip(hit.parts, printed(hit.parts, hit.score)[0], strict=True):
        group = part.group if part.group in (*PART_GROUPS, SCALE) else "adjust"
        totals[group] = totals.get(group, 0.0) + adds
    entries = []
    for group in (*PART_GROUPS, SCALE):
        if group in totals:
            mark, style = PART_MARKS.get(group, "■") if plain else "■", f"$part-{group}"
            style = "$muted" if group == SCALE else style
            text = f"{totals[group]:+.{DIGITS}f}"
            entries.append(Content.assemble((f"{mark} ", style), (f"{group} ", "$soft"), text))
    return Content("   ").join(entries)


def share_bar(share: float, width: int, style: str = "$primary") -> Content:
    """A bar for a share between 0 and 1."""
    filled = round(min(1.0, max(0.0, share)) * width)
    return Content.assemble(("━" * filled, style), ("─" * (width - filled), "$faint"))


def slider(share: float, width: int, *, active: bool) -> Content:
    """A slider with its knob at a share between 0 and 1."""
    place = round(min(1.0, max(0.0, share)) * (width - 1))
    style = "$accent" if active else "$primary"
    return Content.assemble(("━" * place, style), ("●", f"bold {style}"), ("─" * (width - 1 - place), "$faint"))


_COLUMNS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[int], *, style: str = "$primary", last: str = "$accent") -> Content:
    """Return one column for each value, as high as its share of the largest one.

    Args:
        values: what is counted; 0 is a line on the ground.
        style: of the columns.
        last: of the last one, which stands for today.
    """
    top = max(values, default=0)
    pieces = []
    for place, value in enumerate(values):
        shown = last if place == len(values) - 1 else style
        pieces.append((_column(value, top), shown if value > 0 else "$faint"))
    return Content.assemble(*pieces)


def _column(value: int, top: int) -> str:
    """Return a column: anything that happened is higher than nothing."""
    if value <= 0 or top <= 0:
        return _COLUMNS[0]
    return _COLUMNS[max(1, min(len(_COLUMNS) - 1, round(value / top * (len(_COLUMNS) - 1))))]
