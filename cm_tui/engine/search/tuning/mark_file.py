"""The file of a project's marks: it may be committed, and so be anyone's; a damaged one is set aside."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.counts import count, noun
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import CmError, RefusedError, StoreError, UsageError
from cm_tui.files import permissions_of, read_below, remove_left_overs, set_aside, shared_dir, write_atomically
from cm_tui.model.tuning import Mark, is_same, normal
from cm_tui.state_file import holding, reported

FILE = "marks.json"
"""Its name, below a project's folder `.cm`."""
MOST_MARKS = 2_000
_MOST_BYTES = 2_000_000
_MOST_QUESTION = 2_000
_MOST_PATH = 1_000
_MOST_SYMBOL = 500
_MOST_LINE = 100_000_000
_VERSION = 1


@dataclass(slots=True)
class MarkContent:
    """Content of the file."""

    marks: list[Mark] = field(default_factory=list)
    unknown: list[Any] = field(default_factory=list)
    """Invalid items among its marks, which are kept."""
    beyond: list[Any] = field(default_factory=list)
    """Marks beyond the limit, which are kept, too."""
    other: dict[str, Any] = field(default_factory=dict)
    """The file's other data."""
    damaged: str = ""
    """Why all of it cannot be understood; empty: it can."""
    notes: tuple[str, ...] = ()


class MarkFile:
    """A project's marks."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.path = root / paths.PROJECT_FOLDER / FILE

    def read(self) -> MarkContent:
        """Read the file.

        Raises RefusedError if it is a link, or is below one; StoreError if it is too long, or cannot be read.
        """
        try:
            data = read_below(self._root, f"{paths.PROJECT_FOLDER}/{FILE}", _MOST_BYTES)
        except FileNotFoundError:
            return MarkContent()
        except OSError as error:
            if self._leads_away():
                raise self._refusal() from error
            raise StoreError(
                f"Cannot read the marks in {self.path}: {error.strerror or error}.",
                hint="Check its permissions and size.",
            ) from error
        return _content(data, self.path)

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
                    f"{self.path} has {count(len(kept), 'mark')} already.", hint="Remove some: `cm tune unmark`."
                )
            return [*kept, wanted]

        return self._change(change)

    def remove(self, mark: Mark) -> str:
        """Remove a mark, if it exists; return messages for the user.

        Raises RefusedError if the file is a link; StoreError if the file cannot be written.
        """
        return self._change(lambda marks: [one for one in marks if not is_same(one, mark)])

    def _change(self, change: Callable[[list[Mark]], list[Mark]]) -> str:
        with _writing():
            content = self.read()
            version = content.other.get("version", _VERSION)
            if not isinstance(version, int) or version > _VERSION:
                raise StoreError(f"{self.path} was written by a newer version of cm.", hint="Update cm.")
            marks = change(content.marks)
            if marks == content.marks:
                return ""
            return self._write(content, marks)

    def _write(self, content: MarkContent, marks: list[Mark]) -> str:
        if self._leads_away():
            raise self._refusal()
        with reported(self.path):
            shared_dir(self.path.parent)
            remove_left_overs(self.path)
            kept = set_aside(self.path) if content.damaged else None
            permissions = permissions_of(self.path)
            write_atomically(self.path, _text(content, marks), permissions=permissions, durable=True)
        return f"{self.path} could not be understood; it is kept as {kept.name}." if kept else ""

    def _leads_away(self) -> bool:
        return any(os.path.islink(part) for part in (self.path.parent, self.path))  # noqa: PTH114 - the link itself

    def _refusal(self) -> RefusedError:
        return RefusedError(
            f"{self.path} is a link, or is below one: marks are neither read from it nor written to it.",
            hint="Put an ordinary folder there.",
        )


def _writing() -> AbstractContextManager[None]:
    """Hold the files of marks: no other process or thread changes one meanwhile."""
    return holding(paths.data_dir() / "marks" / "lock")


# --- valid marks ---


def _checked(mark: Mark) -> Mark:
    """Return a mark in its written form.

    Raises UsageError if a value is invalid; RefusedError if the query may contain a secret.
    """
    wanted = _mark(_plain(mark))
    if wanted is None:
        raise UsageError(
            "That is nothing that can be marked: a question, a path of the project and its lines.",
            hint="Mark a result that is listed.",
        )
    if redact(wanted.question).text != wanted.question:
        raise RefusedError(
            "The question looks as if it held a secret, and marks may be committed.", hint="Ask it without that."
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


# --- reading and writing ---


def _content(data: bytes, path: Path) -> MarkContent:
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return _damaged(path, "not UTF-8" if isinstance(error, UnicodeDecodeError) else "not JSON")
    items = found.get("marks") if isinstance(found, dict) else None
    if not isinstance(items, list):
        return _damaged(path, "no list of marks")
    content = MarkContent(other={name: value for name, value in found.items() if name != "marks"})
    known: dict[tuple[str, str, str | None], list[Mark]] = {}
    for item in items:
        mark = _mark(item)
        if mark is None:
            content.unknown.append(item)
            continue
        if len(content.marks) >= MOST_MARKS:
            content.beyond.append(item)
            continue
        same = known.setdefault((mark.question, mark.path, mark.symbol), [])
        if not any(is_same(one, mark) for one in same):
            same.append(mark)
            content.marks.append(mark)
    content.marks.sort(key=_order)
    content.notes = tuple(_notes(path, len(content.unknown), len(content.beyond)))
    return content


def _damaged(path: Path, why: str) -> MarkContent:
    said = f"{path} cannot be understood ({why}): none of its marks is known. Fix it; the next mark puts it aside."
    return MarkContent(damaged=why, notes=(said,))


def _notes(path: Path, unknown: int, beyond: int) -> Iterator[str]:
    if unknown:
        yield f"{count(unknown, 'mark')} of {path} cannot be understood and {noun(unknown, 'is', 'are')} left as {noun(unknown, 'it is', 'they are')}."
    if beyond:
        yield f"Only the first {MOST_MARKS:,} marks of {path} were read."


def _order(mark: Mark) -> tuple[str, str, int, int, str]:
    return mark.question, mark.path, mark.start_line, mark.end_line, mark.symbol or ""


def _text(content: MarkContent, marks: list[Mark]) -> str:
    """JSON with a mark a line, sorted, so that a change is a line of a diff."""
    rows = [json.dumps(_plain(mark), ensure_ascii=False) for mark in sorted(marks, key=_order)]
    rows += [json.dumps(item) for item in (*content.beyond, *content.unknown)]
    head = [
        f" {json.dumps(name)}: {json.dumps(value)}," for name, value in {"version": _VERSION, **content.other}.items()
    ]
    listed = ",\n".join(f"  {row}" for row in rows)
    body = f' "marks": [\n{listed}\n ]' if rows else ' "marks": []'
    return "\n".join(["{", *head, body, "}"]) + "\n"
