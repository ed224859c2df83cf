"""`cm context`: the context that an agent receives for a prompt, saved with its trace; and the files that define it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui import model
from cm_tui.cli.declare import Bounds, Family
from cm_tui.cli.options import Limit, open_engine, open_fresh_engine, refuse_empty, values_of
from cm_tui.cli.output import advise, as_json, narrate, plain, print_json, print_page, wants_json, write, write_text
from cm_tui.counts import count
from cm_tui.errors import NotFoundError, NotIndexedError, UsageError
from cm_tui.model.dates import local_minute
from cm_tui.model.definition import SCHEMES

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


# --- the files that define the context ---

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
    if as_json({"id": f"{SCHEMES[kind]}://{name}", "kind": kind, "name": name, "path": path}):
        return
    write(path)
    narrate("edit it and check it with `cm context lint`; it takes effect at once")


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


# --- assemblies as lines: of a list, of a comparison, and the trace of how one came to be ---

_PROMPT = 60
_BAR = 24
_NAME = 36


def head_line(one: model.AssemblyHead) -> str:
    """Return a snapshot as a line of a list."""
    marks = [f"{one.cut} cut" if one.cut else "", count(one.warnings, "warning") if one.warnings else ""]
    marked = "".join(f", {mark}" for mark in marks if mark)
    who = "".join(f"  {word}" for word in (one.agent, one.session) if word)
    ran = f"  ran {one.definition}" if one.definition else ""
    return (
        f"{one.id}  {local_minute(one.time)}  {one.tokens:,} of {one.budget:,} tokens, "
        f"{count(one.sources, 'source')}{marked}{who}{ran}  {_short(one.prompt, _PROMPT)}"
    )


def change_line(one: model.SourceChange) -> str:
    """Return what became of a source between two assemblies."""
    signs = {"added": "+", "removed": "-", "changed": "~", "same": " "}
    cuts = [f"{when}: {cut}" for when, cut in (("then", one.first_cut), ("now", one.second_cut)) if cut]
    cut = f"  (cut {', '.join(cuts)})" if cuts else ""
    return f"{signs[one.what]} {one.id}  {one.first_tokens:,} → {one.second_tokens:,} tokens{cut}"


def summary(one: model.Assembly) -> Iterator[str]:
    """Yield the summary lines of an assembly."""
    given = [source for source in one.sources if source.text]
    cut = sum(1 for source in one.sources if source.cut not in ("", "empty", "off"))
    told = [count(len(given), "source"), f"{cut} cut" if cut else "", f"{one.ms:.0f} ms"]
    kept = f", snapshot {one.id}" if one.id else ""
    if not one.text.strip():
        yield "the context is empty"
    yield f"{one.tokens:,} of {one.budget:,} tokens, {', '.join(word for word in told if word)}{kept}"
    yield from (f"warning: {text}" for text in one.warnings)
    yield from (f"note: {text}" for text in one.notes)


def trace(one: model.Assembly) -> Iterator[str]:
    """Yield the trace of an assembly: sources by section, omissions, rules, and a waterfall of the steps."""
    given = [source for source in one.sources if source.text]
    for section, sources in groupby(given, key=lambda source: source.section):
        yield section
        yield from (source_line(source) for source in sources)
    left = [source for source in one.sources if not source.text]
    if left:
        yield "not handed over"
        yield from (source_line(source) for source in left)
    if one.rules:
        yield "rules"
        yield from (_rule_line(rule) for rule in one.rules)
    if one.steps:
        yield "steps"
        yield from _waterfall(one)
    if one.without:
        yield f"disabled: {', '.join(one.without)}"
    if one.tokenizer:
        yield f"tokens by {one.tokenizer}"


def source_line(one: model.AssemblySource) -> str:
    """Return a source with its tokens, what was cut of it and why."""
    tokens = f"{one.tokens:>7,}" if one.text else f"{'–':>7}"
    of = f" of {one.found_tokens:,}" if one.found_tokens > one.tokens else ""
    cut = f"  {one.cut}: {one.why_cut}" if one.cut else ""
    facts = [f"priority {one.priority}" if one.priority else "", f"cap {one.cap:,}" if one.cap is not None else ""]
    facts += [f"by {', '.join(one.rules)}" if one.rules else "", one.file]
    about = "".join(f", {fact}" for fact in facts if fact)
    return f"{tokens}{of}  {one.id}  {one.ms:.1f} ms{about}{cut}"


def _rule_line(one: model.AppliedRule) -> str:
    counted = "" if one.counted else "  (decided by an earlier rule)"
    return f"  {one.rule}: {one.action} → {one.reference}  {one.file}{counted}"


def _waterfall(one: model.Assembly) -> Iterator[str]:
    end = max(0.001, *(step.start_ms + step.ms for step in one.steps))
    width = min(max(len(f"{step.source} {step.name}") for step in one.steps), _NAME)
    for step in one.steps:
        yield f"  {_short(f'{step.source} {step.name}', width):<{width}} {_bar(step, end)} {step.ms:7.1f} ms{_summary(step)}"


def _bar(step: model.AssemblyStep, end: float) -> str:
    begin = min(round(step.start_ms / end * _BAR), _BAR - 1)
    length = min(max(round(step.ms / end * _BAR), 1), _BAR - begin)
    return f"{'·' * begin}{'━' * length}{'·' * (_BAR - begin - length)}"


def _summary(step: model.AssemblyStep) -> str:
    outcome = f", {step.outcome}" if step.outcome != "ok" else ""
    detail = f", {step.detail}" if step.detail else ""
    return f", {count(step.found, 'item')}{outcome}{detail}"


def _short(text: str, limit: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


# --- `cm context` ---

_LISTED = 50
Budget = Annotated[int | None, typer.Option("--budget", min=1, help="Tokens at most; default: context.budget.")]
Session = Annotated[str, typer.Option("--session", help="An agent's session: its working memory and its turns count.")]
Explain = Annotated[bool, typer.Option("--explain", help="Print to stderr how it was assembled.")]
Snapshot = Annotated[str, typer.Argument(help="Its id, a beginning of it, or last, last~1 and so on.")]
OfSession = Annotated[str, typer.Option("--session", help="An agent's session, for working:// and episodic://.")]


def alone() -> None:
    """What is handed over to agents, assembled by files of the project; without a command snapshots are listed."""
    list_()


def assemble(
    prompt: str,
    *,
    budget: Budget = None,
    session: Session = "",
    files: list[str] | None = None,
    without: list[str] | None = None,
    keep: bool = True,
    explain: Explain = False,
) -> None:
    """Assemble what would be handed over for a prompt, by the project's definitions and rules.

    Args:
        prompt: What an agent is asked; may mention @file, @symbol, @episode, @note.
        files (--file): A file worked on; may be repeated.
        without: A source or rule://NAME to exclude this time; may be repeated.
        keep (--keep/--no-keep): Keep a snapshot.
    """
    refuse_empty(prompt, 'cm context assemble "refactor the router"')
    with _open_for_assembly() as engine:
        result = engine.assemble(
            prompt, budget=budget, session=session, files=files or (), without=without or (), keep=keep
        )
        engine.note_recalled(result.recalled)
    _give(result, explain=explain)


def run(
    name: str,
    values: list[str] | None = None,
    *,
    budget: Budget = None,
    session: Session = "",
    explain: Explain = False,
) -> None:
    """Run one retrieval definition by itself, also one that is off; `text=…` is the prompt.

    Args:
        name: A retrieval definition: `cm context definitions` lists them.
        values: key=value, as its templates name them.
    """
    given = values_of(values or ())
    with _open_for_assembly() as engine:
        result = engine.run_definition(name, values=given, budget=budget, session=session)
        engine.note_recalled(result.recalled)
    _give(result, explain=explain)


def list_(*, session: str = "", match: str = "", limit: Limit = None) -> None:
    """List the snapshots of assemblies, the newest first.

    Args:
        session: Only those of this session.
        match: Only with these words in the prompt.
    """
    with open_engine() as engine:
        page = engine.assemblies(match=match, session=session, limit=limit or _LISTED)
    print_page(page, head_line)
    if page.rows:
        advise("`cm context show ID --explain` explains one, `cm context diff A B` compares two")


def show(snapshot: Snapshot, *, explain: Explain = False) -> None:
    """Show what was handed over then; --explain adds the trace."""
    with open_engine() as engine:
        _give(engine.assembly(snapshot), explain=explain)


def diff(first: Snapshot, second: str) -> None:
    """Show what differs between two snapshots: sources, tokens, rules, warnings.

    Args:
        second: The later one.
    """
    with open_engine() as engine:
        found = engine.compare_assemblies(first, second)
    if as_json(found):
        return
    for head in (found.first, found.second):
        write(head_line(head), bold=head.id)
    changed = [one for one in found.changes if one.what != "same"]
    for one in changed:
        write(change_line(one))
        if one.diff:
            write_text(one.diff.rstrip("\n"))
    for what, lines in (("rule", found.rules), ("warning", found.warnings)):
        for line in lines:
            write(f"{what} {line}")
    if not (changed or found.rules or found.warnings):
        narrate("nothing differs")


@contextmanager
def _open_for_assembly() -> Iterator[Engine]:
    """Open the engine with a current index; without one, assemble only what needs no index."""
    with ExitStack() as stack:
        try:
            engine = stack.enter_context(open_fresh_engine())
        except NotIndexedError:
            engine = stack.enter_context(open_engine())
            narrate("note: no index yet, so no code is found; run `cm index`")
        yield engine


def _give(result: model.Assembly, *, explain: bool) -> None:
    """Print an assembly: its text on stdout, and about it on stderr."""
    if as_json(result):
        return
    if result.text.strip():
        write_text(result.text.rstrip("\n"))
    for line in trace(result) if explain else ():
        narrate(line)
    for line in summary(result):
        narrate(line)


def get(reference: str, *, session: OfSession = "") -> None:
    """Read what a memory reference leads to, as it would be handed over.

    Args:
        reference: Such as kv://release, markdown://NAME, graph://callers?name=main.
    """
    with open_engine() as engine:
        found = engine.read_memory(reference, session=session)
    if as_json({"id": reference, **plain(found)}):
        return
    if found.text.strip():
        write_text(found.text.rstrip("\n"))
    else:
        narrate(f"{reference} has nothing")
    if found.expires is not None:
        narrate(_until(found.expires))


def put(
    reference: str, value: str, *, ttl: Annotated[float | None, Bounds(0.001)] = None, session: OfSession = ""
) -> None:
    """Write one value of a layer that keeps values.

    Args:
        reference: kv://KEY, json://NAME[/path], or working://KEY of a session.
        value: JSON, else text; an empty one removes it.
        ttl: Seconds that it lives.
    """
    with open_engine() as engine:
        kept = engine.write_memory(reference, value, ttl=ttl, session=session)
    if as_json({"id": reference, **plain(kept)}):
        return
    write(f"{reference} {'is kept' if value else 'is removed'}", bold=reference)
    if kept.expires is not None and value:
        narrate(_until(kept.expires))


def _until(expires: float) -> str:
    return f"until {local_minute(expires)}"


context = Family("", (assemble, list_, show, diff, run, lint, new, definitions, get, put), alone=alone)
