"""What the daemon makes of a journal: one run for many edits, one episode for a stop, nothing twice."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.projection.journal_consumer import JournalConsumer
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import StoreError
from tests.daemon.conftest import until
from tests.forked import run_python
from tests.gitrepo import Repo


class Runs:
    """Index runs that were asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[Path, tuple[str, ...]]] = []
        self.sources: list[str] = []
        self.fails = False

    def __call__(self, root: Path, files: Sequence[str], source: str) -> None:
        self.sources.append(source)
        self.calls.append((root, tuple(files)))
        if self.fails:
            raise (StoreError("The disk is full.") if len(self.calls) % 2 else RuntimeError("a bug"))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    return repo


@pytest.fixture
def runs() -> Runs:
    return Runs()


@pytest.fixture
def processor(runs: Runs) -> Iterator[JournalConsumer]:
    processor = JournalConsumer(runs)
    yield processor
    processor.close()


def tell(repo: Repo, kind: str, **data: object) -> Event:
    head = repo.git("rev-parse", "HEAD")
    return Journal.of(repo.root).append(f"hook.{kind}", {"session": "s", "root": str(repo.root), **data}, head=head)


def episodes(repo: Repo) -> list[Event]:
    return [event for event in Journal.of(repo.root).read() if event.kind == "episode"]


def test_the_edits_of_one_nudge_are_passed_on_together(repo: Repo, processor: JournalConsumer, runs: Runs):
    for number in range(20):
        tell(repo, "edit", paths=[f"f{number % 7}.py"])
    processor.on_nudge(repo.root)
    assert runs.calls == [(repo.root, tuple(f"f{number}.py" for number in range(7)))]


def test_a_move_of_git_asks_for_everything(repo: Repo, processor: JournalConsumer, runs: Runs):
    tell(repo, "edit", paths=["a.py"])
    tell(repo, "git", hook="post-checkout")
    processor.on_nudge(repo.root)
    until(lambda: runs.calls)
    tell(repo, "session-start")
    processor.on_nudge(repo.root)
    until(lambda: len(runs.calls) == 2)
    assert runs.calls == [(repo.root, ())] * 2
    assert runs.sources == ["git hooks", "agent hooks"]
    tell(repo, "edit", paths=[f"f{number}.py" for number in range(600)])
    processor.on_nudge(repo.root)
    until(lambda: len(runs.calls) == 3)
    assert (runs.calls[2], runs.sources[2]) == ((repo.root, ()), "agent hooks")


def test_a_run_that_fails_does_not_end_the_next(repo: Repo, processor: JournalConsumer, runs: Runs):
    runs.fails = True
    tell(repo, "edit", paths=["a.py"])
    processor.on_nudge(repo.root)
    until(lambda: len(runs.calls) == 1)
    for count in (2, 3):
        tell(repo, "edit", paths=["b.py"])
        processor.on_nudge(repo.root)
        until(lambda count=count: len(runs.calls) == count)


def test_a_real_index_follows_the_edits(repo: Repo):
    with Engine.open(repo.root) as engine:
        for _ in engine.index():
            pass

        def index(root: Path, files: Sequence[str], source: str) -> None:
            assert root == engine.root
            for _ in engine.index(paths=files):
                pass

        processor = JournalConsumer(index)
        repo.write("a.py", "def freshly_made():\n    pass\n")
        tell(repo, "edit", paths=["a.py"])
        processor.on_nudge(repo.root)
        until(lambda: [symbol for symbol in engine.symbols(file="a.py").rows if symbol.name == "freshly_made"])
        processor.close()


def test_worktrees_share_a_journal_and_are_indexed_each(
    repo: Repo, processor: JournalConsumer, runs: Runs, tmp_path: Path
):
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"))
    tree = Repo(tmp_path / "tree", init=False)
    tell(repo, "edit", paths=["a.py"])
    tell(tree, "edit", paths=["b.py"])
    processor.on_nudge(tree.root)
    until(lambda: len(runs.calls) == 2)
    assert sorted(runs.calls) == sorted([(repo.root, ("a.py",)), (tree.root, ("b.py",))])


def test_a_stop_becomes_an_episode(repo: Repo, processor: JournalConsumer):
    base = repo.git("rev-parse", "HEAD")
    tell(repo, "prompt", prompt="Add tax", agent="codex")
    repo.write("a.py", "x = 2\n")
    repo.write("new name.py", "y = 1\n")
    tell(repo, "edit", paths=["a.py"])
    stop = tell(repo, "stop", agent="codex", answer="Done.")
    processor.on_nudge(repo.root)
    until(lambda: episodes(repo), "the episode")
    (found,) = episodes(repo)
    assert found.head == base
    assert found.data["prompts"] == ["Add tax"]
    assert found.data["answer"] == "Done."
    assert found.data["files"] == ["a.py", "new name.py"]
    assert "-x = 1\n+x = 2" in found.data["patch"]
    assert (found.data["base"], found.data["stop"], found.data["note"]) == (base, stop.id, "")


