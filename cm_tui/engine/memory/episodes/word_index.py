"""The word index: which episodes have a text that contains every word of a query, anywhere within a word.

The newest episodes are searched as text. The others are in parts, each a small inverted index: its words in one byte
string, which is searched directly, and for each of them its episodes.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables

PART = 2_048
"""Episodes in a part when it is made."""
_TOGETHER = 8
"""Parts to merge at once; a part has fewer than 65,536 episodes, so that a place takes two bytes."""
_FREQUENT = 128
"""So many words are looked up at first, then eight times as many, until every episode is found."""
Numbers = NDArray[np.int32]


class Part(NamedTuple):
    """The words of some episodes."""

    members: Numbers
    """Their numbers."""
    words: bytes
    """Each behind a line feed."""
    starts: Numbers
    """Where each begins, its line feed included."""
    lengths: Numbers
    """How many episodes have it."""
    ends: Numbers
    """Where its postings end."""
    postings: NDArray[np.uint16]
    """Places among the members."""

    @classmethod
    def of(cls, texts: Mapping[int, str]) -> Self:
        """Make the part of episodes, by their numbers, from the words of each."""
        by_word: dict[str, list[int]] = {}
        for place, text in enumerate(texts.values()):
            for word in text.split("\n"):
                by_word.setdefault(word, []).append(place)
        by_word.pop("", None)
        lengths = np.fromiter(map(len, by_word.values()), np.int32, len(by_word))
        postings = np.fromiter(
            (place for places in by_word.values() for place in places), np.uint16, int(lengths.sum())
        )
        words = "".join(f"\n{word}" for word in by_word).encode()
        return cls.stored(np.array(list(texts), np.int32).tobytes(), words, lengths.tobytes(), postings.tobytes())

    @classmethod
    def stored(cls, members: bytes, words: bytes, lengths: bytes, postings: bytes) -> Self:
        """Return the part of a row of the store."""
        sizes = np.frombuffer(lengths, np.int32)
        text = np.frombuffer(words, np.uint8)
        numbers, places = np.frombuffer(members, np.int32), np.frombuffer(postings, np.uint16)
        starts = np.flatnonzero(text == 10).astype(np.int32)
        return cls(numbers, words, starts, sizes, np.cumsum(sizes, dtype=np.int32), places)

    @classmethod
    def together(cls, parts: Sequence[Self]) -> Self:
        """Make one part of several."""
        known: dict[str, int] = {}
        owners = []
        for part in parts:
            words = part.words.decode().split("\n")[1:]
            owners.append(np.array([known.setdefault(word, len(known)) for word in words], np.int32))
        lengths = np.zeros(len(known), np.int32)
        for part, owner in zip(parts, owners, strict=True):
            lengths[owner] += part.lengths
        # Each part's postings go to their places at once: to sort all of them takes the memory of several times as many.
        free, first = np.cumsum(lengths, dtype=np.int32) - lengths, 0
        postings = np.empty(int(lengths.sum()), np.uint16)
        for part, owner in zip(parts, owners, strict=True):
            moved = np.repeat(free[owner] - (part.ends - part.lengths), part.lengths)
            postings[moved + np.arange(len(moved), dtype=np.int32)] = part.postings + np.uint16(first)
            free[owner] += part.lengths
            first += len(part.members)
        members = np.concatenate([part.members for part in parts])
        words_of_all = "".join(f"\n{word}" for word in known).encode()
        return cls.stored(members.tobytes(), words_of_all, lengths.tobytes(), postings.tobytes())

    def having(self, word: str) -> Numbers:
        """Return the numbers of the episodes that have a text as a word, or within one."""
        hits = self._words_with(word.encode())
        has = np.zeros(len(self.members), bool)
        # A letter is in thousands of words; the most frequent of them are in nearly every episode.
        order, some = hits[np.argsort(-self.lengths[hits], kind="stable")], _FREQUENT
        while len(order) and not has.all():
            has[self._postings_of(order[:some])] = True
            order, some = order[some:], 8 * some
        return self.members[has]

    def texts(self) -> dict[int, str]:
        """Return the words of each episode, by its number."""
        found: dict[int, list[str]] = {int(number): [] for number in self.members}
        words = self.words.decode().split("\n")[1:]
        for word, size, end in zip(words, self.lengths, self.ends, strict=True):
            for place in self.postings[end - size : end]:
                found[int(self.members[place])].append(word)
        return {number: "\n".join(own) for number, own in found.items()}

    def _postings_of(self, words: NDArray[np.int64]) -> NDArray[np.uint16]:
        """Return the postings of some words, one behind the other."""
        lengths = self.lengths[words]
        before = np.cumsum(lengths, dtype=np.int64) - lengths
        first = np.repeat(self.ends[words] - lengths - before, lengths)
        return self.postings[first + np.arange(len(first))]

    def _words_with(self, text: bytes) -> NDArray[np.int64]:
        """Return the sorted places of the words that contain a text."""
        if len(text) <= 2:
            # Nearly every word has it: all places at once.
            letters = np.frombuffer(self.words, np.uint8)
            same = letters == text[0]
            if len(text) == 2:
                same[:-1] &= letters[1:] == text[1]
                same[-1] = False
            before = np.zeros(len(same) + 1, np.int32)
            np.cumsum(same, out=before[1:])
            edges = before[np.append(self.starts, len(same))]
            return np.flatnonzero(np.diff(edges))
        at = np.fromiter((one.start() for one in re.finditer(re.escape(text), self.words)), np.int32)
        found = np.searchsorted(self.starts, at, "right") - 1
        return found[np.diff(found, prepend=-1) > 0]


class Words(NamedTuple):
    """The words of all episodes, of one state of the store."""

    version: int
    newest: Mapping[int, str]
    parts: Mapping[int, Part]

    def having(self, word: str) -> Numbers:
        """Return the numbers of the episodes that have a text as a word, or within one.

        `word`: in small letters, without blanks.
        """
        newest = np.array([number for number, text in self.newest.items() if word in text], np.int32)
        return np.concatenate([newest, *(part.having(word) for part in self.parts.values())])


class WordIndex:
    """The words of all episodes of one store. `tables`: the tables that hold it."""

    def __init__(self, tables: EpisodeTables) -> None:
        self._tables = tables
        self._now = Words(-1, {}, {})

    def at(self, version: int) -> Words:
        """Return the words of the state that this thread's queries see."""
        now = self._now
        if now.version != version:
            now = self._now = self._look_up(version)
        return now

    def having(self, word: str) -> Numbers:
        """Return `Words.having` for the snapshot of this thread's queries."""
        return self._look_up(-1).having(word)

    def _look_up(self, version: int) -> Words:
        newest = dict(self._tables.rows("SELECT seq, words FROM episode_text"))
        return Words(version, newest, self._all_parts(self._now.parts))

    def add(self, texts: Mapping[int, str]) -> None:
        """Add the words of new episodes, by their numbers; the caller writes."""
        self._tables.insert("episode_text", {"seq": list(texts), "words": list(texts.values())})
        if self._tables.row("SELECT count(*) FROM episode_text")[0] < PART:
            return
        rows = dict(self._tables.rows("SELECT seq, words FROM episode_text ORDER BY seq"))
        numbers = list(rows)
        whole = len(numbers) - len(numbers) % PART
        for first in range(0, whole, PART):
            self._write(Part.of({number: rows[number] for number in numbers[first : first + PART]}))
        self._tables.cursor.execute("DELETE FROM episode_text WHERE seq <= ?", [numbers[whole - 1]])
        self._join_small_parts()

    def remove(self, numbers: Collection[int]) -> None:
        """Remove all words of episodes; the caller writes."""
        gone = list(numbers)
        self._tables.cursor.execute("DELETE FROM episode_text WHERE seq IN (SELECT unnest(?::INTEGER[]))", [gone])
        for number, part in self._stored(self._numbers()):
            if np.isin(part.members, gone).any():
                self._tables.cursor.execute("DELETE FROM episode_words WHERE part = ?", [number])
                left = {seq: text for seq, text in part.texts().items() if seq not in set(gone)}
                self._write(Part.of(left))

    def _join_small_parts(self) -> None:
        small = "SELECT part FROM episode_words WHERE octet_length(members) <= ? ORDER BY rowid"
        numbers = [row[0] for row in self._tables.rows(small, [4 * PART])]
        for first in range(0, len(numbers) - _TOGETHER + 1, _TOGETHER):
            chosen = numbers[first : first + _TOGETHER]
            parts = [part for _, part in self._stored(chosen) if len(part.members)]
            if parts:
                self._write(Part.together(parts))
            self._tables.cursor.execute(
                "DELETE FROM episode_words WHERE part IN (SELECT unnest(?::INTEGER[]))", [chosen]
            )

    def _write(self, part: Part) -> None:
        # Caches stay valid: no number is reused.
        number = secrets.randbits(31)
        blobs = (part.members.tobytes(), part.words, part.lengths.tobytes(), part.postings.tobytes())
        self._tables.cursor.execute("INSERT INTO episode_words VALUES (?, ?, ?, ?, ?)", [number, *blobs])

    def _numbers(self) -> list[int]:
        return [row[0] for row in self._tables.rows("SELECT part FROM episode_words ORDER BY part")]

    def _all_parts(self, known: Mapping[int, Part]) -> Mapping[int, Part]:
        numbers = self._numbers()
        missing = [number for number in numbers if number not in known]
        fresh = dict(self._stored(missing))
        if len(missing) > 1:
            # The blocks that they were read from are not needed again.
            self._tables.let_go_of_blocks()
        return {number: known.get(number) or fresh[number] for number in numbers}

    def _stored(self, numbers: Iterable[int]) -> Iterator[tuple[int, Part]]:
        # One by one: all of them at once would be there twice for a moment.
        for number in numbers:
            sql = "SELECT members, words, lengths, postings FROM episode_words WHERE part = ?"
            for blobs in self._tables.rows(sql, [number]):
                yield number, Part.stored(*blobs)
