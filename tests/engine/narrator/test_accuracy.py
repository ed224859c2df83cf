"""The narrator on histories with planted facts and traps keeps to the bounds that it promises."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.narrator.mining import observations
from cm_tui.engine.memory.narrator.turn import Turn
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import NarratedFilter
from tests.bench.narrator_histories import bank as banks
from tests.bench.narrator_histories.history import build
from tests.bench.narrator_histories.hooked import HookedHistory
from tests.bench.narrator_histories.running import described, score

BOUNDS = {"dev": (0.95, 0.86), "own": (0.85, 0.72), "heldout": (0.82, 0.72)}
"""Precision and recall. What was kept aside is said in ways that nobody looked at: the guide tells what was measured there."""


@pytest.mark.parametrize(
    ("name", "seed"),
    [("dev", 2), pytest.param("own", 2, marks=pytest.mark.deep), pytest.param("heldout", 101, marks=pytest.mark.deep)],
)
def test_what_is_proposed_is_true_and_most_of_the_truth_is_proposed(name: str, seed: int) -> None:
    if not banks.exists(name):
        pytest.skip(f"there is no bank {name}")
    found = score(build(banks.load(name), seed), ("by-hand",))
    wrong = "\n".join(described(item) for item in found.judged if item.is_wrong)
    missed = ", ".join(fact.id for fact in found.missed)
    precision, recall = BOUNDS[name]
    # What was kept aside is not printed: whoever works on the miners would see it.
    assert found.precision >= precision, wrong if name != "heldout" else "precision"
    assert found.recall >= recall, missed if name != "heldout" else "recall"


@pytest.mark.parametrize("policy", ["custom", pytest.param("careful", marks=pytest.mark.deep)])
def test_no_policy_approves_a_trap_or_anything_for_the_user(policy: str) -> None:
    found = score(build(banks.load("dev"), 2, 280), (policy,))
    assert found.judged
    assert [(by, described(item)) for by, item in found.traps_approved()] == []


def _seen(root: Path) -> set[tuple[str, ...]]:
    """What the miners find in each session."""
    events = [event for event in Journal.of(root).read() if event.kind == "episode"]
    records = sorted(map(EpisodeRecord.from_event, events), key=lambda record: record.session)
    found: set[tuple[str, ...]] = set()
    for session, turns in groupby(records, key=lambda record: record.session):
        before = None
        for number, record in enumerate(turns):
            turn = Turn(f"{session} {number}", float(number), record, before)
            before = replace(turn, before=None)
            for one in observations(turn, Counter()):
                quote = one.quote.replace(str(root), "")
                found.add((session, str(number), *one.fact, quote, str(one.opposes)))
    return found


def test_sessions_that_hooks_record_show_what_their_transcripts_show_and_count_once(tmp_path: Path) -> None:
    history = build(banks.load("dev"), 2, 280)
    of_agents = {one.agent: one for one in history.sessions if not one.parent}
    history.sessions = sorted(of_agents.values(), key=lambda session: session.start)
    assert len(history.sessions) == 3
    for session in history.sessions:
        session.turns = [turn for turn in session.turns if turn.actor != "narrator"][:4]
        for turn in session.turns:
            # No hook reports that: it is one turn with the next one.
            turn.outcome = "ok"
    now = datetime(2026, 3, 2, tzinfo=UTC).timestamp()
    found = []
    for way in ("import", "hooks"):
        played = HookedHistory(history, tmp_path / way / "shop", now, hooks=way == "hooks")
        played.play()
        if way == "import":
            assert played.import_all().episodes == sum(len(session.turns) for session in history.sessions)
        found.append(_seen(played.root))
    imported, hooked = found
    assert imported
    assert hooked == imported
    assert played.import_all().episodes == 0


@pytest.mark.deep
def test_a_history_through_hooks_is_proposed_as_one_that_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = build(banks.load("dev"), 2, 280)
    texts = []
    for way in ("import", "hooks", "hooks-import"):
        # The same commits would be the same project.
        monkeypatch.setenv("CM_HOME", str(tmp_path / "home" / way))
        played = HookedHistory(history, tmp_path / way / history.ecosystem, 1_780_000_000.0, hooks=way != "import")
        played.play()
        if "import" in way:
            played.import_all()
        with Engine.open(played.root) as engine:
            list(engine.narrate())
            rows = engine.narrated(NarratedFilter(states=("waiting",)), limit=1_000).rows
            texts.append({(row.kind, row.text) for row in rows})
    assert len(texts[0]) > 60
    assert texts[0] == texts[1] == texts[2]
