"""What is shown by what was done, from episodes to proposals: how often a thing comes up at all counts, whenever it is seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.narrator.miners.cochange import mine_cochange
from cm_tui.engine.memory.narrator.miners.commands import mine_commands
from cm_tui.engine.memory.narrator.miners.conventions import mine_conventions
from cm_tui.engine.memory.narrator.miners.fixes import mine_fixes
from cm_tui.engine.memory.narrator.miners.workflows import mine_workflows
from cm_tui.model import Step
from tests.engine.narrator.miners.turns import bash
from tests.engine.narrator.passes import new_project, opened, passed, proposed, put, said, use

ERROR = "OSError: Address already in use"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    use(monkeypatch, mine_commands, mine_workflows, mine_fixes, mine_cochange, mine_conventions)
    yield from opened(new_project(tmp_path / "project"))


def texts(engine: Engine) -> list[str]:
    return [one.text for one in proposed(engine)]


def done(engine: Engine, first: int, times: int, *steps: Step, **fields: object) -> None:
    put(engine.root, [(first + n, said("go on", f"s{first + n}", 20 - n, steps=steps, **fields)) for n in range(times)])


def test_what_is_shown_is_proposed_once(engine: Engine) -> None:
    done(engine, 0, 5, bash("buf lint"), bash("buf generate"), bash("pytest -q"), files=("a.proto", "b.md"))
    done(engine, 10, 8, bash("pytest -q"), bash("git status"))
    done(
        engine,
        20,
        4,
        bash("flask run", ERROR, failed=True),
        bash("fuser -k 80/tcp"),
        bash("flask run"),
        bash('git commit -m "api: add it"'),
    )
    passed(engine)
    assert sorted(texts(engine)) == [
        "Commit messages begin with the area as a prefix, `area: what`, as `api: …`",
        "Run in this order: `buf lint`, then `buf generate`, then `pytest -q`",
        "Tests are run with `pytest -q`",
        f'When `flask run` fails with "{ERROR}", run `fuser -k 80/tcp`',
        "`a.proto` and `b.md` are changed together",
    ]  # fmt: skip


def test_one_session_shows_no_habit(engine: Engine) -> None:
    put(
        engine.root,
        [(n, said("go on", "s", 9 - n, steps=(bash("make x"), bash("make y")), files=("a", "b"))) for n in range(8)],
    )
    passed(engine)
    assert texts(engine) == []


def test_a_command_that_the_project_no_longer_has_is_not_proposed_without_an_index(engine: Engine) -> None:
    (engine.root / "Makefile").write_text("lint:\n\ttrue\n")
    done(engine, 0, 5, bash("make lint"))
    done(engine, 10, 5, bash("make mocks"))
    done(engine, 20, 5, bash("./scripts/old.sh"))
    passed(engine)
    assert texts(engine) == ["The code is linted with `make lint`"]


def test_why_says_what_speaks_against_it(engine: Engine) -> None:
    done(engine, 0, 6, files=("a", "b"))
    done(engine, 10, 1, files=("a",))
    passed(engine)
    (one,) = proposed(engine)
    assert "one was changed without the others in 1 episode" in one.why