def test_what_the_agent_committed_is_in_the_patch(repo: Repo, processor: JournalConsumer):
    tell(repo, "prompt", prompt="Add tax and commit")
    repo.write("a.py", "x = 3\n")
    repo.commit("tax")
    tell(repo, "stop")
    processor.on_nudge(repo.root)
    until(lambda: episodes(repo))
    assert "+x = 3" in episodes(repo)[0].data["patch"]


def test_secrets_in_a_patch_are_gone(repo: Repo, processor: JournalConsumer):
    secret = "AKIA" + "ABCDEFGHIJKLMNOP"
    repo.write("a.py", f"key = {secret}\n")
    tell(repo, "prompt", prompt="Add the key")
    tell(repo, "stop")
    processor.on_nudge(repo.root)
    until(lambda: episodes(repo))
    data = episodes(repo)[0].data
    assert "[redacted: aws access key]" in data["patch"]
    assert secret not in data["patch"]
    assert data["redacted"] == 1


def test_a_secret_where_a_patch_is_cut_is_gone(repo: Repo, processor: JournalConsumer):
    secret = "ghp_" + "a1B2" * 9
    repo.write("a.py", "x = 1\n" + "#" * 63_000 + "\n" + "\n".join(f"# {secret}" for _ in range(200)))
    tell(repo, "prompt", prompt="Add the keys")
    tell(repo, "stop")
    processor.on_nudge(repo.root)
    until(lambda: episodes(repo))
    data = episodes(repo)[0].data
    assert data["patch_cut"]
    assert "[redacted: github token]" in data["patch"]
    assert "ghp_" not in data["patch"]


def test_each_turn_is_an_episode_and_an_unchanged_patch_is_not_repeated(repo: Repo, processor: JournalConsumer):
    repo.write("a.py", "x = 2\n")
    for prompt in ("Add tax", "Explain it in detail"):
        tell(repo, "prompt", prompt=prompt)
        tell(repo, "stop")
        processor.on_nudge(repo.root)
        until(lambda prompt=prompt: prompt in [one for event in episodes(repo) for one in event.data["prompts"]])
        processor.on_nudge(repo.root)
    first, second = episodes(repo)
    assert "+x = 2" in first.data["patch"]
    assert second.data["patch"] == ""
    assert second.data["note"] == "the patch is that of the episode before"
    tell(repo, "stop")
    processor.on_nudge(repo.root)
    processor.close()
    assert len(episodes(repo)) == 2, "a stop without anything new is no episode"


def test_another_owner_goes_on_where_the_last_one_ended(repo: Repo, runs: Runs):
    repo.write("a.py", "x = 2\n")
    tell(repo, "prompt", prompt="Add tax")
    tell(repo, "edit", paths=["a.py"])
    first = JournalConsumer(runs)
    first.on_nudge(repo.root)
    until(lambda: runs.calls)
    first.close()
    tell(repo, "stop")
    second = JournalConsumer(runs)
    second.on_nudge(repo.root)
    until(lambda: episodes(repo))
    second.close()
    third = JournalConsumer(runs)
    third.on_nudge(repo.root)
    third.close()
    assert [event.data["prompts"] for event in episodes(repo)] == [["Add tax"]]
    assert len(runs.calls) == 1


def test_a_lost_place_records_no_session_twice(repo: Repo, runs: Runs, cm_home: Path):
    tell(repo, "prompt", prompt="Add tax")
    tell(repo, "stop")
    for _ in range(2):
        processor = JournalConsumer(runs)
        processor.on_nudge(repo.root)
        processor.close()
        for file in (cm_home / "state" / "hook").glob("*.json"):
            file.write_text("torn")
    assert len(episodes(repo)) == 1


