"""The file of a project's marks: it may be committed, and so be anyone's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.counts import count, noun
from cm_tui.engine.platform.list_file import VERSION, ListContent, ListFile
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import CmError, RefusedError, StoreError, UsageError
from cm_tui.model.profile import Mark, is_same, normal
from cm_tui.state_file import holding

FILE = "marks.json"
"""Its name, below a project's folder `.cm`."""
MOST_MARKS = 2_000
_MOST_QUESTION = 2_000
_MOST_PATH = 1_000
_MOST_SYMBOL = 500
_MOST_LINE = 100_000_000


@dataclass(slots=True)
class MarkContent(ListContent):
    """Content of the file."""

    marks: list[Mark] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)
    """Its other items: marks beyond the limit, and what is no mark."""


class MarkFile(ListFile[MarkContent]):
    """A project's marks."""

    key = "marks"
    most_bytes = 2_000_000
    next_write = "mark"
    empty = MarkContent
    indent = None  # a mark a line, sorted, so that a change is a line of a diff

    def __init__(self, root: Path) -> None:
        super().__init__(root, FILE)

    def understood(self, items: list[Any], other: dict[str, Any], _: MarkContent | None = None) -> MarkContent:
        """Read the marks, of the same result the first one alone."""
        content = MarkContent(items=items, other=other)
        known: dict[tuple[str, str, str | None], list[Mark]] = {}
        beyond: list[Any] = []
        for item in items:
            mark = _mark(item)
            if mark is None:
                content.kept.append(item)
                continue
            if len(content.marks) >= MOST_MARKS:
                beyond.append(item)
                continue
            same = known.setdefault((mark.question, mark.path, mark.symbol), [])
            if not any(is_same(one, mark) for one in same):
                same.append(mark)
                content.marks.append(mark)
        content.marks.sort(key=_order)
        content.notes = tuple(_notes(self.path, len(content.kept), len(beyond)))
        content.kept = [*beyond, *content.kept]
        return content

    def of(self, question: str) -> tuple[list[Mark], str]:
        """Return the marks of a query, and a message if they cannot be read."""
        asked = normal(question)
        try:
            content = self.read()
        except CmError as error:
            return [], f"Marks are not applied: {error.message}"
        return [mark for mark in content.marks if mark.question == asked], ""

    def put(self, mark: Mark) -> str:
        """Write a mark, replacing an earlier one of that result; return messages for the user.

        Raises UsageError if the mark is invalid, or there are too many; RefusedError if the query may contain a secret,
        or the file is a link; StoreError if the file cannot be written.
        """
        wanted = _checked(mark)

        def change(marks: list[Mark]) -> list[Mark]:
            kept = [one for one in marks if not is_same(one, wanted)]
            if len(kept) >= MOST_MARKS and len(kept) == len(marks):
                raise UsageError(
                    f"{self.path} already has {count(len(kept), 'mark')}.", hint="Remove some: `cm tune unmark`."
                )
            return [*kept, wanted]

        return self._change(change)

    def remove(self, mark: Mark) -> str:
        """Remove a mark, if it exists; return messages for the user.

        Raises RefusedError if the file is a link; StoreError if the file cannot be written.
        """
        return self._change(lambda marks: [one for one in marks if not is_same(one, mark)])

    def _change(self, change: Callable[[list[Mark]], list[Mark]]) -> str:
        def make(content: MarkContent) -> None:
            content.items = [*map(_plain, sorted(change(content.marks), key=_order)), *content.kept]

        with holding(paths.data_dir() / "marks" / "lock"):
            content = self.read_complete()
            version = content.other.get("version", VERSION)
            if not isinstance(version, int) or version > VERSION:
                raise StoreError(f"{self.path} was written by a newer version of cm.", hint="Update cm.")
            if change(content.marks) == content.marks:
                return ""
            make(content)
            return self.write(content, make)


# --- valid marks ---


def _checked(mark: Mark) -> Mark:
    """Return a mark in its written form.

    Raises UsageError if a value is invalid; RefusedError if the query may contain a secret.
    """
    wanted = _mark(_plain(mark))
    if wanted is None:
        raise UsageError(
            "A mark needs a question, a path of the project and its lines.",
            hint="Mark a listed result.",
        )
    if redact(wanted.question).text != wanted.question:
        raise RefusedError(
            "The question seems to contain a secret, and marks may be committed.",
            hint="Remove the secret from the question.",
        )
    return wanted


def _plain(mark: Mark) -> dict[str, Any]:
    return {
        "question": normal(mark.question), "path": mark.path, "symbol": mark.symbol,
        "lines": [mark.start_line, mark.end_line], "right": mark.right,
    }  # fmt: skip


def _mark(item: Any) -> Mark | None:
    """A mark as a file has it, or None for anything else."""
    if not isinstance(item, dict):
        return None
    question: Any = item.get("question")
    path: Any = item.get("path")
    symbol, lines, right = item.get("symbol"), item.get("lines"), item.get("right")
    if not (_is_text(question, _MOST_QUESTION) and _is_path(path) and isinstance(right, bool)):
        return None
    if symbol is not None and not _is_text(symbol, _MOST_SYMBOL):
        return None
    if not (isinstance(lines, list) and len(lines) == 2 and all(type(line) is int for line in lines)):
        return None
    if not 1 <= lines[0] <= lines[1] <= _MOST_LINE:
        return None
    return Mark(normal(question), path, symbol, lines[0], lines[1], right)


def _is_text(value: Any, most: int) -> bool:
    try:
        return (
            isinstance(value, str) and len(value.strip()) > 0 and len(value.encode()) <= 4 * most and len(value) <= most
        )
    except UnicodeEncodeError:
        return False


def _is_path(value: Any) -> bool:
    parts = value.split("/") if _is_text(value, _MOST_PATH) else [""]
    return not any(part in {"", ".", ".."} or "\0" in part for part in parts)


def _notes(path: Path, unknown: int, beyond: int) -> Iterator[str]:
    if unknown:
        yield f"{count(unknown, 'mark')} of {path} {noun(unknown, 'is', 'are')} not valid: ignored and left unchanged."
    if beyond:
        yield f"Only the first {MOST_MARKS:,} marks of {path} were read."


def _order(mark: Mark) -> tuple[str, str, int, int, str]:
    return mark.question, mark.path, mark.start_line, mark.end_line, mark.symbol or ""
