"""What is remembered names code; what became of that is told, with the commit that did it."""

from __future__ import annotations

from collections.abc import Callable

from cm_tui.engine.local.engine import LocalEngine
from cm_tui.model import Mention, StaleItem
from tests.engine.mentions.conftest import CONFIG
from tests.gitrepo import Repo

Opened = Callable[[], LocalEngine]


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
