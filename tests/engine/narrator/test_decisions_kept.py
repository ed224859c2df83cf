"""Decisions are kept: whoever is killed, whatever is made again, restored, renamed or erased, and whoever decides beside."""

from __future__ import annotations

import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from cm_tui.daemon import open_engine
from cm_tui.engine.api import links
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.backup import make, restore
from cm_tui.engine.memory.narrator import decisions
from cm_tui.engine.memory.narrator.proposals import FactProposal, Proposals
from cm_tui.engine.memory.projection.narrated import DECIDED, WORDED
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError
from cm_tui.model import NarratedDecision, NarratedFilter
from tests.engine.narrator.decided import (
    EVERY,
    NOTE,
    approved,
    decided,
    kinds,
    note_of,
    one_of,
    opened_project,
    states,
    taught,
)
from tests.engine.narrator.passes import new_project, passed, put, said, sayings, use
from tests.forked import run_python
from tests.gitrepo import Repo

DIES = "import sys; from tests.engine.narrator.decided import decide_and_die; decide_and_die(*sys.argv[1:])"


@pytest.fixture
def engine(with_proposals: Engine) -> Engine:
    return with_proposals


def stored(words: bytes) -> list[str]:
    home = Path(os.environ["CM_HOME"])
    return [str(file.relative_to(home)) for file in home.rglob("*") if file.is_file() and words in file.read_bytes()]


def rows(engine: Engine) -> list[tuple[str, ...]]:
    found = engine.narrated(NarratedFilter(EVERY), limit=100).rows
    return [(one.id, one.state, one.text, one.reason, one.decided_by, one.change) for one in found]


def test_a_rebuilt_store_knows_all_decisions(engine: Engine):
    one, other = one_of(engine, "quokka"), one_of(engine, "sign")
    approved(engine, one.id, text="Boil no quokka.")
    decided(engine, other.id, "reject", reason="no")
    before, marks = rows(engine), engine._episodes.tables.rows("SELECT id FROM episode WHERE settled ORDER BY id")
    assert len(marks) == 3
    engine.close()
    assert list(open_engine.rebuild(engine.root))[-1].stage == "done"
    with Engine.open(engine.root) as again:
        passed(again)
        assert rows(again) == before
        assert again._episodes.tables.rows("SELECT id FROM episode WHERE settled ORDER BY id") == marks
        assert again.undo_narrated(one.id).done
        assert not note_of(again)
        assert states(again) == {"always boil the quokka": "waiting", "always sign tags": "rejected"}


