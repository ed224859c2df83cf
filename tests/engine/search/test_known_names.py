"""Words of a prompt that name something in the index: by path and title, not by what stands in bodies."""

from __future__ import annotations

from cm_tui.engine.search.ranking.keyword import KeywordIndex
from cm_tui.engine.search.ranking.spelling import known_names
from tests.shop import Project

FILES: dict[str, str | None] = {
    "shop/cart.py": "def Cart(items):\n    return 1  # read it first\n",
    "shop/money.py": "def add_tax(amount):\n    return amount  # read it first, then pay\n",
    "shop/paths.py": "def relpath(path):\n    return path\n",
    "shop/files.py": "def move(file):\n    return relpath(file)\n",
    "shop/links.py": "def link(file):\n    return relpath(file)\n",
    "shop/trees.py": "def walk(file):\n    return relpath(file)\n",
    "tox.ini": "[tox]\n",
    "shop/runs.py": "def runs():\n    return 'tox'\n",
    "shop/more_runs.py": "def more_runs():\n    return 'tox'\n",
    "shop/last_runs.py": "def last_runs():\n    return 'tox'\n",
    "shop/late.py": "def first(items):\n    return 2  # the first of them\n",
    "shop/more.py": "def pay(amount):\n    return 3  # first things first\n",
    "shop/rest.py": "def refund(amount):\n    return 4  # first of all\n",
}


def test_symbols_files_and_modules_are_names(project: Project):
    project.put({**FILES, **{f"shop/part{n}.py": f"def part{n}():\n    return {n}\n" for n in range(20)}})
    keyword = KeywordIndex(project.db)
    assert known_names(keyword, ["carts", "add_tax", "money", "login", "read"]) == ("carts", "add_tax", "money")
    assert known_names(keyword, ["shop/money", "money/shop"]) == ("shop/money",), "what almost all paths have"
    assert known_names(keyword, ["money/shop"], common=True) == ("money/shop",)
    assert known_names(keyword, ["first"]) == (), "a plain word, of which one symbol has the name"
    assert known_names(keyword, ["tox"]) == (), "a tool with a file, that no symbol is called"
    assert known_names(keyword, ["relpath"]) == ("relpath",), "no word of English, however often it is called"


def test_nothing_is_a_name_where_nothing_is_indexed(project: Project):
    assert known_names(KeywordIndex(project.db), ["cart", "", "…"]) == ()
