"""`cm tune`: marks of results, and undo of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from cm_tui import model
from cm_tui.cli.declare import Family
from cm_tui.cli.options import open_engine, open_fresh_engine
from cm_tui.cli.output import as_json, narrate, narrate_notes, print_json, print_page, wants_json, write
from cm_tui.counts import count
from cm_tui.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from cm_tui.model.profile import Mark

_RESET = "--reset"
_CONFIGURED = "="
"""Stands for the profile that is used when none is named."""


class _Group(TyperGroup):
    """`--reset` may stand alone, or with the name of a profile behind it."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Give a lone `--reset` its value."""
        words = list(args)
        for place, word in enumerate(words):
            following = words[place + 1] if place + 1 < len(words) else "-"
            if word == _RESET and following.startswith("-"):
                words[place] = f"{_RESET}={_CONFIGURED}"
        return super().parse_args(ctx, words)


Question = Annotated[str, typer.Argument(help="The query, as given to `cm search`.")]


def alone(
    *,
    reset: Annotated[
        str,
        typer.Option(
            _RESET,
            metavar="[PROFILE]",
            help="Reset a saved profile: remove what the project's configuration changes.",
        ),
    ] = "",
) -> None:
    """List results marked right or wrong; each moves when its question is asked again."""
    if reset:
        _reset(reset)
        return
    marks()


def mark(question: Question, name: str, *, right: bool = False, wrong: bool = False) -> None:
    """Mark a result right or wrong for a question, in .cm/marks.json of the project.

    Args:
        name: What is marked: a file, path:line, or a symbol.
        right: It answers the question.
        wrong: It does not.
    """
    from cm_tui.model.profile import mark_of

    if right == wrong:
        raise UsageError("Use either --right or --wrong.")
    if not question.strip():
        raise UsageError(
            "The question is empty.", hint='For example: cm tune mark "how is a route matched" Router.match --right'
        )
    with open_fresh_engine() as engine:
        standing = engine.why_not(question, name)
        if standing.hit is None:
            near = f"The nearest names are {', '.join(standing.nearest)}." if standing.nearest else ""
            raise NotFoundError(standing.said, hint=near or "Only indexed passages can be marked.")
        made = mark_of(question, standing.hit, right=right)
        note = engine.put_mark(made)
    if as_json({"mark": made, "rank": standing.hit.rank, "state": standing.state}):
        return
    write(f"marked {_words(made)}: {made.place}  {made.symbol or ''}".rstrip())
    narrate(standing.said)
    if note:
        narrate(f"note: {note}")


def marks() -> None:
    """List what is marked, by question."""
    with open_engine() as engine:
        page = engine.marks()
    if wants_json() or not page.rows:
        print_page(page, lambda one: one.place)
        return
    before = ""
    for one in page.rows:
        if one.question != before:
            write(one.question, bold=one.question)
            before = one.question
        write(f"  {_words(one):<6} {one.place}  {one.symbol or ''}".rstrip())
    questions = len({one.question for one in page.rows})
    narrate(f"{count(page.total, 'mark')} of {count(questions, 'question')}")
    if page.note:
        narrate(f"note: {page.note}")


def unmark(question: Question, name: str | None = None) -> None:
    """Take marks of a question back.

    Args:
        name: Path, path:line or symbol of the mark; all of the question when not given.
    """
    with open_engine() as engine:
        gone = _selected_marks(engine.marks(), question, name)
        notes = [note for one in gone if (note := engine.remove_mark(one))]
    if as_json({"removed": gone}):
        return
    for one in gone:
        narrate(f"removed {_words(one)}: {one.place}  {one.symbol or ''}".rstrip())
    narrate_notes(notes)


def _selected_marks(page: model.Page[Mark], question: str, name: str | None) -> list[Mark]:
    """The marks that are meant. Raises NotFoundError if there are none."""
    from cm_tui.model.profile import normal

    own = [one for one in page.rows if one.question == normal(question)]
    if not own:
        raise NotFoundError("That question has no marks.", hint=page.note or "`cm tune marks` lists all marks.")
    found = [one for one in own if name is None or _is_called(one, name.strip())]
    if not found:
        places = ", ".join(one.place for one in own[:5])
        raise NotFoundError(f"No mark of that question is called {name}.", hint=f"It has {places}.")
    return found


def _is_called(one: Mark, name: str) -> bool:
    path, _, lines = name.rpartition(":")
    first = lines.partition("-")[0]
    if path and first.isascii() and first.isdigit() and len(first) < 10:
        return one.path in (path, path.removeprefix("./")) and one.start_line <= int(first) <= one.end_line
    symbol = one.symbol or ""
    return name in {one.path, symbol} or one.path.endswith(f"/{name}") or symbol.endswith(f".{name}")


def _reset(name: str) -> None:
    from cm_tui.config import load_config

    with open_engine() as engine:
        chosen = load_config(engine.root).search.profile if name == _CONFIGURED else name
        done = engine.reset_profile(chosen)
    if wants_json():
        print_json({"profile": done.name, "file": str(done.file), "removed": done.removed})
    elif done.removed:
        narrate(f"{done.file} no longer changes {done.name}: {', '.join(done.removed)}")
    else:
        narrate(f"{done.name} has no changes in {done.file}")


def _words(one: Mark) -> str:
    return "right" if one.right else "wrong"


tune = Family("", (mark, marks, unmark), alone=alone, group=_Group)
