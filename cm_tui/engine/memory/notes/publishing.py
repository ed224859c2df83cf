"""Writing approved rules into the files by which people instruct agents."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from cm_tui.engine.memory.notes.note_file import writing
from cm_tui.engine.memory.notes.note_saves import NoteSaves
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.memory.notes.rule_block import Rule, with_block
from cm_tui.errors import NotFoundError
from cm_tui.model import RuleBlock
from cm_tui.model.author import Author


def place_of(notes: Notes, name: str) -> Found:
    """Return the instructions file with a name, existing or not.

    Raises NotFoundError: agents do not read a file of that name.
    """
    known = {one.id: one for one in notes.places.single() if one.kind == "instructions"}
    if name not in known:
        raise NotFoundError(
            f"Agents read no file {name[:80]!r}.",
            hint=f"Known are {', '.join(id_ for id_ in known if '/' not in id_)}.",
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
