"""The measurement of recall: its figures are what they are said to be, and its cases are whole."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from cm_tui.errors import UsageError
from tests.bench import coding_sessions, memory
from tests.bench.conversations import Asked, read
from tests.bench.memory_cases import cases, plain_search

TALK = {
    "sessions": [
        {"id": "D1", "time": "1:56 pm on 8 May, 2023", "turns": [
            {"id": "D1:1", "speaker": "Ada", "text": "I adopted a puppy from the shelter yesterday."},
            {"id": "D1:2", "speaker": "Ben", "text": "What is it called?"}]},
        {"id": "D2", "time": "2023-05-09 10:00", "turns": [
            {"id": "D2:1", "speaker": "Ben", "text": "My bicycle was stolen at the station."}]},
    ],
    "questions": [
        {"question": "Which animal did Ada adopt?", "kind": "single-hop", "evidence": ["D1:1"]},
        {"question": "What happened to the bicycle?", "kind": "open", "evidence": ["D2:1"]},
    ],
}  # fmt: skip


def test_conversations_are_measured_through_recall(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "talk.json"
    file.write_text(json.dumps([TALK]))
    assert memory.main([str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["conversations"], found["turns"], found["questions"]) == (1, 3, 2)
    assert found["ways"]["recall"] == {"turns@5": 1.0, "turns@10": 1.0, "NDCG@10": 1.0, "sessions@5": 1.0}
    assert set(found["kinds"]) == {"single-hop", "open"}
    assert {"without neighbours", "without vectors", "words alone"} <= set(found["ways"])


def test_covered_words_of_an_answer(tmp_path: Path):
    file = tmp_path / "coding.json"
    turns = [{"id": "s:0", "text": "User: pin it\nAssistant: croniter is pinned to 1.3.8 in pyproject.toml"},
             {"id": "s:1", "text": "User: go\nAssistant: done"}]  # fmt: skip
    file.write_text(json.dumps([{"sessions": [{"id": "s", "time": "2025-11-01", "turns": turns}], "questions": []}]))
    [conversation] = read(file)
    assert conversation.turns[0].record.prompts == ("pin it",)
    assert conversation.turns[0].record.answer.startswith("croniter")
    asked = Asked("Which version did we choose?", "factual", answer="croniter 1.3.8, pinned exactly")
    figures = memory.figures_of(asked, ["s:1", "s:0"], conversation)
    assert figures["answer words@1"] == 0
    assert figures["answer words@3"] == figures["answer words in all turns"] == pytest.approx(3 / 4)


@pytest.mark.parametrize("text", ["nothing", "[{}]", '{"sessions": [{"id": "s"}], "questions": []}', "[1]"])
def test_other_files_are_refused(tmp_path: Path, text: str):
    file = tmp_path / "other.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="cannot be used"):
        read(file)
    with pytest.raises(UsageError, match="No file"):
        memory.main([])


def test_the_cases_are_whole():
    found = cases()
    assert len(found.questions) == 150
    assert Counter(asked.kind.split(", ")[1] for asked in found.questions) == {"first half": 75, "second half": 75}
    assert len({asked.question for asked in found.questions}) == 150
    assert all(asked.evidence for asked in found.questions)


def test_plain_text_search_counts_words_as_they_are_written():
    turns = cases().turns
    first = plain_search("table of exponents for JPY", turns)[0]
    assert "JPY" in next(turn.text for turn in turns if turn.id == first)
    assert plain_search("xylophone", turns) == []


def test_the_coding_sessions_are_whole(tmp_path: Path):
    text = coding_sessions.FILE.read_text(encoding="utf-8")
    asked = [line[2:].split("|") for line in text.splitlines() if line.startswith("? ")]
    assert len(asked) == 45
    assert all(memory.words_of(answer) - memory.words_of(question) for question, answer in asked)
    coding_sessions.write(text, tmp_path, tmp_path, 0, random.Random(1))
    files = sorted(tmp_path.rglob("*.jsonl"))
    assert len(files) == text.count("\n= ")
    records = [json.loads(line) for line in files[0].read_text().splitlines()]
    assert records[0]["aiTitle"] == "Redis cluster spike"
    assert any("WATCH - all keys must map" in json.dumps(record) for record in records)
