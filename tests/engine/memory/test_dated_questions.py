"""Questions with dates: thirty in three languages over sessions that tell the same at other times, and what else moves a turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from tests.fake_clock import FakeClock
from tests.gitrepo import Repo

NOW = datetime(2025, 12, 20, 12, tzinfo=UTC).timestamp()
TALK = {
    "en": ("Make the cache larger.", "The cache holds more entries.", "Publish version 2.", "The release of version 2 is out."),
    "de": ("Mach den Zwischenspeicher größer.", "Der Zwischenspeicher fasst mehr.", "Version 2?", "Die Veröffentlichung von Version 2 ist erfolgt."),
    "es": ("Amplía la memoria intermedia.", "La memoria intermedia guarda más.", "¿Versión 2?", "La publicación de la versión 2 está hecha."),
}  # fmt: skip
QUESTIONS = {
    "What did we change in the cache in March?": (3,),
    "the change of the cache on May 10, 2025": (5,),
    "why is the cache larger since 2025-11-10": (11, 12),
    "what happened to the cache last month?": (11,),
    "the cache ten days ago": (12,),
    "the cache two weeks before the release of version 2": (8,),
    "the cache between April and June": (4, 5, 6),
    "our work on the cache last winter": (1, 2),
    "the cache at the beginning of September 2025": (9,),
    "the cache last October": (10,),
    "Was haben wir im März am Zwischenspeicher geändert?": (3,),
    "der Zwischenspeicher am 10. Mai 2025": (5,),
    "der Zwischenspeicher seit dem 10.11.2025": (11, 12),
    "Was war letzten Monat mit dem Zwischenspeicher?": (11,),
    "der Zwischenspeicher vor zehn Tagen": (12,),
    "der Zwischenspeicher zwei Wochen vor der Veröffentlichung von Version 2": (8,),
    "der Zwischenspeicher zwischen April und Juni": (4, 5, 6),
    "der Zwischenspeicher letzten Winter": (1, 2),
    "der Zwischenspeicher Anfang September 2025": (9,),
    "der Zwischenspeicher im letzten Oktober": (10,),
    "¿Qué cambiamos en la memoria intermedia en marzo?": (3,),
    "la memoria intermedia el 10 de mayo de 2025": (5,),
    "la memoria intermedia desde el 10 de noviembre de 2025": (11, 12),
    "la memoria intermedia el mes pasado": (11,),
    "la memoria intermedia hace diez días": (12,),
    "la memoria intermedia dos semanas antes de la publicación de la versión 2": (8,),
    "la memoria intermedia entre abril y junio": (4, 5, 6),
    "la memoria intermedia el invierno pasado": (1, 2),
    "la memoria intermedia a principios de septiembre de 2025": (9,),
    "la memoria intermedia el pasado octubre": (10,),
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("CM_EMBEDDING__PROVIDER", "none")
        patch.setenv("TZ", "UTC")
        root = _recorded(tmp_path_factory.mktemp("dated"))
        with Engine.open(root) as engine:
            engine._searcher._clock = FakeClock(NOW)
            for _ in engine.index():
                pass
            yield engine


def _recorded(folder: Path) -> Path:
    repo = Repo(folder / "repo")
    repo.write("a.py", "A = 1\n")
    repo.commit()
    journal = Journal.of(repo.root)
    for language, (asked, answered, asked_of_release, released) in TALK.items():
        for month in range(1, 13):
            _record(journal, f"{language}-{month}", datetime(2025, month, 10, 12, tzinfo=UTC), asked, answered)
        _record(journal, f"{language}-release", datetime(2025, 8, 24, 12, tzinfo=UTC), asked_of_release, released)
    talk = [
        ("Ada", "Where did you put the keys of the staging machine?"),
        ("Ben", "Below the blue box."),
        ("Ada", "Thanks a lot for that!"),
    ]
    for place, (speaker, text) in enumerate(talk, start=1):
        record = EpisodeRecord(type="response", agent=speaker, session="talk", answer=text, turn=place, at=NOW - 1e7)
        journal.append("episode", record.to_event_data())
    _record(
        journal,
        "said",
        datetime(2025, 6, 2, tzinfo=UTC),
        "The printer broke last April, by the way.",
        "Noted: the printer.",
    )
    _record(
        journal, "unsaid", datetime(2025, 6, 2, tzinfo=UTC), "The printer broke, by the way.", "Noted: the printer."
    )
    return repo.root


def _record(journal: Journal, session: str, at: datetime, asked: str, answered: str) -> None:
    record = EpisodeRecord(agent="codex", session=session, prompts=(asked,), answer=answered, turn=1, at=at.timestamp())
    journal.append("episode", record.to_event_data())


def _months(engine: Engine, question: str, **changes: object) -> list[int]:
    profile = replace(engine.profiles()["recall"], **changes)  # type: ignore[arg-type]
    hits = engine._searcher.search(question, profile=profile, limit=3).hits
    return [datetime.fromtimestamp(hit.time or 0, UTC).month for hit in hits]


def test_thirty_questions_in_three_languages(opened: Engine):
    assert len(QUESTIONS) == 30
    missed = [question for question, months in QUESTIONS.items() if _months(opened, question)[0] not in months]
    assert missed == []
    without = [
        question for question, months in QUESTIONS.items() if _months(opened, question, adjustments={})[0] not in months
    ]
    assert len(without) > 15


def test_a_date_is_a_part_of_the_score_and_it_is_said_how_it_was_read(opened: Engine):
    result = opened._searcher.search("the cache in March", profile="recall", limit=1)
    [part] = [part for part in result.hits[0].parts if part.name == "date"]
    assert (part.value, part.weight, part.contribution) == pytest.approx((1.0, 0.2, 0.2))
    assert sum(part.contribution for part in result.hits[0].parts) == pytest.approx(result.hits[0].score)
    assert "Dates in the query: March (2025-03-01 to 2025-03-31)." in result.notes
    assert not any(part.name == "date" for part in opened._searcher.search("the cache", profile="recall").hits[0].parts)


def test_a_date_is_a_preference_not_a_filter(opened: Engine):
    assert len(opened._searcher.search("the cache in March", profile="recall", limit=50).hits) > 5


def test_a_date_that_was_said_counts_as_it_was_meant_then(opened: Engine):
    first = opened._searcher.search("the printer that broke in April", profile="recall", limit=1).hits[0]
    assert "last April" in opened.source(first.path).text


def test_a_question_brings_its_reply_and_the_one_who_is_named_is_lifted(opened: Engine):
    result = opened._searcher.search("the keys of the staging machine", profile="recall", limit=5)
    texts = [opened.source(hit.path).text for hit in result.hits]
    assert texts[:2] == ["Ada: Where did you put the keys of the staging machine?", "Ben: Below the blue box."]
    assert any(part.name == "reply" for part in result.hits[1].parts)
    named = opened._searcher.search("What did Ben say about keys and the blue box?", profile="recall", limit=5)
    spoken = {opened.source(hit.path).text[:4]: [part.name for part in hit.parts] for hit in named.hits}
    assert "speaker" in spoken["Ben:"]
    assert "speaker" not in spoken["Ada:"]
