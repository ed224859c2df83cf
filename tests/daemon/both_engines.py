"""Both engines, each with a home of its own: straight to the store, and through a daemon."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cm_tui.daemon.client import RemoteEngine
from cm_tui.daemon.open_engine import open_engine
from cm_tui.engine.api import stale
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError, UsageError
from cm_tui.model.profile import Mark
from tests.daemon.conftest import daemons_allowed, make_project

KINDS = ("local", "remote")
MARK = Mark("where is tax added", "shop/money.py", "add_tax", 6, 8, right=True)


@contextmanager
def at_home(kind: str, home: Path) -> Iterator[Path]:
    """Have one home for all engines of a kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(home))
        # On a busy machine too, what names became is looked at to the end.
        patch.setattr(stale, "_WAIT_S", 60.0)
        if kind == "local":
            yield home
        else:
            with daemons_allowed(home, in_process=True):
                yield home


def opened(kind: str, root: Path) -> Engine:
    """Open a project with the engine of a kind."""
    engine = open_engine(root)
    assert isinstance(engine, Engine if kind == "local" else RemoteEngine)
    return engine


DEFINITIONS = {
    ".cm/retrieval/release.yaml": (
        "name: release\nenabled: true\nmaxContribution: 400\nsteps:\n  - {type: kv_get, keys: [release]}\n"
        '  - {type: format, template: "Codename: {{release.codename}} {{who}}", maxTokens: 200}\n'
        "params: {who: nobody}\n"
    ),
    ".cm/retrieval/broken.yaml": "name: broken\nsteps:\n  - {type: kv_gt}\n",
    ".cm/retrieval/sends.yaml": "name: sends\nsteps: [{type: derive_query, method: llm_rephrase}, {type: vector_search}]\n",
    ".cm/rules/architecture.json": '{"rules": [{"name": "architecture", "condition": {"field": "task.text", "op": '
    '"contains", "value": "refactor"}, "action": {"include": "kv://notes"}}]}',
    ".cm/ingestion/keep.yaml": (
        "name: keep\ntriggers: [manual]\nprocessors: [{type: normalizer}]\n"
        'routes: [{foreach: items, writeTo: "kv://kept/{{digest}}", value: "{{text}}"}]\n'
    ),
    ".cm/ingestion/outside.yaml": (
        "name: outside\ntriggers: [manual]\nprocessors: [{type: normalizer}]\n"
        'routes: [{foreach: items, writeTo: "log://said", value: "{{text}}"}]\n'
    ),
    ".cm/memory/kv.json": '{"release": {"codename": "Basilisk"}, "notes": "Keep cents."}',
}


@contextmanager
def indexed(kind: str, root: Path) -> Iterator[Engine]:
    """Yield the engine of a new project with definitions and episodes, indexed."""
    make_project(root)
    for path, text in DEFINITIONS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    engine = opened(kind, root)
    for prompt in ("why is the tax wrong", "no git here", "round it\x1b[31m"):
        head = None if prompt.startswith("no git") else engine.status().head
        said = {"agent": "codex", "session": "s", "prompts": [prompt], "patch": "+round\n", "root": str(engine.root)}
        Journal.of(engine.root).append("episode", said, head=head)
    for _ in engine.index():
        pass
    yield engine
    engine.close()


def failure(asked: Callable[[], object]) -> CmError:
    with pytest.raises(CmError) as told:
        asked()
    return told.value


def refused(asked: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as told:
        asked()
    return str(told.value)
