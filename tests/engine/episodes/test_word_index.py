"""The index of words finds what looking through all texts finds, however it is cut into parts."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from cm_tui.engine.memory.episodes import word_index
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.episodes.word_index import Part, WordIndex
from cm_tui.engine.platform.store.database import Database

LETTERS = "ab.é漢#1"


def texts(count: int, chance: random.Random) -> dict[int, str]:
    words = ["".join(chance.choices(LETTERS, k=chance.randrange(1, 6))) for _ in range(200)]
    return {
        number: "\n".join(dict.fromkeys(chance.choices(words, k=chance.randrange(0, 12))))
        for number in range(1, count + 1)
    }


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
def test_it_finds_what_looking_through_all_texts_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int):
    monkeypatch.setattr(word_index, "PART", 16)
    monkeypatch.setattr(word_index, "_TOGETHER", 3)
    monkeypatch.setattr(word_index, "_FREQUENT", 3)
    chance = random.Random(seed)
    known = texts(300, chance)
    db = Database(tmp_path / "store")
    tables = EpisodeTables.of(db)
    index, other = WordIndex(tables), WordIndex(tables)
    left = list(known)
    while left:
        size = chance.choice((1, 5, 16, 40))
        now, left = left[:size], left[size:]
        with tables.writing():
            index.add({number: known[number] for number in now})
        if chance.random() < 0.3:
            gone = set(chance.sample(sorted(known), 3)) - set(left)
            with tables.writing():
                index.remove(gone)
            known |= dict.fromkeys(gone, "")
        there = {number: text for number, text in known.items() if number not in set(left)}
        for _ in range(6):
            asked = "".join(chance.choices(LETTERS, k=chance.randrange(1, 5)))
            wanted = [number for number, text in there.items() if any(asked in word for word in text.split("\n"))]
            assert sorted(other.having(asked).tolist()) == wanted, asked
    parts = tables.rows("SELECT octet_length(members) / 4 FROM episode_words")
    assert max(size for (size,) in parts) > 16, "small parts were made one"
    db.close()


def test_a_part_gives_back_the_words_that_it_was_made_of():
    known = texts(50, random.Random(9))
    part = Part.of(known)
    assert {number: set(text.split("\n")) for number, text in part.texts().items()} == {
        number: set(text.split("\n")) for number, text in known.items()
    }
    empty = Part.of({})
    assert empty.having("a").dtype == np.int32
    assert empty.texts() == {}
