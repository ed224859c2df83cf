"""The patch of an imported turn, from the edits in its transcript."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from cm_tui.engine.memory.transcripts.lines import as_list, as_record, as_text

PATCH_BYTES = 64_000
"""Most bytes of a patch."""
NOTE = "the patch is made from the agent's edits in its transcript"
BEGIN, END = "*** Begin Patch", "*** End Patch"
"""Edges of an `apply_patch` text."""
_MOST = PATCH_BYTES + 8_000
_OLD, _NEW = ("old_string", "oldString", "old_str"), ("new_string", "newString", "new_str")
_WRITTEN = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)


class Patch:
    """Edits one after another, within a bound."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self.is_cut = False

    @property
    def text(self) -> str:
        """Return all of it that was taken."""
        return "\n".join(self._parts) + "\n" if self._parts else ""

    def add(self, text: str) -> None:
        """Add an edit."""
        text = text.strip("\n")
        if not text:
            return
        room = _MOST - self._size
        self.is_cut = self.is_cut or len(text) > room
        if room > 0:
            self._parts.append(text[:room])
            self._size += min(len(text), room) + 1


def from_hunks(path: str, hunks: object) -> str:
    """Return a patch of a file from hunks as records: `oldStart`, `oldLines`, `newStart`, `newLines`, `lines`."""
    lines = list(_hunk_lines(hunks))
    return "\n".join((*_head(path), *lines)) if lines else ""


def _new_file(path: str, content: str) -> str:
    """Return a patch that makes a file."""
    lines = content.split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    return "\n".join((*_head(path, new=True), f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)))


def _replacement(path: str, old: str, new: str) -> str:
    """Return a patch of a file that replaces one text by another; the line is unknown."""
    if old == new:
        return ""
    gone, come = old.rstrip("\n").split("\n"), new.rstrip("\n").split("\n")
    hunk = f"@@ -1,{len(gone)} +1,{len(come)} @@"
    return "\n".join((*_head(path), hunk, *(f"-{line}" for line in gone), *(f"+{line}" for line in come)))


def from_tool_input(path: str, given: Mapping[str, Any]) -> str:
    """Return an edit as a patch, from the input of an agent's tool."""
    if content := _first_of(given, "content", "file_text"):
        return _new_file(path, content)
    edits = [as_record(edit) for edit in as_list(given.get("edits"))] or [given]
    pairs = ((_first_of(edit, *_OLD), _first_of(edit, *_NEW)) for edit in edits[:50])
    return "\n".join(filter(None, (_replacement(path, old, new) for old, new in pairs)))


def _first_of(given: Mapping[str, Any], *names: str) -> str:
    return next((text for name in names if (text := as_text(given.get(name)))), "")


def from_diff(path: str, diff: str) -> str:
    """Return a unified diff of one file with a header as git writes it."""
    at = diff.find("@@")
    return "\n".join((*_head(path), diff[at:])) if at >= 0 else ""


def from_apply_patch(text: str) -> str:
    """Return the files of an `apply_patch` text as sections, each with a git header."""
    out: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines):
        for word, new in (("Add", True), ("Update", False), ("Delete", False)):
            if line.startswith(f"*** {word} File: "):
                out += _head(line.partition(": ")[2].strip(), new=new)
                # Only changed files have the heads of hunks there.
                added = takewhile(lambda one: one.startswith("+"), lines[number + 1 :] if new else ())
                out += [f"@@ -0,0 +1,{count} @@"] if (count := sum(1 for _ in added)) else []
        if not line.startswith("*** "):
            out.append(line)
    return "\n".join(out)


def written(text: str) -> list[str]:
    """Return the files that an `apply_patch` text writes."""
    return [path.strip() for path in _WRITTEN.findall(text)]


def _head(path: str, *, new: bool = False) -> list[str]:
    name = path.replace("\\", "/").replace("\n", " ")
    before = "/dev/null" if new else f"a/{name}"
    return [f"diff --git a/{name} b/{name}", f"--- {before}", f"+++ b/{name}"]


def _hunk_lines(hunks: object) -> Iterator[str]:
    for found in as_list(hunks):
        hunk: Any = as_record(found)
        numbers = [hunk.get(name) for name in ("oldStart", "oldLines", "newStart", "newLines")]
        lines = [as_text(line) for line in as_list(hunk.get("lines"))]
        if lines and all(isinstance(number, int) for number in numbers):
            yield f"@@ -{numbers[0]},{numbers[1]} +{numbers[2]},{numbers[3]} @@"
            yield from lines
