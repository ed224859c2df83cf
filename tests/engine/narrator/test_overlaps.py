"""Facts that are shown by the same things: each is proposed once."""

from __future__ import annotations

from cm_tui.engine.memory.narrator.confidence import Candidate, Tally
from cm_tui.engine.memory.narrator.overlaps import without_overlaps


def fact(kind: str, claim: str, support: int, subject: str = "") -> Candidate:
    text = ", ".join(f"`{part}`" for part in claim.split("\n"))
    return Candidate(
        kind, subject, claim, (), text, (), "project", Tally(support, support, 0, 1.0, float(support), 0.0, 1.0), ()
    )  # type: ignore[arg-type]


def left(*found: Candidate) -> list[str]:
    return [one.claim.replace("\n", " → ") for one in without_overlaps(found)]


def test_a_part_of_a_longer_workflow_is_left_out_unless_it_is_seen_more_often() -> None:
    longer = fact("workflow", "a\nb\nc", 5)
    assert left(fact("workflow", "a\nb", 6), longer, fact("workflow", "a\nc", 5), fact("workflow", "b\nc", 5)) == [
        "a → b → c"
    ]
    assert left(longer, fact("workflow", "a\nb", 9)) == ["a → b → c", "a → b"]
    assert left(fact("workflow", "x\na\nb\nc", 4), fact("workflow", "a\nb\nc", 5)) == ["x → a → b → c"]
    assert left(longer, fact("workflow", "d\ne", 4)) == ["a → b → c", "d → e"]


def test_sequences_that_overlap_at_their_ends_are_one() -> None:
    assert left(fact("workflow", "a\nb\nc", 5), fact("workflow", "b\nc\nd", 4)) == ["a → b → c"]


def test_three_files_are_one_fact_and_not_three() -> None:
    pairs = [fact("cochange", pair, 6) for pair in ("a\nb", "a\nc", "b\nc")]
    assert left(*pairs, fact("cochange", "a\nb\nc", 5)) == ["a → b → c"]
    assert left(*pairs[:2]) == ["a → b", "a → c"]


def test_of_variants_of_a_command_the_one_that_is_run_most_stays() -> None:
    assert left(
        fact("command", "pytest -q", 9),
        fact("command", "uv run pytest", 3),
        fact("command", ".venv/bin/python -m pytest -x", 4),
    ) == ["pytest -q"]
    assert left(fact("command", "pnpm lint", 6), fact("command", "pnpm lint --fix", 4)) == ["pnpm lint"]
    assert left(fact("command", "pnpm lint", 3), fact("command", "pnpm lint --fix", 9)) == ["pnpm lint --fix"]
    assert left(fact("command", "make", 9), fact("command", "make lint", 4)) == ["make", "make lint"]
    assert left(fact("command", "cargo test -p a", 4), fact("command", "cargo test -p b", 4)) == [
        "cargo test -p a",
        "cargo test -p b",
    ]


def test_a_command_with_other_options_is_left_out_where_it_is_run_far_less_often() -> None:
    assert left(fact("command", "gofmt -w .", 36), fact("command", "gofmt -l .", 6)) == ["gofmt -w ."]
    assert len(left(fact("command", "gofmt -w .", 9), fact("command", "gofmt -l .", 6))) == 2
    assert len(left(fact("command", "x --only=a", 36), fact("command", "x --only=b", 6))) == 2


def test_a_command_about_a_folder_is_left_out_where_the_one_about_all_is_run_more_often() -> None:
    every, part = fact("command", "cd a && go vet ./...", 9), fact("command", "cd a && go vet ./cmd/", 6)
    assert left(every, part) == [every.claim]
    assert len(left(every, fact("command", "cd b && go vet ./cmd/", 6))) == 2
    assert len(left(fact("command", "go vet ./pkg/a", 9), fact("command", "go vet ./cmd/b", 6))) == 2
    assert len(left(fact("command", "cd a && npm test", 9), fact("command", "cd b && npm test", 6))) == 2


def test_a_task_whose_name_has_a_slash_is_no_folder() -> None:
    for tasks in (
        ("sbt core/test", "sbt core/run", "sbt web/compile"),
        ("make db/up", "make -j4 db/seed", "make run/api"),
    ):
        assert left(*(fact("command", task, 6 + at) for at, task in enumerate(tasks))) == list(tasks)
    folders = (fact("command", f"make -C apps/{name} build", 6) for name in ("a", "b", "c"))
    assert len(left(*folders)) == 1


def test_a_command_that_is_run_in_a_workflow_only_is_no_fact_of_its_own() -> None:
    assert left(fact("command", "a", 5), fact("workflow", "a\nb", 4)) == ["a → b"]
    assert left(fact("command", "a", 20), fact("workflow", "a\nb", 4)) == ["a", "a → b"]


def test_a_convention_is_said_of_the_narrowest_folder_that_has_nearly_all() -> None:
    narrow, wide, every = (
        fact("convention", "# SPDX", support, subject)
        for support, subject in ((6, "a/b\t*.py"), (6, "a\t**/*.py"), (7, "\t**/*.py"))
    )
    assert [one.subject for one in without_overlaps([narrow, wide, every])] == ["a/b\t*.py"]
    spread = [
        fact("convention", "# SPDX", 3, "a/b\t*.py"),
        fact("convention", "# SPDX", 3, "a/c\t*.py"),
        fact("convention", "# SPDX", 6, "a\t**/*.py"),
    ]
    assert [one.subject for one in without_overlaps(spread)] == ["a\t**/*.py"]
    other = [fact("convention", "# SPDX", 6, "a/b\t*.py"), fact("convention", "# SPDX", 6, "\t**/*.go")]
    assert len(without_overlaps(other)) == 2


def test_order_stays_and_other_kinds_are_left_alone() -> None:
    found = [fact("statement", "a", 1), fact("fix", "b", 2), fact("statement", "a b", 1)]
    assert without_overlaps(found) == found
