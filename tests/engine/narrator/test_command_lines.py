"""Lines of a shell, taken apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.memory.narrator.runs import commands_of
from cm_tui.engine.memory.narrator.shell import simple_commands
from tests.engine.narrator.miners.turns import ROOT
from tests.tiers import examples


def words(line: str) -> list[tuple[str, ...]]:
    return [simple.words for simple in simple_commands(line)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("pytest -q", [("pytest", "-q")]),
        ("a && b; c || d | e & f", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",)]),
        ("a > out 2>&1 < in && b &> all", [("a",), ("b",)]),
        ("echo 'a && b' \"c; d\" e\\ f", [("echo", "a && b", "c; d", "e f")]),
        ("a \\\n  -b", [("a", "-b")]),
        ("a # not this\nb", [("a",), ("b",)]),
        ("a $(b; c) `d`", [("a", "$(b; c)", "`d`")]),
        ("cat <<'EOF' > x\nfoo; bar\nEOF\nmake", [("cat",), ("make",)]),
        ("git commit -m \"$(cat <<'EOF'\nfix: it\n\nmore\nEOF\n)\"", [("git", "commit", "-m", "fix: it")]),
        ("for f in *; do x; done", []),
        ("if a; then b; fi", []),
        ("f() { a; }", []),
        ("", []),
        ("a\0b", []),
        ("x" * 3_000, []),
    ],
)
def test_a_line_is_taken_apart(line: str, found: list[tuple[str, ...]]) -> None:
    assert words(line) == found


def test_what_stands_before_and_between_is_told() -> None:
    first, second, third = simple_commands("A=1 a && (b) | c")
    assert (first.env, first.joined) == (("A=1",), "")
    assert (second.joined, second.is_inner) == ("&&", True)
    assert (third.joined, third.is_inner) == ("|", False)


def test_behind_a_quote_that_nobody_closes_nothing_is_known() -> None:
    assert words("make lint && echo 'oh") == [("make", "lint")]


@settings(max_examples=examples(400), deadline=None)
@given(line=st.text(alphabet="ab /|&;<>()$`'\"\\\n{}=-.:#*~EOF", max_size=300))
def test_no_line_raises_and_words_are_never_empty_of_a_program(line: str) -> None:
    for simple in simple_commands(line):
        assert simple.words
    for command in commands_of(line, ROOT):
        assert command.text


@pytest.mark.parametrize(
    "piece", ["(", "'", '"', "\\", "$(", "`", "a 'b\"", "<<EOF\n", "$((", "${", "a=b ", "|", "2>&1 ", "cd a && "]
)
def test_a_hostile_line_takes_no_longer_than_its_length(piece: str) -> None:
    line = piece * (1_999 // len(piece))
    simple_commands(line)
    commands_of(line, ROOT)


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("cd sub && make x && cd .. && make y", ["cd sub && make x", "make y"]),
        ("cd .. && make x", []),
        ("cd /elsewhere && make x", []),
        (f"cd {ROOT}2 && make x", []),
        ("cd ~ && make x", []),
        (f"make -C {ROOT}/sub all", ["make -C sub all"]),
        (f"cd sub && ./run {ROOT}/data", ["cd sub && ./run ../data"]),
        (f"pytest {ROOT}", ["pytest ."]),
        (f"bash -lc 'cd {ROOT} && cargo test'", ["cargo test"]),
        ("make a || make b", ["make a"]),
        ("make a | tee log | grep x", ["make a"]),
        ("/usr/bin/env python3 x.py", ["python3 x.py"]),
        ("nice -n 5 make a", ["make a"]),
        ("env A=b make a", ["A=b make a"]),
        ("A='b c' make a", ["A='b c' make a"]),
        ('pytest -k "it\'s"', ['pytest -k "it\'s"']),
    ],
)
def test_where_a_command_runs_is_followed(line: str, texts: list[str]) -> None:
    assert [command.text for command in commands_of(line, ROOT)] == texts
