"""Text that is worth an agent's tokens: one row a line, honest counts, and a bound on all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from cm_tui.counts import count
from cm_tui.engine.api.outgoing import without_secrets
from cm_tui.mcp.records import Listing
from cm_tui.model import Page
from cm_tui.model.text import harmless, one_line, visible

T = TypeVar("T")
R = TypeVar("R", bound=BaseModel)

LINE = 240
"""Characters of one line of source; generated files have lines without end."""

MaxChars = Annotated[int, Field(ge=500, le=100_000, description="Limit of the response's length.")]
Offset = Annotated[int, Field(ge=0, le=10_000, description="Rows to skip.")]


def result(text: str, record: BaseModel) -> CallToolResult:
    """Text and structure of one answer."""
    structured = record.model_dump(mode="json", exclude_none=True)
    return CallToolResult(content=[TextContent(text=clean(text))], structured_content=cleaned(structured))


def clean(text: str) -> str:
    """Text that can be sent: names of files need not be valid Unicode."""
    return text.encode("utf-8", "replace").decode("utf-8")


def cleaned(value: Any) -> Any:
    """The same for everything in a structure."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {key: cleaned(item) for key, item in value.items()}
    return [cleaned(item) for item in value] if isinstance(value, list) else value


def cut(text: str, limit: int) -> str:
    """The beginning of a text. What is left of a secret at the cut would not be known for one later, so it goes here."""
    return text if len(text) <= limit else without_secrets(text, limit)


def remembered_text(text: str) -> str:
    """Return a memory's text without terminal escapes and characters that only a model would see."""
    return harmless(visible(text))


def indented(text: str) -> str:
    """Return a memory's lines as they stand below its heading: none looks like the heading of another memory."""
    return "\n".join(f"  {line}" for line in text.split("\n"))


def short(line: str, limit: int = LINE) -> str:
    """One line, cut where it is too long."""
    flat = " ".join(line.split())
    return flat if len(flat) <= limit else f"{cut(flat, limit - 1)}…"


def shortened(text: str) -> str:
    """Lines of source, each cut where it is too long."""
    lines = text.splitlines()
    if any(len(line) > LINE for line in lines):
        # All of it at once: what says that a line is a secret may stand on the one before.
        lines = without_secrets(text).splitlines()
    return "\n".join(line if len(line) <= LINE else f"{line[: LINE - 1]}…" for line in lines)


def fitting(rows: Sequence[T], render: Callable[[T], str], room: int) -> list[str]:
    """The texts of as many rows, in order, as fit into the room; the first is always there."""
    texts: list[str] = []
    used = 0
    for row in rows:
        text = render(row)
        used += len(text) + 1
        if texts and used > room:
            break
        texts.append(cut(text, max(room, 1)))
    return texts


def lines_fitting(rows: Sequence[T], line: Callable[[T], str], room: int) -> list[str]:
    """The same for rows of one line each, whatever the names in them hold."""
    return fitting(rows, lambda row: one_line(line(row)), room)


def counted(shown: int, total: int, offset: int, one: str) -> str:
    """`8 of 57 callers`, `9–16 of 57 callers`, `1 of 1 caller`."""
    if offset and shown:
        return f"{offset + 1:,}–{offset + shown:,} of {count(total, one)}"
    return f"{shown:,} of {count(total, one)}"


def next_offset(shown: int, total: int, offset: int) -> int | None:
    """Where the next rows start, if there are any."""
    following = offset + shown
    return following if shown and following < total else None


def footer(following: int | None, notes: Sequence[str]) -> str:
    """How to get the rest, and everything that must be said."""
    lines = [f"More: offset={following}."] if following is not None else []
    return "\n".join([*lines, *(one_line(f"note: {note}") for note in notes)])


def joined(*parts: str, between: str = "\n") -> str:
    """What there is of the parts."""
    return between.join(part for part in parts if part)


def record_of(kind: type[R], source: object, /, **fields: Any) -> R:
    """Make a record from another one's fields of the same names.

    `source`: has some of its fields; `fields`: the others, and those that differ.
    """
    same = {name: getattr(source, name) for name in kind.model_fields if name not in fields and hasattr(source, name)}
    return kind(**same, **fields)


@dataclass(frozen=True, slots=True)
class View(Generic[T]):
    """How one kind of row is shown: as a line, and as a record."""

    what: str
    line: Callable[[T], str]
    row: Callable[[T], BaseModel]
    record: type[Listing]


def listed(
    view: View[T],
    page: Page[T],
    limit: int,
    offset: int,
    room: int,
    notes: Sequence[str] = (),
    more: Mapping[str, Any] | None = None,
    *,
    at: str = "",
) -> CallToolResult:
    """Return the part of a list that was asked for and fits.

    `view`: how its rows are shown; `page`: the list, from its first row; `limit`: rows at most; `offset`: rows to skip;
    `room`: characters at most; `notes`: what is added to the list's own note; `more`: further fields of the record;
    `at`: the revision that it is of, in words.
    """
    rows = page.rows[offset : offset + limit]
    texts = lines_fitting(rows, view.line, room)
    following = next_offset(len(texts), page.total, offset)
    said = [*([page.note] if page.note else []), *notes]
    shown = [view.row(row) for row in rows[: len(texts)]]
    fields = {"rows": shown, "total": page.total, "offset": offset, "next_offset": following, "notes": said}
    record = view.record.model_validate({**fields, "generation": page.generation, **(more or {})})
    head = one_line(f"{counted(len(texts), page.total, offset, view.what)}{f' at {at}' if at else ''}")
    return result(joined(head, *texts, footer(following, said)), record)
