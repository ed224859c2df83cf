"""What was just written is found by the next question, also before it has a vector, beside what has one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.search.vectors.by_source import ProjectVectors
from tests.priced_shop import engine, priced, root

__all__ = ["engine", "priced", "root"]

WRITE: dict[str, Callable[[Engine, str], object]] = {
    "entry": lambda engine, text: engine.remember(text),
    "note": lambda engine, text: engine.append_note(text),
    "episode": lambda engine, text: engine.record_episode(text),
}


@pytest.fixture
def without_new_vectors(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """An engine whose memories have vectors; those that are written from now on get none."""
    for write in WRITE.values():
        write(engine, "An earlier sentence about the weather")
    for _ in engine.index():
        pass
    monkeypatch.setattr(ProjectVectors, "fill", lambda *_, **__: iter(()))
    return engine


@pytest.mark.parametrize("source", sorted(WRITE))
def test_what_was_just_written_is_the_first_hit_of_its_own_words(without_new_vectors: Engine, source: str):
    engine = without_new_vectors
    WRITE[source](engine, "Decision: the cache uses write-through because of the audit")
    for profile in ("memory", "recall", *(["notes"] if source == "note" else [])):
        found = engine.search("why write-through cache", profile=profile)
        assert found.mode == "hybrid"
        assert found.hits, (profile, found.notes)
        assert "write-through" in found.hits[0].snippet
        assert found.hits[0].source == source
        words = [part for part in found.hits[0].parts if part.group == "keyword"]
        assert all("weight 1.00, as it has no vector yet" in part.detail for part in words)
        assert not [part for part in found.hits[0].parts if part.group == "vector"]
