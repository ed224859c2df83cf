"""What is remembered names code; what became of that is told, with the commit that did it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.memory.mentions.report import SOON
from cm_tui.engine.platform.store.connection import Cursor
from cm_tui.engine.platform.store.generations import FACTS
from cm_tui.engine.platform.store.writer_lock import WriterLock
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model import Cancel, Mention, MentionState, StaleItem
from tests.engine.mentions.conftest import CONFIG
from tests.gitrepo import Repo
from tests.waiting import until

Opened = Callable[[], Engine]


def of(item: StaleItem, text: str) -> Mention:
    return next(one for one in item.mentions if one.text == text)


def test_each_name_is_told_with_what_became_of_it(repo: Repo, brought_up: Opened) -> None:
    with brought_up() as engine:
        text = (
            "`parse_config()` in src/config.py:4 reads `SHOP_HOME`; `Reader.read_all` is slow. Run `just lint`, set "
            "`search.reranker`. Unlike `requests.get` and `numpy.ndarray`, the `list` is `json`, see docs/other.md."
        )
        entry = engine.remember(text)
        found = engine.mentions_of(entry.id)
    assert {one.text: one.state for one in found.mentions} == {
        "parse_config": "alive", "src/config.py": "alive", "SHOP_HOME": "alive", "Reader.read_all": "alive",
        "just lint": "alive", "search.reranker": "alive",
    }  # fmt: skip
    repo.git("mv", "src/config.py", "src/settings.py")
    moved = repo.commit("Move the settings")
    repo.write("src/settings.py", CONFIG.replace("parse_config", "read_config"))
    renamed = repo.commit("Call it reading")
    repo.write("src/settings.py", CONFIG.replace("parse_config", "read_config").split("class Reader")[0])
    repo.write("justfile", "test:\n    pytest -q\n\ncheck:\n    ruff check .\n")
    repo.write("src/main.py", "def main():\n    return 1\n")
    repo.write("settings.toml", "[search]\nmodel = 'x'\n")
    gone = repo.commit("Take out")
    with brought_up() as engine:
        found = engine.mentions_of(entry.id)
        page = engine.stale_items()
    assert [(one.state, one.became, one.commit.sha) for one in (of(found, "parse_config"), of(found, "src/config.py")) if one.commit] == [
        ("renamed", "read_config", renamed), ("moved", "src/settings.py", moved),
    ]  # fmt: skip
    assert of(found, "just lint").became == "just check"
    for text in ("SHOP_HOME", "Reader.read_all", "search.reranker"):
        assert (of(found, text).state, of(found, text).commit and of(found, text).commit.sha) == ("gone", gone)
    assert [item.id for item in page.rows] == [entry.id]
    assert "gone since" in page.rows[0].words


def test_what_was_just_remembered_is_found_while_somebody_writes(brought_up: Opened) -> None:
    with brought_up() as engine:
        lock, writing = WriterLock.of(engine._db), threading.Event()

        def write() -> None:
            with lock.batch(Cancel()):
                writing.set()
                until(lambda: lock.is_wanted, "somebody to wait")

        writer = threading.Thread(target=write)
        writer.start()
        assert writing.wait(60)
        entry = engine.remember("`parse_config` reads the settings.")
        assert [one.text for one in engine.mentions_of(entry.id).mentions] == ["parse_config"]
        writer.join(60)


def test_what_only_the_files_lack_is_gone_in_the_working_tree_and_comes_back(repo: Repo, brought_up: Opened) -> None:
    with brought_up() as engine:
        entry = engine.remember("`parse_config` reads src/config.py")
        (repo.root / "src/config.py").unlink()
        list(engine.index(paths=["src/config.py"]))
        [item] = engine.stale_items().rows
        assert all(one.uncommitted for one in item.mentions)
        assert "gone in the working tree" in item.words
        repo.write("src/config.py", CONFIG)
        list(engine.index(paths=["src/config.py"]))
        assert not engine.stale_items().total
        assert {one.state for one in engine.mentions_of(entry.id).mentions} == {"alive"}


def test_a_library_is_no_file_that_is_gone(repo: Repo, brought_up: Opened) -> None:
    repo.write("lib/p5.js", "function draw() {}\n")
    repo.write("lib/tool.js", "function use() {}\n")
    repo.commit("Add copies")
    with brought_up() as engine:
        entry = engine.remember("Built with Nuxt 3 and p5.js; see lib/p5.js and tool.js")
    shutil.rmtree(repo.root / "lib")
    repo.write("src/draw.js", "import p5 from 'p5'\nimport { use } from './tool'\nexport const sketch = new p5(use)\n")
    repo.commit("Install the library")
    with brought_up() as engine:
        found = engine.mentions_of(entry.id)
    assert {one.text: one.state for one in found.mentions} == {"lib/p5.js": "gone", "tool.js": "gone"}


def test_what_was_renamed_in_the_working_tree_is_said_with_its_one_successor(repo: Repo, brought_up: Opened) -> None:
    with brought_up() as engine:
        entry = engine.remember("Settings are read in src/config.py")

        def said() -> list[str]:
            list(engine.index())
            return [one.words for one in engine.mentions_of(entry.id).mentions]

        (repo.root / "src/config.py").rename(repo.root / "src/settings.py")
        assert said() == ["names `src/config.py`, renamed to `src/settings.py` in the working tree"]
        repo.write("src/other.py", (repo.root / "src/settings.py").read_text())
        assert said() == ["names `src/config.py`, gone in the working tree"], "of two, none is the one"
        (repo.root / "src/other.py").unlink()
        assert said() == ["names `src/config.py`, renamed to `src/settings.py` in the working tree"]
        (repo.root / "src/settings.py").rename(repo.root / "src/config.py")
        assert said() == ["names `src/config.py`, which exists"]


def test_a_file_with_another_name_was_renamed_and_one_in_another_folder_moved() -> None:
    def fate(became: str, state: MentionState = "moved") -> str:
        return Mention("path", "src/a.py", 1, state, became, 0, became).fate

    assert fate("src/b.py") == "renamed to `src/b.py`"
    assert fate("lib/a.py") == "moved to `lib/a.py`"
    assert fate("", "gone") == "gone"


def test_without_history_nothing_is_flagged_and_it_is_said(repo: Repo, brought_up: Opened) -> None:
    repo.write("src/config.py", "")
    repo.commit("Empty it")
    with Engine.open(repo.root) as engine:
        list(engine.index())
        entry = engine.remember("`parse_config` is slow, SomeThing.else_where too")
        found = engine.mentions_of(entry.id)
        assert {one.state for one in found.mentions} == {"unknown"}
        assert "history has not been read" in found.note
        page = engine.stale_items()
        assert not page.total
        assert "history has not been read" in page.note


def test_a_folder_without_git_flags_nothing(repo: Repo, brought_up: Opened) -> None:
    shutil.rmtree(repo.root / ".git")
    with brought_up() as engine:
        entry = engine.remember("`parse_config` is slow, NoSuch.thing_here too")
        states = {one.text: one.state for one in engine.mentions_of(entry.id).mentions}
        assert states == {"parse_config": "alive", "NoSuch.thing_here": "unknown"}
        assert not engine.stale_items().total


def test_confirmed_it_is_told_again_only_when_something_further_changes(repo: Repo, brought_up: Opened) -> None:
    with brought_up() as engine:
        entry = engine.remember("`parse_config` and `Reader.read_all` belong together")
    repo.write("src/config.py", CONFIG.replace("def parse_config", "def parse_other_things").replace("dict(", "list("))
    repo.commit("Without parse_config")
    with brought_up() as engine:
        assert engine.stale_items().total == engine.status().stale == 1
        assert engine.confirm_stale(entry.id).words == f"still true: entry/{entry.id}"
        assert engine.stale_items().total == engine.status().stale == 0
        assert "still true" in engine.undo().words
        assert engine.stale_items().total == 1
        engine.confirm_stale(entry.id)
    repo.write("src/config.py", "")
    repo.commit("Without Reader")
    with brought_up() as engine:
        [item] = engine.stale_items().rows
        assert [one.text for one in item.flagged] == ["Reader.read_all"]
        with pytest.raises(UsageError):
            engine.fix_stale(entry.id)
        with pytest.raises(RefusedError):
            engine.confirm_stale(entry.id, actor="agent")
        list(engine.rebuild())
        list(engine.backfill(depth=100))
        assert [one.text for item in engine.stale_items().rows for one in item.flagged] == ["Reader.read_all"]


def test_a_new_name_is_written_in_the_place_of_the_old_one_and_taken_back(repo: Repo, brought_up: Opened) -> None:
    text = "`parse_config()` of src/config.py, and my_parse_config is another"
    with brought_up() as engine:
        entry = engine.remember(text)
    repo.write("src/config.py", CONFIG.replace("parse_config", "read_config"))
    repo.commit("Rename")
    with brought_up() as engine:
        assert engine.fix_stale(entry.id, dry_run=True).words == "would write: `parse_config` is now `read_config`"
        assert engine.entry(entry.id).content == text
        engine.fix_stale(entry.id)
        assert engine.entry(entry.id).content == text.replace("`parse_config", "`read_config")
        assert not engine.stale_items().total
        engine.undo()
        assert engine.entry(entry.id).content == text
        assert engine.stale_items().total == 1


def test_what_is_stale_is_ranked_down_by_a_named_part_and_says_why(repo: Repo, brought_up: Opened) -> None:
    with brought_up() as engine:
        kept = engine.remember("settings are slow to parse in main")
        entry = engine.remember("settings are slow to parse in `parse_config`")
    repo.write("src/config.py", "")
    repo.commit("Empty it")
    with brought_up() as engine:
        found = {hit.path: hit for hit in engine.recall("settings slow to parse").hits}
        stale, other = found[f"entry/{entry.id}"], found[f"entry/{kept.id}"]
        [part] = [part for part in stale.parts if part.name == "stale"]
        assert part.contribution < 0
        assert "gone since" in part.detail == stale.stale
        assert sum(one.contribution for one in stale.parts) == pytest.approx(stale.score)
        assert (other.stale, stale.score < other.score) == ("", True)
        assert not any(part.name == "stale" for hit in engine.search("main").hits for part in hit.parts)


def test_a_query_reads_nothing_that_is_known_since_the_last_change(
    repo: Repo, brought_up: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "settings slow to parse"
    with brought_up() as engine:
        engine.remember("settings are slow to parse in `parse_config`")
    repo.write("src/config.py", "")
    repo.commit("Empty it")
    with brought_up() as engine:
        found = engine.recall(query).hits
        assert found[0].stale
        asked: list[str] = []
        execute = Cursor.execute
        with monkeypatch.context() as watched:
            watched.setattr(
                Cursor, "execute", lambda self, sql, *more: (asked.append(sql), execute(self, sql, *more))[1]
            )
            assert engine.recall(query).hits == found
        assert {*asked} <= {"BEGIN", "ROLLBACK", FACTS}
        repo.write("src/config.py", CONFIG)
        repo.commit("Bring it back")
        list(engine.index())
        assert not engine.recall(query).hits[0].stale


def test_what_never_stood_in_the_project_when_it_was_written_is_not_linked(repo: Repo, brought_up: Opened) -> None:
    with brought_up() as engine:
        entry = engine.remember("Unlike `late_comer` of lodash, this is quick.")
    # What was written in a second may be as old as the commits of that second.
    for number in range(30):
        repo.commit(f"pass {number}", at=entry.timestamp / 1000 + 2)
    repo.write("src/late.py", "def late_comer():\n    return 1\n")
    repo.commit("Bring it", at=entry.timestamp / 1000 + 2)
    repo.write("src/late.py", "")
    repo.commit("Take it", at=entry.timestamp / 1000 + 2)
    with brought_up() as engine:
        assert not engine.mentions_of(entry.id).mentions


def test_what_code_uses_long_after_its_definition_went_is_of_another_library(repo: Repo, brought_up: Opened) -> None:
    repo.write(
        "src/http.py",
        "class Response:\n    def close(self):\n        return 1\n\n\nclass Kept:\n    pass\n\n\ndef send():\n    return 1\n",
    )
    repo.commit("Have them")
    with brought_up() as engine:
        entry = engine.remember(
            "`Response` has `close()`, `server.close()` too; `Response.close()` waits, `send()` does not."
        )
    repo.write("src/http.py", "class Kept:\n    pass\n")
    repo.write(
        "src/use.py",
        "from library import Response\n\n\ndef use(server, post):\n    post.send()\n    return server.close()\n",
    )
    repo.commit("Take them of a library")

    def states() -> dict[str, str]:
        with brought_up() as engine:
            return {one.text: one.state for one in engine.mentions_of(entry.id).mentions}

    # As long as nobody knows whether that code stands broken, they are gone.
    assert set(states().values()) == {"gone"}
    for number in range(SOON):
        repo.write("notes.txt", f"{number}\n")
        repo.commit(f"pass {number}")
    gone = {"Response.close": "gone", "send": "gone"}
    used = {"Response": "alive", "close": "alive"}
    assert states() == gone | used
    repo.write("src/use.py", "def use():\n    return 1\n")
    repo.commit("Use nothing")
    assert set(states().values()) == {"gone"}
    repo.write("src/use.py", "from library import other\n\n\ndef use(send):\n    return send(other)\n")
    repo.commit("Take a parameter of that name")
    assert states()["send"] == "gone"
    repo.write("src/use.py", "from library import *\n\n\ndef use():\n    return send(other)\n")
    repo.commit("Import everything")
    assert states()["send"] == "alive"
    repo.write("src/use.py", "from library import send as put\n")
    repo.commit("Import it under another name")
    assert states()["send"] == "gone"
    repo.write("src/use.py", "from library import send\n")
    repo.commit("Import it")
    assert states()["send"] == "alive"


def test_a_key_that_code_has_is_not_gone_when_the_settings_are(repo: Repo, brought_up: Opened) -> None:
    """It is a header, a package or a key that is read: what a file of settings had of it says nothing."""
    repo.write(
        "settings.toml",
        '[headers]\nContent-Type = "x"\nretry-limit = 3\nsearch-plugin = "^1"\n[search]\nreranker = "x"\n',
    )
    repo.commit("Say more")
    with brought_up() as engine:
        entry = engine.remember("Send `Content-Type`, mind `retry-limit`, `search-plugin` and `search.reranker`.")
    repo.write("settings.toml", "[search]\nmodel = 'x'\n")
    repo.write(
        "src/send.py",
        "def send(answer):\n    answer['Content-Type'] = 'text'\n    return answer.search, answer.reranker\n",
    )
    repo.write("docs/plugins.md", "Use `search-plugin`.\n")
    repo.commit("Say less")
    with brought_up() as engine:
        found = engine.mentions_of(entry.id)
        assert {one.text: one.state for one in found.mentions} == {
            "Content-Type": "alive", "retry-limit": "gone", "search-plugin": "gone", "search.reranker": "gone",
        }  # fmt: skip
        repo.write("src/send.py", "def send(answer):\n    return answer['retry-limit']\n")
        list(engine.index())
        found = engine.mentions_of(entry.id)
        assert (of(found, "Content-Type").state, of(found, "retry-limit").state) == ("gone", "alive")


def test_a_note_is_looked_at_as_an_entry_is(repo: Repo, brought_up: Opened) -> None:
    repo.write("MEMORY.md", "# Settings\n\n`parse_config` reads them.\n")
    repo.commit("Write it down")
    with brought_up() as engine:
        assert not engine.stale_items(kind="note").total
    repo.write("src/config.py", "")
    gone = repo.commit("Empty it")
    with brought_up() as engine:
        [item] = engine.stale_items(kind="note").rows
        assert [(one.text, one.line, one.commit and one.commit.sha) for one in item.flagged] == [
            ("parse_config", 3, gone)
        ]
        with pytest.raises(UsageError, match=r"your editor|file of yours"):
            engine.fix_stale(item.path)
        engine.confirm_stale(item.path)
        assert not engine.stale_items(kind="note").total
