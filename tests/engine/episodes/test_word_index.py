"""The index of words finds what looking through all texts finds, however often words became rows."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cm_tui.engine.memory.episodes import episode_index
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.platform.store.database import Database

LETTERS = "ab.é漢#1%_"


def texts(count: int, chance: random.Random) -> dict[int, str]:
    words = ["".join(chance.choices(LETTERS, k=chance.randrange(1, 6))) for _ in range(200)]
    return {
        number: "\n".join(dict.fromkeys(chance.choices(words, k=chance.randrange(0, 12))))
        for number in range(1, count + 1)
    }


def having(known: dict[int, str], asked: list[str]) -> list[int]:
    return [
        number for number, text in known.items() if all(any(one in word for word in text.split("\n")) for one in asked)
    ]


def numbers(tables: EpisodeTables, asked: list[str]) -> list[int]:
    condition, values = episode_index.having(dict.fromkeys(asked))
    sql = "SELECT DISTINCT seq FROM (SELECT unnest(seqs) AS seq FROM episode_word UNION SELECT seq FROM episode_text)"
    return [number for (number,) in tables.rows(f"{sql} WHERE {condition} ORDER BY seq", values)]


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
def test_it_finds_what_looking_through_all_texts_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int):
    monkeypatch.setattr(episode_index, "PART", 16)
    chance = random.Random(seed)
    known = texts(300, chance)
    db = Database(tmp_path / "store")
    tables = EpisodeTables.of(db)
    left = list(known)
    while left:
        size = chance.choice((1, 5, 16, 40))
        now, left = left[:size], left[size:]
        with tables.writing():
            episode_index.add(tables, {number: known[number] for number in now})
        if chance.random() < 0.3:
            gone = set(chance.sample(sorted(known), 3)) - set(left)
            with tables.writing():
                episode_index.remove(tables, gone)
            known |= dict.fromkeys(gone, "")
        there = {number: text for number, text in known.items() if number not in set(left)}
        for _ in range(6):
            asked = "".join(chance.choices(LETTERS, k=chance.randrange(1, 5)))
            every = ["".join(chance.choices(LETTERS, k=chance.randrange(1, 3))) for _ in range(chance.randrange(3))]
            assert numbers(tables, [asked]) == having(there, [asked])
            assert numbers(tables, [asked, *every]) == having(there, [asked, *every])
    assert tables.row("SELECT count(*) FROM episode_word")[0] > 100, "words became rows"
    db.close()


@pytest.mark.parametrize("number", [1, 31, 32, 33, 70])
def test_any_number_of_texts_may_be_asked_for(number: int):
    tables = EpisodeTables(None)
    words = [f"word{one}!" for one in range(number)]
    episode_index.add(tables, {1: "\n".join(words), 2: "\n".join(words[:-1])})
    assert numbers(tables, [word[:-1] for word in words]) == [1]


def test_of_a_removed_episode_no_word_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(episode_index, "PART", 2)
    db = Database(tmp_path / "store")
    tables = EpisodeTables.of(db)
    with tables.writing():
        episode_index.add(tables, {1: "common\nhers", 2: "common\nhis"})
        episode_index.remove(tables, [1])
    assert tables.rows("SELECT word, seqs FROM episode_word ORDER BY word") == [("common", [2]), ("his", [2])]
    db.close()
