"""Entries and notes whose pictures never change: ids, days and files are the same wherever they are shown."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from unittest import mock

from cm_tui.engine.api.engine import Engine
from cm_tui.model import EntryEdit
from tests.tui.snapshot_project import NOW

NOTES = {
    ".cm/notes/MEMORY.md": "# What matters\n\n- Receipts go out on Tuesdays.\n- Prices are in cents.\n",
    ".cm/notes/topics/router.md": "---\ntags: [net]\n---\n# Router\n\nThe router listens on port 8123.\n\n"
    "## Restarts\n\nIt is restarted by systemd; nobody does it by hand.\n",
    ".cm/notes/broken.md": "---\ndate: sometime\n---\n# Broken\n\nIts date cannot be understood.\n",
    ".cm/memory/2025-01-30.md": "# 2025-01-30\n\n## 09:12 · codex\n\nThe cache is warmed at night.\n",
    "AGENTS.md": "# For agents\n\nRun `just test` before you hand in.\n",
}


def write_memory(root: Path) -> None:
    """Write entries of every kind, notes of some, and what an agent proposes."""
    for name, text in NOTES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        os.utime(file, (NOW - 3 * 86_400, NOW - 3 * 86_400))
    known, hours = itertools.count(1), itertools.count(1)

    def new_id(_: object, letter: str = "e") -> str:
        return f"{letter}memo{next(known):02}"

    def now() -> int:
        return (NOW - 40 * 3_600 + 3_600 * next(hours)) * 1_000

    with (
        mock.patch("cm_tui.engine.memory.entries.entries.new_id", new_id),
        mock.patch("cm_tui.engine.memory.entries.curation.new_id", new_id),
        mock.patch("cm_tui.engine.memory.entries.entry_record._now", now),
        Engine.open(root) as engine,
    ):
        engine.remember(
            "Tests need a till: `just till` starts one.", category="Experience", actor="agent", agent="claude-code"
        )
        engine.remember(
            "Prices are integers, in cents.", category="Knowledge", title="Prices", keywords=("money", "cents")
        )
        engine.remember("Never push on fridays", category="Rule", scope="user")
        rule = engine.remember(
            "Every price has a test.\nWhoever changes one changes both.", category="Rule", title="Tests of prices"
        )
        engine.update_entry(rule.id, EntryEdit(pinned=True))
        engine.remember("Round up always", category="Rule", actor="agent", agent="codex")
        engine.forget_memory(rule.id, actor="agent", agent="codex", reason="It is said in AGENTS.md.")