def test_a_backup_brings_them_to_another_machine(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    one, other = one_of(engine, "quokka"), one_of(engine, "sign")
    approved(engine, one.id)
    decided(engine, other.id, "reject", reason="no")
    before, text = rows(engine), note_of(engine)
    name = Journal.of(engine.root).folder.name
    make.make(tmp_path / "all.zst", [make.Chosen(name, "", "project", "")])
    engine.close()
    monkeypatch.setenv("CM_HOME", str(tmp_path / "other"))
    root = new_project(tmp_path / "elsewhere")
    (root / NOTE).parent.mkdir(parents=True)
    (root / NOTE).write_text(text)
    here = restore.Here(root, Journal.of(root).folder.name, "")
    restore.restore(tmp_path / "all.zst", restore.RestoreOptions(here, into_here=True))
    with Engine.open(root) as again:
        passed(again)
        assert rows(again) == before
        # Nothing of it was done here: the general undo has nothing to take back, and by its id it is.
        assert again.undo_narrated(one.id).done
        assert not note_of(again) or "quokka" not in note_of(again)
        assert again.undo_narrated(other.id).done
        assert set(states(again).values()) == {"waiting"}


def test_a_project_that_is_renamed_keeps_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    use(monkeypatch, sayings)
    root = Repo(tmp_path / "project").root
    Repo(root).commit("begin")
    for engine in opened_project(root, "boil the quokka"):
        one = one_of(engine)
        approved(engine, one.id)
        before = rows(engine)
    moved = root.rename(tmp_path / "renamed")
    links.link(links.memory_link(moved))
    with Engine.open(moved) as again:
        assert rows(again) == before
        assert again.undo_narrated(one.id).done
        assert not note_of(again)


@pytest.mark.few(1)
@pytest.mark.parametrize("as_rule", ["", "rule"])
def test_kill_9_between_any_two_steps_loses_nothing_and_writes_nothing_twice(engine: Engine, as_rule: str):
    one = one_of(engine, "quokka")
    engine.close()
    left, seen = 0, set[str]()
    while True:
        code = run_python(DIES, str(engine.root), one.id, str(left), as_rule).returncode
        with Engine.open(engine.root) as again:
            again.undo_narrated(one_of(again, "sign", "rejected").id) if left else None
            # Whoever decides next does what is left.
            decided(again, one_of(again, "sign").id, "reject")
            state = states(again)["always boil the quokka"]
            seen.add(state)
            written = note_of(again).count("cm:narrator") + again.entries().total
            assert (state, written) in {("waiting", 0), ("approved", 1)}, left
            if state == "waiting":
                approved(again, one.id, as_rule=bool(as_rule))
            assert note_of(again).count("cm:narrator") + again.entries().total == 1
            assert again.undo_narrated(one.id).done
            assert note_of(again).count("cm:narrator") + again.entries().total == 0
            assert states(again)["always boil the quokka"] == "waiting"
        if code == 0:
            break
        assert code == -signal.SIGKILL
        left += 1
    assert left >= 3
    assert seen == {"waiting", "approved"}


def test_a_failed_decision_is_not_done_later(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    from cm_tui.engine.memory.notes import note_file
    from cm_tui.errors import StoreError

    def fail(*_: object) -> None:
        raise StoreError("The disk is full.")

    one = one_of(engine, "quokka")
    with monkeypatch.context() as patch:
        patch.setattr(note_file, "write_data", fail)
        done = decided(engine, one.id)
        assert (done.done, done.problem) == (False, "The disk is full.")
    passed(engine)
    decided(engine, one_of(engine, "sign").id, "reject")
    assert states(engine)["always boil the quokka"] == "waiting"
    assert not note_of(engine)
    approved(engine, one.id)
    assert note_of(engine).count("cm:narrator") == 1


def test_of_an_erased_episode_no_word_is_left_and_the_decision_stands(engine: Engine):
    one, other = one_of(engine, "quokka"), one_of(engine, "sign")
    decided(engine, one.id, "reject", reason="no")
    approved(engine, other.id)
    engine._db.shrink()
    assert stored(b"quokka")
    assert stored(b"sign tags")
    report = engine.erase([one.evidence_ids[0], other.evidence_ids[1]])
    assert any("lose their text" in note for note in report.reasons)
    taught(engine.root, "look away", first=9_000)
    passed(engine)
    # Two sessions still say so.
    assert [each.state for each in engine.narrated(NarratedFilter(EVERY)).rows].count("rejected") == 1
    assert states(engine)["always look away"] == "waiting"
    engine.erase([*one.evidence_ids[1:], other.evidence_ids[0], other.evidence_ids[2]])
    passed(engine)
    assert stored(b"quokka") == []
    # The store has it of the note alone.
    assert [file for file in stored(b"sign tags") if "store.duckdb" not in file] == []
    found = {each.id: each for each in engine.narrated(NarratedFilter(EVERY)).rows}
    assert (found[one.id].state, found[one.id].text, found[one.id].reason) == ("rejected", "", "no")
    assert (found[other.id].state, found[other.id].text) == ("approved", "")
    assert "sign tags" in note_of(engine), "the line is the person's"
    assert engine.narrated_proposal(other.id).evidence == ()
    assert engine.undo_narrated(other.id).done
    assert not note_of(engine)
    assert engine.undo_narrated(one.id).done


def test_what_an_approved_line_stands_on_is_archived_by_its_age(engine: Engine):
    old = put(
        engine.root, [(n + 600, said("always run goldfish before a commit", f"w{n}", 100.0 + n)) for n in range(3)]
    )
    older = put(engine.root, [(n + 700, said("always count in integers", f"d{n}", 366.0 + n)) for n in range(3)])
    passed(engine)
    waiting = engine.retention().waiting
    assert waiting == 6, "they are put to the narrator first"
    for words in ("goldfish", "integers"):
        approved(engine, one_of(engine, words).id)
    report = engine.retention()
    assert {row.id for row in report.rows} == set(older)
    assert (report.archived, report.waiting) == (3, 0)
    assert not set(old) & {row.id for row in report.rows}
    engine.undo_narrated(one_of(engine, "integers", "approved").id)
    assert (engine.retention().archived, engine.retention().waiting) == (0, 3)


def test_many_decide_at_once_and_each_proposal_is_decided_once(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    one, other = one_of(engine, "quokka"), one_of(engine, "sign")
    met, seen, every = threading.Barrier(4), threading.local(), Proposals.all

    def at_once(proposals: Proposals) -> list[FactProposal]:
        """All have looked before the first decides."""
        found = every(proposals)
        if not hasattr(seen, "once"):
            seen.once = met.wait(60)
        return found

    def decide(number: int) -> list[bool]:
        verdict = NarratedDecision("approve" if number % 3 else "reject")
        return [done.done for done in engine.decide_narrated([one.id, other.id], verdict)]

    with monkeypatch.context() as patch, ThreadPoolExecutor(4) as pool:
        patch.setattr(Proposals, "all", at_once)
        found = list(pool.map(decide, range(4)))
    assert [sum(each[place] for each in found) for place in (0, 1)] == [1, 1]
    now = states(engine)
    assert set(now.values()) <= {"approved", "rejected"}
    assert note_of(engine).count("cm:narrator") == list(now.values()).count("approved")
    assert kinds(engine.root).count(DECIDED) == 2


def test_what_a_journal_may_say_is_no_news_to_anybody(engine: Engine):
    journal = Journal.of(engine.root)
    one = one_of(engine, "quokka")
    for data in (
        {}, {"proposal": 3, "verdict": "approve"}, {"proposal": one.id, "verdict": []}, {"proposal": "nx", "verdict": "approve"},
        {"proposal": "n\x1b[1m", "verdict": "reject", "claims": [1, None], "ids": "no", "reason": {}, "by": 7},
        {"proposal": "nyy", "verdict": "approve", "kind": "command", "action": "add", "scope": "project", "target": "../../x", "line": "z"},
        {"proposal": "nyz", "verdict": "approve", "kind": "topic", "action": "merge", "scope": "project", "target": "x"},
    ):  # fmt: skip
        journal.append(DECIDED, data)
        journal.append(WORDED, {**data, "shown": data})
        journal.append(
            WORDED, {"change": "c" * 24, "proposal": "nzz", "shown": {"kind": ["x"], "parts": [[1, 2, 3], 4]}}
        )
    passed(engine)
    assert states(engine)["always boil the quokka"] == "waiting"
    for name in ("nyy", "nyz"):
        with suppress(CmError):
            assert isinstance(engine.undo_narrated(name).done, bool)
    approved(engine, one.id)


MALFORMED: tuple[tuple[str, object], ...] = (
    ("tags", ["a", 3, "b"]), ("tags", "a"), ("parts", [["sessions", "many", ""], ["age", 1.0, "new"], 7]), ("support", "many"), ("first", 1e400),
    ("as_rule", "yes"), ("why", None), ("evidence_ids", ["x"] * 2_000), ("heading", ["Rules"]), ("confidence", float("nan")),
)  # fmt: skip


def test_a_malformed_field_of_an_event_loses_only_itself(engine: Engine):
    one = one_of(engine, "quokka")
    shown = {name: getattr(one, name) for name in ("text", "target", "kind", "action", "scope", "relation")}
    for field, value in MALFORMED:
        check_malformed(shown, field, value)


def check_malformed(shown: dict[str, str], field: str, value: object) -> None:
    written = json.loads(json.dumps({**shown, "tags": ["t"], "support": 3, "reason": "no", field: value}))
    found = decisions.read_shown("nabcdef", written)
    assert found is not None, field
    assert {name: getattr(found, name) for name in shown} == shown, field
    assert found.tags == (
        ("a", "b") if field == "tags" and isinstance(value, list) else () if field == "tags" else ("t",)
    ), field
    assert found.support == (0 if field == "support" else 3), field
    assert [(one.name, one.words) for one in found.parts] == ([("age", "new")] if field == "parts" else []), field
    assert not found.as_rule, field
    assert (found.first, found.confidence, found.why, found.heading, found.evidence_ids) == (0.0, 0.0, "", "", ()), (
        field
    )
    assert decisions.read_shown("nabcdef", {**written, "kind": "unheard of"}) is None, field
    assert decisions.read_shown("nabcdef", {**written, "text": 7}) is None, field


def test_one_malformed_event_leaves_the_other_decisions(engine: Engine):
    one, other = one_of(engine, "quokka"), one_of(engine, "sign")
    decided(engine, one.id, "reject", reason="no")
    decided(engine, other.id, "reject", reason="never")
    journal = Journal.of(engine.root)
    (good,) = [event for event in journal.read() if event.kind == WORDED and event.data["proposal"] == one.id]
    for shown in ({**good.data["shown"], "tags": {"a": 1}, "support": []}, [], None):
        journal.append(WORDED, {**good.data, "change": "c2", "shown": shown})
        journal.append(
            DECIDED, {"change": "c2", "proposal": one.id, "verdict": "defer", "claims": [one.id, 3], "by": ["x"]}
        )
        journal.append(DECIDED, {"change": 3, "proposal": [], "verdict": {}})
        assert {row.reason for row in engine.narrated(NarratedFilter(EVERY)).rows} >= {"never"}
        assert states(engine)["always boil the quokka"] == "deferred"
