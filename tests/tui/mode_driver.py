"""A small real project, and a driver that presses keys in the real application and reads its screen."""

from __future__ import annotations

import asyncio
import re
import subprocess
import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from textual.screen import Screen

from cm_tui.config import Config
from cm_tui.daemon.open_engine import open_engine
from cm_tui.engine.api.engine import Engine
from cm_tui.integrations.external_layers import outside_layers
from cm_tui.tui.app.app import CmApp
from cm_tui.tui.screens.mode_list import MODES, PACK, keys_of_mode
from tests.tiers import is_full_size
from tests.tui.textual_speed import strips_of, unrest

FILES = {
    "src/store.py": '''"""Keeps things."""
import json


class Store:
    """Where records are kept."""

    def load(self, name: str) -> dict:
        """Read a record by name."""
        return json.loads(self._read(name))

    def _read(self, name: str) -> str:
        return open(name).read()

    def sync(self) -> None:
        self.load("all")
''',
    "src/remote.py": """class Remote:
    def sync(self) -> None:
        return None
""",
    "src/service.py": '''from src.store import Store


def make_store() -> Store:
    """A fresh store."""
    return Store()


def report(name: str) -> str:
    store = make_store()
    return str(store.load(name))


def everything(thing) -> None:
    thing.sync()
    report("x")
''',
    "web/we[ird] /x[b]y.py": "def odd[T](value: list[int]) -> T:\n    return value[0]\n",
    "notes.txt": "plain text about nothing\n",
}


EMPTY = "empty"
"""A mode with nothing in it, that tests pass through."""
MODE_OF = {key: mode.name for number, mode in enumerate(MODES, start=1) for key in keys_of_mode(number).split(",")}
MODE_OF["P"] = PACK.name
"""Modes, by their keys."""
PATIENCE = 60
"""Seconds after which something is taken never to happen."""


def make_project(root: Path) -> Path:
    """A git repository with these files committed."""
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first")
    return root


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True)


