"""A small repository with an index, and pipelines in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui.engine.api import definition_trust
from tests.priced_shop import engine, priced, root

__all__ = ["engine", "priced", "root"]

SAID = """name: said
triggers: [manual, onTaskCompleted, onTaskFailure, onConversationEnd, {type: onAction, condition: action equals edit}]
processors: [{type: normalizer}, {type: chunker, size: 40, overlap: 8}, {type: vector_embed, index: said}]
routes:
  - {foreach: chunks, condition: index < 1, writeTo: "kv://sessions/{{sessionId}}", value: "{{text}}"}
  - {foreach: input, writeTo: "log://said", value: "{{trigger}}: {{text}}"}
  - {foreach: input, writeTo: "blob://"}
"""


@pytest.fixture
def pipeline(root: Path) -> Callable[..., Path]:
    """Write a pipeline, and trust it."""

    def written(text: str = SAID, name: str = "said.yaml", *, trusted: bool = True) -> Path:
        file = root / ".cm" / "ingestion" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if trusted:
            definition_trust.trust(root, definition_trust.asking_files(root))
        return file

    return written
