"""Classification of files: from path and content to a blob of the store, or to the reason why it is excluded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cm_tui.engine.code.index.stored_state import ContentKey, StoredState
from cm_tui.engine.code.parse.worker import Task
from cm_tui.engine.code.scan.content_reader import ContentReader
from cm_tui.engine.code.scan.languages import HEAD_BYTES, language_of
from cm_tui.engine.code.scan.skip_rules import NOT_HERE, SkipRules, by_content, suffix_of
from cm_tui.engine.code.scan.working_tree import ScannedFiles


class FileClassifier:
    """Classifies every file of a scan; files to parse are returned as tasks.

    `scan`: the files. An edited file gets its new object id there. `contents`: reads files. `full`: parse stored files
    again.
    """

    def __init__(
        self, scan: ScannedFiles, stored: StoredState, contents: ContentReader, rules: SkipRules, *, full: bool
    ) -> None:
        self._scan = scan
        self._stored = stored
        self._contents = contents
        self._rules = rules
        self._full = full
        self._blobs = {} if full else dict(stored.parsed)
        self._next = stored.next_id
        self.verdicts: dict[tuple[str, str], int | str] = {}
        """By path and object id: the blob's id, or why it is excluded."""
        self.rejected: dict[ContentKey, str] = {}
        self.unread: list[tuple[str, str, bool]] = []
        """Files to read: path, object id, and whether it differs from HEAD."""

        self.seen = 0
        """How many of them were read."""

    def decide(self) -> None:
        """Decide on what needs no reading; the rest is in `unread`."""
        wanted = [(path, oid, False) for path, oid in self._scan.committed.items()]
        wanted += [(path, oid, True) for path, oid in self._scan.disk.items() if oid is not None]
        for path, oid, on_disk in sorted(wanted):
            if not self._has_verdict(path, oid):
                self.unread.append((path, oid, on_disk))

    def tasks(self, unread: Iterable[tuple[str, str, bool]]) -> Iterator[Task]:
        """Read files; yields those to parse, with ids in the order of paths."""
        for path, oid, on_disk in unread:
            self.seen += 1
            found = self._read(path, oid, on_disk=on_disk)
            if found is not None:
                yield from self._tasks_for(path, *found)

    def _has_verdict(self, path: str, oid: str) -> bool:
        for held in (self._stored.at(path), self._stored.spans.get(path)):
            if held is not None and held.oid == oid and held.blob in self._stored.current and not self._full:
                self.verdicts[path, oid] = held.blob
                return True
        reason = self._stored.rejection(path, oid, self._rules)
        if reason is not None and not self._full:
            self._reject(path, oid, self._content(path, oid), reason)
            return True
        return False

    def _read(self, path: str, oid: str, *, on_disk: bool) -> tuple[str, bytes] | None:
        data = self._contents.get(path, oid)
        if data is not None:
            return oid, data
        if not on_disk:
            self.verdicts[path, oid] = NOT_HERE
            return None
        # Edited or deleted since the scan: take it as it is at this moment.
        self._scan.disk[path] = None
        try:
            oid, data = self._contents.from_disk(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._scan.skipped[path] = f"unreadable: {error.strerror or error}"
            return None
        reason = self._rules.by_size(path, len(data))
        if reason is not None:
            self._scan.skipped[path] = reason
            return None
        self._scan.disk[path] = oid
        return oid, data

    def _tasks_for(self, path: str, oid: str, data: bytes) -> Iterator[Task]:
        content = self._content(path, oid)
        encoding = self._contents.attributes.encoding(path, data)
        found = by_content(path, data, included=content.included, encoding=encoding)
        reason = self._rules.verdict(path, found)
        if reason is not None:
            self._reject(path, oid, content, reason)
            return
        language = language_of(path, data[:HEAD_BYTES])
        number = self._blobs.get((oid, language))
        if number is None:
            number = self._blobs[oid, language] = self._next
            self._next += 1
            yield Task(number, oid, language, data, encoding)
        self.verdicts[path, oid] = number

    def _reject(self, path: str, oid: str, content: ContentKey, reason: str) -> None:
        self.verdicts[path, oid] = reason
        self.rejected[content] = reason

    def _content(self, path: str, oid: str) -> ContentKey:
        return ContentKey(oid, suffix_of(path), self._rules.included(path))