class Driver:
    """Presses keys, waits until nothing is on its way, reads the screen."""

    def __init__(self, app: CmApp, pilot) -> None:
        self.app = app
        self.pilot = pilot

    async def settle(self) -> None:
        """Wait until no work is on its way and every message of it was handled.

        An answer may ask the next question, so it is only over when nothing began while messages were handled twice.
        """
        quiet = 0
        try:
            async with asyncio.timeout(PATIENCE):
                while quiet < 2:
                    self._still_runs()
                    await self.app.tasks.settled()
                    await self.pilot.pause()
                    await self.app.animator.wait_until_complete()
                    quiet = 0 if self._unrest() else quiet + 1
        except TimeoutError:
            app, screen = self.app, self.app.screen
            state = f"batches {app._batch_count}, current {screen.is_current}, timer on {screen._update_timer._active.is_set()}"
            raise AssertionError(f"waited {PATIENCE} s in vain; not at rest: {self._unrest()} ({state})") from None

    def _unrest(self) -> list[object]:
        """Return what is on its way."""
        tasks, engine = self.app.tasks, self.app.project.engine
        found = [*tasks._workers.running(), *tasks._delays.waiting, *["an index run"] * bool(tasks.indexing)]
        return found or ["the engine is being opened"] * (engine == "opening") or unrest(self.app)

    def _still_runs(self) -> None:
        """Fail at once where the application has ended with an error."""
        if self.app._exception is not None:
            raise self.app._exception

    async def hurry(self) -> None:
        """Have requests that wait for a newer one leave at once; what answers them is not waited for."""
        self.app.tasks.hurry()
        await self.pilot.pause()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds that nothing on its way tells of, such as what is on disk.

        A test that waited in vain fails with what was on the screen and what had happened.
        """
        try:
            async with asyncio.timeout(PATIENCE):
                while not holds():
                    self._still_runs()
                    await self.pilot.pause(0.01)
        except TimeoutError:
            happened = "\n".join(line.text for line in self.app.activity_log.lines)
            raise AssertionError(
                f"waited {PATIENCE} s in vain; the screen:\n{self.text}\nwhat happened:\n{happened}"
            ) from None

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def type(self, text: str) -> None:
        for character in text:
            await self.pilot.press("space" if character == " " else character)
        await self.settle()

    async def resize(self, size: tuple[int, int]) -> None:
        await self.pilot.resize_terminal(*size)
        await self.settle()

    async def anew(self, mode: str = "") -> None:
        """Show the overview, or a mode, as an application does that was just started: no mode was shown before."""
        app = self.app
        # A mode is gone to from an empty screen: the overview would ask for all that it shows first.
        name = "" if len(app._screen_stacks["overview"]) > 1 else MODE_OF.get(mode, "")
        between = EMPTY if name else "overview"
        if EMPTY not in app._modes:
            app.add_mode(EMPTY, Screen)
        await self.settle()
        await app.switch_mode(between)
        while len(app.screen_stack) > 1:
            await app.pop_screen()
        app.revision.go(None)
        app.pack_selection.change(())
        app.history.clear()
        # An answer must not come to a screen that is gone.
        await self.settle()
        for shown in [name for name, stack in app._screen_stacks.items() if stack and name not in ("overview", EMPTY)]:
            # Else the next widget gets the focus, and all of them the styles of that.
            app._screen_stacks[shown][0].set_reactive(Screen.focused, None)
            await app.remove_mode(shown)
            app.add_mode(shown, app.MODES[shown])
        app.state.screens.clear()
        app.clear_notifications()
        await self.settle()
        if name:
            await app.action_go(name)
            await self.settle()
        elif mode:
            await self.press(mode)

    @property
    def text(self) -> str:
        return "\n".join(strip.text.rstrip() for strip in strips_of(self.app.screen))

    def text_in(self, selector: str) -> str:
        """Return what is on screen of one widget."""
        region = self.app.screen.query_one(selector).region
        strips = strips_of(self.app.screen)[max(0, region.y) : region.bottom]
        return "\n".join(strip.crop(region.x, region.right).text for strip in strips)

    @property
    def badges(self) -> dict[str, int]:
        """What the top line counts at Memory and Review, by their keys."""
        found = re.findall(r"([67]) ?[A-Za-z]*([⁰¹²³⁴⁵⁶⁷⁸⁹]+)", strips_of(self.app.screen)[0].text)
        return {key: int(unicodedata.normalize("NFKC", number)) for key, number in found}

    @property
    def told(self) -> list[str]:
        """Every notification that is on screen, and what the bottom line says."""
        refused = [self.app._notice] if self.app._notice else []
        return [*(notification.message for notification in self.app._notifications), *refused]


@asynccontextmanager
async def starting(
    root: Path,
    *,
    size: tuple[int, int] = (120, 40),
    open_engine=None,
    config: Config | None = None,
    mend=None,
    episode: str = "",
) -> AsyncIterator[Driver]:
    """The application over a project, just started; afterwards the store is closed, as when it is left."""
    app = CmApp(
        open_engine or (lambda: Engine.open(root, external_layers=outside_layers)),
        root,
        config or Config(),
        repair=mend,
        episode=episode,
    )
    notify = app.notify
    # On a busy machine a test would look for a message when its seconds are over.
    app.notify = lambda *what, **how: notify(*what, **how | {"timeout": PATIENCE})
    try:
        async with app.run_test(size=size) as pilot:
            yield Driver(app, pilot)
    finally:
        app.tasks.close()


@asynccontextmanager
async def driving(root: Path, *, mode: str = "", **options) -> AsyncIterator[Driver]:
    """The application over a project, in a mode, at rest."""
    async with starting(root, **options) as driver:
        await driver.settle()
        if mode:
            await driver.press(mode)
        yield driver


SIZE = (120, 40)
Size = tuple[int, int]
Given = TypeVar("Given")
Step = Callable[[Driver, Given], Awaitable[None]]


def at(*sizes: Size) -> Callable[[Step[Given]], Step[Given]]:
    """Say in which sizes of the terminal a step is run: each in turn in the deep tier, one of them in CI."""

    def mark(step: Step[Given]) -> Step[Given]:
        step.sizes = sizes
        return step

    return mark


async def each(
    given: Given,
    *steps: Step[Given],
    mode: str = "",
    root: Path | None = None,
    before: Callable[[], None] = lambda: None,
    **options,
) -> None:
    """Run steps in one application over a project: each finds its mode as if the application was just started.

    What a step writes is there for the next ones. Those that fail do not keep the others from being run.

    Args:
        given: what each step gets: the root of the project, or something that has one.
        steps: take the driver and what is given.
        mode: the key of the mode.
        root: the root of the project, where `given` is something else.
        before: called before each step, and after the last one.
        options: as for `starting`.
    """
    failed = []
    async with driving(root or given, **options) as driver:
        for number, step in enumerate(steps):
            sizes = getattr(step, "sizes", (SIZE,))
            for size in sizes if is_full_size() else (sizes[number % len(sizes)],):
                try:
                    before()
                    if driver.app.size != size:
                        await driver.resize(size)
                    await driver.anew(mode)
                    await step(driver, given)
                except Exception as error:
                    error.add_note(f"in {step.__name__} at {size}")
                    failed.append(error)
                    if driver.app._exception is not None:
                        raise
        # Whatever a step that failed left behind must not keep the application from its end.
        before()
    if failed:
        raise ExceptionGroup(f"{len(failed)} steps failed", failed)


def through_daemon(root: Path):
    """Opens the engine as the command does."""
    return partial(open_engine, root)


async def connected(driver: Driver) -> None:
    """Wait until the application hears the daemon."""
    await driver.until(lambda: driver.app.project.daemon == "connected")
    await driver.settle()
