"""Lines from the middle of a key, and what only has the same length."""

from __future__ import annotations

import pytest

from cm_tui.engine.platform.redaction.key_blocks import has_key_lines, mark_key_lines
from tests.planted import BODY

LINE = BODY[7]


@pytest.mark.parametrize("text", [LINE, f"  {LINE}", f'    "{LINE}\\n" +', f"# {LINE}", f"{LINE}==", f"{LINE}\r"])
def test_lines_of_a_key(text: str):
    assert has_key_lines(f"a\n{text}\nb")
    clean = mark_key_lines(f"a\n{text}\nb")
    assert LINE not in clean
    assert clean.split("\n") == ["a", text.replace(LINE, "[redacted: private key]").replace("==", ""), "b"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1",
        "0123456789abcdef" * 4,
        "A" * 64,
        "sha512-" + LINE,
        "https://example.org/" + LINE,
        f"x = '{LINE}'",
        LINE[:50],
    ],
)
def test_what_is_none(text: str):
    assert mark_key_lines(text) == text
    assert not has_key_lines(text)
