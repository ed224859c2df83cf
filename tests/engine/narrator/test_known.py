"""How a fact stands to what notes and entries say already."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.narrator import known
from cm_tui.engine.memory.narrator.known import compare, sentences
from cm_tui.engine.platform.store.connection import Cursor
from cm_tui.model import NarratedProposal
from tests.engine.narrator.passes import new_project, opened, passed, put, said, sayings, use
from tests.templates import Template

FACT = "always run the linter before a commit"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """A project in which that was said in three sessions, and looked at."""

    def fill(engine: Engine) -> None:
        put(engine.root, [(n, said(FACT, f"s{n}")) for n in range(3)])
        passed(engine)

    with pytest.MonkeyPatch.context() as patch:
        use(patch, sayings)
        return Template(tmp_path_factory.mktemp("known"), new_project, fill)


@pytest.fixture
def engine(prepared: Template, cm_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    use(monkeypatch, sayings)
    yield from opened(prepared.put_back(cm_home))


def one(engine: Engine) -> NarratedProposal:
    (found,) = engine.narrated().rows
    return found


def write(engine: Engine, name: str, text: str) -> None:
    file = engine.root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_what_was_asked_before_is_answered_with_few_statements(engine: Engine, monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    execute = Cursor.execute

    def noted(cursor: Cursor, sql: str, parameters: Any = None) -> Cursor:
        asked.append(sql)
        return execute(cursor, sql, parameters)

    before = engine.narrated(), engine.stale_items()
    monkeypatch.setattr(Cursor, "execute", noted)
    assert (engine.narrated(), engine.stale_items()) == before
    assert sum("narrator_position" in sql for sql in asked) == 1
    assert not any("ord IN" in sql for sql in asked), "nothing is stale, so no commit is named"


def test_what_nobody_wrote_is_new(engine: Engine):
    write(engine, "AGENTS.md", "# Work\n\nThe tax is a share of the sum.\n")
    assert (one(engine).relation, one(engine).other) == ("new", "")


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".cm/notes/project.md", ".cm/memory/MEMORY.md"])
def test_what_stands_in_a_file_is_redundant_with_its_place(engine: Engine, name: str):
    write(engine, name, "# Work\n\n- Write tests.\n- Always run the linter\n  before a commit.\n")
    found = one(engine)
    assert (found.relation, found.other) == ("redundant", "Always run the linter before a commit.")
    assert found.other_place == f"{name}:4"


def test_an_entry_counts_too_and_what_is_redundant_comes_last(engine: Engine):
    entry = engine.remember("Always run the linter before a commit.", category="rule")
    assert (one(engine).relation, one(engine).other_place) == ("redundant", f"entry/{entry.id}")
    put(engine.root, [(n + 9, said("always squash", f"t{n}")) for n in range(2)])
    passed(engine)
    assert [row.relation for row in engine.narrated().rows] == ["new", "redundant"]


def test_what_changes_in_a_file_counts_at_once(engine: Engine):
    write(engine, "AGENTS.md", "Always run the linter before a commit.\n")
    assert one(engine).relation == "redundant"
    write(engine, "AGENTS.md", "Never run the linter before a commit.\n")
    assert (one(engine).relation, one(engine).other) == ("contradicts", "Never run the linter before a commit.")
    (engine.root / "AGENTS.md").unlink()
    assert one(engine).relation == "new"


def test_a_note_that_another_thread_reads_meanwhile_is_compared_as_it_was(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
):
    write(engine, "AGENTS.md", "Always run the linter before a commit.\n")
    before = known._near

    def near(*arguments: Any) -> list[known.Line]:
        write(engine, "AGENTS.md", "Something else, and nothing of that.\n")
        engine._narrator.proposals._known.follow()
        return before(*arguments)

    monkeypatch.setattr(known, "_near", near)
    assert one(engine).relation == "redundant"
    assert one(engine).relation == "new"


@pytest.mark.parametrize(
    ("fact", "known", "relation"),
    [
        ("Run `pytest -q` to test.", "Tests run with `pytest -q`.", "redundant"),
        ("Install with `pnpm install`.", "Install with `npm install`.", "new"),
        ("Packages are installed with `pnpm install`.", "Packages are installed with `npm install`.", "contradicts"),
        ("Use tabs in Makefiles.", "Use tabs in Makefiles, and four blanks everywhere else in code.", "reinforces"),
        ("Never push to main.", "Push to main.", "contradicts"),
        ("Dates are stored in UTC.", "The logo is blue.", "new"),
    ],
)
def test_comparing(fact: str, known: str, relation: str):
    assert compare("statement", fact, known)[0] == relation


def test_a_command_that_stands_in_a_block_of_code_is_known():
    assert compare("command", "The tests run with `pytest -q`.", "`pytest -q`")[0] == "redundant"
    assert compare("command", "The tests run with `pytest -q`.", "`pytest -qx`")[0] == "new"


def test_conventions_of_other_files_do_not_contradict_each_other():
    dto = 'New `*.dto.ts` files in `api/dto` have `import { z } from "zod";` at the top'
    widget = 'New `*.tsx` files in `web/widgets` have `import { cn } from "ui";` at the top'
    assert compare("convention", dto, widget)[0] == "new"
    ticket, kind = (
        "Commit messages begin with the ticket, as `A-1: what`",
        "Commit messages begin with the kind, as `fix: what`",
    )
    assert compare("convention", ticket, kind)[0] == "contradicts"


def test_lines_are_read_as_sentences():
    text = "# Title\n\n> quoted\n\n1. One thing. Two things.\n\n```sh\n$ make all\n```\n\n- [x] Done. <!-- cm:narrator nabcdef -->\n"
    assert list(sentences(text.split("\n"), 3)) == [
        (8, "One thing."), (8, "Two things."), (11, "`make all`"), (14, "Done."),
    ]  # fmt: skip
