"""A small repository with an index, and pipelines in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api import definition_trust
from cm_tui.engine.api.engine import Engine
from tests.gitrepo import Repo
from tests.templates import Template

SAID = """name: said
triggers: [manual, onTaskCompleted, onTaskFailure, onConversationEnd, {type: onAction, condition: action equals edit}]
processors: [{type: normalizer}, {type: chunker, size: 40, overlap: 8}, {type: vector_embed, index: said}]
routes:
  - {foreach: chunks, condition: index < 1, writeTo: "kv://sessions/{{sessionId}}", value: "{{text}}"}
  - {foreach: input, writeTo: "log://said", value: "{{trigger}}: {{text}}"}
  - {foreach: input, writeTo: "blob://"}
"""


def make(root: Path) -> None:
    repo = Repo(root)
    repo.write("shop.py", "def price(net):\n    return net * 1.19\n")
    repo.commit("A shop")


@pytest.fixture(scope="session")
def kept_shop(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The repository with its index, made once in a process."""
    return Template(tmp_path_factory.mktemp("ingesting"), make)


@pytest.fixture
def root(kept_shop: Template, cm_home: Path) -> Path:
    return kept_shop.put_back(cm_home)


@pytest.fixture
def engine(root: Path) -> Iterator[Engine]:
    with Engine.open(root) as opened:
        yield opened


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
