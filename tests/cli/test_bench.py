"""`cm bench`: each bundled question has an answer in cm's own source, and the command says both speed and quality."""

import json
from pathlib import Path

import pytest

import cm_tui
from cm_tui.cli.bench import files_with

PACKAGE = Path(cm_tui.__file__).parent


def test_each_question_has_an_answer():
    asked = json.loads((PACKAGE / "data" / "questions.json").read_text(encoding="utf-8"))
    sources = {file.relative_to(PACKAGE).as_posix(): file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py")}
    assert len(asked) >= 20
    without = [one["answer"] for one in asked if not 1 <= len(files_with(one["answer"], sources)) <= 2]
    assert not without


@pytest.mark.deep
def test_both_parts_are_measured_and_the_project_stays_as_it_was(shop):
    before = sorted((path, path.stat().st_mtime_ns) for path in shop.root.rglob("*") if path.is_file())
    found = shop.cm("bench", "--json").json
    assert found["speed"]["files"] > 5
    assert found["speed"]["p50_ms"] <= found["speed"]["p95_ms"]
    assert 0.3 < found["quality"]["at_1"] <= found["quality"]["at_10"] <= 1
    assert sorted((path, path.stat().st_mtime_ns) for path in shop.root.rglob("*") if path.is_file()) == before
