"""Line charts as SVG, by hand: readable on light and dark pages, and without colour."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 720, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 196, 44, 48
_GAP = 17
"""Between two labels at the lines' ends."""
_TICKS = 5
_COLOURS = (("#005ac9", "#6cb0ff"), ("#b3261e", "#ff8f85"), ("#006f3c", "#5fd38d"), ("#7a4d00", "#f0b34a"))
"""For light pages and for dark ones."""
_DASHES = ("none", "7 3", "2 3", "9 3 2 3")
_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.page { fill: #ffffff } .grid { stroke: #d8dee4 } .target { stroke: #57606a; stroke-dasharray: 3 4 }
.title { font-weight: 600; font-size: 15px } .line { fill: none; stroke-width: 2 }
"""
_DARK = ".page { fill: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d } .target { stroke: #9ea7b3 }"

Points = Sequence[tuple[float, float]]


class Chart:
    """Lines over one pair of axes that begin at zero.

    Args:
        title: what is shown.
        across: what the x-axis counts.
        up: what the y-axis counts.
        series: points by name, in order of x.
        target: a y that is to be kept below, drawn across.
    """

    def __init__(
        self, title: str, across: str, up: str, series: Mapping[str, Points], target: float | None = None
    ) -> None:
        self._title, self._across, self._up = title, across, up
        self._series = {name: points for name, points in series.items() if points}
        self._target = target
        everything = [point for points in self._series.values() for point in points]
        self._x_step = _step(max((x for x, _ in everything), default=1))
        self._y_step = _step(max([y for _, y in everything] + [target or 0]))
        self._x_end = max((x for x, _ in everything), default=1) or 1
        highest = max([y for _, y in everything] + [target or 0])
        self._y_end = self._y_step * max(1, math.ceil(highest / self._y_step))

    def svg(self) -> str:
        """The whole file."""
        size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(self._title)}">',
            f"<style>{_STYLE}{_colours(0)}@media (prefers-color-scheme: dark) {{ {_DARK} {_colours(1)} }}</style>",
            f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="6"/>',
            f'<text class="title" x="{_LEFT}" y="24">{escape(self._title)}</text>',
            *self._axes(),
            *self._lines(),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _axes(self) -> list[str]:
        right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
        found = []
        for number in range(round(self._y_end / self._y_step) + 1):
            y = self._y(number * self._y_step)
            label = _number(number * self._y_step)
            found.append(f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            found.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        for number in range(int(self._x_end / self._x_step) + 1):
            x = self._x(number * self._x_step)
            label = _number(number * self._x_step)
            found.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>')
        found.append(f'<text x="{right}" y="{HEIGHT - 10}" text-anchor="end">{escape(self._across)}</text>')
        found.append(f'<text x="{_LEFT}" y="{_TOP - 6}">{escape(self._up)}</text>')
        return found

    def _lines(self) -> list[str]:
        right = WIDTH - _RIGHT
        found, labels = [], []
        for number, (name, points) in enumerate(self._series.items()):
            path = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points)
            kind = f"line s{number % len(_COLOURS)}"
            found.append(f'<polyline class="{kind}" stroke-dasharray="{_DASHES[number % 4]}" points="{path}"/>')
            labels.append((self._y(points[-1][1]), f"{name}: {_number(points[-1][1])}", f"t{number % len(_COLOURS)}"))
        if self._target is not None:
            y = self._y(self._target)
            found.append(f'<line class="target" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
            labels.append((y, f"target: {_number(self._target)}", ""))
        for y, text, kind in _apart(sorted(labels)):
            found.append(f'<text class="{kind}" x="{right + 8}" y="{y + 4:.1f}">{escape(text)}</text>')
        return found

    def _x(self, value: float) -> float:
        return _LEFT + value / self._x_end * (WIDTH - _LEFT - _RIGHT)

    def _y(self, value: float) -> float:
        return HEIGHT - _BOTTOM - value / self._y_end * (HEIGHT - _TOP - _BOTTOM)


def _apart(labels: list[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    """Labels moved so far up that none covers another; they come from top to bottom."""
    lowest = float(HEIGHT - _BOTTOM)
    moved = []
    for y, text, kind in reversed(labels):
        lowest = min(y, lowest)
        moved.append((lowest, text, kind))
        lowest -= _GAP
    return moved


def _step(highest: float) -> float:
    """A round distance between ticks."""
    if highest < 1e-9:
        return 1
    rough = highest / _TICKS
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def _colours(page: int) -> str:
    return " ".join(
        f".s{number} {{ stroke: {pair[page]} }} .t{number} {{ fill: {pair[page]} }}"
        for number, pair in enumerate(_COLOURS)
    )
