"""Numbers of things agree with their words, wherever they are printed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import cm_tui
from cm_tui.counts import count, noun

THINGS = (
    "file", "commit", "symbol", "passage", "reference", "event", "episode", "piece", "candidate", "secret", "prompt",
    "caller", "callee", "result", "hit", "path", "row", "change", "site", "job", "store", "index folder", "row", "match",
)  # fmt: skip
PRINTED = re.compile(rf" (?:{'|'.join(THINGS)})(?:e?s|\(s\))\b")
ALWAYS_MANY = {
    # Said of more than one alone, or of a bound that is no count.
    "cm_tui/model/secrets.py", "cm_tui/engine/memory/erasure/erase.py", "cm_tui/cli/history.py:hint",
}  # fmt: skip


def test_one_has_no_plural():
    assert count(1, "file") == "1 file"
    assert count(0, "file") == "0 files"
    assert count(12_031, "file") == "12,031 files"
    assert count(2, "copy", "copies") == "2 copies"
    assert noun(1, "is", "are") == "is"


@given(st.integers(2, 10**9))
def test_many_have_one(number):
    assert count(number, "symbol") == f"{number:,} symbols"


def test_no_text_puts_a_plural_behind_a_number_by_itself():
    root = Path(cm_tui.__file__).parent
    found = []
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root.parent).as_posix()
        if path in ALWAYS_MANY:
            continue
        for text in (node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.JoinedStr)):
            for number, words in zip(text.values, text.values[1:], strict=False):
                behind = words.value if isinstance(words, ast.Constant) else ""
                said = isinstance(number, ast.FormattedValue) and PRINTED.match(str(behind))
                if said and not (isinstance(number.value, ast.Name) and number.value.id in {"ref", "limit", "active"}):
                    found.append(f"{path}:{text.lineno}: {ast.unparse(text)}")
    assert not found, "\n".join(found)
