"""The record of an episode: what is written is what is read, and journals of earlier versions are read."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.engine.memory.projection.episode_record import KIND, EpisodeRecord, read_episode
from cm_tui.engine.platform.journal.event import Event, as_event, new_line, parse_line
from cm_tui.engine.platform.journal.journal import START
from cm_tui.model import Actor, EpisodeType, Outcome, Step, StepKind

texts = st.text(max_size=40)
shas = st.text("0123456789abcdef", min_size=40, max_size=40)
records = st.builds(
    EpisodeRecord,
    agent=texts, session=texts, root=texts, prompts=st.lists(texts, max_size=3).map(tuple), answer=texts,
    files=st.lists(texts, max_size=3).map(tuple), base=st.one_of(st.just(""), shas), patch=texts, patch_digest=texts,
    patch_cut=st.booleans(), redacted=st.integers(0, 1000), note=texts, stop=texts,
    type=st.sampled_from(get_args(EpisodeType)), actor=st.sampled_from(get_args(Actor)),
    outcome=st.sampled_from(get_args(Outcome)), at=st.none() | st.floats(0, 2e9), title=texts, parent=texts, plan=texts,
    origin=st.just("") | st.text("0123456789abcdef", min_size=32, max_size=32), turn=st.integers(0, 9), verdict=texts,
    step_count=st.integers(0, 9), tokens=st.integers(0, 2**53), tags=st.lists(texts, max_size=2).map(tuple),
    tools=st.lists(texts, max_size=2).map(tuple),
    steps=st.lists(
        st.builds(
            Step, kind=st.sampled_from(get_args(StepKind)), text=texts, tool=texts, result=texts, path=texts,
            failed=st.booleans(),
        ), max_size=3,
    ).map(tuple),
)  # fmt: skip

WRITTEN = (
    '{"id":"18a0f1c2d3e4f5a6deadbeef","time":1760000000.5,"kind":"episode","head":"' + "b" * 40 + '","data":{'
    '"type":"task","agent":"claude-code","session":"s1","root":"/home/me/project","prompts":["make it three",'
    '"and test it"],"answer":"Done.","files":["a.py","test_a.py"],"base":"' + "a" * 40 + '","patch":"-x\\n+y\\n",'
    '"patch_digest":"0123456789abcdef","patch_cut":false,"redacted":2,"note":"","stop":"18a0f1c2d3e4f5a600000000"}}\n'
)
"""A line as version 1 of the journal has it."""


def event_of(line: bytes) -> Event:
    fields = parse_line(line)
    assert isinstance(fields, dict)
    return as_event(fields, START)


@given(records)
def test_a_record_survives_the_journal(record: EpisodeRecord):
    _, line = new_line(KIND, record.to_event_data(), None)
    assert EpisodeRecord.from_event(event_of(line)) == record


def test_a_line_of_today_is_read_and_would_be_written_again():
    event = event_of(WRITTEN.encode())
    record = EpisodeRecord.from_event(event)
    assert record == EpisodeRecord(
        agent="claude-code", session="s1", root="/home/me/project", prompts=("make it three", "and test it"),
        answer="Done.", files=("a.py", "test_a.py"), base="a" * 40, patch="-x\n+y\n", patch_digest="0123456789abcdef",
        redacted=2, stop="18a0f1c2d3e4f5a600000000",
    )  # fmt: skip
    assert record.to_event_data() == json.loads(WRITTEN)["data"]
    whole, listed = (read_episode(event, patch=patch) for patch in (True, False))
    assert (whole.id, whole.time, whole.sha, whole.head) == (event.id, event.time, "a" * 40, "b" * 40)
    assert (whole.patch, listed.patch, listed.patch_lines) == ("-x\n+y\n", "", 2)


@given(
    st.dictionaries(
        st.sampled_from([field.name for field in fields(EpisodeRecord)]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["kind", "text"]), inner | st.just("tool")),
            max_leaves=4,
        ),
    )
)
def test_what_is_not_as_expected_is_left_out(data: dict[str, object]):
    record = EpisodeRecord.from_event(Event("1", 0.0, KIND, None, data, START))
    assert all(isinstance(text, str) for text in (*record.prompts, *record.files, record.agent, record.patch))
    assert record.base == "" or len(record.base) in {40, 64}
    assert all(isinstance(step.text, str) for step in record.steps)
    assert record.tokens >= 0
    assert record.at is None or math.isfinite(record.at)


@pytest.mark.parametrize("base", ["--help", "f" * 39, "A" * 40, 7, None])
def test_a_base_is_a_commit_or_nothing(base: object):
    event = Event("1", 0.0, KIND, "c" * 40, {"base": base}, START)
    assert EpisodeRecord.from_event(event).base == ""
    assert read_episode(event, patch=False).sha == "c" * 40
