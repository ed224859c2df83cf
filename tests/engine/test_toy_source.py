"""A source of passages is one file and one line: what it yields is searched, packed and served, and moves no other score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection import sources
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import ConfigError
from cm_tui.model import Hit, IndexSummary, Profile
from tests.cli.conftest import make_repository
from tests.engine.toy_source import Sayings, file_of
from tests.mcp.served import answering

QUESTIONS = ("add tax to the total", "Cart", "how is money rounded", "cart")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    make_repository(root)
    return root


@pytest.fixture
def toy(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a source that is registered."""
    monkeypatch.setattr(sources, "SOURCES", (*sources.SOURCES, Sayings))
    lines = [f"cart number {n}: measure the tax twice, add it to the total of the cart once" for n in range(20)]
    file_of(root).write_text("\n".join(lines))
    return file_of(root)


def index(root: Path) -> IndexSummary:
    with Engine.open(root) as engine:
        return [step.summary for step in engine.index()][-1]  # type: ignore[return-value]


def configure(root: Path, text: str) -> None:
    (root / ".cm").mkdir(exist_ok=True)
    (root / ".cm/config.toml").write_text(text)


def both(engine: Engine, **quotas: int) -> Profile:
    return replace(engine.profiles()["code"], sources=("code", "saying"), quotas=quotas)


def found(root: Path) -> list[Any]:
    """Every hit with every part of its score, whatever number its passage has."""
    with Engine.open(root) as engine:
        modes = ("hybrid", "keyword", "vector")
        hits = [engine.search(query, mode=mode, limit=500).hits for query in QUESTIONS for mode in modes]
        return [replace(hit, passage=0) for some in hits for hit in some]


def of(hits: tuple[Hit, ...], source: str) -> list[Hit]:
    return [hit for hit in hits if hit.source == source]


def test_its_passages_are_found_by_a_profile_that_lists_it(root: Path, toy: Path):
    index(root)
    with Engine.open(root) as engine:
        assert of(engine.search("measure the tax twice").hits, "saying") == []
        for mode in ("hybrid", "keyword", "vector"):
            hits = engine.search("measure the tax twice", profile=both(engine), mode=mode).hits
            saying = of(hits, "saying")[0]
            assert saying.snippet.startswith("cart number")
            assert sum(part.contribution for part in saying.parts) == pytest.approx(saying.score)
            assert engine.source(saying.path).text == saying.snippet
        assert engine.search("tax", profile=replace(both(engine), sources=("saying",))).hits[0].source == "saying"


def test_a_quota_keeps_room_for_the_others(root: Path, toy: Path):
    index(root)
    with Engine.open(root) as engine:
        query = "measure the tax twice, add it to the total of the cart"
        crowded = engine.search(query, profile=both(engine)).hits
        assert len(of(crowded, "saying")) > 3
        kept = engine.search(query, profile=both(engine, saying=3)).hits
        assert len(of(kept, "saying")) == 3
        assert [hit.path for hit in of(kept, "saying")] == [hit.path for hit in of(crowded, "saying")[:3]]
        assert len(of(kept, "code")) == min(7, len(kept) - 3) > 0
        some = engine.search(query, profile=both(engine, saying=12, code=2)).hits
        assert (len(of(some, "saying")), len(of(some, "code"))) == (12, 2)
        assert [hit.rank for hit in some] == list(range(1, 15))
        assert engine.search(query, profile=both(engine, saying=3), limit=2).hits == kept[:2]


async def test_it_is_in_packs_and_served_where_the_profile_says_so(root: Path, toy: Path):
    configure(root, '[profiles.code]\nsources = ["code", "saying"]\n[profiles.code.quotas]\nsaying = 2\n')
    index(root)
    query = "measure the tax twice, add it to the total of the cart"
    with Engine.open(root) as engine:
        pack = engine.pack(query, budget=3000)
        sayings = [item for item in pack.items if item.path.startswith("saying/")]
        assert len(sayings) == 2
        assert all(item.included and f"```markdown\n{item.text}\n```" in pack.markdown for item in sayings)
        assert any(item.path.endswith(".py") for item in pack.items if item.included)
    async with answering(root) as asked:
        text, record = await asked.ok("codememory_retrieve", query=query, limit=8)
        paths = [row["path"] for row in record["rows"] if row["path"].startswith("saying/")]
        assert len(paths) == 2
        assert all(path in text for path in paths)
        assert len(record["rows"]) > 2
        assert {row.get("source") for row in record["rows"]} == {None, "saying"}
        _, lines = await asked.ok("memory_get", path=paths[0])
        assert lines["text"].startswith("cart number")


def test_what_else_is_remembered_moves_no_score_of_the_code(root: Path, monkeypatch: pytest.MonkeyPatch):
    index(root)
    alone = found(root)
    monkeypatch.setattr(sources, "SOURCES", (*sources.SOURCES, Sayings))
    file_of(root).write_text(
        "\n".join(f"add the tax to the total of cart {n}, rounded as money is" for n in range(400))
    )
    for number in range(3):
        prompts = (f"add tax {number} to the total", "and round it as money is")
        Journal.of(root).append("episode", EpisodeRecord(prompts=prompts, answer="Cart.total").to_event_data())
    assert index(root).passages > 400
    assert found(root) == alone
    with Engine.open(root) as engine:
        hits = engine.search("add the tax to the total", profile=both(engine), limit=500).hits
        plain = engine.search("add the tax to the total", limit=500).hits
        fused = [[part.contribution for part in hit.parts if part.group in {"keyword", "vector"}] for hit in plain]
        assert [hit.path for hit in of(hits, "code")] == [hit.path for hit in plain]
        assert sorted(fused) == sorted(
            [part.contribution for part in hit.parts if part.group in {"keyword", "vector"}] for hit in of(hits, "code")
        )


def test_a_quota_that_makes_no_sense_is_refused(root: Path):
    configure(root, "[profiles.code.quotas]\nsaying = 2\n")
    with Engine.open(root) as engine, pytest.raises(ConfigError, match="does not search 'saying'"):
        engine.profiles()
    configure(root, "[profiles.code.quotas]\ncode = 0\n")
    with Engine.open(root) as engine, pytest.raises(ConfigError, match=r"quotas\.code: must be 1 or more"):
        engine.profiles()
