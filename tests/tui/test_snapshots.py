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
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from cm_tui.config import Config, TuiConfig
from cm_tui.integrations.external_layers import outside_layers
from tests.tui.mode_driver import Driver, driving
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


class Picture(SVGImageExtension):
    """A picture in a file that is called after the mode, the size and the state."""

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        """Return the name: the test's own function, with what the picture is of."""
        return f"{test_location.methodname}[{index}]"


async def _walk(
    snapshot: SnapshotAssertion, shop: Path, mode: str, *sizes: tuple[int, int], theme: str = "cm-dark", named: str = ""
) -> None:
    """Go through the states at each size and compare each, but only then say which differ."""
    different = []
    if mode == "episodes":
        # Recorded here alone: what was recorded is among what other modes count.
        record_story(shop, sha_of_head(shop), now=NOW)
    if mode == "memory":
        write_memory(shop)
    if mode == "context":
        define_context(shop)
    config = Config(tui=TuiConfig(theme=theme))
    engine = (open_told if mode == "review" else StillEngine.open)(shop, external_layers=outside_layers)
    async with driving(shop, size=sizes[0], config=config, open_engine=lambda: engine) as driver:
        for size in sizes:
            if isinstance(engine, StillTeller):
                engine.propose(made_up(NOW))
                engine.topic_map = topics_made_up(NOW)
            if size != sizes[0]:
                await driver.resize(size)
                await driver.anew()
            for name, keys in MODES[mode]:
                await _press(driver, keys)
                driver.app.clear_notifications()
                await driver.settle()
                svg = normalize_svg(driver.app.export_screenshot(title="cm", simplify=True))
                picture = SnapshotProject.picture(svg)
                assert "Traceback" not in picture
                of = named or f"{mode}-{size[0]}x{size[1]}"
                if picture != snapshot(name=f"{of}][{name}", extension_class=Picture):
                    different.append((size, name))
    assert not different


async def _press(driver: Driver, keys: tuple[str, ...]) -> None:
    for key in keys:
        if key.startswith("type:"):
            await driver.type(key.removeprefix("type:"))
        else:
            # Letters that filter are waited for, each: what is shown must not depend on how fast one types.
            await driver.press(*key.removeprefix("letters:") if key.startswith("letters:") else (key,))


@pytest.mark.parametrize("mode", MODES)
async def test_a_mode(snapshot: SnapshotAssertion, shop: Path, mode: str):
    await _walk(snapshot, shop, mode, *SIZES)


@pytest.mark.parametrize("mode", ["search", "history", "episodes", "memory", "review", "context"])
@pytest.mark.deep
async def test_the_light_theme(snapshot: SnapshotAssertion, shop: Path, mode: str):
    await _walk(snapshot, shop, mode, (120, 40), theme="cm-light", named=mode)


@pytest.mark.few(2)
@pytest.mark.parametrize("mode", ["search", "symbols", "episodes", "memory", "review", "context"])
async def test_a_narrow_terminal(snapshot: SnapshotAssertion, shop: Path, mode: str):
    await _walk(snapshot, shop, mode, (60, 20), named=mode)
