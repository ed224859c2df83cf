"""Edits of JSON as text: what is not ours keeps every byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.integrations.agents.json_edit import Document, NotJsonError, parse

KEYS = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False, allow_infinity=False) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
INDENTS = st.sampled_from([None, 1, 2, 4, "\t"])


@given(OBJECTS, INDENTS, st.sampled_from(["", "\n"]), st.booleans())
def test_it_reads_what_json_reads(value, indent, end, crlf):
    text = json.dumps(value, indent=indent, ensure_ascii=False) + end
    text = text.replace("\n", "\r\n") if crlf else text
    assert parse(text).value == value


@given(st.text(alphabet='{}[]",:1a \n/*tru', max_size=30))
def test_what_json_refuses_is_refused_and_what_it_reads_is_read(text):
    try:
        expected = json.loads(text)
    except ValueError:
        if "//" in text or "/*" in text or ",]" in text.replace(" ", "") or ",}" in text.replace(" ", ""):
            return
        try:
            found = parse(text).value
        except NotJsonError:
            return
        assert ",\n" in text, (text, found)  # a trailing comma before a line break
    else:
        assert parse(text).value == expected


@given(OBJECTS, INDENTS, VALUES, st.booleans())
def test_putting_in_and_taking_out_gives_the_text_back(value, indent, new, crlf):
    text = json.dumps(value, indent=indent, ensure_ascii=False) + "\n"
    text = text.replace("\n", "\r\n") if crlf else text
    document = Document(text)
    key = "not there before"
    document.put((key, "cm"), new)
    assert json.loads(document.text) == {**value, key: {"cm": new}}
    document.remove((key, "cm"))
    assert document.text == text


@given(OBJECTS, INDENTS)
def test_lists_grow_and_shrink_in_place(value, indent):
    before = {"hooks": {"Stop": [{"theirs": 1}], **value}}
    text = json.dumps(before, indent=indent)
    document = Document(text)
    document.append(("hooks", "Stop"), {"ours": 2})
    assert document.value["hooks"]["Stop"][-1] == {"ours": 2} or "Stop" in value
    if "Stop" not in value:
        document.remove(("hooks", "Stop", 1))
        assert document.text == text


ODD = """\ufeff// the team's settings
{
    /* ours */ "a" : [ 1,2 , 3 ],   // three
    "url": "http://x//y", // no comment in a string

    "last": { "x":1 } // the end, without a comma
    /* bye */
}
// after
"""


def test_comments_and_odd_spacing_stay():
    document = Document(ODD)
    document.put(("mcp", "cm"), {"command": ["cm", "mcp"]})
    assert document.value["mcp"] == {"cm": {"command": ["cm", "mcp"]}}
    assert '"last": { "x":1 }, // the end, without a comma\n    /* bye */\n    "mcp": {' in document.text
    document.remove(("mcp", "cm"))
    assert document.text == ODD


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1,}',
        '{\n  "a": 1,\n}\n',
        '{\n  "a": 1, // one\n}\n',
        "{}",
        "{ }",
        "{\n}\n",
        "{\n  // nothing yet\n}\n",
        '{"a": {}}',
        '{ "a": 1 }',
        '{"a": 1 // one\n}',
    ],
)
def test_every_way_to_end_an_object(text):
    document = Document(text)
    document.put(("k",), {"x": [1]})
    assert document.value["k"] == {"x": [1]}
    parse(document.text)
    document.put(("k",), {"x": [2]})
    assert document.value["k"] == {"x": [2]}
    document.remove(("k",))
    assert document.text == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{\n  // ours\n  "servers": {"cm": 1}\n}\n', "{\n  // ours\n}\n"),
        ('{// ours\n"servers": {"cm": 1}, "a": 1}', '{// ours\n "a": 1}'),
        ('{"a": 1, // ours\n"servers": {"cm": 1},}', '{"a": 1, // ours\n}'),
        ('{"a": 1, // ours\r\n"servers": {"cm": 1}}', '{"a": 1 // ours\r\n}'),
        ('{"a": 1 /* // */,  "servers": {"cm": 1}}', '{"a": 1 /* // */}'),
    ],
)
def test_a_comment_before_what_goes_takes_in_nothing_else(text: str, left: str):
    document = Document(text)
    document.remove(("servers", "cm"))
    assert document.text == left
    assert document.value == {name: 1 for name in "a" if '"a"' in text}


def test_what_others_added_behind_ours_stays():
    document = Document('{\n  "a": 1\n}\n')
    document.put(("k",), 1)
    document.put(("b",), 2)
    document.remove(("k",))
    assert document.text == '{\n  "a": 1,\n  "b": 2\n}\n'


def test_an_equal_value_is_left_as_it_is_written():
    text = '{"k": {"x" :1}}'
    document = Document(text)
    document.put(("k",), {"x": 1})
    assert document.text == text


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{"a": nope}', "line 1, column 7"),
        ('{"a": 1', "line 1, column 8"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": "x\n"}', "line 1, column 9"),
        ("[1]", "line 1, column 1"),
        ('{"a": 1} x', "line 1, column 10"),
        ("{" * 100_000, "line 1, column 2"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_said_with_line_and_column(text, where):
    with pytest.raises(NotJsonError, match=where):
        Document(text)


def test_something_else_in_our_place_is_refused():
    with pytest.raises(NotJsonError, match="hooks is not an object"):
        Document('{"hooks": []}').put(("hooks", "Stop"), [])
    with pytest.raises(NotJsonError, match=r"hooks\.Stop is not a list"):
        Document('{"hooks": {"Stop": {}}}').append(("hooks", "Stop"), 1)
