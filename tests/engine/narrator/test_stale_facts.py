"""Written facts that the code contradicts: proposed for correction, and not reinforced."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.narrator.confidence import Candidate, Tally
from cm_tui.engine.memory.narrator.stale_facts import Code, proposals
from cm_tui.model import NarratedProposal, Step
from cm_tui.model.history import SHORT_SHA
from tests.engine.mentions.conftest import CONFIG, JUSTFILE, brought_up
from tests.engine.narrator.passes import new_project, passed, proposed, put, said, sayings, use
from tests.gitrepo import Repo
from tests.planted import GITHUB

__all__ = ["brought_up"]

Opened = Callable[[], Engine]
PROJECT = ".cm/notes/project.md"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    made = Repo(tmp_path / "shop")
    made.write("src/config.py", CONFIG)
    made.write("src/main.py", "def main():\n    return parse_config('x')\n")
    made.write("justfile", JUSTFILE)
    made.commit("begin")
    return made


def test_the_code_is_not_asked_where_no_note_could_have_a_line(repo: Repo):
    asked = Code(*[None] * 5)  # type: ignore[arg-type] # what is not there cannot be asked
    assert proposals(repo.root, asked) == []
    repo.write(PROJECT, "# Project\n\n- Use `parse_config`.\n")
    with pytest.raises(AttributeError):
        proposals(repo.root, asked)


def code_of(engine: Engine) -> Code:
    engine.stale_items()
    code = engine._code()
    assert code is not None
    return code


def found(engine: Engine) -> dict[str, NarratedProposal]:
    return {one.old: one for one in proposals(engine.root, code_of(engine))}


def take_out(repo: Repo, at: float | None = None) -> dict[str, str]:
    """Rename, move and remove what notes name, at a time; returns the commits."""
    made = {}
    repo.write(".git/info/exclude", ".cm/\n")
    repo.git("mv", "src/main.py", "src/start.py")
    made["moved"] = repo.commit("Start has a name", at=at)
    repo.write("src/config.py", CONFIG.replace("parse_config", "read_config"))
    made["renamed"] = repo.commit("Call it reading", at=at)
    repo.write("src/config.py", CONFIG.replace("parse_config", "read_config").split("class Reader")[0])
    repo.write("justfile", JUSTFILE.split("lint:")[0])
    made["gone"] = repo.commit("Take out the reader", at=at)
    return made


def test_lines_that_name_what_is_gone_are_proposed_for_correction(repo: Repo, brought_up: Opened):
    note = repo.write(PROJECT, (
        "# Project\n\n## Rules\n\n- Call `parse_config()` once. <!-- cm:narrator nabcdef -->\n- `Reader` must be closed.\n"
        "- Begin in src/main.py.\n- Use tabs.\n- `Reader` reads what `read_config` gives.\n\n`parse_config` in a paragraph stays.\n"
        "\n## Commands\n\n- Look at the code with `just lint`.\n- Test with `just test`.\n"
    ))  # fmt: skip
    commits = take_out(repo)
    with brought_up() as engine:
        lines = found(engine)
        assert sorted(lines) == [
            "Begin in src/main.py.", "Call `parse_config()` once. <!-- cm:narrator nabcdef -->", "Look at the code with `just lint`.",
            "`Reader` must be closed.", "`Reader` reads what `read_config` gives.",
        ]  # fmt: skip
        renamed = lines["Call `parse_config()` once. <!-- cm:narrator nabcdef -->"]
        assert (renamed.kind, renamed.action, renamed.text) == ("stale", "replace", "Call `read_config()` once.")
        assert (
            renamed.why
            == f"It names `parse_config`, renamed to `read_config` since {commits['renamed'][:SHORT_SHA]} “Call it reading”."
        )
        assert (renamed.relation, renamed.target, renamed.heading, renamed.scope) == (
            "contradicts",
            PROJECT,
            "Rules",
            "project",
        )
        assert (renamed.confidence, renamed.other_place[:14]) == (1.0, "src/config.py:")
        gone = lines["`Reader` must be closed."]
        assert (gone.action, gone.text) == ("remove", "")
        assert commits["gone"][:SHORT_SHA] in gone.why
        moved = lines["Begin in src/main.py."]
        assert (moved.action, moved.text) == ("replace", "Begin in src/start.py.")
        assert lines["Look at the code with `just lint`."].heading == "Commands"
        assert lines["`Reader` reads what `read_config` gives."].confidence == 0.7
        # The same each time, and no more of it once it was corrected.
        assert found(engine) == lines
        note.write_text(note.read_text().replace("parse_config()", "read_config()"))
        assert "Call `read_config()` once. <!-- cm:narrator nabcdef -->" not in found(engine)
        assert len(found(engine)) == 4


def test_what_speaks_of_the_past_or_was_confirmed_or_is_not_committed_is_not_contradicted(
    repo: Repo, brought_up: Opened
):
    repo.write(PROJECT, "# P\n\n- `parse_config` was removed.\n- Use `read_config` instead of `parse_config`.\n")
    repo.write(".cm/notes/topics/t.md", "# T\n\n- Call `parse_config` once.\n")
    take_out(repo)
    with brought_up() as engine:
        (one,) = found(engine).values()
        assert (one.scope, one.topics) == ("topic", (".cm/notes/topics/t.md",))
        engine.confirm_stale("note/.cm/notes/topics/t.md")
        assert found(engine) == {}
        (repo.root / ".cm/notes/topics/t.md").unlink()
        repo.write(".cm/notes/topics/u.md", "# U\n\n- Settings are made by `read_config`.\n")
        (repo.root / "src/config.py").unlink()
        list(engine.index(paths=["src/config.py"]))
        assert found(engine) == {}


def test_notes_of_the_user_and_of_strangers_are_told_as_such_and_instructions_left(
    repo: Repo, brought_up: Opened, cm_home: Path
):
    mine = cm_home / "data/notes/preferences.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("# Mine\n\n- In the shop, call `parse_config`.\n")
    repo.write("AGENTS.md", "# A\n\n- Call `parse_config`.\n")
    repo.write("memory/2026-01-05.md", "# Day\n\n- Called `parse_config`.\n")
    repo.write(PROJECT, f"# P\n\n- Call `parse_config` with {GITHUB}.\n")
    repo.write(".cm/notes/topics/theirs.md", "# T\n\n- Call `parse_config`.\n")
    repo.git("add", "-f", ".cm/notes/topics/theirs.md")
    take_out(repo)
    with brought_up() as engine:
        both = proposals(engine.root, code_of(engine))
        assert [(one.target, one.scope) for one in both] == [
            (".cm/notes/topics/theirs.md", "topic"),
            ("user:preferences.md", "user"),
        ]
        assert both[0].why.endswith("; it is in a note that came with the repository.")


def test_commands_that_the_project_lacks(repo: Repo, brought_up: Opened):
    repo.write(
        PROJECT,
        "# P\n\n## Commands\n\n- Test with `tools/check --all`.\n- Lint with `ruff check`.\n\n## Rules\n\n- Say `tools/check`.\n",
    )
    with brought_up() as engine:
        code = replace(code_of(engine), missing=lambda text: "tools/check --all" if "tools/" in text else "")
        (one,) = proposals(engine.root, code)
        assert (one.old, one.action) == ("Test with `tools/check --all`.", "remove")
        assert one.why == "It names `tools/check --all`, which the project no longer has."


def test_a_habit_is_proposed_only_with_commands_that_the_project_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    use(monkeypatch, sayings)
    makefile = new_project(tmp_path / "project") / "Makefile"
    makefile.write_text("check:\n\ttrue\n")
    steps = tuple(Step("tool", command, "Bash") for command in ("make check", "make gone", "uv sync"))
    put(makefile.parent, [(number, said("why?", f"s{number}", steps=steps)) for number in range(8)])
    with Engine.open(makefile.parent) as engine:
        passed(engine)
        assert {one.text for one in proposed(engine)} == {"Run `make check`", "Run `uv sync`"}
    makefile.write_text("gone:\n\ttrue\n")
    with Engine.open(makefile.parent) as engine:
        assert {one.text for one in proposed(engine)} == {"Run `make gone`", "Run `uv sync`"}


def fact(text: str, first: float, kind: str = "statement") -> Candidate:
    return Candidate(kind, "", "", (), text, (), "project", Tally(3, 3, 0, first, first, 0.0, 1.0), ())  # type: ignore[arg-type]


def test_a_fact_that_names_what_is_gone_is_not_reinforced(repo: Repo, brought_up: Opened):
    then = time.time()
    # Times of commits are whole seconds.
    commits = take_out(repo, at=then + 2)
    with brought_up() as engine:
        code = code_of(engine)
        texts = {
            "Call `parse_config` once.": f"names `parse_config`, renamed to `read_config` since {commits['renamed'][:SHORT_SHA]} “Call it reading”",
            "`Reader` must be closed.": f"names `Reader`, gone since {commits['gone'][:SHORT_SHA]} “Take out the reader”",
            "Call `read_config` once.": "", "Use tabs.": "", "Prefer `httpx` and `NoSuch.thing`.": "",
            "`parse_config` was removed.": "",
        }  # fmt: skip
        assert code.contradictions([fact(text, then) for text in texts]) == list(texts.values())
        assert code.contradictions([]) == []
        assert code.contradictions([fact("`Reader` must be closed.", then)])[0]


def test_without_an_index_nothing_is_known_of_the_code(repo: Repo):
    with Engine.open(repo.root) as engine:
        assert engine._code() is None
