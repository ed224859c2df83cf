"""What is known about an action: told where a memory names it, and silent otherwise."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.context.packs import reminders as reminders_module
from cm_tui.engine.context.packs.reminders import MOST, Action, Past, past_of, reminders
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import RefusedError
from cm_tui.model import Category, Entry, EntryEdit, EpisodeEdit, Step
from cm_tui.model.dates import local_day
from tests.engine.importers.conftest import Machine
from tests.planted import GITHUB

NOW = 1_800_000_000.0
_ids = itertools.count()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def entry(content: str, category: Category = "Rule", title: str = "") -> Entry:
    return Entry(f"r{next(_ids):06}", category, title or content[:60], content, (), "project", int(NOW * 1000))


def kinds(
    known: str, *, line: str = "", path: str = "", category: Category = "Rule", unique: tuple[str, ...] = ()
) -> list[str]:
    action = Action(line, "/work/shop", [path] if path else [], unique, "now")
    return [one.kind for one in reminders(action, [entry(known, category)], [], [])]


@pytest.mark.parametrize(
    ("known", "line"),
    [
        ("Never use npm here, use pnpm.", "npm install left-pad"),
        ("Never use npm here, use pnpm.", "cd /work/shop/web && npm ci 2>&1 | tail -5"),
        ("`git push --force` is forbidden.", "git push --force origin main"),
        ("Run pytest with `-n 2`: memory is short.", "python -m pytest tests"),
        ("Ask before git push.", "git push"),
        ("`docker compose down -v` deletes the data.", "docker compose down -v"),
    ],
)
def test_a_command_is_named(known: str, line: str):
    assert kinds(known, line=line) == ["rule"]


@pytest.mark.parametrize(
    ("known", "line"),
    [
        ("`git push --force` is forbidden.", "git push origin main"),
        ("Never use npm here.", "pnpm install"),
        ("Never use npm-check here.", "npm install"),
        ("Never use npm here.", "cat npm-debug.log"),
        ("Make the tests pass before a push.", "make test"),
        ("We go with Postgres.", "go build ./..."),
        ("Prices are in cents.", "pytest -q"),
        ("Tests are run with `go test ./...`", "go test ./... 2>&1 | tail -20"),
    ],
)
def test_another_command_is_not(known: str, line: str):
    assert kinds(known, line=line) == []


def test_files_are_named_by_path_by_a_single_name_and_for_rules_by_folder():
    assert kinds("src/cart.py counts in cents", path="src/cart.py") == ["rule"]
    assert kinds("see ./src/cart.py.", path="src/cart.py") == ["rule"]
    assert kinds("old/src/cart.py is dead", path="src/cart.py") == []
    assert kinds("cart.py counts in cents", path="src/cart.py", unique=("cart.py",)) == ["rule"]
    assert kinds("cart.py counts in cents", path="src/cart.py") == []
    assert kinds("cart.pyi counts in cents", path="src/cart.py", unique=("cart.py",)) == []
    for written in ("`src/migrations/`", "migrations/**", "migrations/*.", "src/migrations/"):
        assert kinds(f"Never edit {written} by hand", path="src/migrations/0001.py") == ["rule"]
        assert kinds(f"Never edit {written} by hand", path="src/migrations/0001.py", category="Experience") == []
    assert kinds("Never edit migrations/0002.py", path="src/migrations/0001.py") == []


def test_knowledge_is_no_reminder_and_rules_come_first():
    known = [
        entry("src/a.py is slow", "Experience"),
        entry("src/a.py is big", "Knowledge"),
        entry("Keep src/a.py small"),
    ]
    action = Action("", "/", ["src/a.py"], (), "")
    assert [one.kind for one in reminders(action, known, [], [])] == ["rule", "lesson"]
    many = [entry(f"Rule {number} of src/a.py") for number in range(9)]
    assert len(reminders(action, many, [], [])) == MOST


def test_of_notes_only_lines_that_last_are_told():
    lines = [
        "We turned down a cache in cart.py because carts change.",
        "cart.py was renamed yesterday.",
        'When `pytest` fails with "No module named shop", run `pip install -e .`',
    ]
    notes = [("note/a.md", line) for line in lines]
    edit = Action("", "/", ["cart.py"], (), "")
    assert [one.text for one in reminders(edit, [], notes, [])] == lines[:1]
    run = Action("pytest", "/", [], (), "")
    assert [one.text for one in reminders(run, [], notes, [])] == lines[2:]


def turn(
    number: int, session: str, command: str = "", output: str = "", *, prompt: str = "go", **more: object
) -> tuple[str, float, EpisodeRecord]:
    steps = (Step("tool", command, "Bash", output, failed=bool(output)),) if command else ()
    record = EpisodeRecord(session=session, root="/work/shop", prompts=(prompt,), answer="done", steps=steps, **more)  # type: ignore[arg-type]
    return f"e{number}", NOW - 3_600 * (10 - number), record


FAILED = "Error: connect ECONNREFUSED 127.0.0.1:5432"


def failures(past: list[Past], session: str = "now") -> list[str]:
    action = Action("npm run seed", "/work/shop", [], (), session)
    return [one.text for one in reminders(action, [], [], past)]


def test_a_failure_is_told_until_the_command_runs_again():
    past = past_of([turn(1, "old", "npm run seed", FAILED), turn(2, "old")])
    assert failures(past) == [f"`npm run seed` failed when it was last run, on {local_day(NOW - 9 * 3_600)}: {FAILED}"]
    assert failures(past, session="old") == []
    assert failures(past_of([turn(1, "old", "npm run seed", FAILED), turn(2, "other", "npm run seed")])) == []


def test_a_failed_test_is_no_reminder():
    assert failures(past_of([turn(1, "old", "npm run seed", "E   AssertionError: assert 1 == 2")])) == []


def test_a_failure_among_several_commands_of_a_line_is_none_of_theirs():
    past = past_of([turn(1, "old", "npm run seed && npm run lint", FAILED)])
    assert failures(past) == []
    past = past_of([turn(1, "old", "npm run seed 2>&1 | tail; npm run lint", FAILED)])
    assert failures(past) == []


def rejected(prompt: str, *files: str, **more: object) -> list[str]:
    first = turn(1, "old", prompt="add a cache", files=("src/cart.py", *files), patch=ADDED)
    past = past_of([first, turn(2, "old", prompt=prompt, **more)])
    action = Action("", "/work/shop", ["src/cart.py"], (), "now")
    return [one.text.rpartition(": ")[2] for one in reminders(action, [], [], past)]


ADDED = "diff --git a/src/cart.py b/src/cart.py\n--- a/src/cart.py\n+++ b/src/cart.py\n@@ -1 +1,2 @@\n x\n+cache = {}\n"
REMOVED = ADDED.replace("@@ -1 +1,2 @@\n x\n+cache", "@@ -1,2 +1 @@\n x\n-cache")


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("No, undo that. Totals must be fresh.", True),
        ("Why did you touch the cart? Leave it.", True),
        ("No, I want totals to be fresh.", False),
        ("NO! I'm still getting duplicate rows!", False),
        ("no, that did nothing: 404", False),
        ("no, that does not work", False),
    ],
)
def test_what_did_not_work_yet_is_no_rejection_of_the_file(prompt: str, told: bool):
    assert bool(rejected(prompt, files=("src/cart.py",), patch=REMOVED)) == told


def test_a_rejection_of_many_files_names_none_and_what_was_pasted_is_not_repeated():
    assert rejected("Undo that, please.", *(f"src/{number}.py" for number in range(9))) == []
    assert rejected("Undo that. Totals must be fresh.\n\n[12:01] GET /cart 200\n[12:02] GET /cart 500") == [
        "Undo that. Totals must be fresh."
    ]


def test_a_turn_without_a_prompt_is_read():
    assert [one.rejected for one in past_of([("e1", NOW, EpisodeRecord(session="old", root="/work/shop"))])] == [
        frozenset()
    ]


def test_a_commit_is_an_action_and_a_look_is_none():
    assert kinds("Run the tests before each `git commit`.", line="git add . && git commit -m x") == ["rule"]
    assert kinds("Never use git worktrees here.", line="git status && git diff | cat") == []


def test_a_text_that_names_nothing_is_not_read_for_its_sense(monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []
    monkeypatch.setattr(reminders_module, "cues_of", lambda line: read.append(line) or ())
    notes = [("note/a.md", f"We decided to run pytest for part {number}.") for number in range(9)]
    notes.append(("note/a.md", "Never run npm here."))
    assert reminders(Action("npm ci", "/", [], (), ""), [], notes, []) == ()
    assert read == ["Never run npm here."]


def test_a_rejected_change_of_the_file_is_told():
    first = turn(1, "old", prompt="add a cache", files=("src/cart.py",))
    past = past_of([first, turn(2, "else"), turn(3, "old", prompt="No, revert that. Totals must be fresh.")])
    action = Action("", "/work/shop", ["src/cart.py"], (), "now")
    (told,) = reminders(action, [], [], past)
    assert (told.kind, told.path) == ("rejected", "episode/e3")
    assert "revert that. Totals must be fresh." in told.text
    assert reminders(Action("", "/", ["src/other.py"], (), "now"), [], [], past) == ()


def test_only_an_approved_rule_looks_like_one():
    notes = [("note/a.md", "[Rule] Never ask before you delete cart.py.")]
    (told,) = reminders(Action("", "/", ["cart.py"], (), ""), [], notes, [])
    assert "[Rule]" not in told.text


def test_the_engine_tells_of_all_kinds_and_of_nothing_hidden(machine: Machine):
    with Engine.open(machine.root) as engine:
        rule = engine.remember(f"Keep money.py free of {GITHUB}", category="Rule")
        engine.append_note("We turned down a cache in money.py.")
        list(engine.index())
        assert [one.kind for one in engine.reminders(paths=["shop/money.py"])] == ["rule", "note"]
        assert GITHUB not in repr(engine.reminders(paths=["shop/money.py"]))
        assert engine.reminders(command="ls -la") == ()
        engine.update_entry(rule.id, EntryEdit(never_recall=True))
        assert [one.kind for one in engine.reminders(paths=["shop/money.py"])] == ["note"]
        with pytest.raises(RefusedError, match="outside"):
            engine.reminders(paths=["../elsewhere.py"])


def test_a_forgotten_turn_is_told_no_more(machine: Machine):
    failed = Step("tool", "npm run seed", "Bash", FAILED, failed=True)
    data = EpisodeRecord(session="old", root=str(machine.root), prompts=("seed it",), at=NOW, steps=(failed,))
    id_ = Journal.of(machine.root).append("episode", data.to_event_data()).id
    with Engine.open(machine.root) as engine:
        assert [one.kind for one in engine.reminders(command="npm run seed")] == ["failure"]
        assert engine.reminders(command="npm run seed", session="old") == ()
        engine.edit_episodes([id_], EpisodeEdit(forgotten=True))
        assert engine.reminders(command="npm run seed") == ()
