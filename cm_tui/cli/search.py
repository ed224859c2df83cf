"""`cm search`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from cm_tui import model
from cm_tui.cli.options import Limit, open_fresh_engine, refuse_empty
from cm_tui.cli.output import as_json, plain, print_json_line
from cm_tui.errors import NotFoundError, UsageError


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
    from cm_tui.cli.why import show_pair, show_standing
    from cm_tui.config import load_config

    if (query is None) == (batch is None):
        raise UsageError("Give either a query or --batch FILE.", hint='For example: cm search "how are routes matched"')
    refuse_empty(batch or query or "", 'cm search "how are routes matched"')
    ranks = _ranks(compare, why_not, batch, by)
    with open_fresh_engine() as engine:
        chosen = profile or load_config(engine.root).search.profile
        if why_not is not None:
            show_standing(engine.why_not(query or "", why_not, profile=chosen, mode=mode, limit=limit))
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
        raise UsageError("--why-not and --compare are about one question.", hint="Leave --batch out.")
    if (compare is not None or why_not is not None) and by == "file":
        raise UsageError("--why-not and --compare are about passages.", hint="Leave --by file out.")
    if compare is not None and why_not is not None:
        raise UsageError("Give --why-not or --compare, one of both.")
    if compare is None:
        return None
    numbers = [part.strip() for part in compare.split(",")]
    if len(numbers) != 2 or not all(
        part.isascii() and part.isdigit() and 0 < len(part) < 6 and int(part) for part in numbers
    ):
        raise UsageError(f"--compare takes two ranks, not {compare!r}.", hint="For example: --compare 1,3")
    one, other = map(int, numbers)
    if one == other:
        raise UsageError("A hit is not compared with itself.", hint="For example: --compare 1,3")
    return one, other


def _lines(batch: str) -> list[str]:
    """The queries of a file; only a line feed ends one, so that each line in gives one line out."""
    try:
        data = sys.stdin.buffer.read() if batch == "-" else Path(batch).read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {batch}.", hint="Name a file with one query a line.") from error
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
