"""The tables of episodes are an index of the journal: however it was followed, they say what it says."""

from __future__ import annotations

import random
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.memory.episodes import changes, episode_index
from cm_tui.engine.memory.episodes.edits import new_change
from cm_tui.engine.memory.episodes.episode_index import EpisodeIndex
from cm_tui.engine.memory.episodes.episode_lists import EpisodeLists
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.visibility import FORGOTTEN, RESTORED, UNDONE, Visibility
from cm_tui.engine.platform.journal.event import ERASURE
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.store.database import Database
from cm_tui.model import Episode, EpisodeFilter

ALL = 10_000
WORDS = ["add", "tax", "round", "cart", "price", "total", "journal", "Ünïcode", "漢字", "#1", "a.b/c"]


class Story:
    """Appends what may happen, in any order."""

    def __init__(self, journal: Journal, chance: random.Random) -> None:
        self.journal = journal
        self.chance = chance
        self.ids: list[str] = []
        self.changes: list[tuple[str, list[str]]] = []

    def go_on(self) -> None:
        steps = (self.record, self.record, self.edit, self.hide, self.undo, self.erase, self.say_something_odd)
        self.chance.choices(steps, (6, 6, 5, 3, 3, 0.3, 0.5))[0]()

    def record(self) -> None:
        chance = self.chance
        said = EpisodeRecord(
            type=chance.choice(("task", "command", "note")), agent=chance.choice(("codex", "claude-code", "")),
            session=f"s{chance.randrange(4)}", prompts=tuple(" ".join(chance.choices(WORDS, k=5)) for _ in range(2)),
            answer=" ".join(chance.choices(WORDS, k=9)), files=tuple(chance.sample(("a/b.py", "a/c.py", "d.py"), 2)),
            outcome=chance.choice(("ok", "failed", "")), tools=tuple(chance.sample(("Edit", "Bash", "Read"), 2)),
            tokens=chance.randrange(100), tags=tuple(chance.sample(("bug", "ui"), chance.randrange(2))),
            actor=chance.choice(("agent", "person")), at=time.time() - chance.randrange(40) * 86_400.0,
        )  # fmt: skip
        self.ids.append(self.journal.append("episode", said.to_event_data()).id)

    def edit(self) -> None:
        data: dict[str, Any] = {"change": new_change(), "actor": self.chance.choice(("person", "person", "agent"))}
        data |= self.chance.choice(
            (
                {"add_tags": ["new"]},
                {"remove_tags": ["bug"]},
                {"pinned": True},
                {"pinned": False},
                {"rating": 1},
                {"rating": 7},
            )
        )
        for _ in range(self.chance.choice((1, 1, 2))):
            self.said(changes.EDITED, data)

    def hide(self) -> None:
        self.said(self.chance.choice((FORGOTTEN, RESTORED)), {"change": new_change()})

    def said(self, kind: str, data: dict[str, Any]) -> None:
        ids = self.chance.sample(self.ids, min(len(self.ids), 2))
        self.journal.append(kind, {**data, "ids": ids})
        self.changes.append((data["change"], ids))

    def undo(self) -> None:
        known = [*self.changes, *((one, [one]) for one in self.ids[:3])]
        if known:
            change, ids = self.chance.choice(known)
            self.journal.append(UNDONE, {"change": change, "ids": ids})

    def erase(self) -> None:
        if self.ids:
            self.journal.append(ERASURE, {"ids": [self.ids.pop(self.chance.randrange(len(self.ids)))]})

    def say_something_odd(self) -> None:
        kind = self.chance.choice((changes.EDITED, FORGOTTEN, UNDONE, "episode", "episode.archived", "unknown"))
        self.journal.append(
            kind, self.chance.choice(({}, {"ids": 7}, {"ids": ["none", 3]}, {"change": ["x"], "ids": [None]}))
        )


