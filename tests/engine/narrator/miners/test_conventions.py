"""Conventions that new files and commit messages keep to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cm_tui.engine.memory.narrator.miners.conventions import ending_of, form_of, messages_in, mine_conventions
from cm_tui.engine.memory.narrator.turn import Turn
from tests.engine.narrator.miners.turns import bash, changed, claims, codex, new_file, texts, turn
from tests.tiers import examples


def made(path: str, *lines: str, **fields: object) -> Turn:
    return turn(files=(path,), patch=new_file(path, *lines), **fields)


def test_the_first_lines_of_a_new_file_are_claims_about_its_folder_the_one_above_and_all() -> None:
    found = texts(mine_conventions(made("src/shop/cart/total.py", "from __future__ import annotations", "", "x = 1")))
    assert "New `*.py` files in `src/shop/cart` have `from __future__ import annotations` at the top" in found
    assert "New `*.py` files below `src/shop` have `from __future__ import annotations` at the top" in found
    assert "New `*.py` files anywhere have `from __future__ import annotations` at the top" in found


def test_new_files_are_counted() -> None:
    counted = [seen.subject for seen in mine_conventions(made("a/b.py", "x")) if not seen.claim]
    assert counted == ["a\t*.py", "\t**/*.py"]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "});",
        "import",
        "# My Title",
        "package shop;",
        "namespace App\\Models;",
        "#!/bin/sh",
        "<?php",
        "---",
        "x",
        "// ",
        "a" * 200,
        "has `ticks`",
    ],
)
def test_lines_that_stand_everywhere_or_are_of_this_file_are_none(line: str) -> None:
    assert texts(mine_conventions(made("a/b.py", line))) == []


@pytest.mark.parametrize("line", ["// SPDX-License-Identifier: MIT", "# typed: strict", "declare(strict_types=1);", '"use client";', "#pragma once", "using Xunit;",
                                  "# frozen_string_literal: true", "/* Copyright (c) Shop */", "@NullMarked", "use tracing::{debug, instrument};"])  # fmt: skip
def test_lines_that_files_begin_with_are(line: str) -> None:
    assert line in texts(mine_conventions(made("a/b.x", line)))[0]


def test_a_year_does_not_make_another_claim() -> None:
    one, other = (
        set(claims(mine_conventions, made("a/b.go", f"// Copyright {year} Shop"))) for year in ("2025", "2026")
    )
    assert one == other


def test_a_changed_file_is_no_new_one_and_neither_is_what_was_new_before() -> None:
    assert list(mine_conventions(turn(files=("a/b.py",), patch=changed("a/b.py", "# SPDX")))) == []
    before = made("a/b.py", "# SPDX: MIT", actor="agent")
    after = turn(files=("a/b.py",), patch=new_file("a/b.py", "# SPDX: MIT", "more"), actor="agent", before=before)
    assert claims(mine_conventions, after) == {}


def test_what_was_rejected_or_failed_is_none() -> None:
    before = made("a/b.py", "# SPDX: MIT")
    assert claims(mine_conventions, made("a/b.py", "# SPDX: MIT", outcome="failed")) == {}
    assert {
        seen.opposes for seen in claims(mine_conventions, turn(prompts=("revert that",), before=before)).values()
    } == {True}


def test_many_new_files_at_once_tell_nothing() -> None:
    paths = [f"a/{number}.py" for number in range(11)]
    assert (
        list(mine_conventions(turn(files=tuple(paths), patch="".join(new_file(path, "# SPDX: MIT") for path in paths))))
        == []
    )


def test_numbers_that_names_begin_with_are_a_scheme() -> None:
    found = texts(mine_conventions(made("db/migrations/0042_add_cart.sql", "x;")))
    assert "New `*.sql` files in `db/migrations` are named after a number, as `0042-words`" in found


@pytest.mark.parametrize(("name", "ending"), [("a.py", ".py"), ("cart_test.go", "_test.go"), ("cart.test.tsx", ".test.tsx"), ("CartTest.java", "Test.java"),
                                               ("cart_spec.rb", "_spec.rb"), ("cart.dto.ts", ".dto.ts"), ("Makefile", ""), (".env", "")])  # fmt: skip
def test_the_ending_says_what_kind_of_file_it_is(name: str, ending: str) -> None:
    assert ending_of(name) == ending


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("feat(cart): add totals", "conventional commits, `type(scope): what`, as `feat(…): …`"),
        ("fix!: drop node 16", "conventional commits, `type: what`"),
        ("SHOP-12: add totals", "ticket, as `SHOP-123: what`"),
        ("LED-7 add totals", "ticket, as `LED-123 what`"),
        ("[cart] add totals", "area in brackets"),
        ("net/http: add totals", "prefix, `area: what`, as `net/http: …`"),
        ("#12: add totals", "number of the issue"),
        ("Add totals (#12)", "end with the number of the issue"),
        (":sparkles: add totals", "emoji"),
    ],
)
def test_the_form_of_a_message_is_seen(message: str, said: str) -> None:
    form = form_of(message)
    assert form is not None
    assert said in form.text


def test_a_plain_sentence_has_no_form_and_is_counted() -> None:
    seen = list(mine_conventions(turn(bash('git commit -m "Add totals to the cart"'))))
    assert [(one.subject, one.claim) for one in seen] == [("commit messages", "")]


def test_messages_are_read_as_agents_give_them() -> None:
    steps = (
        bash("git add -A && git commit -m \"$(cat <<'EOF'\nfeat(cart): add totals\n\nCo-Authored-By: Claude\nEOF\n)\""),
        codex("git commit -am 'fix: b'"),
        bash("git -c user.name=x commit --message='docs: c'"),
        bash("git commit -m 'no: failed'", "nothing to commit", failed=True),
        bash("git commit --amend --no-edit"),
        bash("git commit -m 'Merge branch x'"),
        bash("git log --grep commit -m x"),
    )
    assert messages_in(turn(*steps).record) == ["feat(cart): add totals", "fix: b", "docs: c"]


@settings(max_examples=examples(200), deadline=None)
@given(message=st.text(max_size=300))
def test_no_message_raises(message: str) -> None:
    form = form_of(message)
    assert form is None or "\n" not in form.text
