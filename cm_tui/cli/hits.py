"""Hits on stdout: lines of files, and memories."""

from __future__ import annotations

from cm_tui import model
from cm_tui.cli.output import narrate, narrate_notes, plain, print_json, wants_json, write, write_text
from cm_tui.counts import count
from cm_tui.model.dates import age_of, local_day, local_minute
from cm_tui.model.score_text import DIGITS, part_texts

RESULT_FIELDS = (
    "query", "mode", "took_ms", "hits", "profile", "total", "notes", "generation", "beside", "beside_first", "filters", "suggestions",
)  # fmt: skip
"""Fields of a result that are printed as JSON, in this order."""
_RECALLED_FIELDS = ("query", "mode", "took_ms", "total", "notes", "generation")
_CODE_LINES = 8
_SHOWN_LINES = 12


def show_result(result: model.SearchResult, by: model.By = "passage", *, explain: bool = False) -> None:
    """Print what was found for people."""
    if result.beside_first:
        _show_beside(result, explain=explain)
        if result.beside and result.total:
            write("Code:")
            write("")
    for file in result.files:
        show_file(file, explain=explain)
    for hit in result.hits:
        show_code(hit, explain=explain)
    if not result.beside_first:
        _show_beside(result, explain=explain)
    counted = _counted(result, "results")
    if by == "file" and result.files:
        counted = f"{len(result.files)} of {count(result.total_files, 'file')}, {count(result.total, 'candidate')}"
    narrate(f"{counted}, {result.mode}, {result.took_ms:.0f} ms")
    if result.filters:
        narrate(f"filters: {' '.join(result.filters)}")
    narrate_notes(result.notes)


def _show_beside(result: model.SearchResult, *, explain: bool) -> None:
    if result.beside:
        write("From memory:")
        write("")
    for hit in result.beside:
        show_remembered(hit, explain=explain)


def show_recalled(result: model.SearchResult, *, explain: bool) -> None:
    """Print what is remembered of a question."""
    if wants_json():
        hits = [{"id": model.plain_id(hit.path), **plain(hit)} for hit in result.hits]
        print_json({**{name: getattr(result, name) for name in _RECALLED_FIELDS}, "hits": hits})
        return
    for hit in result.hits:
        show_remembered(hit, explain=explain)
    narrate(f"{_counted(result, 'memories')}, {result.mode}, {result.took_ms:.0f} ms")
    narrate_notes(result.notes)


def _counted(result: model.SearchResult, what: str) -> str:
    return f"{len(result.hits)} of {count(result.total, 'candidate')}" if result.hits else f"No matching {what}"


def show_code(hit: model.Hit, *, explain: bool) -> None:
    """Print lines of a file that answer, with their numbers."""
    place = f"{hit.path}:{hit.start_line}-{hit.end_line}"
    write(f"{hit.rank:>3}. {place}  {_title(hit, explain=explain)}", bold=place)
    if explain:
        _show_parts(hit)
    _show_lines(hit)
    write("")


def show_file(file: model.FileHits, *, explain: bool) -> None:
    """Print a file that answers: lines of its best passage, and where its next ones stand."""
    write(f"{file.rank:>3}. {file.path}", bold=file.path)
    for place, hit in enumerate(file.hits):
        write(f"     {hit.start_line}-{hit.end_line}  {_title(hit, explain=explain)}")
        if explain:
            _show_parts(hit)
        if not place:
            _show_lines(hit)
    if file.more:
        write(f"     and {count(file.more, 'more passage')}")
    write("")


def _title(hit: model.Hit, *, explain: bool) -> str:
    """What a passage is, and its score."""
    digits = DIGITS if explain else DIGITS - 1
    return f"{f'{hit.kind} {hit.symbol}' if hit.symbol else hit.language}  {hit.score:.{digits}f}"


def _show_lines(hit: model.Hit) -> None:
    """The lines that answer, with their numbers."""
    for number, line in enumerate(hit.snippet.split("\n")[:_CODE_LINES], hit.snippet_line):
        write_text(f"     {number:>5}  {line}".removesuffix("\r"))


def show_remembered(hit: model.Hit, *, explain: bool) -> None:
    """Print what was remembered, with its kind and its age."""
    when = "undated"
    if hit.time is not None:
        date = local_day(hit.time) if hit.source == "note" else local_minute(hit.time)
        when = f"{date}, {age_of(hit.source, hit.time)}"
    write(f"{hit.rank:>3}. {hit.path}  {when}  {hit.score:.3f}", bold=hit.path)
    if hit.stale:
        write(f"     stale: {hit.stale}")
    if explain:
        _show_parts(hit)
    for line in hit.snippet.split("\n")[:_SHOWN_LINES]:
        write_text(f"     {line}".removesuffix("\r"))
    write("")


def _show_parts(hit: model.Hit) -> None:
    """Print how a hit's score came to be, a line for each part."""
    texts, total = part_texts(hit)
    for part in texts:
        write(f"     {part.adds}  {part.name:<22} {part.product}  {part.detail}")
    write(f"     {total}  = sum")
    if hit.relevance is not None:
        write(f"     relevance: {hit.relevance:.0%} of such hits are right")
