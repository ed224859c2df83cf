"""History on the command line: revisions, lives, drift, reading and dropping history."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest

from cm_tui.cli.output import follow
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import Progress
from tests.cli.conftest import Shop, ShopTemplate, git, opened_once


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> ShopTemplate:
    return ShopTemplate(tmp_path_factory.mktemp("grown"), grow)


@pytest.fixture
def grown(kept: ShopTemplate, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """Three commits: `receipt` goes with the second, `refund` comes with the third."""
    with opened_once(kept.put_back(monkeypatch)) as shop:
        yield shop


def grow(shop: Shop) -> None:
    checkout = shop.root / "shop/checkout.py"
    for text, subject in (
        ("def pay(cart):\n    return cart\n", "No receipts"),
        ("def pay(cart):\n    return cart\n\n\ndef refund(cart):\n    return pay(cart)\n", "Give money back"),
    ):
        checkout.write_text(text)
        git(shop.root, "commit", "-qam", subject)
    assert shop.cm("index", "--json").code == 0


@pytest.mark.deep
def test_the_state_at_a_moment(grown: Shop):
    done = grown.cm("at", "HEAD~2", "--json")
    page = done.json
    assert set(page) == {"rows", "total"}
    assert "receipt" in {row["qualname"] for row in page["rows"]}
    assert {"path", "line", "qualname", "kind"} <= set(page["rows"][0])
    assert "reading history back to #1" in done.err
    files = grown.cm("at", "#1", "files", "--folder", "shop", "--json").json
    assert {row["path"] for row in files["rows"]} == {
        "shop/__init__.py", "shop/cart.py", "shop/money.py", "shop/checkout.py",
    }  # fmt: skip
    assert grown.cm("at", "HEAD", "--match", "refund").out.startswith("shop/checkout.py:5  function refund")


def test_names_that_mean_nothing(grown: Shop):
    wrong = [("no-such", 3), ("#9", 3), ("--upload-pack=x", 2), (":/x", 2), ("", 2), ("2024-99-99", 2)]
    for ref, code in wrong:
        for words in (("at", "--", ref), ("callers", f"--at={ref}", "pay")):
            done = grown.cm(*words)
            assert (done.code, done.out) == (code, ""), (words, done.err)
            assert done.err.startswith("cm: ")


def test_a_life(grown: Shop):
    assert grown.cm("history", "backfill").code == 0
    page = grown.cm("life", "receipt", "--callers", "--json").json
    life = page["rows"][0]
    assert {"path", "line", "qualname", "kind"} <= set(life)
    assert [event["what"] for event in life["events"]] == ["came", "left"]
    assert life["invalid"]["ordinal"] == 2
    assert life["last_seen"]["ordinal"] == 1
    assert life["callers_before"]["rows"][0]["qualname"] == "pay"
    text = grown.cm("life", "receipt", "--callers").out
    assert "(gone)" in text
    assert "return receipt(cart)" in text
    assert grown.cm("life", "never_was").code == 3


def test_history_says_how_far_it_is(grown: Shop):
    assert grown.cm("history", "status", "--json").json["known"] == 0
    done = grown.cm("history", "backfill", "--depth", "2", "--json")
    assert done.json["known"] == 2
    assert "2 of 3 commits" in done.json["text"]
    assert grown.cm("history", "backfill", "--json").json["complete"] is True
    assert grown.cm("history", "backfill", "--since", "nowhere").code == 3
    line = grown.cm("history", "line", "--match", "receipts", "--json").json
    assert [(row["ordinal"], row["subject"]) for row in line["rows"]] == [(2, "No receipts")]


def test_drift_is_shown_and_not_mended(grown: Shop):
    (grown.root / "shop/money.py").unlink()
    (grown.root / "shop/new.py").write_text("def new():\n    return 1\n")
    for _ in range(2):
        found = grown.cm("drift", "--json").json
        assert found["current"] is False
        assert {"rows", "total"} <= set(found)
        states = {(row["qualname"], row["state"]) for row in found["rows"]}
        assert {("add_tax", "tombstoned"), ("new", "unindexed")} <= states
    since = grown.cm("drift", "--since", "HEAD~1", "--looked", "--json").json
    assert [(c["change"], c["symbol"]["name"]) for c in since["changes"]["rows"]] == [("added", "refund")]
    assert grown.cm("drift", "--since", "last", "--json").json["changes"]["total"] == 0
    grown.cm("index")
    assert "reflects this checkout" in grown.cm("drift").err


def test_prune_counts_drops_and_is_remembered(grown: Shop):
    grown.cm("history", "backfill")
    trial = grown.cm("prune", "--before", "HEAD", "--dry-run", "--json").json
    assert trial["dry_run"] is True
    assert trial["commits"] == 2
    assert grown.cm("history", "status", "--json").json["complete"] is True
    assert grown.cm("prune", "--before", "HEAD", "--json").json["blobs"] == trial["blobs"]
    refused = grown.cm("at", "HEAD~1")
    assert refused.code == 3
    assert "was removed" in refused.err
    assert json.loads(grown.cm("history", "status", "--json").out)["vacuumed"]
    assert grown.cm("prune").code == 2
    assert grown.cm("prune", "--older-than", "soon").code == 2
    assert grown.cm("prune", "--all", "--json").code == 0
    assert grown.cm("search", "refund").code == 0


def record(shop: Shop, head: str | None, **data: object) -> str:
    said = {
        "agent": "codex",
        "session": "s1",
        "prompts": ["refund it"],
        "root": str(shop.root),
        "files": ["shop/cart.py"],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(shop.home))
        return Journal.of(shop.root).append("episode", {**said, **data}, head=head).id


def test_what_is_off_the_line_is_said_wherever_a_moment_is_named(grown: Shop):
    git(grown.root, "checkout", "-qb", "side", "HEAD~1")
    git(grown.root, "commit", "-q", "--allow-empty", "-m", "aside")
    git(grown.root, "checkout", "-q", "-")
    assert grown.cm("history", "backfill").code == 0
    for words in (
        ("at", "side"), ("history", "backfill", "--since", "side"), ("prune", "--before", "side", "--dry-run"),
        ("drift", "--since", "side"), ("definitions", "pay", "--at", "side"),
    ):  # fmt: skip
        done = grown.cm(*words)
        assert done.code == 0
        assert (done.out + done.err).count("off the mainline, 1 commit after #") == 1 + (words[0] == "at"), words


def test_before_the_first_commit_there_was_nothing(grown: Shop):
    done = grown.cm("at", "1800-01-01")
    assert done.code == 3
    assert "Nothing existed yet" in done.err
    assert grown.cm("drift", "--since", "1800-01-01", "--json").json["changes"]["total"] > 0
    assert grown.cm("history", "backfill", "--since", "1800-01-01", "--json").json["complete"]


def test_a_life_without_a_name_and_one_that_moved(grown: Shop):
    assert grown.cm("life", "").code == 2
    text = (grown.root / "shop/checkout.py").read_text()
    (grown.root / "shop/checkout.py").unlink()
    (grown.root / "shop/till.py").write_text(text)
    git(grown.root, "add", "-A")
    git(grown.root, "commit", "-qm", "To the till")
    assert grown.cm("history", "backfill").code == 0
    assert "from shop/checkout.py refund" in grown.cm("life", "refund").out


def test_long_work_says_how_far_it_is_where_there_is_no_bar(capsys, monkeypatch):
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr("cm_tui.cli.output.time.monotonic", lambda: float(next(clock)))
    follow(Progress("history", number, 10, f"{number} of 10 commits") for number in range(10))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "history: 0 of 10 commits"
    assert 2 <= len(lines) <= 5


def test_what_agents_saw(grown: Shop):
    assert "cm agent install" in grown.cm("episodes").err
    assert grown.cm("episodes", "last").code == 3
    second = subprocess.run(
        ["git", "rev-parse", "HEAD~1"], cwd=grown.root, check=True, capture_output=True, text=True
    ).stdout.strip()
    old = record(grown, None, prompts=["without a commit\x1b[31m"], patch="")
    new = record(
        grown, second, patch="--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\x9b1m\n+b\n", answer="done\rover", patch_cut=True
    )
    page = grown.cm("episodes", "--json").json
    assert page["total"] == 2
    first = page["rows"][0]
    assert (first["id"], first["sha"], first["moment"]["ordinal"], first["patch_lines"]) == (new, second, 2, 5)
    assert "patch" not in first
    text = grown.cm("episodes")
    assert f"{new[:16]}  " in text.out
    assert "#2 " in text.out
    assert "  no commit  " in text.out
    assert "no commit recorded" not in text.out
    assert "no commit recorded" in grown.cm("episodes", old).err
    assert "\x1b" not in text.out
    assert grown.cm("episodes", "--match", "without", "--json").json["rows"][0]["id"] == old
    assert grown.cm("episodes", "--before", new, "--json").json["rows"][0]["id"] == old
    whole = grown.cm("episodes", new[:12])
    assert "at #2 " in whole.out
    assert "No receipts" in whole.out
    assert "-a·1m\n+b" in whole.out
    assert not {"\x1b", "\x9b", "\r"} & set(whole.out)
    assert "its beginning" in whole.err
    assert grown.cm("episodes", "last", "--json").json["patch"].startswith("--- a/x")


@pytest.mark.parametrize(
    "words", [("episodes", "nothing"), ("episodes", "--before", "nothing"), ("episodes", "\x1b[2J")]
)
def test_episodes_that_there_are_not(shop: Shop, words: tuple[str, ...]):
    done = shop.cm(*words)
    assert done.code == 3
    assert "\x1b" not in done.err
    assert "cm episodes" in done.err


def test_the_application_opens_at_an_episode_only_alone(shop: Shop):
    assert shop.cm("--episode", "last", "status").code == 2
    assert "terminal" in shop.cm("--episode", "last").err
