"""A project whose journal, index, logs and remembered choices hold a secret that an earlier filter let through."""

from __future__ import annotations

import json

import pytest

from cm_tui import paths
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection import episode_source
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from tests.earlier_filter import nothing_redacted
from tests.engine.one_file import engine, indexed_engine, kept_file

__all__ = ["engine", "indexed_engine", "kept_file"]

SECRET = "xox" + "b-283746501928-Kq7RzmW2pLx9"
WORDS = "zanzibar tortoise"
"""Said in the same breath, and nowhere else."""


def index(engine: Engine, **how: bool) -> None:
    for _ in engine.index(**how):
        pass


def say(engine: Engine, kind: str, session: str = "s", **data: object) -> Event:
    """Write an event as a version did that took out less."""
    with nothing_redacted():
        return Journal.of(engine.root).append(
            kind, {"root": str(engine.root), "session": session, "agent": "codex", **data}
        )


def turn(engine: Engine, prompt: str, answer: str = "Done.", session: str = "s") -> list[Event]:
    """One turn with its episode, as hooks and daemon write it."""
    events = [
        say(engine, "hook.prompt", session, prompt=prompt),
        say(engine, "hook.edit", session, paths=["a.py"]),
        say(engine, "hook.stop", session, answer=answer),
    ]
    record = {"prompts": [prompt], "answer": answer, "patch": f"+{prompt}\n", "stop": events[-1].id}
    return [*events, say(engine, "episode", session, **record)]


def stored(text: str) -> list[str]:
    """Files below `CM_HOME` whose bytes hold a text, whatever they are."""
    home = paths.data_dir().parent
    return sorted(
        str(path.relative_to(home))
        for path in home.rglob("*")
        if path.is_file() and text.lower().encode() in path.read_bytes().lower()
    )


@pytest.fixture
def leaky(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """The events of the turn that has the secret, indexed as it is; others stand before and behind."""
    turn(engine, "pave the driveway")
    events = turn(engine, f"send {SECRET} to the {WORDS}", f"It is {SECRET} now.")
    turn(engine, "plant a hedge")
    with monkeypatch.context() as earlier:
        earlier.setattr(episode_source, "redact", lambda text: type("As", (), {"text": text}))
        index(engine)
    folder = paths.private_dir(paths.state_dir() / "projects")
    (folder / "0123456789abcdef.json").write_text(json.dumps({"screens": {"search": {"last": [f"where is {SECRET}"]}}}))
    (paths.state_dir() / "daemon.log").write_text(
        f"12:00 INFO opened\n12:01 WARNING ä {SECRET} failed\n12:02 INFO closed\n"
    )
    return events
