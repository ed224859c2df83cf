"""Files that are changed together."""

from __future__ import annotations

from typing import Any

from cm_tui.engine.memory.narrator.miners.cochange import mine_cochange
from tests.engine.narrator.miners.turns import changed, claims, turn

PAIR = "api/routes.py\ndocs/api.md"


def of(*files: str, **fields: Any) -> set[str]:
    return set(claims(mine_cochange, turn(files=files, **fields)))


def test_two_files_of_a_turn_are_a_pair_and_three_are_three() -> None:
    assert of("docs/api.md", "api/routes.py") == {PAIR}
    assert of("a", "b", "c") == {"a\nb", "a\nc", "b\nc", "a\nb\nc"}
    found = claims(mine_cochange, turn(files=("b", "a", "c")))
    assert found["a\nb\nc"].text == "`a`, `b` and `c` are changed together"


def test_each_file_alone_is_counted() -> None:
    alone = [(seen.subject, seen.weight) for seen in mine_cochange(turn(files=("a", "b"))) if not seen.claim]
    assert alone == [("a", 0.0), ("b", 0.0)]


def test_a_file_and_its_own_test_are_worth_less() -> None:
    for some in (
        ("a/cart.go", "a/cart_test.go"),
        ("src/cart.ts", "test/cart.spec.ts"),
        ("Cart.java", "CartTest.java"),
        ("cart.c", "cart.h"),
    ):
        assert {seen.weight for seen in claims(mine_cochange, turn(files=some)).values()} == {0.6}, some
    assert {seen.weight for seen in claims(mine_cochange, turn(files=("cart.py", "test_cart_matrix.py"))).values()} == {
        1.0
    }


def test_many_files_at_once_tell_nothing() -> None:
    assert list(mine_cochange(turn(files=tuple(f"f{n}" for n in range(11))))) == []
    assert len(of(*(f"f{n}" for n in range(10)))) == 45
    assert list(mine_cochange(turn(files=tuple(f"f{n}" for n in range(10_000))))) == []


def test_what_failed_or_was_interrupted_tells_nothing() -> None:
    for outcome in ("failed", "interrupted", "unanswered"):
        assert list(mine_cochange(turn(files=("a", "b"), outcome=outcome))) == []
    assert of("a", "b", outcome="") == {"a\nb"}


def test_what_the_next_prompt_rejects_is_opposed() -> None:
    before = turn(files=("a", "b"))
    for prompt in (
        "No, revert that",
        "undo this please",
        "that's wrong",
        "Why did you touch b?",
        "this breaks the build",
    ):
        assert [seen.opposes for seen in claims(mine_cochange, turn(prompts=(prompt,), before=before)).values()] == [
            True
        ], prompt
    for prompt in ("Now add a test", "nothing else to do?", "Note the other file", "wrongly named files: list them"):
        assert claims(mine_cochange, turn(prompts=(prompt,), before=before)) == {}, prompt


def test_what_was_changed_before_and_only_is_not_committed_yet_does_not_count() -> None:
    patch = changed("a", "1") + changed("b", "1")
    before = turn(files=("a", "b"), patch=patch, actor="agent")
    assert of("a", "b", "c", actor="agent", before=before, patch=patch + changed("c")) == set()
    assert of("a", "b", actor="agent", before=before, patch=changed("a", "2") + changed("b", "2")) == {"a\nb"}
    assert of("a", "b", actor="agent", before=before, patch="") == set()


def test_only_files_of_the_checkout_count() -> None:
    assert of("/home/ann/shop/a", "./b", "/etc/hosts", "../x", "~/y", "q`q", "a\nb", "x" * 300) == {"a\nb"}
    assert of("src\\a.cs", "src/b.cs") == {"src/a.cs\nsrc/b.cs"}


def test_what_cm_itself_writes_does_not_count() -> None:
    """The first entry and each note would go together with whatever the turn changed."""
    assert of("a", ".cm/memory.json", "/home/ann/shop/.cm/.gitignore", "./.cm/notes/x.md", "b") == {"a\nb"}
