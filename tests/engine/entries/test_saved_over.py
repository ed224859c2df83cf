"""A program that had the file of entries open saves what it began with: what it never saw is there again."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from cm_tui.engine.entries.entries import Entries
from cm_tui.engine.entries.entry_file import FILE
from cm_tui.engine.entries.saved_over import settle_all
from cm_tui.engine.journal.journal import Journal
from cm_tui.model import EntryEdit
from cm_tui.model.author import Author
from tests.cli.conftest import git

AGENT = Author("agent", "codex", "s1")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CM_HOME", str(tmp_path / "home"))
    root = tmp_path / "shop"
    root.mkdir()
    return root


def file_of(root: Path) -> Path:
    return root / ".cm" / FILE


def said(root: Path) -> list[str]:
    return sorted(item["content"] for item in json.loads(file_of(root).read_text())["entries"])


def save(root: Path, text: str, old: str, new: str) -> None:
    """Save as an editor does that was opened when the file had this text."""
    file_of(root).write_text(text.replace(old, new))


def look(root: Path) -> None:
    settle_all(root, [*Entries(root).files.values()])


def test_what_an_agent_wrote_meanwhile_is_put_back(root: Path):
    Entries(root).add("One.", AGENT)
    opened = file_of(root).read_text()
    Entries(root).add("Two.", AGENT)
    save(root, opened, '"content": "One."', '"content": "One, as I see it."')
    Entries(root).add("Three.", AGENT)
    assert said(root) == ["One, as I see it.", "Three.", "Two."]


def test_an_entry_that_the_editor_took_out_stays_out(root: Path):
    for text in ("One.", "Two.", "Three."):
        Entries(root).add(text, AGENT)
    whole = json.loads(file_of(root).read_text())
    file_of(root).write_text(json.dumps({**whole, "entries": whole["entries"][1:]}))
    look(root)
    assert said(root) == ["Three.", "Two."]


def test_what_both_changed_is_there_twice(root: Path):
    entry, _ = Entries(root).add("One.", AGENT)
    Entries(root).add("Two.", AGENT)
    opened = file_of(root).read_text()
    Entries(root).change(Entries(root).named(entry.id), EntryEdit(content="One by cm."), AGENT)
    save(root, opened, '"content": "One."', '"content": "One by hand."')
    look(root)
    assert said(root) == ["One by cm.", "One by hand.", "Two."]
    assert len({item["id"] for item in json.loads(file_of(root).read_text())["entries"]}) == 3
    assert "One by cm." in {one.content for one in Entries(root).all().shown}, "what is known of it holds for its copy"


def test_a_branch_that_git_checks_out_is_meant_as_it_is(root: Path):
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    Entries(root).add("One.", AGENT)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    Entries(root).add("Two.", AGENT)
    git(root, "checkout", "-q", "--", ".")
    look(root)
    assert said(root) == ["One."]


def test_a_file_that_is_half_written_is_waited_for(root: Path):
    Entries(root).add("One.", AGENT)
    whole = file_of(root).read_text()

    def save() -> None:
        with file_of(root).open("w") as file:
            file.write(whole[:40])
            file.flush()
            started.set()
            time.sleep(0.01)
            file.write(whole[40:])

    started = threading.Event()
    thread = threading.Thread(target=save)
    thread.start()
    started.wait()
    Entries(root).add("Two.", AGENT)
    thread.join()
    assert said(root) == ["One.", "Two."]
    assert [*root.glob(".cm/*damaged*")] == []


def test_what_is_saved_while_cm_writes_is_not_lost(root: Path, monkeypatch: pytest.MonkeyPatch):
    Entries(root).add("One.", AGENT)
    append = Journal.append

    def slowly(self: Journal, *words: Any, **more: Any) -> Any:
        # Between what cm has read and what it writes.
        file_of(root).write_text(file_of(root).read_text().replace('"content": "One."', '"content": "One, mine."'))
        return append(self, *words, **more)

    monkeypatch.setattr(Journal, "append", slowly)
    Entries(root).add("Two.", AGENT)
    assert said(root) == ["One, mine.", "Two."]


def test_half_of_a_file_that_is_saved_while_cm_writes_costs_no_entry(root: Path, monkeypatch: pytest.MonkeyPatch):
    Entries(root).add("One.", AGENT)
    whole = file_of(root).read_text()
    append = Journal.append

    def torn(self: Journal, *words: Any, **more: Any) -> Any:
        file_of(root).write_text(whole[: len(whole) // 2])
        return append(self, *words, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", torn)
        Entries(root).add("Two.", AGENT)
    assert said(root) == ["One.", "Two."]
    assert [file.read_text() for file in root.glob(".cm/*damaged*")] == [whole[: len(whole) // 2]]
