"""Why a hit stands where it does, beside another one: on stdout, as text or JSON."""

from __future__ import annotations

from typing import Any

from cm_tui import model
from cm_tui.cli.output import as_json, narrate, narrate_notes, plain, print_json, wants_json, write, write_text
from cm_tui.errors import NotFoundError
from cm_tui.model.comparison import SCALE, side_by_side

_PARTS = 12
"""Parts that are listed; the rest is small."""
_HEAD_LINES = 3
_NAME = 26
_COLUMN = 10


def show_standing(standing: model.Standing) -> None:
    """Print where something stands, its parts beside those of the first and the last shown hit, and what would lift it.

    Raises NotFoundError if nothing in the index has that name.
    """
    if wants_json():
        print_json({**plain(standing), "parts": _columns(_hits_of(standing))})
    elif standing.state != "unknown":
        write(standing.said)
        for sentence in standing.lacks:
            write(sentence)
        if standing.hit is not None:
            write("")
            _table(_hits_of(standing))
            write("")
        if standing.lifts:
            write("What would lift it:")
        for sentence in standing.lifts:
            write(f"  {sentence}")
        narrate_notes(standing.notes)
        narrate(f"{standing.profile}, {standing.mode}, {standing.took_ms:.0f} ms")
    if standing.state == "unknown":
        near = (
            f"The nearest names are {', '.join(standing.nearest)}."
            if standing.nearest
            else "Name a file, path:line, or a symbol."
        )
        raise NotFoundError(standing.said, hint=near)


def _hits_of(standing: model.Standing) -> dict[str, model.Hit]:
    """The hits that stand beside each other, each once."""
    found: dict[str, model.Hit] = {}
    for name, hit in (("this", standing.hit), ("first", standing.first), ("last", standing.last)):
        if hit is not None and hit.passage not in {one.passage for one in found.values()}:
            found[name] = hit
    return found


def show_pair(result: model.SearchResult, ranks: tuple[int, int]) -> None:
    """Print two hits of an answer side by side. Raises NotFoundError if there are not so many."""
    if max(ranks) > len(result.hits):
        raise NotFoundError(
            f"There is no hit {max(ranks)}: the question has {len(result.hits)}.", hint="Compare two that are listed."
        )
    one, other = (result.hits[rank - 1] for rank in ranks)
    hits = {f"#{one.rank}": one, f"#{other.rank}": other}
    if as_json(
        {
            "query": result.query,
            "mode": result.mode,
            "profile": result.profile,
            "hits": [plain(one), plain(other)],
            "parts": _columns(hits),
            "notes": list(result.notes),
        }
    ):
        return
    for name, hit in hits.items():
        place = f"{hit.path}:{hit.start_line}-{hit.end_line}"
        write(f"{name}  {place}  {f'{hit.kind} {hit.symbol}' if hit.symbol else hit.language}", bold=place)
        for number, line in enumerate(hit.snippet.split("\n")[:_HEAD_LINES], hit.snippet_line):
            write_text(f"     {number:>5}  {line}".removesuffix("\r"))
    write("")
    _table(hits)
    narrate_notes(result.notes)


def _columns(hits: dict[str, model.Hit]) -> list[dict[str, Any]]:
    """Every named part with what it adds to each hit, the largest difference from the first of them first."""
    names = list(hits)
    if not names:
        return []
    base = hits[names[0]]
    rows: dict[str, dict[str, Any]] = {}
    for name in names[1:] or names:
        for pair in side_by_side(base, hits[name]):
            row = rows.setdefault(pair.name, {"name": pair.name, "group": pair.group, **dict.fromkeys(names, 0.0)})
            row[names[0]], row[name] = pair.one, pair.other
    return sorted(
        rows.values(),
        key=lambda row: (row["name"] == SCALE, -max(abs(row[name] - row[names[0]]) for name in names)),
    )


def _table(hits: dict[str, model.Hit]) -> None:
    """Parts in columns, a difference where there are two of them."""
    names = list(hits)
    two = len(names) == 2
    write(
        f"     {'part':<{_NAME}}"
        + "".join(f"{name:>{_COLUMN}}" for name in names)
        + ("difference" if two else "").rjust(12)
    )
    *rows, last = _columns(hits)
    for row in rows[:_PARTS]:
        write(f"     {row['name']:<{_NAME}}" + _numbers([row[name] for name in names]))
    rest = rows[_PARTS:]
    if rest:
        write(f"     {f'{len(rest)} more':<{_NAME}}" + _numbers([sum(row[name] for row in rest) for name in names]))
    write(f"     {last['name']:<{_NAME}}" + _numbers([last[name] for name in names]))
    write(f"     {'score':<{_NAME}}" + _numbers([hit.score for hit in hits.values()]))


def _numbers(values: list[float]) -> str:
    text = "".join(f"{value:>+{_COLUMN}.3f}" for value in values)
    return f"{text}{values[0] - values[1]:>+12.3f}" if len(values) == 2 else text
