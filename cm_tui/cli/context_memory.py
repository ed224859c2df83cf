"""`cm context get`, `cm context put`: memory by its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Json, Project, open_engine

if TYPE_CHECKING:
    from cm_tui.model import MemoryValue

Reference = Annotated[str, typer.Argument(help="Such as kv://release, markdown://NAME, graph://callers?name=main.")]
Session = Annotated[str, typer.Option("--session", help="An agent's session, for working:// and episodic://.")]


def get(reference: Reference, session: Session = "", project: Project = None, as_json: Json = False) -> None:
    """Read what a memory reference leads to, as it would be handed over."""
    from cm_tui.cli.output import narrate, print_json, write_text

    with open_engine(project) as engine:
        found = engine.read_memory(reference, session=session)
    if as_json:
        print_json({"id": reference, **_row(found)})
        return
    if found.text.strip():
        write_text(found.text.rstrip("\n"))
    else:
        narrate(f"{reference} has nothing")
    if found.expires is not None:
        narrate(_until(found.expires))


def put(
    reference: Annotated[str, typer.Argument(help="kv://KEY, json://NAME[/path], or working://KEY of a session.")],
    value: Annotated[str, typer.Argument(help="JSON, else text; an empty one removes it.")],
    ttl: Annotated[float | None, typer.Option("--ttl", min=0.001, help="Seconds that it lives.")] = None,
    session: Session = "",
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Write one value of a layer that keeps values."""
    from cm_tui.cli.output import narrate, print_json, write

    with open_engine(project) as engine:
        kept = engine.write_memory(reference, value, ttl=ttl, session=session)
    if as_json:
        print_json({"id": reference, **_row(kept)})
        return
    write(f"{reference} {'is kept' if value else 'is removed'}", bold=reference)
    if kept.expires is not None and value:
        narrate(_until(kept.expires))


def _row(found: MemoryValue) -> dict[str, object]:
    from cm_tui.cli.output import plain

    record: dict[str, object] = plain(found)
    return record


def _until(expires: float) -> str:
    from cm_tui.model.dates import local_minute

    return f"until {local_minute(expires)}"
