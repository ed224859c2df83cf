"""Snapshots: saved assemblies with their trace, one redacted file each, next to the journal.

The name of a file is the id of its snapshot, which begins with its time: lists come from the newest names, and from the
first line of each file, which has the data for lists. A damaged file is skipped.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from difflib import unified_diff
from io import BytesIO
from itertools import islice
from pathlib import Path

from pydantic import TypeAdapter

from cm_tui import paths
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.engine.platform.redaction.records import redact_record
from cm_tui.errors import NotFoundError, StoreError, UsageError
from cm_tui.files import SUFFIX, read_bounded, stamp_of, write_atomically
from cm_tui.lru import LRU
from cm_tui.model import Assembly, AssemblyDiff, AssemblyHead, AssemblySource, SourceChange
from cm_tui.model.ids import id_named
from cm_tui.state_file import reported

FOLDER = "assemblies"
MOST_BYTES = 64_000_000
"""Of all snapshots of a project; the oldest go first."""
_MOST_OF_ONE = 8_000_000
_ENDING = ".json.gz"
_ID = re.compile(r"[0-9a-z]{1,20}")
_LAST = re.compile(r"last(?:~(\d{1,5}))?")
_EXACT = frozenset({"id", "digest", "head", "session", "definition", "tokenizer", "cut", "section", "kind", "outcome"})
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_ADAPTER: TypeAdapter[Assembly] = TypeAdapter(Assembly)
_HEAD: TypeAdapter[AssemblyHead] = TypeAdapter(AssemblyHead)
_LONGEST_HEAD = 100_000
_HEADS = 2_000
_WEIGHED = 8
"""Of so many that are written, one has all weighed."""
_MOST_LINES = 300
"""Most lines of erased text to look for."""


class Snapshots:
    """The snapshots of one project; thread-safe.

    Args:
        root: of the project.
        most: the most to keep; 0: none.
    """

    def __init__(self, root: Path, most: int) -> None:
        self._folder = folder_of(root) / FOLDER
        self._most = most
        self._written = 0
        self._heads: LRU[str, AssemblyHead] = LRU(_HEADS)

    def keep(self, assembly: Assembly) -> Assembly:
        """Save an assembly; return it with its id, or unchanged if none are kept.

        Raises:
            StoreError: it cannot be written.
        """
        if not self._most:
            return assembly
        kept = replace(assembly, id=_new_id(assembly.time))
        clean, _ = redact_record(json.loads(_json(kept)), _EXACT)
        head = _HEAD.dump_python(head_of(_ADAPTER.validate_python(clean)))
        data = gzip.compress(f"{json.dumps(head)}\n{json.dumps(clean)}".encode("ascii"), 3, mtime=0)
        file = self._folder / f"{kept.id}{_ENDING}"
        with reported(file):
            paths.private_dir(self._folder)
            write_atomically(file, data)
            self._tidy()
        return kept

    def named(self, name: str) -> Assembly:
        """Return a snapshot by its id, a unique prefix of it, `last` or `last~1`.

        Raises:
            NotFoundError: no such snapshot.
            UsageError: the name is invalid or ambiguous.
            StoreError: its file is damaged.
        """
        found = self._read(self._file(self._id_of(name)))
        if found is None:
            raise StoreError(f"The snapshot {name} is damaged.", hint="It can only be removed.")
        return found

    def heads(self, match: str = "", session: str = "") -> Iterator[AssemblyHead]:
        """Yield snapshots, the newest first.

        Args:
            match: words, all of which must be in the prompt.
            session: only this session.
        """
        words = match.lower().split()
        for id_ in self._ids():
            head = self._head(id_)
            if head is None or (session and head.session != session):
                continue
            said = head.prompt.lower()
            if all(word in said for word in words):
                yield head

    def damaged(self) -> int:
        """Return how many files are no snapshots any more."""
        return sum(self._head(id_) is None for id_ in self._ids())

    def remove_naming(self, ids: Collection[str]) -> int:
        """Remove the snapshots with any of these events, episodes or entries; return how many.

        Raises:
            StoreError: one cannot be removed.
        """
        return self._remove(lambda text: any(name in text for name in ids)) if ids else 0

    def remove_repeating(
        self, lines: Collection[str], prompts: Collection[tuple[str, str]], secrets: Collection[str] | None
    ) -> int:
        """Remove the snapshots that repeat erased text; return how many.

        Args:
            lines: distinctive lines; the longest are used.
            prompts: with the session of each: their snapshots are removed.
            secrets: these; None: all recognised ones.

        Raises:
            StoreError: one cannot be removed.
        """
        said = [_inside(line) for line in sorted(lines, key=len, reverse=True)[:_MOST_LINES]]
        said += [_inside(one) for one in secrets or ()]
        asked = [(f'"prompt": {json.dumps(text)}', f'"session": {json.dumps(session)}') for session, text in prompts]

        def repeats(text: str) -> bool:
            if any(prompt in text and session in text for prompt, session in asked) or any(one in text for one in said):
                return True
            return secrets is None and redact_record(json.loads(text.partition("\n")[2]), _EXACT)[1] > 0

        return self._remove(repeats) if said or asked or secrets is None else 0

    def _remove(self, shows: Callable[[str], bool]) -> int:
        """Remove the snapshots whose text passes a test, and unreadable ones, which may contain anything."""
        gone = 0
        try:
            self._remove_left_overs()
            for id_ in self._ids():
                file = self._file(id_)
                text = _text(file)
                if text is None or shows(text):
                    file.unlink(missing_ok=True)
                    gone += 1
        except (OSError, ValueError, RecursionError) as error:
            raise StoreError(f"Cannot empty {self._folder}: {error}.", hint="Check its folder.") from error
        self._heads.clear()
        return gone

    def _remove_left_overs(self, older_than: float = 0.0) -> None:
        """Remove what killed processes were writing."""
        for file in self._folder.glob(f".*{SUFFIX}"):
            with suppress(FileNotFoundError):
                if file.stat().st_mtime <= time.time() - older_than:
                    file.unlink()

    def _id_of(self, name: str) -> str:
        ids = self._ids()
        if found := _LAST.fullmatch(name):
            back = int(found[1] or 0)
            if back >= len(ids):
                raise NotFoundError("Snapshot not found.", hint=f"{len(ids)} are kept: `cm context list`.")
            return ids[back]
        if not _ID.fullmatch(name):
            raise UsageError(f"Not a snapshot: {name[:40]!r}.", hint="Use its id, or last, last~1 and so on.")
        return id_named(name, ids, "snapshot", "`cm context list` lists them; the oldest are removed first.", least=1)

    def _ids(self) -> list[str]:
        """Return all ids, the newest first."""
        try:
            names = os.listdir(self._folder)  # noqa: PTH208 - names alone
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"Cannot read {self._folder}: {error.strerror or error}.") from error
        ids = [name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING) and not name.startswith(".")]
        return sorted(ids, reverse=True)

    def _file(self, id_: str) -> Path:
        return self._folder / f"{id_}{_ENDING}"

    def _head(self, id_: str) -> AssemblyHead | None:
        if (known := self._heads.get(id_)) is not None:
            return known
        try:
            with gzip.open(self._file(id_)) as stream:
                head = _HEAD.validate_python(json.loads(stream.readline(_LONGEST_HEAD)))
        except (OSError, ValueError, EOFError, RecursionError, zlib.error):
            return None
        self._heads.put(id_, head)
        return head

    @staticmethod
    def _read(file: Path) -> Assembly | None:
        text = _text(file)
        try:
            return None if text is None else _ADAPTER.validate_python(json.loads(text.partition("\n")[2]))
        except (ValueError, RecursionError):
            return None

    def _tidy(self) -> None:
        """Drop the oldest beyond the limit, and occasionally those beyond the size limit."""
        ids = self._ids()
        gone = ids[self._most :]
        if self._written % _WEIGHED == 0:
            total = 0
            for id_ in ids[: self._most]:
                stamp = stamp_of(self._file(id_))
                total += stamp.size if stamp else 0
                if total > MOST_BYTES:
                    gone.append(id_)
            self._remove_left_overs(older_than=60.0)
        self._written += 1
        for id_ in gone:
            self._file(id_).unlink(missing_ok=True)
            self._heads.pop(id_)


def _text(file: Path) -> str | None:
    """Return the content of a file: its head in one line, and the snapshot; None: damaged or missing."""
    try:
        with gzip.open(BytesIO(read_bounded(file, _MOST_OF_ONE))) as stream:
            return stream.read(_MOST_OF_ONE * 8).decode("ascii")
    except (OSError, ValueError, EOFError, zlib.error):
        return None


def _inside(text: str) -> str:
    """Return a text as escaped within a file."""
    return json.dumps(text)[1:-1]


def _json(one: Assembly) -> str:
    # Halves of surrogate pairs, from prompts and values that are not UTF-8, pass as escapes.
    return json.dumps(_ADAPTER.dump_python(one))


def head_of(one: Assembly) -> AssemblyHead:
    """Return an assembly as it is listed."""
    shown = [source for source in one.sources if source.text]
    return AssemblyHead(
        id=one.id, time=one.time, prompt=one.prompt[:2_000], budget=one.budget, tokens=one.tokens, sources=len(shown),
        cut=sum(source.cut not in ("", "empty") for source in one.sources), warnings=len(one.warnings), ms=one.ms,
        session=one.session, agent=one.agent, definition=one.definition,
    )  # fmt: skip


def _new_id(at: float) -> str:
    """Return an id that sorts by time: milliseconds in base 36, and two random digits."""
    number, digits = int(at * 1_000), ""
    while number:
        number, rest = divmod(number, 36)
        digits = _DIGITS[rest] + digits
    return digits.rjust(8, "0") + "".join(_DIGITS[byte % 36] for byte in os.urandom(2))


# --- comparison of two assemblies: which sources, rules and warnings differ ---

_LINES = 400
"""Lines of the diff of one source."""


def compared(first: Assembly, second: Assembly) -> AssemblyDiff:
    """Return the differences between an assembly and a later one."""
    before = {one.id: one for one in first.sources}
    changes = [_change(before.get(one.id), one) for one in second.sources]
    after = {one.id for one in second.sources}
    changes += [_change(one, None) for one in first.sources if one.id not in after]
    return AssemblyDiff(
        head_of(first), head_of(second), tuple(changes),
        rules=tuple(_signed(_rules(first), _rules(second))),
        warnings=tuple(_signed(first.warnings, second.warnings)),
    )  # fmt: skip


def _change(first: AssemblySource | None, second: AssemblySource | None) -> SourceChange:
    one = second or first
    assert one is not None
    old, new = (first.text if first else ""), (second.text if second else "")
    what = "same" if old == new else "added" if not old else "removed" if not new else "changed"
    lines = unified_diff(old.splitlines(), new.splitlines(), "before", "after", lineterm="", n=2)
    return SourceChange(
        one.id, what,  # type: ignore[arg-type]
        first.tokens if first else 0, second.tokens if second else 0,
        first.why_cut if first else "It was not included.", second.why_cut if second else "It is no longer included.",
        "\n".join(islice(lines, _LINES)) if old != new else "",
    )  # fmt: skip


def _rules(one: Assembly) -> list[str]:
    return [f"{rule.rule}: {rule.action} {rule.reference}" for rule in one.rules if rule.counted]


def _signed(first: Iterable[str], second: Iterable[str]) -> Iterable[str]:
    """Yield what only one of two has, with a sign before."""
    before, after = dict.fromkeys(first), dict.fromkeys(second)
    yield from (f"- {one}" for one in before if one not in after)
    yield from (f"+ {one}" for one in after if one not in before)
