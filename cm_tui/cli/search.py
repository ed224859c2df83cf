"""`cm search`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from cm_tui import model
from cm_tui.cli.options import Limit, open_fresh_engine, refuse_empty
from cm_tui.cli.output import (
    as_json,
    narrate,
    narrate_notes,
    plain,
    print_json,
    print_json_line,
    wants_json,
    write,
    write_text,
)
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model.score_text import SCALE, side_by_side

# --- why a hit stands where it does, beside another one: on stdout, as text or JSON ---

_PARTS = 12
"""Parts that are listed; the rest is small."""
_HEAD_LINES = 3
_NAME = 26
_COLUMN = 10


def print_position(standing: model.Standing) -> None:
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
            write("To rank higher:")
        for sentence in standing.lifts:
            write(f"  {sentence}")
        narrate_notes(standing.notes)
        narrate(f"{standing.profile}, {standing.mode}, {standing.took_ms:.0f} ms")
    if standing.state == "unknown":
        near = f"The nearest names are {', '.join(standing.nearest)}." if standing.nearest else ""
        raise NotFoundError(standing.said, hint=near or "Name a file, path:line, or a symbol.")


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
            f"No hit {max(ranks)}: the query has {len(result.hits)}.", hint="Compare two that are listed."
        )
    one, other = (result.hits[rank - 1] for rank in ranks)
    hits = {f"#{one.rank}": one, f"#{other.rank}": other}
    head = {name: getattr(result, name) for name in ("query", "mode", "profile")}
    if as_json({**head, "hits": [one, other], "parts": _columns(hits), "notes": result.notes}):
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
    heads = "".join(f"{name:>{_COLUMN}}" for name in names)
    write(f"     {'part':<{_NAME}}{heads}{'difference' if two else '':>12}")
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


# --- `cm search` ---


def search(
    query: str | None = None,
    *,
    profile: str | None = None,
    limit: Limit = None,
    mode: model.Mode = "hybrid",
    by: model.By = "passage",
    explain: bool = False,
    why_not: str | None = None,
    compare: str | None = None,
    batch: str | None = None,
) -> None:
    """Ask the code: keyword and meaning together, each result with its score's parts.

    Args:
        query: Words, a question, or the name of a symbol; path:FOLDER, lang:, kind: and in:code|docs|tests narrow it,
            -path: and so on leave out.
        profile: Ranking profile: code (unless configured otherwise), memory, notes, yours.
        mode: What is compared: words and meaning, or one of both.
        by: What is listed: passages, or files, each with its best passages.
        explain: Show how each score came to be.
        why_not (NAME): Say where a file, a path:line or a symbol stands for this question, and why.
        compare (N,M): Two hits side by side, by their ranks: 1,3.
        batch: File with one query a line (- for stdin); one JSON object a line out.
    """
    from cm_tui.cli.hits import show_result
    from cm_tui.config import load_config

    if (query is None) == (batch is None):
        raise UsageError("Give either a query or --batch FILE.", hint='For example: cm search "how are routes matched"')
    refuse_empty(batch or query or "", 'cm search "how are routes matched"')
    ranks = _ranks(compare, why_not, batch, by)
    with open_fresh_engine() as engine:
        chosen = profile or load_config(engine.root).search.profile
        if why_not is not None:
            print_position(engine.why_not(query or "", why_not, profile=chosen, mode=mode, limit=limit))
            return
        if ranks:
            show_pair(engine.search(query or "", profile=chosen, mode=mode, limit=max(ranks)), ranks)
            return
        if batch is not None:
            for line in _lines(batch):
                found = engine.search(line, profile=chosen, mode=mode, limit=limit, by=by)
                print_json_line(_object(found, by))
            return
        result = engine.search(query or "", profile=chosen, mode=mode, limit=limit, by=by)
        remembered = [hit.path for hit in (*result.hits, *result.beside) if hit.source != model.CODE]
        if remembered:
            engine.note_recalled(remembered)
    if as_json(_object(result, by)):
        return
    show_result(result, by, explain=explain)


def _ranks(compare: str | None, why_not: str | None, batch: str | None, by: str) -> tuple[int, int] | None:
    """The two ranks that are to be compared; None where none are.

    Raises UsageError if these are no two ranks, or options go against each other.
    """
    if (compare is not None or why_not is not None) and batch is not None:
        raise UsageError("--why-not and --compare need a single query.", hint="Remove --batch.")
    if (compare is not None or why_not is not None) and by == "file":
        raise UsageError("--why-not and --compare work on passages.", hint="Remove --by file.")
    if compare is not None and why_not is not None:
        raise UsageError("Use either --why-not or --compare.")
    if compare is None:
        return None
    numbers = [part.strip() for part in compare.split(",")]
    if len(numbers) != 2 or not all(
        part.isascii() and part.isdigit() and 0 < len(part) < 6 and int(part) for part in numbers
    ):
        raise UsageError(f"--compare takes two ranks, not {compare!r}.", hint="For example: --compare 1,3")
    one, other = map(int, numbers)
    if one == other:
        raise UsageError("A hit cannot be compared with itself.", hint="For example: --compare 1,3")
    return one, other


def _lines(batch: str) -> list[str]:
    """The queries of a file; only a line feed ends one, so that each line in gives one line out."""
    try:
        data = sys.stdin.buffer.read() if batch == "-" else Path(batch).read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"File not found: {batch}.", hint="Name a file with one query a line.") from error
    except OSError as error:
        raise UsageError(f"Cannot read {batch}: {error.strerror}.") from error
    lines = data.decode("utf-8", "replace").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _object(result: model.SearchResult, by: model.By) -> dict[str, Any]:
    """The contract's result object, with the notes besides; it has `files` instead of `hits` where files were asked for."""
    from cm_tui.cli.hits import RESULT_FIELDS

    names = [*RESULT_FIELDS]
    if by == "file":
        names[names.index("hits") : names.index("hits") + 1] = ["files", "total_files"]
    return {name: plain(getattr(result, name)) for name in names}
