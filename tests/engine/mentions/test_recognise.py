"""Names are seen in Markdown and plain words; words of English and other things are not."""

from __future__ import annotations

import random

import pytest

from cm_tui.engine.memory.mentions.commands import commands_of, named_command
from cm_tui.engine.memory.mentions.recognise import named_in


def seen(text: str) -> dict[str, str]:
    """The likeliest kind of each name."""
    return {one.text: one.kinds[0] for one in named_in(text)}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("see src/net/http.py:12 and `docs/`", {"src/net/http.py": "path", "docs/": "path"}),
        ("[how](docs/guide.md#start)", {"docs/guide.md": "path"}),
        ("`Session.send` and Session.send()", {"Session.send": "symbol"}),
        ("pkg::Server::run, crate::net::Server", {"pkg::Server::run": "symbol", "crate::net::Server": "symbol"}),
        ("HttpServer reads it, parse_config() too", {"HttpServer": "symbol", "parse_config": "symbol"}),
        ("run `just test`, `npm run lint` or `make -j4 all`", {"just test": "command", "npm run lint": "command", "make all": "command"}),
        ("$ cargo xtask dist", {"cargo xtask": "command"}),
        ("set `search.reranker` or CM_HOME", {"search.reranker": "symbol", "CM_HOME": "symbol"}),
        ("`max-line-length = 120`", {"max-line-length": "setting"}),
        ("docs/releases/0.9.1.md and docs/adr/23.md", {"docs/releases/0.9.1.md": "path", "docs/adr/23.md": "path"}),
        ("a.py and src/x.py, `x.parse_config`", {"a.py": "path", "src/x.py": "path", "x.parse_config": "symbol"}),
        ("```\nimport shop.money\nshop.money.add_tax(1)\n```", {"shop.money.add_tax": "symbol"}),
    ],
)  # fmt: skip
def test_what_is_a_name(text: str, names: dict[str, str]) -> None:
    assert seen(text).items() >= names.items()


@pytest.mark.parametrize(
    "text",
    [
        "It is read and/or written, 24/7, on 2024/05/01.", "Ask ada@example.org at https://example.org/src/a.py.",
        "Mr. Smith said so. Then he left.", "A plain sentence (with brackets) about GitHub and PostgreSQL.",
        "`x.y`, `foo.bar`, foo.py, `a::b` and N/A", "`1234.bugfix.rst`, CHANGES/12345.feature.md", "Node.js and `Node.js`",
        "/etc/passwd and ~/.ssh/config and ../other/file.py", "", "````", "v1.2.3 of 3.14.2", "just test it, make sure of it",
    ],
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    assert not named_in(text)


def test_lines_are_counted_and_a_name_is_told_once() -> None:
    [one] = named_in("first\n\n`parse_config` and parse_config()")
    assert (one.text, one.line) == ("parse_config", 3)


def test_a_word_in_backticks_is_plain() -> None:
    assert [one.plain for one in named_in("`request` `request()`")] == [True]


def test_of_a_long_text_only_so_much_is_read() -> None:
    assert len(named_in("\n".join(f"`name_{number}`" for number in range(5_000)))) == 500


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("justfile", "a := 'x'\ntest FILTER='':\n    pytest\nalias t := test\n", {"just test", "just t"}),
        ("Makefile", "CC := gcc\nall test: a.o\n\tcc\n%.o: %.c\n.PHONY: all\n", {"make all", "make test"}),
        ("web/package.json", '{"scripts": {"lint": "eslint"}}', {"npm run lint"}),
        ("pyproject.toml", "[project.scripts]\nshop = 'a:b'\n[tool.poe.tasks]\nfmt = 'ruff'\n", {"run shop", "run fmt"}),
        (".cargo/config.toml", "[alias]\nxtask = 'run'\n", {"cargo xtask"}),
        ("tox.ini", "[tox]\nenvlist = py311, lint\n[testenv:docs]\n", {"tox -e py311", "tox -e lint", "tox -e docs"}),
        ("package.json", "{", set()), ("pyproject.toml", "[", set()), ("tox.ini", "x", set()), ("package.json", "[1]", set()),
    ],
)  # fmt: skip
def test_what_a_project_defines(path: str, text: str, names: set[str]) -> None:
    assert set(commands_of(path, text.encode())) == names


def test_what_is_run_is_read_from_its_first_words() -> None:
    assert named_command("yarn run build && rm -rf x") == "npm run build"
    assert named_command("npm test") == "npm run test"
    assert not named_command("git commit -m 'make test'")


@pytest.mark.parametrize("piece", ["a", "a@", "a.", "[a"])
def test_long_words_take_no_time(piece: str) -> None:
    assert [one.text for one in named_in(f"{piece * (90_000 // len(piece))}\n{(piece * 450 + ' ') * 100}\n`src/a.py`")][
        -1:
    ] == ["src/a.py"]


PIECES = (
    "src/a.py", "Makefile", "`", "`", "](", "[", ")", "HttpServer", "load_one", " ", " ", "\n", "\n", "```\n", "$ make all",
    "docs/", ".", "word", "x.py:12", "CM_HOME", "./run.sh",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_files_alone_are_those_of_all_names(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(60):
        text = "".join(chance.choices(PIECES, k=chance.randrange(1, 30)))
        paths = {one.text for one in named_in(text) if "path" in one.kinds}
        assert {one.text for one in named_in(text, files_only=True)} == paths, text
