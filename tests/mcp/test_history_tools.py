"""Tools of the past: what was alive at a commit, who called what then, and what a commit no longer confirms."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.cli.conftest import git
from tests.mcp.served import answering


def sha_of(root: Path, ref: str) -> str:
    return subprocess.run(
        ["git", "rev-parse", ref], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


async def grown(asked, own: Path) -> None:
    """A second commit without `receipt`, indexed; the past is read when it is asked for."""
    (own / "shop/checkout.py").write_text("def pay(cart):\n    return cart\n")
    git(own, "add", "-A")
    git(own, "commit", "-qm", "No receipts")
    await asked.ok("codememory_ingest", confirmed=True)


async def test_what_was_there_and_who_called_it(own: Path):
    async with answering(own) as asked:
        await grown(asked, own)
        first = sha_of(own, "HEAD~1")
        text, record = await asked.ok("codememory_at_sha", sha=first, sha_ord=1)
        assert record["moment"]["sha"] == first
        assert record["moment"]["sha_ord"] == 1
        assert "receipt" in {row["qualname"] for row in record["rows"]}
        assert f"at #1 {first[:10]}" in text
        _, record = await asked.ok("codememory_at_sha", sha="HEAD")
        assert "receipt" not in {row["qualname"] for row in record["rows"]}
        text, record = await asked.ok("codememory_callers_at_sha", symbol="receipt", sha=first, sha_ord=7)
        assert [row["qualname"] for row in record["rows"]] == ["pay"]
        assert record["rows"][0]["text"] == "return receipt(cart)"
        assert record["unresolved"] == 0
        _, nothing = await asked.ok("codememory_callers_at_sha", symbol="receipt", sha=first, unresolved=True)
        assert nothing["rows"] == []
        assert "sha_ord 7 is another commit" in text
        await asked.refused("codememory_callers_at_sha", symbol="receipt", sha="HEAD")


async def test_what_a_commit_does_not_confirm(own: Path):
    async with answering(own) as asked:
        await grown(asked, own)
        _, record = await asked.ok("codememory_drift", head_sha=sha_of(own, "HEAD"))
        assert record["current"] is True
        text, record = await asked.ok("codememory_drift", head_sha="HEAD~1")
        assert {(row["qualname"], row["status"]) for row in record["rows"]} == {
            ("pay", "drifted"),
            ("receipt", "unindexed"),
        }
        assert "drifted shop/checkout.py function pay" in text
        assert "reflects the working tree" not in text
        assert text.startswith(f"Compared with #1 {sha_of(own, 'HEAD~1')[:10]}")


async def test_odd_names_are_refused_in_words(own: Path):
    async with answering(own) as asked:
        await asked.ok("codememory_ingest", confirmed=True)
        for name in ("no-such", "--upload-pack=touch /tmp/x", ":/x", "a b", "#9", "x" * 150, "HEAD^{/x}", "1999-99-99"):
            said = await asked.refused("codememory_at_sha", sha=name)
            assert "Internal" not in said
