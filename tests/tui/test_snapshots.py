"""What every mode looks like: each picture is compared with the one that a person accepted.

`pytest tests/tui/test_snapshots.py --snapshot-update` accepts what is shown now; look at the pictures before.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_textual_snapshot import SVGImageExtension, normalize_svg
from syrupy.assertion import SnapshotAssertion

from cm_tui.config import Config, TuiConfig
from cm_tui.integrations.external_layers import outside_layers
from tests.tui.mode_driver import driving
from tests.tui.proposed import Teller, made_up, topics_made_up
from tests.tui.recorded_sessions import record_story, sha_of_head
from tests.tui.snapshot_project import NOW, SnapshotProject, StillEngine, define_context, own_place
from tests.tui.written_memory import write_memory

SIZES = [(80, 24), (120, 40), (200, 50)]
QUESTION = "where are records kept"

# Mode, and its states: the name of each and the keys that lead there from the one before; `type:` types, `letters:` waits for each.
Scenes = tuple[tuple[str, tuple[str, ...]], ...]
MODES: dict[str, Scenes] = {
    "overview": (("start", ("f1",)), ("help", ("question_mark",))),
    "search": (
        ("empty", ("f2",)),
        ("results", (f"type:{QUESTION}", "enter", "down")),
        ("why", ("v",)),
        ("tuning", ("t", "down")),
        ("files", ("t", "w")),
    ),
    "symbols": (
        ("tree", ("f3",)),
        ("found", ("slash", "letters:receipt")),
        ("callers", ("enter", "tab")),
        ("ambiguous", ("slash", "letters:everything", "enter", "t")),
        ("help", ("question_mark",)),
    ),
    "pack": (
        ("empty", ("P",)),
        ("items", ("f2", f"type:{QUESTION}", "enter", "a", "down", "a", "P")),
        ("budget", ("b",)),
    ),
    "health": (("checks", ("f9",)), ("left-out", ("s",)), ("reset", ("escape", "X"))),
    "history": (
        ("commits", ("f4",)),
        ("older", ("down", "down")),
        ("life", ("f3", "slash", "letters:receipt", "enter", "L")),
        ("past", ("home", "down", "down", "s", "f3")),
        ("past-history", ("f4",)),
    ),
    "episodes": (
        ("sessions", ("f5",)),
        ("everything", ("g",)),
        ("episode", ("down", "enter")),
        ("story", ("enter", "v")),
        ("filter", ("f", "down", "down", "space")),
        ("nothing", ("escape", "slash", "type:xyz", "escape")),
        ("help", ("escape", "escape", "question_mark")),
        ("everywhere", ("escape", "S", "type:slash of a record", "enter")),
    ),
    "memory": (
        ("list", ("6",)),
        ("entry", ("down", "down", "enter")),
        ("note", ("escape", "right_square_bracket", "right_square_bracket", "right_square_bracket", "enter")),
        ("asked", ("escape", "s", "type:which port does the router use", "enter")),
        ("why", ("v",)),
        ("new", ("6", "n")),
        ("edit", ("escape", "e")),
        ("help", ("escape", "question_mark")),
    ),
    "review": (
        ("proposals", ("7",)),
        ("contradicts", ("down", "down")),
        ("evidence", ("enter",)),
        ("reject", ("escape", "x")),
        ("decided", ("1", "a", "s", "s")),
        ("topics", ("t",)),
        ("help", ("question_mark",)),
    ),
    "context": (
        ("empty", ("f8",)),
        ("sources", (f"type:{QUESTION}", "enter", "down")),
        ("off", ("space", "left_square_bracket")),
        ("why", ("v",)),
        ("latencies", ("v",)),
        ("files", ("v",)),
        ("snapshots", ("s",)),
        ("help", ("question_mark",)),
    ),
}


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SnapshotProject]:
    """The project and its index, at a place of this process."""
    with own_place() as folder:
        yield SnapshotProject(folder, tmp_path_factory.mktemp("snapshots"))


@pytest.fixture
def shop(shown: SnapshotProject) -> Iterator[Path]:
    """The project, as it was indexed."""
    with shown.shown() as root:
        yield root


class StillTeller(Teller, StillEngine):
    """The engine whose narrator proposes what is on the pictures."""

    now = staticmethod(lambda: float(NOW))


def open_told(root: Path, **options: Any) -> StillTeller:
    """Open it with proposals and topics of every sort."""
    engine = StillTeller.over(root, made_up(NOW), **options)
    engine.topic_map = topics_made_up(NOW)
    return engine


async def _walk(snapshot: SnapshotAssertion, shop: Path, scenes: Scenes, size: tuple[int, int], theme: str) -> None:
    """Go through the states and compare each, but only then say which differ."""
    different = []
    if scenes is MODES["episodes"]:
        # Recorded here alone: what was recorded is among what other modes count.
        record_story(shop, sha_of_head(shop), now=NOW)
    if scenes is MODES["memory"]:
        write_memory(shop)
    if scenes is MODES["context"]:
        define_context(shop)
    config = Config(tui=TuiConfig(theme=theme))
    open_engine = open_told if scenes is MODES["review"] else StillEngine.open
    async with driving(
        shop, size=size, config=config, open_engine=lambda: open_engine(shop, external_layers=outside_layers)
    ) as driver:
        for name, keys in scenes:
            for key in keys:
                if key.startswith("type:"):
                    await driver.type(key.removeprefix("type:"))
                else:
                    # Letters that filter are waited for, each: what is shown must not depend on how fast one types.
                    await driver.press(*key.removeprefix("letters:") if key.startswith("letters:") else (key,))
            driver.app.clear_notifications()
            await driver.settle()
            picture = SnapshotProject.picture(normalize_svg(driver.app.export_screenshot(title="cm", simplify=True)))
            assert "Traceback" not in picture
            if picture != snapshot(name=name, extension_class=SVGImageExtension):
                different.append(name)
    assert not different


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("mode", MODES)
async def test_a_mode(snapshot: SnapshotAssertion, shop: Path, mode: str, size: tuple[int, int]):
    await _walk(snapshot, shop, MODES[mode], size, "cm-dark")


@pytest.mark.parametrize("mode", ["search", "history", "episodes", "memory", "review", "context"])
@pytest.mark.deep
async def test_the_light_theme(snapshot: SnapshotAssertion, shop: Path, mode: str):
    await _walk(snapshot, shop, MODES[mode], (120, 40), "cm-light")


@pytest.mark.few(2)
@pytest.mark.parametrize("mode", ["search", "symbols", "episodes", "memory", "review", "context"])
async def test_a_narrow_terminal(snapshot: SnapshotAssertion, shop: Path, mode: str):
    await _walk(snapshot, shop, MODES[mode], (60, 20), "cm-dark")
