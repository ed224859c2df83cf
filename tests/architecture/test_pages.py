"""The pages for those who carry on say what is so: files, tests, rooms, layers, and how long they may be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.rooms import LEFT_OUT, ROOT, drawn, rooms

PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md")
NAMED = re.compile(r"`((?:cm_tui|tests|styles|screenshots)/[\w./*-]+?)(?:::(\w+))?`")
SUPPORT = frozenset({"config", "errors", "files", "paths"})
"""Single files below everything: the layers name them, the table of rooms need not."""


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_files_and_tests_that_are_named_exist(page: str):
    named = NAMED.findall(read(page))
    assert len(named) > 10
    for path, test in named:
        if "NAME" in path:
            assert (ROOT / path.split("NAME")[0]).is_dir(), path
            continue
        found = list(ROOT.glob(path)) if "*" in path else [ROOT / path]
        assert found, path
        assert all(one.exists() for one in found), path
        assert not test or f"def {test}(" in found[0].read_text(encoding="utf-8"), f"{path}::{test}"


@pytest.mark.parametrize("page", PAGES)
def test_a_file_named_by_its_end_lies_in_the_folder_named_before(page: str):
    """`retrieve.py` after `cm_tui/engine/search/ranking/pipeline.py` is a file of that folder."""
    for line in read(page).splitlines():
        folder: Path | None = None
        for name in re.findall(r"`([\w./-]+\.(?:py|toml|sql|scm))`", line):
            if "/" in name:
                folder = (ROOT / name).parent
            elif folder is not None:
                assert (folder / name).exists() or (ROOT / name).exists(), f"{name} in: {line[:80]}"


@pytest.mark.parametrize("page", PAGES)
def test_they_are_short(page: str):
    assert len(read(page).splitlines()) <= 165


def test_the_picture_is_the_one_that_the_code_gives():
    page = read("ARCHITECTURE.md")
    assert "graph TD" in page
    assert drawn(page) == page, "run `python -m tests.architecture.rooms`"


def test_every_room_is_explained():
    table = read("ARCHITECTURE.md").split("<!-- /rooms -->", 1)[1].split("## ", 1)[0]
    explained = {
        room for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for room in re.findall(r"`([\w.]+)`", row)
    }
    assert set(rooms()) - SUPPORT <= explained
    assert explained <= set(rooms()) | LEFT_OUT


def test_the_glossary_is_short():
    glossary = read("ARCHITECTURE.md").split("## Glossary", 1)[1]
    words = re.findall(r"^\| \*\*", glossary, re.MULTILINE)
    assert 20 <= len(words) <= 30
