"""Proposed weights as text for the panel Why: what they do before, after and left out, and which ranks they change."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from textual.content import Content

from cm_tui.counts import count
from cm_tui.model.tuning import TuningProposal
from cm_tui.tui.widgets.text import fit, one_line

_COLUMN = 9


def proposal_text(found: TuningProposal, width: int) -> Content:
    """Return advice, figures, moved ranks and weights."""
    lines = [
        *_wrapped(found.advice, width, "bold $foreground"),
        *_wrapped("s saves them, r throws them away.", width, "$accent"),
    ]
    said = f"{count(found.marks, 'mark')}, {count(found.questions, 'question')} to learn from. Left out: each question by weights that were learned without it."
    lines += _wrapped(said, width, "$muted")
    for note in found.notes:
        lines += _wrapped(note, width, "$warning")
    figures = (found.before, found.after, found.left_out)
    lines += [Content(""), _row("", ("before", "after", "left out"), width, "$muted")]
    lines.append(_row("a right one first", [str(one.first) for one in figures], width))
    lines.append(_row("a right one in ten", [str(one.in_ten) for one in figures], width))
    lines.append(_row("NDCG@10", [f"{one.ndcg:.3f}" for one in figures], width))
    lines.append(_row("wrong ones in ten", [str(one.wrong_in_ten) for one in figures], width))
    if found.ranks:
        lines += [Content(""), _row("rank of the first right one", ("", "", ""), width, "$muted")]
    for one in found.ranks:
        name = one.question if one.right else f"(wrong) {one.question}"
        lines.append(_row(name, [str(rank or "–") for rank in (one.before, one.after, one.left_out)], width))
    if found.weights:
        lines += [Content(""), _row("weight", ("before", "after", ""), width, "$muted")]
    lines += [_row(name, (f"{old:.2f}", f"{new:.2f}", ""), width) for name, old, new in found.weights]
    return Content("\n").join(lines)


def _wrapped(text: str, width: int, style: str) -> list[Content]:
    return [Content.styled(line, style) for line in textwrap.wrap(one_line(text), max(20, width - 1))]


def _row(name: str, cells: Sequence[str], width: int, style: str = "$foreground") -> Content:
    room = max(8, width - 1 - _COLUMN * len(cells))
    return Content.styled(fit(one_line(name), room) + "".join(f"{cell:>{_COLUMN}}" for cell in cells), style)
