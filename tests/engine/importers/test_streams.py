"""A turn keeps its own question, answer and time, whatever happened to the lines around it: the same for all agents."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.engine.memory.transcripts import lines as lines_of
from cm_tui.engine.memory.transcripts.claude_code import ClaudeCode
from cm_tui.engine.memory.transcripts.codex import Codex as CodexFormat
from cm_tui.engine.memory.transcripts.copilot import Copilot as CopilotFormat
from cm_tui.engine.memory.transcripts.format import Format
from cm_tui.engine.memory.transcripts.gemini import Gemini as GeminiFormat
from cm_tui.engine.memory.transcripts.opencode import OpenCode as OpenCodeFormat
from cm_tui.engine.memory.transcripts.transcript import Read, Resume, Skipped, Transcript
from tests.engine.importers.transcripts import LONG_AGO, Claude, Codex, Copilot, Gemini, OpenCode, iso
from tests.tiers import examples

Lines = list[bytes]
_PAIRS = [("question 1 上", "answer 1"), ("question 2 上", "answer 2"), ("question 3 上", "answer 3")]
"""The character has the byte of a line end in UTF-16."""
AGENTS = ["claude-code", "codex", "gemini", "copilot"]
HEADED = {"codex", "gemini", "copilot"}
"""Agents whose first record is of the session."""


class Story(NamedTuple):
    """Three turns as one agent writes them."""

    format: Format
    file: Path
    records: list[dict[str, Any]]

    @property
    def lines(self) -> Lines:
        return [json.dumps(record, ensure_ascii=False).encode() for record in self.records]

    def write(self, data: bytes) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(data)

    def read(self, resume: Resume | None = None) -> Iterator[Read | Skipped]:
        transcript = Transcript(self.format.agent, str(self.file), self.file, self.file.stat().st_size, LONG_AGO)
        facts = self.format.facts(transcript)
        assert facts is not None
        for item in self.format.read(transcript, facts, resume or Resume()):
            assert isinstance(item, Read | Skipped)
            yield item

    def turns(self) -> list[Read]:
        return [item for item in self.read() if isinstance(item, Read)]


def pair(item: Read) -> tuple[str, str]:
    return " + ".join(prompt.text for prompt in item.turn.prompts), " + ".join(item.turn.answer)


def story(base: Path, agent: str, *, chained: bool = True) -> Story:
    if agent == "codex":
        one = Codex(base, "/work/shop")
        records = [one.meta(), *(record for asked, said in _PAIRS for record in one.turn(asked, said))]
        return Story(CodexFormat({"CODEX_HOME": str(base)}), one.file, records)
    if agent == "gemini":
        three = Gemini(base, "/work/shop")
        three.name_project()
        records = [three.meta(), *(record for asked, said in _PAIRS for record in three.turn(asked, said))]
        return Story(GeminiFormat({"GEMINI_CLI_HOME": str(base)}), three.file, records)
    if agent == "copilot":
        four = Copilot(base, "/work/shop")
        records = [four.start(), *(record for asked, said in _PAIRS for record in four.turn(asked, said))]
        return Story(CopilotFormat({"COPILOT_HOME": str(base)}), four.file, records)
    two = Claude(base, "/work/shop")
    records = [record for asked, said in _PAIRS for record in two.turn(asked, said)]
    if not chained:
        records = [{**record, "parentUuid": None} for record in records]
    return Story(ClaudeCode({"CLAUDE_CONFIG_DIR": str(base)}), two.file, records)


def joined(lines: Lines, end: bytes = b"\n") -> bytes:
    return b"".join(line + end for line in lines)


def packed_by(codec: str) -> Callable[[Lines], bytes]:
    return lambda lines: joined(lines).decode().encode(codec)


def clock_set_back(lines: Lines) -> bytes:
    """Each record was written a minute before the one before it."""
    records = [json.loads(line) for line in lines]
    return joined([json.dumps({**one, "timestamp": iso(-60 * at)}).encode() for at, one in enumerate(records)])


WHOLE: dict[str, Callable[[Lines], bytes]] = {
    "as written": joined,
    "CRLF": lambda lines: joined(lines, b"\r\n"),
    "CR alone": lambda lines: joined(lines, b"\r"),
    "no end of the last line": lambda lines: joined(lines)[:-1],
    "all on one line": lambda lines: b"".join(lines) + b"\n",
    "pairs on one line": lambda lines: b"".join(one + b"\n" * (at % 2) for at, one in enumerate(lines)) + b"\n",
    "pairs the other way round": lambda lines: b"".join(one + b"\n" * (1 - at % 2) for at, one in enumerate(lines)) + b"\n",
    "blank lines": lambda lines: joined(lines, b"\n \n\n"),
    "NUL bytes between records": lambda lines: joined(lines, b"\0\0\0\n\0\0"),
    "NUL bytes and no line ends": lambda lines: joined(lines, b"\0" * 500),
    "each line doubled": lambda lines: joined([one for line in lines for one in (line, line)]),
    "each line doubled on one line": lambda lines: joined([line + line for line in lines]),
    "half of each line before it": lambda lines: joined([one for line in lines for one in (line[: len(line) // 2], line)]),
    "half of each line in its line": lambda lines: joined([line[: len(line) // 2] + line for line in lines]),
    "half of each line, NUL, the line": lambda lines: joined([line[: len(line) // 3] + b"\0" * 99 + line for line in lines]),
    "rubbish behind each record": lambda lines: joined([line + b"\xff\xfe}}]" for line in lines]),
    "marks of UTF-8 on each line": lambda lines: joined([b"\xef\xbb\xbf" + line for line in lines]),
    "UTF-8 with a mark": packed_by("utf-8-sig"),
    "UTF-16": packed_by("utf-16"),
    "UTF-16, big": lambda lines: b"\xfe\xff" + joined(lines, b"\r\n").decode().encode("utf-16-be"),
    "UTF-16, little, no mark": packed_by("utf-16-le"),
    "UTF-16, big, no mark": packed_by("utf-16-be"),
    "UTF-32": packed_by("utf-32"),
    "UTF-16, then UTF-8": lambda lines: joined(lines[:3]).decode().encode("utf-16") + joined(lines[3:]),
    "UTF-16, halves and pairs": lambda lines: joined([line[: len(line) // 2].decode(errors="ignore").encode() + line for line in lines])
    .decode().encode("utf-16"),
    "a clock that goes backwards": clock_set_back,
}  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("name", WHOLE)
def test_no_turn_loses_anything_to_how_its_lines_are_written(tmp_path: Path, agent: str, name: str):
    one = story(tmp_path, agent)
    one.write(WHOLE[name](one.lines))
    turns = one.turns()
    assert [pair(item) for item in turns] == _PAIRS
    # Each turn can be read again from where it begins.
    for number, item in enumerate(turns):
        # In another encoding no place can be read from: such a file is read from its beginning.
        first = 0 if name.startswith(("UTF-16", "UTF-32")) else number
        resume = Resume(item.start, item.number, {"events": True})
        again = [found for found in one.read(resume) if isinstance(found, Read)]
        assert [(pair(found), found.turn.key) for found in again] == [
            (pair(found), found.turn.key) for found in turns[first:]
        ]


@pytest.mark.parametrize("name", [name for name in WHOLE if "NUL, the line" not in name])
def test_a_transcript_without_links_between_records_is_read_in_its_order(tmp_path: Path, name: str):
    one = story(tmp_path, "claude-code", chained=False)
    one.write(WHOLE[name](one.lines))
    assert [pair(item) for item in one.turns()] == _PAIRS


def numbers(text: str) -> set[str]:
    return set(re.findall(r"(?:question|answer) (\d)", text))


@pytest.mark.parametrize(
    ("agent", "chained"),
    [("claude-code", True), ("claude-code", False), ("codex", True), ("gemini", True), ("copilot", True)],
)
@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
@pytest.mark.parametrize("is_tail", [False, True])
@pytest.mark.parametrize("width", [1, 2])
def test_no_answer_is_given_to_the_question_of_a_neighbour(
    tmp_path: Path, agent: str, chained: bool, share: float, is_tail: bool, width: int
):
    """Any line, or two of them, torn so that nothing of it can be read: its end or its beginning is missing."""
    one = story(tmp_path, agent, chained=chained)
    lines = one.lines
    for at in range(agent in HEADED, len(lines)):
        torn = [
            line[int(len(line) * share) :][1:] if is_tail else line[: int(len(line) * share)]
            for line in lines[at : at + width]
        ]
        one.write(joined([*lines[:at], *torn, *lines[at + width :]]))
        found = {pair(item) for item in one.turns()}
        for asked, said in found:
            assert len(numbers(asked) | numbers(said)) <= 1, (at, asked, said)
        whole = len(lines) // 3
        lost = {(place - (agent in HEADED)) // whole for place in range(at, min(at + width, len(lines)))}
        assert found >= {kept for number, kept in enumerate(_PAIRS) if number not in lost}, at


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.floats(0, 1),
    size=st.sampled_from([5, 50, 300, 900, 1_500]),
    how=st.sampled_from(["hole", "rubbish"]),
)
@pytest.mark.parametrize("agent", AGENTS)
def test_no_answer_is_given_to_a_neighbour_over_a_lost_block(
    tmp_path: Path, agent: str, place: float, size: int, how: str
):
    """As a disk loses it: a hole, or other bytes stand there."""
    one = story(tmp_path, agent)
    data = joined(one.lines)
    first = len(one.lines[0]) + 1 if agent in HEADED else 0
    begin = first + int(place * (len(data) - first - 1))
    lost = data[begin : begin + size]
    instead = {"hole": bytes(len(lost)), "rubbish": b"\xf3}\x02" * (len(lost) // 3)}[how]
    one.write(data[:begin] + instead + data[begin + len(lost) :])
    for item in one.turns():
        asked, said = pair(item)
        assert len(numbers(asked) | numbers(said)) <= 1


@pytest.mark.parametrize("at", range(6))
def test_a_record_that_is_missing_gives_no_answer_to_another_question(tmp_path: Path, at: int):
    """Of the others each names the record that it follows."""
    one = story(tmp_path, "claude-code")
    one.write(joined([line for number, line in enumerate(one.lines) if number != at]))
    found = {pair(item) for item in one.turns()}
    assert all(len(numbers(asked) | numbers(said)) <= 1 for asked, said in found)
    assert found >= {kept for number, kept in enumerate(_PAIRS) if number != at // 2}


@pytest.mark.parametrize("at", range(1, 19))
def test_a_torn_line_of_codex_loses_no_turn(tmp_path: Path, at: int):
    """What is asked and said stands in two records each."""
    one = story(tmp_path, "codex")
    one.write(joined([line[:50] if number == at else line for number, line in enumerate(one.lines)]))
    assert [pair(item) for item in one.turns()] == _PAIRS


def test_a_turn_that_lost_its_answer_says_so(tmp_path: Path):
    one = story(tmp_path, "claude-code")
    lines = one.lines
    one.write(joined([lines[0], lines[1][:60], *lines[2:]]))
    first, *others = one.turns()
    assert (pair(first), first.turn.verdict, first.turn.is_empty) == (
        ("question 1 上", ""),
        "a part of the turn could not be read",
        False,
    )
    assert [pair(item) for item in others] == _PAIRS[1:]


@pytest.mark.parametrize(
    "order", [(0, 2, 1, 3, 4, 5), (1, 0, 3, 2, 5, 4), (0, 1, 2, 4, 3, 5), (0, 2, 4, 1, 3, 5), (5, 4, 3, 2, 1, 0)]
)
def test_records_that_are_out_of_order_follow_their_parents(tmp_path: Path, order: tuple[int, ...]):
    one = story(tmp_path, "claude-code")
    one.write(joined([one.lines[at] for at in order]))
    turns = one.turns()
    assert sorted(pair(item) for item in turns) == _PAIRS
    last = turns[-1]
    again = {pair(item) for item in one.read(Resume(last.start)) if isinstance(item, Read)}
    assert pair(last) in again
    assert again <= set(_PAIRS)


def test_the_end_of_another_task_of_codex_is_no_answer(tmp_path: Path):
    one = Codex(tmp_path, "/work/shop")
    records = [
        one.meta(), one.event("task_started", turn_id="a"), one.event("user_message", message="question 1"), one.event("agent_message", message="answer 1"),
        one.event("task_started", turn_id="b"), one.event("user_message", message="question 2"),
        one.event("task_complete", turn_id="a", last_agent_message="answer 1"), one.event("agent_message", message="answer 2"),
        one.event("task_complete", turn_id="b", last_agent_message="answer 2"),
        one.event("task_started", turn_id="c"), one.event("agent_message", message="of no question"), one.event("task_complete", turn_id="c"),
    ]  # fmt: skip
    found = Story(CodexFormat({"CODEX_HOME": str(tmp_path)}), one.file, records)
    found.write(joined(found.lines))
    assert [pair(item) for item in found.turns()] == [
        ("question 1", "answer 1"),
        ("question 2", "answer 2"),
        ("", "of no question"),
    ]


def with_picture(agent: str, record: dict[str, Any], size: int) -> dict[str, Any]:
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * size}}
    if agent == "codex":
        payload = dict(record["payload"])
        if payload.get("type") == "user_message":
            payload["images"] = ["data:image/png;base64," + "A" * size]
        elif isinstance(payload.get("content"), list):
            payload["content"] = [*payload["content"], {"type": "input_image", "image_url": "A" * size}]
        return {**record, "payload": payload}
    if agent == "gemini":
        if record.get("type") != "user":
            return {**record, "model": "A" * size}
        return {
            **record,
            "content": [{"inlineData": {"mimeType": "image/png", "data": "A" * size}}, *record["content"]],
        }
    if agent == "copilot":
        return {**record, "data": {"attachments": [{"type": "blob", "data": "A" * size}], **record["data"]}}
    message = record["message"]
    parts = (
        message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
    )
    return {**record, "message": {**message, "content": [picture, *parts]}}


@pytest.mark.few(6)
@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
@pytest.mark.parametrize("end", [b"\n", b""])
def test_pictures_take_nothing_from_a_turn(tmp_path: Path, agent: str, codec: str, end: bytes):
    """Also with two such records on one line."""
    one = story(tmp_path, agent)
    data = joined(
        [json.dumps(with_picture(agent, record, 1_500_000), ensure_ascii=False).encode() for record in one.records], end
    )
    one.write((data + b"\n").decode().encode(codec))
    items = list(one.read())
    assert [pair(item) for item in items if isinstance(item, Read)] == _PAIRS
    assert not any(isinstance(item, Skipped) for item in items)
    if codec == "utf-8":
        second = one.turns()[1]
        again = [
            pair(item)
            for item in one.read(Resume(second.start, second.number, {"events": True}))
            if isinstance(item, Read)
        ]
        assert again == _PAIRS[1:]


def test_damage_is_looked_through_in_bounded_time():
    text = '{"type":"user","message":' + '{"a":' * 200_000
    assert [part.record for part in lines_of.records_in(text)] == [None]
    nested = '{"type":"user","x":[' + '{"timestamp":1,"y":[1,2,3]},' * 20_000
    assert [part.record for part in lines_of.records_in(nested)] == [None]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("days", [1, 30])
def test_a_turn_is_dated_by_its_own_records(tmp_path: Path, agent: str, days: int):
    one = story(tmp_path, agent)
    size = (len(one.records) - (agent in HEADED)) // 3
    for at, record in enumerate(one.records):
        turn = max(0, at - (agent in HEADED)) // size
        record["timestamp"] = iso(turn * days * 86_400 - 40 * 86_400 + at % size)
    one.write(joined(one.lines))
    for number, item in enumerate(one.turns()):
        began = LONG_AGO + number * days * 86_400 - 40 * 86_400
        assert item.turn.began is not None
        assert item.turn.ended is not None
        assert began <= item.turn.began <= item.turn.ended < began + size


# --- OpenCode ---


def opencode(base: Path, form: str, change: Callable[[OpenCode], None]) -> list[Read | Skipped]:
    one = OpenCode(base, "/work/shop")
    one.session("ses_a")
    for asked, said in _PAIRS:
        one.turn("ses_a", asked, said)
        one.messages[-1][0]["parentID"] = one.messages[-2][0]["id"]
    change(one)
    one.write_database() if form == "database" else one.write_files(oldest=form == "oldest")
    format_ = OpenCodeFormat({"XDG_DATA_HOME": str(base)})
    (transcript,) = format_.transcripts()
    facts = format_.facts(transcript)
    assert facts is not None
    return [item for item in format_.read(transcript, facts, Resume()) if isinstance(item, Read | Skipped)]


def _damaged(at: int, part: bool) -> Callable[[OpenCode], None]:
    def change(one: OpenCode) -> None:
        info, parts = one.messages[at]
        if part:
            one.messages[at] = (info, [{"type": "text", "text": float("nan")}, *parts[1:]])
            parts = one.messages[at][1]
            parts[0].clear()
        else:
            info.pop("role", None)

    return change


@pytest.mark.parametrize("form", ["database", "files", "oldest"])
@pytest.mark.parametrize("at", range(6))
@pytest.mark.parametrize("part", [True, False])
def test_a_damaged_message_of_opencode_gives_no_answer_to_another_question(
    tmp_path: Path, form: str, at: int, part: bool
):
    items = opencode(tmp_path, form, _damaged(at, part))
    assert any(isinstance(item, Skipped) for item in items)
    found = {pair(item) for item in items if isinstance(item, Read)}
    assert all(len(numbers(asked) | numbers(said)) <= 1 for asked, said in found)
    assert found >= {kept for number, kept in enumerate(_PAIRS) if number != at // 2}


@pytest.mark.parametrize("order", [(0, 2, 1, 3, 4, 5), (1, 0, 3, 2, 5, 4), (0, 2, 1, 4, 3, 5)])
def test_messages_of_opencode_follow_their_parents_when_the_clock_went_backwards(
    tmp_path: Path, order: tuple[int, ...]
):
    def change(one: OpenCode) -> None:
        for place, at in enumerate(order):
            one.messages[at][0]["time"]["created"] = int(LONG_AGO * 1_000) + place

    assert {pair(item) for item in opencode(tmp_path, "database", change) if isinstance(item, Read)} == set(_PAIRS)


# --- packed ---


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("name", ["as written", "UTF-16", "all on one line"])
def test_a_packed_transcript_is_read(tmp_path: Path, agent: str, name: str):
    one = story(tmp_path, agent)
    packed = one._replace(file=one.file.with_name(f"{one.file.name}.gz"))
    packed.write(gzip.compress(WHOLE[name](one.lines)))
    assert [found.file for found in packed.format.transcripts()] == [packed.file]
    assert [pair(item) for item in packed.turns()] == _PAIRS
    # No place in it can be read from: all of it is read, from anywhere.
    assert len(list(packed.read(Resume(5, 1, {"events": True})))) == 3
