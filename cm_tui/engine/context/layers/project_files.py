"""Files and symbols of the project, by reference."""

from __future__ import annotations

import re
from difflib import get_close_matches

from cm_tui.counts import count
from cm_tui.engine.context.layers.ports import MemoryPorts, Reading
from cm_tui.engine.context.layers.reference import Reference
from cm_tui.engine.context.packs.clean_source import clean_source
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Symbol
from cm_tui.model.text import fenced_source

_LINES = re.compile(r"L?(\d{1,9})(?:-L?(\d{1,9}))?")
_MOST = 3
"""Definitions of one name that are shown."""


def file(ports: MemoryPorts, reference: Reference) -> Reading:
    """Return lines of a file; `#L10-L20` selects them.

    Raises:
        UsageError: the lines are invalid.
        NotFoundError: there is no such file.
        CmError: it is outside the project, or cannot be read.
    """
    start, end = lines_of(reference.fragment)
    found = clean_source(ports.source, reference.path, start, end)
    item = {"text": fenced_source(found.text.rstrip("\n")), "path": reference.path, "line": start}
    where = f"{reference.path}:{start}-{end}" if end else reference.path
    return Reading((item,), where)


def lines_of(fragment: str) -> tuple[int, int | None]:
    """Return the first and the last line that a fragment names; all where it is empty.

    Raises:
        UsageError: it names none.
    """
    if not fragment:
        return 1, None
    found = _LINES.fullmatch(fragment)
    if found is None or int(found[1]) < 1 or (found[2] and int(found[2]) < int(found[1])):
        raise UsageError(f"#{fragment[:40]} are no lines.", hint="They look like #L10 or #L10-L20.")
    return int(found[1]), int(found[2] or found[1])


def symbol(ports: MemoryPorts, reference: Reference) -> Reading:
    """Return the whole source of a symbol; of an ambiguous name, the first three.

    Raises:
        NotFoundError: no such symbol.
        CmError: it cannot be read.
    """
    path, separator, name = reference.path.rpartition("::")
    found = [one for one in ports.definitions(name).rows if not separator or one.path == path]
    if not found:
        known = {one.name for one in ports.symbols(limit=5_000).rows}
        near = get_close_matches(name.rpartition(".")[2], known, 1)
        raise NotFoundError(
            f"There is no symbol {reference.path[:80]!r}.", hint=f"Did you mean {near[0]}?" if near else ""
        )
    items = tuple(_source(ports, one) for one in found[:_MOST])
    notes = (f"{count(len(found), 'symbol')} of this name; the first {_MOST} are shown.",) if len(found) > _MOST else ()
    return Reading(items, f"{found[0].kind} {found[0].qualname}", notes=notes)


def _source(ports: MemoryPorts, one: Symbol) -> dict[str, object]:
    part = clean_source(ports.source, one.path, one.start_line, one.end_line)
    head = f"{one.path}:{one.start_line}-{one.end_line} {one.kind} {one.qualname}"
    text = fenced_source(part.text.rstrip("\n"))
    return {"text": f"{head}\n{text}", "path": one.path, "name": one.qualname, "line": one.start_line}
