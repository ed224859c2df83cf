"""`cm context lint`, `cm context new`, `cm context definitions`: the files that define the context."""

from __future__ import annotations

from pathlib import Path

import typer

from cm_tui import model
from cm_tui.cli.options import open_engine
from cm_tui.cli.output import as_json, narrate, plain, print_json, wants_json, write
from cm_tui.counts import count
from cm_tui.errors import NotFoundError, UsageError

_FOLDERS = (".cm/retrieval", ".cm/rules", ".cm/ingestion")


def lint(paths: list[Path] | None = None) -> None:
    """Check the files of definitions, rules and pipelines; ends with 1 where one has an error.

    Args:
        paths: Only these files and folders; default: all.
    """
    with open_engine() as engine:
        wanted = [_inside(engine.root, path) for path in paths or ()]
        found = engine.context_definitions()
    problems = [one for one in found.problems if not wanted or any(_is_below(one.file, path) for path in wanted)]
    errors = sum(one.severity == "error" for one in problems)
    warnings = len(problems) - errors
    if wants_json():
        rows = [{**plain(one), "text": one.text} for one in problems]
        print_json({"rows": rows, "total": len(rows), "errors": errors, "warnings": warnings, "files": found.files})
    else:
        for one in problems:
            write(one.text)
        narrate(_result(errors, warnings, found.files))
        held = sum(one.state == "held" for one in found.items)
        if held:
            narrate(f"{count(held, 'definition')} held until you trust it: `cm trust`")
    if errors:
        raise typer.Exit(1)


def _result(errors: int, warnings: int, files: int) -> str:
    if not errors and not warnings:
        return (
            f"{count(files, 'file')}, nothing wrong"
            if files
            else "no files yet; create one: cm context new retrieval NAME"
        )
    told = [count(number, word) for number, word in ((errors, "error"), (warnings, "warning")) if number]
    return f"{' and '.join(told)} in {count(files, 'file')}"


def _inside(root: Path, path: Path) -> str:
    """Return a path of the command line relative to the root; empty for what is the root or around it.

    Raises NotFoundError if there is nothing; UsageError if there are no definitions.
    """
    real, top = Path.cwd().joinpath(path).resolve(), root.resolve()
    if not real.exists():
        raise NotFoundError(f"There is no {path}.", hint="Check the spelling.")
    if top.is_relative_to(real):
        return ""
    inside = real.relative_to(top).as_posix() if real.is_relative_to(top) else ""
    if inside == ".cm" or any(_is_below(inside, folder) for folder in _FOLDERS):
        return inside
    raise UsageError(f"{path} is no place of definitions.", hint=f"They are files in {', '.join(_FOLDERS)}.")


def _is_below(file: str, folder: str) -> bool:
    return not folder or file == folder or file.startswith(f"{folder}/")


def new(kind: model.DefinitionKind, name: str) -> None:
    """Write a commented definition for you to change; its path is printed.

    Args:
        kind: What it defines.
        name: Of it and of its file: letters, digits, - and _.
    """
    with open_engine() as engine:
        path = engine.new_definition(kind, name)
    if as_json({"id": _id(kind, name), "kind": kind, "name": name, "path": path}):
        return
    write(path)
    narrate("edit it and check it with `cm context lint`; it takes effect at once")


def _id(kind: str, name: str) -> str:
    return f"{ {'retrieval': 'definition', 'rule': 'rule', 'ingestion': 'pipeline'}[kind] }://{name}"


def definitions() -> None:
    """List definitions, rules and pipelines: whether each counts, where it stands, and what it asks for."""
    with open_engine() as engine:
        found = engine.context_definitions()
    if as_json({"rows": found.items, "total": len(found.items), "problems": found.problems, "files": found.files}):
        return
    for one in found.items:
        for line in _lines(one):
            write(line)
    told = sum(one.severity == "error" for one in found.problems)
    if told:
        narrate(f"{count(told, 'error')} in these files: `cm context lint` lists them")
    if not found.files:
        narrate("none in this project yet; create one: cm context new retrieval NAME")


def _lines(one: model.DefinitionInfo) -> list[str]:
    state = "" if one.state == "counts" else f"  ({one.state})"
    told = [f"{one.id}  {one.file}:{one.line}{state}  {one.summary}"]
    return told + [f"  wants to {asked}; decide with `cm trust`" for asked in one.asks if one.state == "held"]
