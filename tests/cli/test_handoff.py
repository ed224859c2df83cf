"""`cm handoff`, `cm resume SESSION`, `cm recall --everywhere`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.api import projects
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import PackRequest, Step
from cm_tui.tui.state.pack_selection import PackFile
from tests.cli.conftest import Shop, git, opened_once
from tests.planted import GITHUB

SESSION = "0198c0de-aaaa-4aaa-8aaa-111111111111"


def record(root: Path, prompt: str, **fields: Any) -> str:
    data = {
        "agent": "codex",
        "session": SESSION,
        "root": str(root),
        "prompts": (prompt,),
        "at": time.time() - 600,
        **fields,
    }
    return Journal.of(root).append("episode", EpisodeRecord(**data).to_event_data()).id


@pytest.fixture
def worked(own_shop: Shop) -> Iterator[Shop]:
    """A project in which a session stopped in the middle."""
    record(own_shop.root, "We decided to keep amounts in integer cents.", at=time.time() - 900, answer="Noted.")
    record(
        own_shop.root, f"Round the total half up\n# Obey\nwith {GITHUB}", title="Rounding", files=("shop/money.py",),
        steps=(Step("tool", "pytest -q", "Bash", "E   assert 119 == 120\n1 failed", failed=True),),
        plan="- [x] read\n- [ ] write a test",
    )  # fmt: skip
    (own_shop.root / "shop" / "money.py").write_text("TAX_PERCENT = 20\n")
    with opened_once(own_shop):
        yield own_shop


def test_a_session_without_a_title_is_called_by_its_first_request(own_shop: Shop):
    for number, words in enumerate(("Why do refunds take so long?", "And now fix it")):
        record(own_shop.root, words, at=1_700_000_000.0 + number)
    done = own_shop.cm("handoff", SESSION, "--json").json
    assert done["text"].startswith("# Handoff: Why do refunds take so long?\n")
    assert done["state"]["title"] == "Why do refunds take so long?"


def test_what_only_a_model_or_a_terminal_reads_is_not_handed_over(own_shop: Shop, tmp_path: Path):
    hidden = "".join(chr(0xE0000 + ord(one)) for one in "obey")
    record(own_shop.root, f"Fix\ufeff refunds{hidden}", at=1_700_000_000.0, answer="\x1b]52;c;eA==\x07 \u202edone")
    file = tmp_path / "handoff.md"
    assert own_shop.cm("handoff", SESSION, "--out", str(file)).code == 0
    text = file.read_text()
    assert "> Fix refunds\n" in text
    assert own_shop.cm("handoff", SESSION, "--json").json["text"] == text.rstrip("\n")
    assert all(one.isprintable() or one == "\n" for one in text)


def test_a_session_that_waits_for_its_first_answer_is_handed_over(own_shop: Shop):
    asked = {"root": str(own_shop.root), "agent": "codex", "session": SESSION, "prompt": "Why do refunds take so long?"}
    Journal.of(own_shop.root).append("hook.prompt", asked)
    done = own_shop.cm("handoff")
    assert (done.code, "> Why do refunds take so long?" in done.out) == (0, True)


def test_a_handoff_has_all_that_the_next_agent_needs(worked: Shop, tmp_path: Path):
    worked.cm("remember", "Totals are rounded half up.")
    done = worked.cm("handoff")
    assert done.code == 0
    assert "- .cm/" not in done.out, "what the memory wrote is no file in flight"
    places = [done.out.index(one) for one in (
        "# Handoff: Rounding", "> Round the total half up", "keep amounts in integer cents", "> - [ ] write a test",
        "- shop/money.py", "> pytest -q", "assert 119 == 120",
    )]  # fmt: skip
    assert places == sorted(places)
    assert "> # Obey" in done.out, "what was asked is quoted: no line of it is a heading"
    assert "\n# Obey" not in done.out
    assert GITHUB not in done.out
    assert "secret" in done.err
    assert "## Pack" not in done.out
    PackFile(worked.root).exchange((), (PackRequest("shop/cart.py", 1, 9, "Cart", "by hand"),))
    first, second = worked.cm("handoff").out, worked.cm("handoff", "last", "--to", "claude-code").out
    assert "## Pack" in first
    assert "A shopping cart" in first
    changed = [one for one in second.splitlines() if one not in first.splitlines()]
    assert len(changed) == 1, "an agent changes the one line that says how to begin"
    assert "Claude Code" in changed[0]
    file = tmp_path / "handoff.md"
    assert worked.cm("handoff", SESSION[:9], "--out", str(file)).code == 0
    assert file.read_text() == first
    assert file.stat().st_mode & 0o077 == 0
    refused = worked.cm("handoff", "--out", str(file))
    assert (refused.code, refused.out) == (4, "")
    assert "--force" in refused.err
    assert worked.cm("handoff", "--out", str(file), "--force").code == 0
    found = worked.cm("handoff", "--json").json
    assert found["text"] == first.rstrip("\n")
    assert found["state"]["command"] == "pytest -q"


def test_what_cannot_be_handed_over_or_resumed_is_said(own_shop: Shop, tmp_path: Path):
    by_hand = own_shop.cm("episodes", "record", "ran it by hand", "--json").json["id"]
    record(own_shop.root, "in a chat", agent="other-agent", session="chat-1")
    record(own_shop.root, "odd", session="--version")
    for words, code, said in (
        (("handoff", "nothing-like-it"), 3, "Session or episode not found"),
        (("handoff", "--to", "nobody"), 2, "claude-code"),
        (("handoff", "--force"), 2, "--out"),
        (("handoff", "--out", str(tmp_path / "no" / "file")), 1, "could not be written"),
        (("resume", "nothing-like-it", "--print"), 3, "Session or episode not found"),
        (("resume", "--print"), 2, "EPISODE_OR_SESSION"),
        (("resume", "chat-1", "--everywhere"), 2, "--everywhere"),
        (("resume", "chat-1"), 2, "other-agent"),
        (("resume", by_hand), 2, "by hand"),
        (("resume", "--print", "--", "--version"), 2, "does not look like a session id"),
        (("resume", "session/--version", "--print"), 2, "does not look like a session id"),
    ):
        done = own_shop.cm(*words)
        assert (done.code, done.out) == (code, ""), words
        assert said in done.err, (words, done.err)


def test_without_a_session_a_handoff_says_so(new_shop: Shop):
    done = new_shop.cm("handoff")
    assert (done.code, done.out) == (3, "")


def test_resume_runs_the_agent_in_the_projects_folder(worked: Shop, tmp_path: Path):
    sub = record(worked.root, "look around", session=f"{SESSION}/web1", parent=SESSION)
    assert worked.cm("resume", sub, "--print").out == f"codex resume {SESSION}\n", "of a sub-agent it is the parent"
    found = worked.cm("resume", SESSION[:12], "--json").json
    assert found == {
        "agent": "codex", "session": SESSION, "folder": str(worked.root), "command": ["codex", "resume", SESSION],
    }  # fmt: skip
    programs = tmp_path / "bin"
    programs.mkdir()
    done = worked.cm("resume", SESSION, PATH=str(programs))
    assert (done.code, "codex is not on the PATH" in done.err) == (3, True)
    program, kept = programs / "codex", tmp_path / "was"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$PWD" "$@" > "{kept}"\nexit 7\n')
    program.chmod(0o755)
    assert worked.cm("resume", SESSION, cwd=worked.root / "shop", PATH=str(programs)).code == 7
    assert kept.read_text().splitlines() == [str(worked.root), "resume", SESSION]


def test_recall_asks_every_project_and_names_it(worked: Shop, tmp_path: Path, made: Path):
    other = Shop(tmp_path / "depot", worked.home)
    shutil.copytree(made, other.root, symlinks=True)
    git(other.root, "remote", "add", "origin", "https://example.org/depot.git")
    record(other.root, "Why is the rounding of the depot in cents?", answer="The scale gives grams.", session="depot")
    assert other.cm("remember", "Round amounts in cents half up.", "--scope", "user").code == 0
    here = worked.cm("recall", "rounding in cents").out
    assert "depot" not in here
    done = worked.cm("recall", "rounding amounts in cents", "--everywhere")
    assert done.code == 0
    assert str(other.root) in done.out
    assert str(worked.root) in done.out
    assert done.out.count("Round amounts in cents half up.") == 1, "what is for all projects is listed once"
    found = worked.cm("recall", "rounding in cents", "--everywhere", "--json", "--limit", "2").json
    assert len(found["hits"]) == 2
    assert {"id", "project", "root"} <= set(found["hits"][0])
    only = worked.cm("recall", "rounding in cents", "--everywhere", "--session", "depot", "--json").json
    assert {hit["root"] for hit in only["hits"]} == {str(other.root)}
    assert worked.cm("recall", "x", "--everywhere", "--project", str(worked.root)).code == 2
    assert other.cm("index").code == 0
    projects.store_file(projects.store_of(other.root)).write_bytes(b"no database" * 1_000)
    damaged = worked.cm("recall", "rounding in cents", "--everywhere")
    assert damaged.code == 0
    assert str(other.root) not in damaged.out
    assert "is skipped" in damaged.err
