"""Processor time of each test, listed at the end of a run: unlike seconds, it hardly depends on the machine's load.

Seconds far above it are spent waiting: for another process, or for a time-out that should not have been reached.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Generator

import pytest

from tests import forked

_PROPERTY = "processor seconds"
_FOLDERS = 25
_TESTS = 30
_began: dict[str, float] = {}
_used: dict[str, float] = {}
_waited: Counter[str] = Counter()


def _now() -> float:
    """Processor seconds of this process, its threads and the child processes that it waited for."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system + forked.processor_seconds()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid: str) -> None:
    """Note where a test begins."""
    _began[nodeid] = _now()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the time to the last report of a test, which a worker sends to the process that collects them."""
    report = yield
    if report.when == "teardown" and item.nodeid in _began:
        report.user_properties.append((_PROPERTY, _now() - _began.pop(item.nodeid)))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect the times."""
    _waited[report.nodeid] += report.duration
    if report.when == "teardown":
        _used.update((report.nodeid, seconds) for name, seconds in report.user_properties if name == _PROPERTY)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List the folders and the tests that took most, where `--durations` was asked for."""
    if not config.getoption("durations") or not _used:
        return
    folders: Counter[str] = Counter()
    for test, seconds in _used.items():
        folders["/".join(test.partition("::")[0].split("/")[:-1][:3])] += seconds
    terminalreporter.section(f"processor time: {sum(_used.values()):.0f} s")
    for name, seconds in [*folders.most_common(_FOLDERS), *Counter(_used).most_common(_TESTS)]:
        terminalreporter.line(f"{seconds:7.2f}s {name}")
    _waited.subtract(_used)
    terminalreporter.section(f"seconds without processor time: {sum(_waited.values()):.0f} s")
    for name, seconds in _waited.most_common(_TESTS):
        terminalreporter.line(f"{seconds:7.2f}s {name}")
