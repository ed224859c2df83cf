"""A project that remembers a conversation, made for a measurement."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.platform.journal.event import new_line
from cm_tui.engine.platform.journal.journal import Journal
from tests.bench.conversations import Conversation
from tests.bench.quality import own_home


@contextmanager
def remembering(conversation: Conversation) -> Iterator[tuple[Engine, Mapping[str, str]]]:
    """Give a project of its own that remembers a conversation, and the turn's id by the episode's path."""
    with own_home(), tempfile.TemporaryDirectory(prefix="cm-memory-") as folder:
        root = Path(folder).resolve()
        (root / "README.md").write_text("# A conversation\n", encoding="utf-8")
        turn_of = _record(root, conversation)
        with Engine.open(root) as engine:
            for step in engine.index():
                print(f"\r{step.stage} {step.done}/{step.total}\x1b[K", end="", file=sys.stderr)
            print(file=sys.stderr)
            yield engine, turn_of


def _record(root: Path, conversation: Conversation) -> dict[str, str]:
    """Write the turns into the project's journal, as an import does; the turn's id by the episode's path."""
    journal = Journal.of(root)
    found = {}
    for turn in conversation.turns:
        fields, line = new_line(episode_record.KIND, turn.record.to_event_data(), None)
        journal.append_line(line)
        found[f"episode/{fields['id']}"] = turn.id
    return found
