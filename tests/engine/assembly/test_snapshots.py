"""Snapshots: what a list costs, what is left of what a killed process wrote, and that nothing outlives its erasure."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.context.assembly import snapshots
from cm_tui.engine.context.assembly.snapshots import FOLDER, Snapshots
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.engine.platform.journal.removal import remove
from cm_tui.model import Assembly, AssemblySource, EpisodeEdit
from tests.earlier_filter import nothing_redacted

ANSWER = "Because the tortoise is older than the island is."
SECRET = "xox" + "b-283746501928-Kq7RzmW2pLx9"
NO_PACK = ("definition://pack",)


def made(at: float, prompt: str = "how is it made", text: str = "text", **values: object) -> Assembly:
    source = AssemblySource("kv://a", "reference", "kv://a", "state", text, 1)
    return Assembly("", at, prompt, 100, 1, text, (source,), **values)  # type: ignore[arg-type]


def ids(kept: Snapshots) -> list[str]:
    return [one.id for one in kept.heads()]


def stored(root: Path, text: str) -> bool:
    """Say whether a snapshot holds a text."""
    return any(text.encode() in gzip.decompress(file.read_bytes()) for file in (folder_of(root) / FOLDER).glob("*.gz"))


def test_a_list_is_read_from_first_lines(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Snapshots(root, 10)
    written = [kept.keep(made(1_700_000_000 + number, f"p {number}")).id for number in range(4)]
    other = Snapshots(root, 10)
    monkeypatch.setattr(snapshots, "read_bounded", None)
    assert ids(other) == written[::-1]
    assert [one.prompt for one in other.heads("P 2")] == ["p 2"]


def test_ids_are_in_order_of_milliseconds(root: Path) -> None:
    kept = Snapshots(root, 10)
    written = [kept.keep(made(1_700_000_000 + number / 1_000)).id for number in range(10)]
    assert written == sorted(written)
    assert kept.named("last").id == written[-1]


def test_the_oldest_go_when_all_are_too_big(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MOST_BYTES", 5_000)
    kept = Snapshots(root, 100)
    for number in range(17):
        # Random letters, which cannot be made smaller.
        kept.keep(made(1_700_000_000 + number, text=gzip.compress(bytes([number]) * 99).hex() * 2))
    total = sum(file.stat().st_size for file in (folder_of(root) / FOLDER).iterdir())
    assert total <= 5_000 + 8 * 700
    assert len(ids(kept)) < 17


def test_what_a_killed_process_left_is_no_snapshot_and_goes(root: Path) -> None:
    kept = Snapshots(root, 10)
    first = kept.keep(made(1_700_000_000.0))
    folder = folder_of(root) / FOLDER
    (folder / f".{first.id}.json.gz.ab12.cm-new").write_bytes(b"half")
    (folder / "zzzz.json.gz").write_bytes(b"half")
    assert ids(kept) == [first.id]
    assert kept.damaged() == 1
    kept.remove_naming({"nothing"})
    assert [file.name for file in folder.iterdir()] == [f"{first.id}.json.gz"]


def test_a_damaged_one_is_told(engine: Engine, root: Path) -> None:
    kept = engine.assemble("how is the price made")
    (folder_of(root) / FOLDER / f"{kept.id}.json.gz").write_bytes(b"\x1f\x8b")
    page = engine.assemblies()
    assert page.rows == ()
    assert page.note == "1 snapshot cannot be read and is skipped."


def turn(root: Path, prompt: str, answer: str, session: str = "s") -> str:
    journal = Journal.of(root)
    base = {"root": str(root), "session": session, "agent": "codex"}
    journal.append("hook.prompt", {**base, "prompt": prompt})
    stop = journal.append("hook.stop", {**base, "answer": answer})
    return journal.append("episode", {**base, "prompts": [prompt], "answer": answer, "stop": stop.id}).id


def test_what_is_erased_is_in_no_snapshot(engine: Engine, root: Path) -> None:
    gone = turn(root, "why zanzibar", ANSWER)
    stays = turn(root, "why driveways", "Because the driveway is paved with old stones.", "t")
    for _ in engine.index():
        pass
    shown = engine.assemble(f"see @episode:{gone}", session="x")
    other = engine.assemble(f"see @episode:{stays}", session="x")
    # For the prompt itself, before there was an episode; short as it is, it is told by its session.
    asked = engine.assemble("why zanzibar", session="s", without=NO_PACK)
    namesake = engine.assemble("why zanzibar", session="z", without=NO_PACK)
    # Its words without its id, as somebody wrote them down.
    repeated = Snapshots(root, 10).keep(made(1_700_000_000.0, text=f"Note: {ANSWER} Yes"))
    assert stored(root, "tortoise is older")
    before = {one.id for one in engine.assemblies().rows}
    assert {shown.id, other.id, asked.id, namesake.id, repeated.id} == before
    engine.erase([gone])
    assert not stored(root, "tortoise")
    after = {one.id for one in engine.assemblies().rows}
    assert after == {other.id, namesake.id}


def test_an_earlier_filters_secrets_go_with_all_that_looks_like_one(engine: Engine, root: Path) -> None:
    with nothing_redacted():
        Journal.of(root).append("hook.prompt", {"root": str(root), "session": "s", "prompt": f"send {SECRET}"})
    kept = Snapshots(root, 10)
    plain = kept.keep(made(1_700_000_000.0))
    leaky = kept.keep(made(1_700_000_001.0))
    file = folder_of(root) / FOLDER / f"{leaky.id}.json.gz"
    text = gzip.decompress(file.read_bytes()).decode().replace("how is it made", f"send {SECRET}")
    file.write_bytes(gzip.compress(text.encode()))
    engine.erase(found=True)
    assert ids(Snapshots(root, 10)) == [plain.id]


def test_what_is_purged_from_the_archive_is_in_no_snapshot(engine: Engine, root: Path) -> None:
    gone = turn(root, "why zanzibar", ANSWER)
    for _ in engine.index():
        pass
    engine.assemble("why zanzibar", session="s", without=NO_PACK)
    other = engine.assemble("why not", session="s", without=NO_PACK)
    engine.edit_episodes([gone], EpisodeEdit(forgotten=True))
    assert engine.retention(apply=True, older_than=0).archived
    engine.purge([gone])
    assert ids(Snapshots(root, 10)) == [other.id]


def test_a_project_that_is_dropped_with_its_episodes_has_no_snapshots(engine: Engine, root: Path) -> None:
    engine.assemble("how is the price made")
    assert (folder_of(root) / FOLDER).is_dir()
    remove(Journal.of(root))
    assert not (folder_of(root) / FOLDER).exists()