def answers(db: Database, journal: Journal, lists: EpisodeLists | None = None) -> list[Any]:
    tables = EpisodeTables.of(db)
    EpisodeIndex(tables, journal).follow()
    lists = lists or EpisodeLists(tables, lambda _: None)
    states = [EpisodeFilter(state=state) for state in ("shown", "forgotten", "archived")]
    asked = [
        *states,
        EpisodeFilter(text="tax"),
        EpisodeFilter(text="ünï #1 rou"),
        EpisodeFilter(tags=("new", "bug"), pinned=False),
    ]
    found: list[Any] = [[row.id for row in lists.page(where, "", None, ALL).rows] for where in asked]
    found += [lists.page(where, "", None, ALL).rows for where in states]
    found += [lists.sessions(where, None, ALL) for where in asked]
    found += [lists.stats(where, 30) for where in asked]
    guarded = tables.rows("SELECT id, guarded FROM episode ORDER BY id")
    return [*found, guarded, tables.rows("SELECT change, kind, actor, undone FROM change ORDER BY event")]


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_followed_step_by_step_and_read_anew_it_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
):
    monkeypatch.setattr(episode_index, "_EPISODES", 7)
    monkeypatch.setattr(episode_index, "PART", 7)
    monkeypatch.setattr(episode_index, "_EVENTS", 11)
    chance = random.Random(seed)
    journal = Journal(tmp_path / "journal", segment_bytes=4_000)
    story, followed = Story(journal, chance), Database(tmp_path / "followed")
    lists = EpisodeLists(EpisodeTables.of(followed), lambda _: None)
    for _ in range(90):
        story.go_on()
        if chance.random() < 0.25:
            EpisodeIndex(EpisodeTables.of(followed), journal).follow()
        if chance.random() < 0.25:
            # What is kept in memory from one question to the next follows too.
            lists.stats(EpisodeFilter(), 30)
    anew = Database(tmp_path / "anew")
    assert answers(followed, journal, lists) == answers(followed, journal) == answers(anew, journal)
    # What search leaves out is what lists leave out.
    seen = Visibility()
    for event in journal.read():
        seen.follow(event)
    shown = {
        row.id for row in EpisodeLists(EpisodeTables.of(anew), lambda _: None).page(EpisodeFilter(), "", None, ALL).rows
    }
    assert shown == {event.id for event in journal.read() if event.kind == "episode"} - seen.hidden
    # Another journal in its place is read from its beginning, and a part of this one too.
    shutil.rmtree(journal.folder)
    again = Story(journal, chance)
    for _ in range(20):
        again.go_on()
    third = Database(tmp_path / "third")
    assert answers(followed, journal, lists) == answers(third, journal)
    for db in (followed, anew, third):
        db.close()


def fits(one: Episode, where: EpisodeFilter) -> bool:
    text = "\n".join((*one.prompts, one.answer, one.agent, one.session, *one.files, one.id)).lower()
    return (
        all(word in text for word in where.text.lower().split())
        and (not where.types or one.type in where.types)
        and (not where.tools or bool({*where.tools} & {*one.tools}))
        and (not where.outcomes or one.outcome in where.outcomes)
        and (not where.agents or one.agent in where.agents)
        and (not where.tags or bool({*where.tags} & {*one.tags}))
        and (not where.file or any(path == where.file or path.startswith(f"{where.file}/") for path in one.files))
        and (not where.session or one.session == where.session)
        and (where.since is None or one.time >= where.since)
        and (where.until is None or one.time < where.until)
        and (where.pinned is None or one.pinned == where.pinned)
        and (where.rating is None or one.rating == where.rating)
    )


@pytest.mark.deep
def test_filters_pages_sessions_and_totals_are_those_of_a_plain_look(tmp_path: Path):
    chance = random.Random(3)
    journal = Journal(tmp_path / "journal")
    story, db = Story(journal, chance), Database(tmp_path / "store")
    for _ in range(150):
        story.go_on()
    tables = EpisodeTables.of(db)
    EpisodeIndex(tables, journal).follow()
    lists = EpisodeLists(tables, lambda _: None)
    every: tuple[Episode, ...] = lists.page(EpisodeFilter(), "", None, ALL).rows
    assert [one.time for one in every] == sorted((one.time for one in every), reverse=True)
    choices: dict[str, Any] = {
        "text": ("tax", "漢", "ü cart", "e", "zzz"), "types": (("task",), ("note", "command")), "tools": (("Edit",),),
        "outcomes": (("",), ("ok", "failed")), "agents": (("",), ("codex",)), "tags": (("bug",), ("new", "ui")),
        "file": ("a", "a/b.py", "/d.py/", "b.py"), "session": ("s1", "none"), "since": (time.time() - 9 * 86_400,),
        "until": (time.time() - 3 * 86_400,), "pinned": (True, False), "rating": (1, 0, -1),
    }  # fmt: skip
    for _ in range(60):
        fields = chance.sample(sorted(choices), chance.randrange(1, 4))
        where = EpisodeFilter(**{name: chance.choice(choices[name]) for name in fields})
        wanted = [one for one in every if fits(one, replace(where, file=where.file.strip("/")))]
        assert list(lists.page(where, "", None, ALL).rows) == wanted, where
        before, paged = None, list[Episode]()
        while rows := lists.page(where, "", before, 5).rows:
            paged += rows
            before = rows[-1].id
        assert paged == wanted
        sessions = lists.sessions(where, None, ALL)
        assert sum(one.episodes for one in sessions.rows) == len(wanted)
        assert sum(one.tokens for one in sessions.rows) == sum(one.tokens for one in wanted)
        assert {one.id: one.files for one in sessions.rows} == {
            name: len({path for one in wanted if one.session == name for path in one.files})
            for name in {one.session for one in wanted}
        }
        stats = lists.stats(where, 60)
        assert (stats.episodes, stats.sessions) == (len(wanted), sessions.total)
        assert sum(stats.per_day) == sum(facet.count for facet in stats.types) == len(wanted)
    db.close()
