"""Every test has a CM_HOME of its own, and no daemon unless it starts one."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from cm_tui import worker_process
from cm_tui.engine.platform.store import generations
from tests import empty_stores, processor_time, shared_models, tiers

tiers.register_profiles()

OUTSIDE = pytest.StashKey[Path]()
"""The home that surrounds those of tests."""


def pytest_configure(config: pytest.Config) -> None:
    """Nobody starts a daemon that would outlive its test; tests of the daemon say so, and end theirs."""
    config.pluginmanager.register(processor_time)
    os.environ["CM_DAEMON__USE"] = "never"
    # In each process one of its own: what writes outside of a test's home writes here, and fails, see `stay_at_home`.
    os.environ["CM_HOME"] = tempfile.mkdtemp(prefix="cm-home-of-tests-")
    config.stash[OUTSIDE] = Path(os.environ["CM_HOME"])
    config.add_cleanup(lambda: shutil.rmtree(config.stash[OUTSIDE], ignore_errors=True))
    # Tests start hundreds of processes: each would compile all of its modules where bytecode is not kept.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # Errors of finalizers are no test's: pytest's own way of ignoring them collects cycles five times at the end.
    sys.unraisablehook = lambda _: None
    # As `cm` itself: a tenth of the time went into looking for cycles.
    gc.set_threshold(300_000, 50, 100)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape names that are not UTF-8 in what a test printed and logged: workers cannot hand them on."""
    report = yield
    report.sections = [(title, text.encode("utf-8", "backslashreplace").decode()) for title, text in report.sections]
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its tier."""
    tiers.leave_out(items)
    for item in items:
        item.add_marker(tiers.tier_of(item))


def pytest_collection_finish() -> None:
    """Leave modules and tests, which stay to the end, out of each look for cycles."""
    gc.freeze()


@pytest.fixture(scope="session")
def temporary_folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Make an empty folder of the next number; pytest's own way lists all folders of the run each time."""
    numbers = itertools.count()
    base = tmp_path_factory.mktemp("each", numbered=False)

    def make() -> Path:
        folder = base / str(next(numbers))
        folder.mkdir()
        return folder

    return make


@pytest.fixture
def tmp_path(temporary_folders: Callable[[], Path], request: pytest.FixtureRequest) -> Iterator[Path]:
    """An empty folder of this test; removed after it unless it failed."""
    folder = temporary_folders()
    yield folder
    if not request.session.testsfailed:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def models() -> Iterator[None]:
    """A model is loaded once in a process, and no work in the background makes the tests' own process give way."""
    with pytest.MonkeyPatch.context() as patch:
        shared_models.apply(patch)
        empty_stores.apply(patch)
        patch.setattr("os.nice", lambda _: 0)
        patch.setattr("os.setpriority", lambda *_: None)
        start = worker_process.start
        # Workers at the lowest priority would get no processor time next to other tests.
        patch.setattr(
            worker_process, "start", lambda code, *words: start(f"import os; os.nice = lambda _: 0; {code}", *words)
        )
        if not tiers.is_full_size():
            tiers.without_constants(patch)
            # A change begins as many transactions as readers may need; tests have few readers at once.
            patch.setattr(generations, "SPARES", 4)
        yield


def stay_at_home(outside: Path) -> None:
    """Fail where a test wrote into the home that surrounds its own; the next one finds it empty again."""
    found = sorted(str(file.relative_to(outside)) for file in outside.rglob("*"))
    for one in outside.iterdir():
        one.unlink() if one.is_file() else shutil.rmtree(one)
    assert not found, f"written outside of the test's own CM_HOME: {found}"


@pytest.fixture
def same_settings(request: pytest.FixtureRequest) -> Iterator[None]:
    """The next test finds the `CM_*` settings as this one found them, in whatever order its fixtures undo theirs."""
    before = _settings()
    yield
    for name in _settings():
        del os.environ[name]
    os.environ.update(before)
    stay_at_home(request.config.stash[OUTSIDE])


def _settings() -> dict[str, str]:
    return {name: os.environ[name] for name in os.environ if name.startswith("CM_")}


@pytest.fixture(autouse=True)
def cm_home(same_settings: None, temporary_folders: Callable[[], Path]) -> Iterator[Path]:
    """An empty folder that holds all of this test's stores and settings."""
    home = temporary_folders()
    # Not with the test's `monkeypatch`: a test may undo that half-way.
    os.environ["CM_HOME"] = str(home)
    yield home
    shutil.rmtree(home, ignore_errors=True)
