"""Writing approved rules into the files by which people instruct agents."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from typing import NamedTuple

from cm_tui.engine.memory.notes.note_file import NoteSaves, writing
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.places import Found
from cm_tui.errors import NotFoundError
from cm_tui.model import RuleBlock
from cm_tui.model.author import Author

# --- the block of approved rules in an instructions file ---

BEGIN = "<!-- cm-tui: approved rules, written by `cm entries publish`; what stands between these marks is replaced -->"
END = "<!-- cm-tui: end of approved rules -->"
_JOINED = BEGIN.replace("approved rules,", "approved rules (the last line had no end),")
"""Marks that the text above ended without a line end, which is restored with the block's removal."""


class Rule(NamedTuple):
    """A Rule in the block.

    Attributes:
        title: empty: none.
        content: its text.
    """

    title: str
    content: str


def with_block(text: str, rules: Sequence[Rule]) -> str:
    """Return a file's text with a new block of Rules; without Rules, the block is removed."""
    start, stop = _span(text)
    if not rules:
        return without_block(text)
    lines = "".join(f"{_item(rule)}\n" for rule in rules)
    if start >= 0:
        begin = text[start:].partition("\n")[0]
        return f"{text[:start]}{begin}\n{lines}{END}{text[stop:]}"
    joined = bool(text) and not text.endswith("\n")
    above = f"{text}\n\n" if joined else f"{text}\n" if text else ""
    return f"{above}{_JOINED if joined else BEGIN}\n{lines}{END}\n"


def without_block(text: str) -> str:
    """Return a file's text as it was before a block was written into it."""
    start, stop = _span(text)
    if start < 0:
        return text
    joined = text.startswith(_JOINED, start)
    above, below = text[:start], text[stop:].removeprefix("\n")
    above = above.removesuffix("\n")
    if joined and not below:
        above = above.removesuffix("\n")
    return above + below if not (above and below) or above.endswith("\n") else f"{above}\n{below}"


def _span(text: str) -> tuple[int, int]:
    """Return the start and end of the block; -1: no complete block.

    A mark counts only as a line of its own, and of several begin marks the last one before the end mark: text below an
    unclosed mark belongs to the user.
    """
    begins = _lines_at(text, (BEGIN, _JOINED))
    stop = next((end for end in _lines_at(text, (END,)) if begins and end > begins[0]), -1)
    if stop < 0:
        return -1, -1
    return max(begin for begin in begins if begin < stop), stop + len(END)


def _lines_at(text: str, marks: Collection[str]) -> list[int]:
    """Return where lines begin that are one of these marks and nothing else."""
    places, at = [], 0
    for line in text.split("\n"):
        if line in marks:
            places.append(at)
        at += len(line) + 1
    return places


def _item(rule: Rule) -> str:
    said = rule.content.strip()
    if rule.title and not said.startswith(rule.title.rstrip("…")):
        said = f"{rule.title.strip()}: {said}"
    # No text of a Rule ends the block.
    lines = said.replace("<!--", "&lt;!--").replace("-->", "--&gt;").split("\n")
    return "\n".join([f"- {lines[0]}", *(f"  {line}".rstrip() for line in lines[1:])])


# --- writing approved rules into the files by which people instruct agents ---


def place_of(notes: Notes, name: str) -> Found:
    """Return the instructions file with a name, existing or not.

    Raises NotFoundError: agents do not read a file of that name.
    """
    known = {one.id: one for one in notes.places.single() if one.kind == "instructions"}
    if name not in known:
        raise NotFoundError(
            f"Not a file that agents read: {name[:80]!r}.",
            hint=f"Use one of {', '.join(id_ for id_ in known if '/' not in id_)}.",
        )
    return known[name]


def publish(notes: Notes, place: Found, rules: Sequence[Rule], left_out: int, *, dry_run: bool) -> RuleBlock:
    """Write exactly these Rules into the block of a file, or remove the block.

    `rules`: approved Rules; empty: remove the block. `left_out`: how many wait for approval. `dry_run`: only report
    what would change. Raises UsageError if it is not text that could be written back; CmError if it cannot be read or
    written.
    """
    with writing():
        file = notes.file(place)
        wanted = with_block(file.shown, rules)
        lines = difflib.unified_diff(
            file.shown.splitlines(keepends=True), wanted.splitlines(keepends=True), place.id, place.id
        )
        diff = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
        change = ""
        if diff and not dry_run:
            saves = NoteSaves(notes)
            # Where there was nothing but the block there was no file.
            is_needed = wanted or file.data is None
            change = saves.put(place, file, wanted, Author()) if is_needed else saves.remove(place)
    return RuleBlock(place.id, str(place.file), diff, len(rules), left_out, change)
