"""The engine's narrator on a made-up history: a real repository, a real journal, a real store."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import NarratedFilter, NarratedProposal
from tests.bench.narrator_histories.history import History
from tests.bench.narrator_histories.scoring import Judged, Score, judge
from tests.gitrepo import Repo

ALL_KINDS = ("command", "workflow", "fix", "statement", "decision", "rejected", "correction", "cochange", "convention")
POLICIES = {
    "by-hand": '[narrator]\npolicy = "by-hand"\n',
    "careful": '[narrator]\npolicy = "careful"\n',
    "custom": f'[narrator]\npolicy = "custom"\napprove = {{ {", ".join(f"{kind} = 0.9" for kind in ALL_KINDS)} }}\n',
}
"""The policies that are shipped, as the user's settings."""


def score(history: History, policies: tuple[str, ...] = tuple(POLICIES)) -> Score:
    """Return what the narrator makes of a history under each policy; what is proposed is judged under the first."""
    result: Score | None = None
    for policy in policies:
        began = time.perf_counter()
        proposals, count = narrated(history, policy)
        seconds = time.perf_counter() - began
        judged = judge(history, proposals)
        if result is None:
            result = Score(history.seed, history.ecosystem, count, history.facts, judged, seconds)
        result.approved[policy] = [item for item in judged if item.proposal.state == "approved"]
    if result is None:
        raise ValueError("no policy is given")
    return result


def narrated(history: History, policy: str = "by-hand") -> tuple[list[NarratedProposal], int]:
    """Return what the narrator proposes, or approved by itself, and how many episodes there were."""
    with TemporaryDirectory(prefix="cm-history-") as folder, _home(Path(folder) / "home"):
        file = paths.config_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(POLICIES[policy], encoding="utf-8")
        root = Path(folder) / history.ecosystem
        count = write(history, root)
        with Engine.open(root) as engine:
            for _ in engine.narrate():
                pass
            page = engine.narrated(NarratedFilter(states=("waiting", "deferred", "approved")), limit=1_000)
            return list(page.rows), count


def write(history: History, root: Path) -> int:
    """Write a history's project and its journal; returns how many episodes there are."""
    repo = Repo(root)
    for path, content in history.files.items():
        repo.write(path, content)
    head = repo.commit("The project")
    records = [(record.to_event_data(), head) for record, _ in history.records(root, time.time())]
    Journal.of(root).append_all("episode", records)
    return len(records)


def described(item: Judged) -> str:
    """Return a judged proposal as a line for people."""
    proposal = item.proposal
    about = f" [{item.about}]" if item.about else ""
    said = json.dumps(proposal.text, ensure_ascii=False)
    return f"{item.verdict:<10} {proposal.kind:<10} {proposal.confidence:.2f} {proposal.relation:<11}{about} {said}"


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    """Have a folder of one's own for stores and settings, and no daemon."""
    names = {"CM_HOME": str(folder), "CM_DAEMON__USE": "never"}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
