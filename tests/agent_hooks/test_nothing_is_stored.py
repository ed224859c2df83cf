"""The whole corpus of planted secrets goes the way of an agent's session; no byte below CM_HOME has one afterwards."""

from __future__ import annotations

import base64
import io
import json
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pytest

from cm_tui.agent_hooks import command
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.events import record_event
from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.search.embed import prose, prose_process
from tests.daemon.conftest import until
from tests.engine.redaction.corpus import NAMED, Planted, corpus
from tests.gitrepo import Repo

WORDS = {"hunter2", "horse", "winterberg"}
"""Secrets that are words, or stand in the code of tests: too short to be looked for among all bytes."""
SEED = 8
"""Bytes; the shortest text that is looked for has as many."""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "shop")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    return repo


@pytest.fixture
def consumer() -> Iterator[JournalConsumer]:
    consumer = JournalConsumer(lambda *_: None)
    yield consumer
    consumer.close()


def hook(monkeypatch: pytest.MonkeyPatch, event: str, said: dict[str, object]) -> None:
    data = json.dumps(said).encode()
    monkeypatch.setattr(command.stdin, "read", lambda: data)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert command.main([event, "--agent", "claude-code"]) == 0


def pieces(planted: list[Planted]) -> list[str]:
    """Texts that a prompt has room for, each with some of the planted secrets."""
    found, length = [""], 0
    for one in planted:
        length += len(one.text) + 2
        if length > 7_000:
            found.append("")
            length = len(one.text)
        found[-1] += one.text + "\n\n"
    return found


def forms(secret: str) -> Iterator[bytes]:
    """What is looked for: parts of a secret as they are, as JSON writes them, and in base64 at any place."""
    compact = "".join(secret.split())
    size = min(12, len(compact))
    for at in range(0, len(compact) - size + 1, 5):
        part = compact[at : at + size]
        yield part.encode()
        yield json.dumps(part)[1:-1].encode()
    for shift in range(3):
        inside = base64.b64encode(b" " * shift + compact[:30].encode())[4:-4]
        if len(inside) >= 10:
            yield inside


def those_in(stored: bytes, wanted: Collection[bytes]) -> list[bytes]:
    """Which of many texts are there: only where the first eight bytes are, a text is looked for whole."""
    assert all(len(form) >= SEED for form in wanted)
    seeds = np.unique(np.frombuffer(b"".join(form[:SEED] for form in wanted), "<u8"))
    heads = np.zeros(1 << 16, dtype=bool)
    heads[seeds & 0xFFFF] = True
    there: set[bytes] = set()
    for shift in range(SEED):
        eights = np.frombuffer(stored, "<u8", offset=shift, count=(len(stored) - shift) // SEED)
        found = np.intersect1d(eights[heads[eights & 0xFFFF]], seeds)
        there.update(seed.tobytes() for seed in found)
    return [form for form in wanted if form[:SEED] in there and form in stored]


def test_no_byte_of_a_planted_secret_is_stored(
    repo: Repo, cm_home: Path, consumer: JournalConsumer, monkeypatch: pytest.MonkeyPatch
):
    planted = [one for one in corpus() if one.secret not in WORDS]
    monkeypatch.chdir(repo.root)
    # Vectors are made and kept of every passage, each of its first words: what they mean is not looked at here.
    monkeypatch.setattr(prose, "MAX_TOKENS", 8)
    # In this process, however many they are.
    monkeypatch.setattr(prose_process, "MANY", sys.maxsize)
    # No other test in this process meets a model that reads so little.
    own = prose_process.ProseProcesses(prose.ProseProvider())
    monkeypatch.setattr(prose_process, "shared_provider", lambda **_: own)
    who = {"session_id": "s", "cwd": str(repo.root)}
    texts = pieces(planted)
    for number, text in enumerate(texts):
        session = {**who, "session_id": f"s{number}"}
        hook(monkeypatch, "prompt", {**session, "prompt": text})
        repo.write("new.txt", text)
        repo.git("add", "--intent-to-add", "new.txt")
        hook(monkeypatch, "edit", {**session, "tool_input": {"file_path": "new.txt"}})
        hook(monkeypatch, "stop", {**session, "last_assistant_message": text})
        consumer.on_nudge(repo.root)
        until(lambda number=number: len(episodes(repo)) == number + 1, "the episode")
        # The project's own files are the project's: what is indexed of them is not what is looked at here.
        repo.git("rm", "-qf", "--cached", "new.txt")
        (repo.root / "new.txt").unlink()
    # A first line has all of a secret only where it is not broken.
    whole = [one for one in planted if not one.place.startswith("wrapped") and one.kind != "a password with signs"]
    for one in whole[::9]:
        first = one.text.split("\n")[0]
        command.main(["git", "post-checkout", "0" * 40, "1" * 40, f"feature/{first}"])
        if "/" not in one.secret and "://" not in first:
            hook(monkeypatch, "edit", {**who, "tool_input": {"file_path": first}})
        hook(monkeypatch, "session-start", {**who, "source": one.text})
        record_event(repo.root, "note", {"notes": [one.text, {"more": one.text}]}, {"text": one.text}, limit=8_000)
    assert len(list(Journal.of(repo.root).read())) > 200
    with Engine.open(repo.root) as engine:
        for _ in engine.index():
            pass
        assert engine.search("deploying to prod").hits
    stored = b"\0".join(file.read_bytes() for file in sorted(cm_home.rglob("*")) if file.is_file())
    looked_for = {form: (one.kind, one.place) for one in planted for form in forms(one.secret)}
    found = those_in(stored, looked_for)
    assert [(*looked_for[form], form) for form in found] == []
    assert b"[redacted: github token]" in stored


def episodes(repo: Repo) -> list[object]:
    return [event for event in Journal.of(repo.root).read() if event.kind == "episode"]


def test_what_is_looked_for_is_found_at_every_place():
    wanted = [b"sixteen bytes, x", b"eight by", b"eight bytes, and another end", b"nowhere at all"]
    for shift in range(2 * SEED):
        stored = b"." * shift + wanted[0] + b"eight bytes, and anothe"
        assert those_in(stored, wanted) == wanted[:2]
    assert those_in(b"." * 100 + wanted[2], wanted) == wanted[1:3]


def test_what_stands_in_the_corpus_is_looked_for():
    assert {one.place for one in corpus()} > {"named", "json in json", "base64, wrapped"}
    assert len(NAMED) >= 50
