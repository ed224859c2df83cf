"""Only a person erases: neither an agent's tools nor its hooks have a way to it."""

from __future__ import annotations

import re
from pathlib import Path

import cm_tui

_WAYS = re.compile(r"engine\.(?:erase|forget)\b|engine\.erasure")


def test_agents_have_no_way_to_erase_or_to_hide():
    package = Path(cm_tui.__file__).parent
    files = [file for room in ("mcp", "agent_hooks") for file in (package / room).rglob("*.py")]
    assert len(files) > 10
    assert [file.name for file in files if _WAYS.search(file.read_text(encoding="utf-8"))] == []
