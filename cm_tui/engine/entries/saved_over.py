"""Files of entries that another program saved over: entries that it never saw are put back, and no side is lost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from cm_tui.engine.entries.entry_file import FILE, Content, EntryFile, writing
from cm_tui.engine.entries.entry_record import digest, new_id, read_entry
from cm_tui.engine.entries.ledger import LedgerFile
from cm_tui.engine.git.head_file import is_gits_doing
from cm_tui.engine.journal.journal import Journal
from cm_tui.engine.shared_files.last_texts import LastTexts
from cm_tui.engine.shared_files.quiet import until_quiet
from cm_tui.errors import CmError
from cm_tui.files import read_regular
from cm_tui.model import Scope
from cm_tui.paths import PROJECT_FOLDER

PUT_BACK = "entry.put_back"
"""Kind of the event that says which entries were put back that another program had saved over without having seen them."""
_MOST_BYTES = 32_000_000


def settle_all(root: Path, files: Sequence[EntryFile]) -> None:
    """Look at files that another program may have saved.

    Args:
        root: of the checkout.
        files: of entries.
    """
    with suppress(CmError), writing():
        for file in files:
            settle(root, file, read_quiet(file))


def settle(root: Path, file: EntryFile, content: Content) -> Content:
    """Put back what another program saved over without having seen it; the files are held.

    Args:
        root: of the checkout.
        file: of entries.
        content: that it has now.

    Returns:
        What it has then.

    Raises:
        CmError: it cannot be written.
    """
    if content.damaged:
        return content
    kept, text = LastTexts(file.path), text_of(content.items)
    base = None if _is_gits(root, file) else kept.base_of(text)
    last = kept.last() or ""
    remember(file, content.items)
    copies: list[tuple[Any, Any]] = []
    merged = content.items if base is None else _merged(_items(base.text), content.items, _items(last), copies)
    if merged == content.items:
        return content
    there = {_id(item) for item in content.items}
    ids = [id_ for item in merged if (id_ := _id(item)) not in there]
    Journal.of(root).append(PUT_BACK, {"scope": file.scope, "ids": ids, "actor": "person"})
    _know(root, file.scope, copies)
    content.items[:] = merged
    return write(root, file, content, put_back=True)[0]


def write(root: Path, file: EntryFile, content: Content, *, put_back: bool = False) -> tuple[Content, str]:
    """Write a file; what another program saved since it was read is treated as saved after it.

    Args:
        root: of the checkout.
        file: of entries.
        content: that it is to have.
        put_back: it has what somebody's save had lost.

    Returns:
        What it has then, and what has to be said of the file that was there.

    Raises:
        CmError: it cannot be written.
    """
    note, saved = file.write(content)
    remember(file, content.items, put_back=put_back)
    if saved is not None:
        file.write_data(saved)
        found = read_quiet(file)
        if not found.damaged:
            return settle(root, file, found), note
        # Half of a file counts for nothing: it is kept beside, and what was known stays.
        note = f"{note} {file.write(replace(content, damaged=found.damaged))[0]}".strip()
    return content, note


def read_quiet(file: EntryFile) -> Content:
    """Return what a file has when nobody writes it just now: one that is saved in place is empty for a moment.

    Raises:
        CmError: it cannot be read.
    """
    content = file.read()
    if content.damaged or text_of(content.items) != LastTexts(file.path).last():
        return file.read() if until_quiet(file.path) else content
    return content


def remember(file: EntryFile, items: Sequence[Any], *, put_back: bool = False) -> None:
    """Keep what a file says now for whoever saves over it; that it cannot be kept hinders nobody."""
    with suppress(OSError):
        LastTexts(file.path).add(text_of(items), put_back=put_back)


def text_of(items: Sequence[Any]) -> str:
    """Return entries as a text of one line each."""
    return "\n".join(json.dumps(item, sort_keys=True) for item in items)


def _merged(base: Sequence[Any], saved: Sequence[Any], last: Sequence[Any], copies: list[tuple[Any, Any]]) -> list[Any]:
    """Return what was saved, with what the last state has that the base of who saved it had not.

    Args:
        base: that who saved began with.
        saved: what they saved.
        last: the last state.
        copies: gets what both have changed, as it was and as it stands beside the other.
    """
    old, new, before = _by_id(base), _by_id(saved), _by_id(last)
    result = list(saved)
    for id_, item in before.items():
        if old.get(id_) == item or new.get(id_) == item:
            continue
        if id_ not in new:
            # New, or changed, since the editor was opened: whoever saved never saw it so.
            result.append(item)
        elif new[id_] == old.get(id_):
            result[result.index(new[id_])] = item
        else:
            # Both have changed it: the other one stands beside it, by an id of its own.
            other = {**item, "id": new_id({*new, *before})}
            result.append(other)
            copies.append((item, other))
    return result


def _know(root: Path, scope: Scope, copies: Sequence[tuple[Any, Any]]) -> None:
    """Have what is known of entries hold for their copies, which say the same by other ids."""
    if not copies:
        return
    file = LedgerFile.of(root) if scope == "project" else LedgerFile.of_user()
    ledger = file.read()
    for item, copy in copies:
        entry, other = read_entry(item, scope), read_entry(copy, scope)
        if entry is None or other is None:
            continue
        if digest(entry) in ledger.known():
            ledger.note_written(digest(other))
        for told, is_approved in ((ledger.approved, True), (ledger.doubted, False)):
            if digest(entry) in told:
                ledger.note_approval(digest(other), is_approved=is_approved)
    file.write(ledger)


def _by_id(items: Sequence[Any]) -> dict[str, Any]:
    return {id_: item for item in items if (id_ := _id(item))}


def _id(item: Any) -> str:
    found = item.get("id") if isinstance(item, dict) else None
    return found if isinstance(found, str) else ""


def _items(text: str) -> list[Any]:
    return [json.loads(line) for line in text.split("\n") if line]


def _is_gits(root: Path, file: EntryFile) -> bool:
    scope: Scope = file.scope
    data = read_regular(file.path, _MOST_BYTES) if scope == "project" else None
    return data is not None and is_gits_doing(root, f"{PROJECT_FOLDER}/{FILE}", data)
