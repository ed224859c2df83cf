"""Commands that are run one after another."""

from __future__ import annotations

from cm_tui.engine.memory.narrator.miners.workflows import mine_workflows
from tests.engine.narrator.miners.turns import bash, claims, codex, edit, turn


def of(*lines: str) -> set[str]:
    return {claim.replace("\n", " → ") for claim in claims(mine_workflows, turn(*map(bash, lines)))}


def test_commands_that_follow_each_other_are_a_workflow() -> None:
    assert of("buf lint", "make proto", "go test ./rpc") == {
        "buf lint → make proto", "make proto → go test ./rpc", "buf lint → go test ./rpc", "buf lint → make proto → go test ./rpc",
    }  # fmt: skip


def test_it_is_written_in_its_order() -> None:
    found = claims(mine_workflows, turn(bash("buf lint"), codex("make proto")))
    assert found["buf lint\nmake proto"].text == "Run in this order: `buf lint`, then `make proto`"


def test_each_command_is_counted() -> None:
    counted = [seen.subject for seen in mine_workflows(turn(bash("make lint"))) if not seen.claim]
    assert counted == ["make lint"]


def test_what_only_looks_may_stand_between_and_a_line_may_hold_several() -> None:
    steps = (bash("git status"), bash("buf lint"), bash("cat a"), edit("a.py"), bash("ls"), bash("make proto"))
    assert set(claims(mine_workflows, turn(*steps))) == {"buf lint\nmake proto"}
    assert of("buf lint && make proto; git status") == {"buf lint → make proto"}


def test_the_last_run_of_each_says_the_order() -> None:
    assert of("make lint", "make test", "make lint", "make test") == {"make lint → make test"}


def test_a_fix_is_no_workflow() -> None:
    steps = (bash("go build ./x", "missing entry", failed=True), bash("go mod download"), bash("go build ./x"))
    assert claims(mine_workflows, turn(*steps)) == {}


def test_a_check_that_failed_until_the_code_was_mended_is_part_of_one() -> None:
    steps = (bash("make lint", "oh", failed=True), edit("a.py"), bash("make lint"), bash("make test"))
    assert set(claims(mine_workflows, turn(*steps))) == {"make lint\nmake test"}


def test_what_failed_or_is_of_no_project_is_no_step() -> None:
    assert of("git push", "git tag v1", "mkdir x") == set()
    assert claims(mine_workflows, turn(bash("make a"), bash("make b", "oh", failed=True))) == {}
    assert of("uv lock --check", "towncrier build --yes", "git tag --sign --list") >= {
        "uv lock --check → towncrier build --yes → git tag --sign --list"
    }
    assert of("pytest tests/test_a.py", "make x") == set()


def test_a_turn_that_did_everything_tells_nothing() -> None:
    assert of(*(f"make t{number}" for number in range(13))) == set()
    assert len(of(*(f"make t{number}" for number in range(12)))) < 130
