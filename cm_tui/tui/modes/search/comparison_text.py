"""Hits side by side as text for the panel Why: two of them, or one that was named beside the first and the last."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.content import Content

from cm_tui.model import Hit, Standing
from cm_tui.model.comparison import side_by_side
from cm_tui.tui.modes.search.file_rows import lines_of
from cm_tui.tui.widgets.text import elide_path, fit, one_line

_COLUMN = 8
_HEAD_LINES = 4


def pair_text(marked: Hit, hit: Hit, width: int) -> Content:
    """Return two hits: where they stand, their parts in two columns with the difference, and the heads of their snippets."""
    lines = [_title(hit, width), _title(marked, width)]
    names = (f"#{hit.rank}", f"#{marked.rank}", "differs")
    lines.append(_row("part", names, width, "$muted"))
    lines += [_numbers(pair.name, (pair.one, pair.other, pair.difference), width) for pair in side_by_side(hit, marked)]
    lines.append(_numbers("score", (hit.score, marked.score, hit.score - marked.score), width, bold=True))
    for one in (hit, marked):
        lines += [Content(""), _title(one, width), *_head(one, width)]
    return Content("\n").join(lines)


def standing_text(standing: Standing, width: int) -> Content:
    """Return where something stands, what it lacks, what would lift it, and its parts beside those of the shown hits."""
    lines = _sentences((standing.said,), width, "bold $foreground")
    lines += _sentences(standing.lifts, width, "$accent")
    if standing.nearest:
        lines += _sentences((f"The nearest names are {', '.join(standing.nearest)}.",), width, "$accent")
    lines += _sentences(standing.lacks, width, "$soft")
    lines += _sentences(standing.notes, width, "$warning")
    hits = {"this": standing.hit, "first": standing.first, "last": standing.last}
    shown = {name: hit for name, hit in hits.items() if hit is not None}
    if standing.hit is None:
        return Content("\n").join(lines)
    lines += [Content(""), _row("part", tuple(shown), width, "$muted")]
    columns = [{pair.name: pair.other for pair in side_by_side(standing.hit, hit)} for hit in shown.values()]
    names = [pair.name for pair in side_by_side(standing.hit, standing.first or standing.hit)]
    names += [name for name in columns[-1] if name not in names]
    lines += [_numbers(name, [column.get(name, 0.0) for column in columns], width) for name in names]
    lines.append(_numbers("score", [hit.score for hit in shown.values()], width, bold=True))
    return Content("\n").join(lines)


def _sentences(sentences: Sequence[str], width: int, style: str) -> list[Content]:
    return [
        Content.styled(line, style)
        for sentence in sentences
        for line in textwrap.wrap(one_line(sentence), max(20, width - 1)) or [""]
    ]


def _title(hit: Hit, width: int) -> Content:
    """Rank and place."""
    place = f":{lines_of(hit)}"
    path = elide_path(one_line(hit.path), max(8, width - len(place) - 6))
    return Content.assemble((f"#{hit.rank} ", "bold $accent"), (path, "bold $foreground"), (place, "$secondary"))


def _head(hit: Hit, width: int) -> list[Content]:
    """The first lines of the snippet."""
    heads = (one_line(line.expandtabs(4)) for line in hit.snippet.split("\n")[:_HEAD_LINES])
    return [Content.styled(f"  {fit(line, width - 3)}", "$soft") for line in heads]


def _row(name: str, cells: Sequence[str], width: int, style: str) -> Content:
    room = max(8, width - 1 - _COLUMN * len(cells))
    return Content.styled(fit(one_line(name), room) + "".join(f"{cell:>{_COLUMN}}" for cell in cells), style)


def _numbers(name: str, values: Sequence[float], width: int, *, bold: bool = False) -> Content:
    room = max(8, width - 1 - _COLUMN * len(values))
    heavy = "bold " if bold else ""
    return Content.assemble(
        (fit(one_line(name), room), f"{heavy}$foreground"),
        *((f"{value:>+{_COLUMN}.3f}", f"{heavy}{'$error' if value < -0.0005 else '$foreground'}") for value in values),
    )
