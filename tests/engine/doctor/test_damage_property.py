"""Random damage at random places: it is found or changes no answer, nothing fails in another way, and a rebuild mends it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cm_tui.daemon import checkup
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.doctor import installation
from cm_tui.errors import CmError
from tests import damage as ways
from tests.cli.conftest import make_repository
from tests.damage import Place, overwrite
from tests.tiers import examples

FILES = ("store.duckdb", "store.duckdb", "store.duckdb", "vectors.bin", "project.json", "committed.json")
"""The database most often: it is most of what is there."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Path, dict[str, Any]]:
    base = tmp_path_factory.mktemp("damage")
    place = Place(base / "repo", base / "home")
    place.root.mkdir()
    make_repository(place.root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CM_HOME", str(place.home))
        with Engine.open(place.root) as engine:
            list(engine.index())
        answers = ask(place)
    ways.keep(place, base / "kept")
    return place, base / "kept", answers


def ask(place: Place) -> dict[str, Any]:
    """What questions are answered; a failure in words is an answer, anything else fails the test."""
    return {name: _answer(place, question) for name, question in QUESTIONS.items()}


QUESTIONS: dict[str, Callable[[Engine], Any]] = {
    "search": lambda engine: [(hit.path, hit.start_line, hit.score) for hit in engine.search("raise an amount").hits],
    "callers": lambda engine: engine.callers("add_tax").rows,
    "symbols": lambda engine: engine.symbols().rows,
    "files": lambda engine: engine.files().rows,
    "history": lambda engine: engine.symbols_at("HEAD").rows,
    "status": lambda engine: engine.status().passages,
}


def _answer(place: Place, question: Callable[[Engine], Any]) -> Any:
    try:
        with Engine.open(place.root) as engine:
            return question(engine)
    except CmError as error:
        return error


@st.composite
def damages(draw: st.DrawFn) -> Callable[[Place], str]:
    name = draw(st.sampled_from(FILES))
    kind = draw(st.sampled_from(["flip", "zero", "cut", "garbage"]))
    share = draw(st.floats(0, 1, exclude_max=True))
    length = draw(st.sampled_from([1, 64, 4096, 300_000]))
    noise = draw(st.binary(min_size=1, max_size=16))

    def harm(place: Place) -> str:
        file = place.store / name
        size = file.stat().st_size
        at = int(size * share)
        if kind == "cut":
            with file.open("r+b") as stream:
                stream.truncate(at)
        elif kind == "flip":
            overwrite(file, at, bytes([file.read_bytes()[at] ^ 1 << length % 8]))
        else:
            pattern = b"\0" if kind == "zero" else noise
            overwrite(file, at, (pattern * length)[: min(length, size - at)])
        return f"{kind} of {name} at {at:,}"

    return harm


@settings(
    max_examples=examples(10, few=2),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(harm=damages())
def test_damage_is_found_or_changes_nothing(
    harm: Callable[[Place], str], kept: tuple[Place, Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
):
    place, original, answers = kept
    ways.restore(place, original)
    monkeypatch.setenv("CM_HOME", str(place.home))
    # What is installed has nothing to do with it, and takes longer than all the rest.
    monkeypatch.setattr(installation, "examine_installation", lambda: iter(()))
    said = harm(place)
    damaged_home = place.home.with_name("damaged")
    shutil.rmtree(damaged_home, ignore_errors=True)
    shutil.copytree(place.home, damaged_home)
    found = [check for check in checkup.examine(place.root) if check.finding]
    # Opening it may have mended some.
    shutil.rmtree(place.home)
    shutil.copytree(damaged_home, place.home)
    now = ask(place)
    for name, answer in now.items():
        if isinstance(answer, CmError):
            assert answer.hint, (said, name, answer)
            assert any(check.finding == answer.finding for check in found), (said, name, answer, found)
        else:
            assert answer == answers[name], (said, name)
    if not found:
        assert now == answers, said
    with Engine.open_empty(place.root) as engine:
        list(engine.index(full=True))
    assert ask(place) == answers
    assert not [check for check in checkup.examine(place.root) if check.finding]
