"""What is said of settings that are wrong: our own words, the file, the line, what is meant most likely."""

from __future__ import annotations

from pathlib import Path

import pytest

from cm_tui import paths
from cm_tui.config import load_config
from cm_tui.config.mistakes import line_of, nearest
from cm_tui.errors import ConfigError

LIBRARY = ("permitted", "Input should", "valid ", "validation")
"""Words of the library that reads the settings."""


@pytest.fixture
def settings(cm_home: Path) -> Path:
    file = paths.config_file()
    file.parent.mkdir(parents=True)
    return file


def said_of(file: Path, text: str) -> str:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config()
    said = str(caught.value)
    assert not any(words in said for words in LIBRARY), said
    assert caught.value.hint
    return said


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('[tui]\n\ntehme = "cm-light"\n', 3, "unknown setting tui.tehme. Did you mean tui.theme?"),
        ('[search]\ntheme = "cm-light"\n', 2, "unknown setting search.theme. Did you mean tui.theme?"),
        ("# mine\n[serch]\nprofile = 'code'\n", 2, "unknown section [serch]. Did you mean [search]?"),
        (
            "[index]\nexclud = ['a']\nworkers = -1\n",
            2,
            "unknown setting index.exclud. (1 more mistake there) Did you",
        ),
        ("index.worker = 3\n", 1, "unknown setting index.worker. Did you mean index.workers?"),
        ("[index]\nworkers = 'many'\n", 2, "index.workers must be a whole number, not 'many'."),
        ("[index]\nworkers = 400\n", 2, "index.workers must be at most 256, not 400."),
        ("[watch]\nenabled = 'perhaps'\n", 2, "watch.enabled must be true or false, not 'perhaps'."),
        ("[index]\ninclude = 'a'\n", 2, 'index.include must be a list, such as ["a", "b"], not \'a\'.'),
        (
            "[embedding]\nprovider = 'cloud'\n",
            2,
            "embedding.provider must be one of 'bundled', 'fastembed', 'openai', 'gemini', 'voyage', 'none'",
        ),
        (
            "[embedding.remote]\nbase_ur = 'a'\n",
            2,
            "unknown setting embedding.remote.base_ur. Did you mean embedding.remote.base_url?",
        ),
        ("[embedding.batch]\nconcurrency = 0\n", 2, "embedding.batch.concurrency must be more than 0, not 0."),
        ("[history]\ndepth = -1\n", 2, "history.depth must be at least 0, not -1."),
        ("tui = 3\n", 1, "tui must be a section of settings, not 3."),
        ("[zzz]\nq = 1\n", 1, "unknown section [zzz]. Remove it."),
    ],
)
def test_a_mistake_is_named_with_file_and_line(settings, text, line, what):
    said = said_of(settings, text).replace("\n", " ")
    assert said.startswith(f"{settings}, line {line}: ")
    assert what in said


def test_a_key_that_is_wrong_is_not_shown(settings):
    secret = "sk-" + "12345"
    assert secret not in said_of(settings, f'[embedding]\napi_key = ["{secret}"]\n')


def test_a_mistake_in_the_environment_names_its_variable(cm_home, monkeypatch):
    monkeypatch.setenv("CM_INDEX__WORKERS", "many")
    with pytest.raises(
        ConfigError, match=r"environment variable CM_INDEX__WORKERS: index\.workers must be a whole number"
    ):
        load_config()


def test_a_repositorys_file_is_named_too(tmp_path, cm_home):
    file = paths.project_config_file(tmp_path)
    file.parent.mkdir()
    file.write_text("[index]\nexclued = ['x']\n")
    with pytest.raises(ConfigError, match=r"config\.toml, line 2: unknown setting index\.exclued"):
        load_config(tmp_path)


def test_lines_are_found_however_they_are_written():
    assert line_of('[tui.keys]\n"search.focus" = "x"\n', ("tui", "keys", "search.focus")) == 2
    assert line_of("tui = { theme = 3 }\n", ("tui", "theme")) == 1
    assert line_of("[a]\nx = 1\n[b]\nx = 2\n", ("b", "x")) == 4
    assert line_of("[a]\nx = 1\n", ("c", "x")) == 0
    assert line_of("[a]\n", ("a", "missing")) == 1


def test_a_line_of_one_long_word_takes_no_time():
    assert line_of(f'x = """\n{"a" * 50_000}\n{"a " * 9_000}\n"""\n[b]\nx = 2\n', ("b", "x")) == 6


def test_what_is_far_from_everything_has_no_nearest():
    assert nearest("focsu", ("focus", "find")) == "focus"
    assert nearest("zzzz", ("focus", "find")) == ""