def read_by_another_daemon(repo: Repo, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of events that a daemon reads which begins now."""
    seen: list[str] = []
    real = Journal.read

    def read(self: Journal, after: Position | None = None) -> Iterator[Event]:
        for event in real(self, after):
            seen.append(event.kind)
            yield event

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "read", read)
        processor = JournalConsumer(runs)
        processor.on_nudge(repo.root)
        processor.close()
    return seen


def test_what_is_past_is_not_read_again(repo: Repo, runs: Runs, monkeypatch: pytest.MonkeyPatch):
    for number in range(5):
        tell(repo, "prompt", prompt=f"Add tax {number}")
        tell(repo, "stop")
    assert len(read_by_another_daemon(repo, runs, monkeypatch)) == 10
    assert len(read_by_another_daemon(repo, runs, monkeypatch)) == 5, "the episodes that were written meanwhile"
    assert read_by_another_daemon(repo, runs, monkeypatch) == []
    tell(repo, "prompt", prompt="Under way")
    assert read_by_another_daemon(repo, runs, monkeypatch) == ["hook.prompt"]
    tell(repo, "edit", paths=["a.py"])
    # A session that did not stop yet is followed from where it began.
    assert read_by_another_daemon(repo, runs, monkeypatch) == ["hook.prompt", "hook.edit"]
    tell(repo, "stop")
    assert read_by_another_daemon(repo, runs, monkeypatch) == ["hook.prompt", "hook.edit", "hook.stop"]
    assert episodes(repo)[-1].data["prompts"] == ["Under way"]
    assert episodes(repo)[-1].data["files"] == ["a.py"]
    assert read_by_another_daemon(repo, runs, monkeypatch) == ["episode"]
    assert len(episodes(repo)) == 6


def test_a_session_that_never_stops_is_let_go_of(repo: Repo, runs: Runs, monkeypatch: pytest.MonkeyPatch):
    tell(repo, "prompt", prompt="Left alone", session="left")
    with monkeypatch.context() as patch:
        later = time.time_ns() + 2 * 86_400 * 10**9
        patch.setattr("cm_tui.engine.platform.journal.event.time.time_ns", lambda: later)
        tell(repo, "prompt", prompt="Two days later")
    assert len(read_by_another_daemon(repo, runs, monkeypatch)) == 2
    assert len(read_by_another_daemon(repo, runs, monkeypatch)) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.memory.projection import journal_consumer

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

append = Journal.append_after
if sys.argv[2] == "before it is written":
    Journal.append_after = die
else:
    def append_and_die(*words, **named):
        append(*words, **named)
        die()
    Journal.append_after = append_and_die
processor = journal_consumer.JournalConsumer(lambda *_: None)
processor.on_nudge(Path(sys.argv[1]))
processor.close()
"""


@pytest.mark.skipif(os.name == "nt", reason="kills itself")
@pytest.mark.parametrize("moment", ["before it is written", "after it was written"])
def test_an_owner_that_is_killed_loses_no_session_and_records_none_twice(
    repo: Repo, runs: Runs, moment: str, monkeypatch: pytest.MonkeyPatch
):
    tell(repo, "prompt", prompt="Long done")
    tell(repo, "stop")
    read_by_another_daemon(repo, runs, monkeypatch)
    tell(repo, "prompt", prompt="Add tax")
    tell(repo, "edit", paths=["a.py"])
    tell(repo, "stop")
    done = run_python(KILLED, str(repo.root), moment)
    assert done.returncode == -signal.SIGKILL
    for _ in range(2):
        read_by_another_daemon(repo, runs, monkeypatch)
    assert [event.data["prompts"] for event in episodes(repo)] == [["Long done"], ["Add tax"]]
    assert episodes(repo)[1].data["files"] == ["a.py"]


def test_a_disk_that_was_full_is_tried_again(repo: Repo, runs: Runs, monkeypatch: pytest.MonkeyPatch):
    tell(repo, "prompt", prompt="Add tax")
    tell(repo, "stop")

    def full(*_: object, **__: object) -> None:
        raise StoreError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append_after", full)
        read_by_another_daemon(repo, runs, patch)
    assert episodes(repo) == []
    read_by_another_daemon(repo, runs, monkeypatch)
    assert [event.data["prompts"] for event in episodes(repo)] == [["Add tax"]]


def test_a_journal_that_was_begun_anew_is_followed(repo: Repo, runs: Runs, monkeypatch: pytest.MonkeyPatch):
    for _ in range(3):
        tell(repo, "edit", paths=["a.py"])
    read_by_another_daemon(repo, runs, monkeypatch)
    for file in Journal.of(repo.root).folder.glob("*.jsonl"):
        file.unlink()
    tell(repo, "prompt", prompt="Add tax")
    tell(repo, "stop")
    read_by_another_daemon(repo, runs, monkeypatch)
    assert [event.data["prompts"] for event in episodes(repo)] == [["Add tax"]]


def test_a_stop_that_is_read_late_has_no_patch(repo: Repo, processor: JournalConsumer, monkeypatch: pytest.MonkeyPatch):
    repo.write("a.py", "x = 2\n")
    tell(repo, "prompt", prompt="Add tax")
    tell(repo, "stop")
    later = time.time() + 3600
    monkeypatch.setattr("cm_tui.engine.memory.projection.journal_consumer.time.time", lambda: later)
    processor.on_nudge(repo.root)
    processor.close()
    data = episodes(repo)[0].data
    assert (data["patch"], data["note"]) == ("", "recorded late, without a patch")


def test_a_folder_that_is_gone_is_not_indexed(repo: Repo, processor: JournalConsumer, runs: Runs, tmp_path: Path):
    tell(repo, "edit", root=str(tmp_path / "gone"), paths=["a.py"])
    tell(repo, "edit", paths=["a.py"])
    processor.on_nudge(repo.root)
    until(lambda: runs.calls)
    assert runs.calls == [(repo.root, ("a.py",))]
