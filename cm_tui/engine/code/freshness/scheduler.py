"""Combining the signals of all layers into as few index runs as possible: one edit, one run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from cm_tui.config import Config
from cm_tui.counts import count
from cm_tui.errors import CmError
from cm_tui.model.freshness import Freshness, LayerState, label_of
from cm_tui.paths import PROJECT_FOLDER

# --- changes reported by a layer ---

MOST_PATHS = 1000
"""More changed paths than this count as everything: comparing the whole project costs less than naming them."""

DECISIVE = frozenset(
    {
        ".gitignore",
        ".gitattributes",
        ".git/info/exclude",
        ".git/info/attributes",
        ".git/info/sparse-checkout",
        ".cm/config.toml",
    }
)
"""Files that decide what is indexed."""
_HEAD = (".git/HEAD", ".git/packed-refs", ".git/logs/HEAD")


PathFilter = Callable[[str], bool]
"""Returns whether a path, relative to the root with `/`, may matter to the index."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths that may differ from the index, relative to the root with `/`; None: all."""

    paths: frozenset[str] | None = None

    @classmethod
    def of(cls, paths: Iterable[str]) -> Changes:
        """Return changes at some paths, or everywhere when there are many or they decide what is indexed."""
        found = frozenset(paths)
        whole = len(found) > MOST_PATHS or any(is_decisive(path) for path in found)
        return EVERYTHING if whole else cls(found)

    def __or__(self, other: Changes) -> Changes:
        if self.paths is None or other.paths is None:
            return EVERYTHING
        return Changes.of(self.paths | other.paths)

    def __str__(self) -> str:
        if self.paths is None:
            return "everything"
        return min(self.paths, default="nothing") if len(self.paths) < 2 else count(len(self.paths), "path")


EVERYTHING = Changes()
NOTHING = Changes(frozenset())


def is_decisive(path: str) -> bool:
    """Return whether a path decides what else is indexed: HEAD, and files with rules."""
    if path.startswith(_HEAD) or path in DECISIVE:
        return True
    # No rule indexes files in the project's own folder.
    return path.endswith(("/.gitignore", "/.gitattributes")) and not path.startswith(f"{PROJECT_FOLDER}/")


def is_git(path: str) -> bool:
    """Return whether a path is one of git's own data."""
    return path == ".git" or path.startswith(".git/")


def path_filter(root: Path, shadow: Path, config: Config) -> PathFilter:
    """Return the test whether a changed path may matter to the index, by the scan's current rules.

    `shadow`: folder of the private repository of a folder without git.
    """
    from cm_tui.engine.code.scan.content_reader import ContentReader
    from cm_tui.engine.code.scan.working_tree import WorkingTreeScan
    from cm_tui.engine.platform.git.repository import Repository

    repository = Repository(root, shadow)
    scan = WorkingTreeScan(repository, config.index, ContentReader(repository), {})
    repository.release()
    return lambda path: is_decisive(path) or (not is_git(path) and scan.accepts(path))


# --- combining the signals of all layers into as few index runs as possible ---

DEBOUNCE_S = 1.5
"""A run begins when no signal has come for so long: twenty edits in a row are indexed once."""
LONGEST_S = 10.0
"""Signals that never end are served after so long."""
LONG_RUN_S = 0.5
"""After a run that took longer, questions have the machine to themselves for a while before the next one."""
_REST = 2.0
"""How long that is, in runs: edits that never end take a third of the time at most."""
_LINGER_S = 5.0
"""How long the thread waits for another signal before it ends."""
_RETRY_S = 5.0
_LONGEST_RETRY_S = 300.0


class Scheduler:
    """Runs the index of one project in a separate thread.

    `run`: indexes these changes, and returns a summary in words. `is_current`: returns whether the index reflects the
    disk at these changes; such signals cause no run. `debounce_s`: seconds without a signal before a run. `longest_s`:
    seconds after which a run begins anyway.
    """

    def __init__(
        self,
        run: Callable[[Changes], str],
        is_current: Callable[[Changes], bool],
        *,
        debounce_s: float = DEBOUNCE_S,
        longest_s: float = LONGEST_S,
    ) -> None:
        self._run = run
        self._is_current = is_current
        self._debounce_s = debounce_s
        self._longest_s = longest_s
        self._wake = threading.Condition()
        self._waiting = NOTHING
        self._why = ""
        self._due = self._latest = self._rested = 0.0
        self._running = NOTHING
        self._failures = 0
        self._served = 0
        self._signals = 0
        self._runs = 0
        self._ran_at: float | None = None
        self._did = ""
        self._layers: dict[str, LayerState] = {}
        self._thread: threading.Thread | None = None
        """Runs while there is something to do, and for a moment after."""
        self._started = False
        self._stopping = False

    def start(self) -> None:
        """Begin to serve signals, including earlier ones."""
        with self._wake:
            self._started, self._stopping = True, False
            self._begin()

    def _begin(self) -> None:
        """Have a thread serve what waits; the caller holds the lock."""
        if self._started and self._thread is None and self._waiting != NOTHING:
            self._thread = threading.Thread(target=self._work, name="freshness", daemon=True)
            self._thread.start()
        if self._thread is None:
            self._skip()
        self._wake.notify_all()

    def stop(self) -> None:
        """End it after the run that is on; what waits is dropped."""
        with self._wake:
            self._started, self._stopping = False, True
            self._wake.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._thread = None

    def signal(self, layer: str, changes: Changes, why: str = "", *, debounce_s: float | None = None) -> None:
        """Record a layer's signal.

        `layer`: its name, such as `git hooks`; `changes`: what may differ from the index; `why`: the reason, in words;
        `debounce_s`: seconds without another signal before it is served; default: the scheduler's.
        """
        now = time.monotonic()
        with self._wake:
            self._signals += 1
            words = why or f"reported {changes}"
            known = self._layers.get(layer) or LayerState(layer, "on")
            self._layers[layer] = replace(known, fired_at=time.time(), did=words)
            if self._waiting == NOTHING:
                self._latest = now + self._longest_s
            self._waiting |= changes
            self._why = f"{label_of(layer)}: {words}"
            pause = self._debounce_s if debounce_s is None else debounce_s
            self._due = max(self._rested, min(now + pause, self._latest))
            self._begin()

    @property
    def is_inside(self) -> bool:
        """Return whether this is called from within a run."""
        return threading.current_thread() is self._thread

    def flush(self, seconds: float) -> bool:
        """Serve pending signals now, and wait for that.

        Returns at once when called from within a run, which must not wait for itself, and when it ends meanwhile, as
        another checkout takes the store. `seconds`: how long to wait at most. Returns True when all earlier signals are in the index.
        """
        if self.is_inside:
            return False
        with self._wake:
            self._due = self._rested
            self._wake.notify_all()
            if not self._started:
                return self._waiting == NOTHING
            target, failures = self._signals, self._failures
            self._wake.wait_for(
                lambda: self._served >= target or self._failures > failures or self._stopping, timeout=seconds
            )
            return self._served >= target

    def freshness(self, *layers: LayerState) -> Freshness:
        """Return the state of everything; the given layers replace those known only from signals."""
        with self._wake:
            known = dict(self._layers)
            for layer in layers:
                before = known.get(layer.name)
                last = before if before is not None and layer.fired_at is None else layer
                known[layer.name] = replace(layer, fired_at=last.fired_at, did=last.did)
            waiting = self._waiting != NOTHING
            running = self._running != NOTHING
            return Freshness(
                behind=waiting or running,
                why=self._why if waiting or running else "",
                running=running,
                due_at=time.time() + max(self._due - time.monotonic(), 0) if waiting and not running else None,
                ran_at=self._ran_at,
                did=self._did,
                runs=self._runs,
                signals=self._signals,
                layers=tuple(known.values()),
            )

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._stopping and (self._waiting == NOTHING or time.monotonic() < self._due):
                    waiting = self._waiting != NOTHING
                    self._skip()
                    if (
                        not self._wake.wait(self._due - time.monotonic() if waiting else _LINGER_S)
                        and self._waiting == NOTHING
                    ):
                        self._skip()
                        self._thread = None
                        return
                if self._stopping:
                    return
                self._running, self._waiting = self._waiting, NOTHING
                covers = self._signals
            self._run_once(covers)

    def _skip(self) -> None:
        """Signals that named no path ask for no run."""
        if self._waiting == NOTHING and self._served < self._signals:
            self._served = self._signals
            self._wake.notify_all()

    def _run_once(self, covers: int) -> None:
        begun = time.monotonic()
        try:
            ran = not self._is_current(self._running)
            did = self._run(self._running) if ran else "nothing: the index had it already"
        except CmError as error:
            self._end_badly(error.message)
            return
        except Exception as error:  # noqa: BLE001 - the thread must live on; the failure is shown, and tried again
            self._end_badly(f"{type(error).__name__}: {error}")
            return
        ended = time.monotonic()
        with self._wake:
            if ended - begun >= LONG_RUN_S:
                self._rested = ended + min(_REST * (ended - begun), self._longest_s)
            self._due = max(self._due, self._rested)
            self._runs += ran
            self._ran_at = time.time() if ran else self._ran_at
            self._did = did if ran or not self._did else self._did
            self._failures = 0
            self._served = covers
            self._running = NOTHING
            self._wake.notify_all()

    def _end_badly(self, message: str) -> None:
        """Keep the pending changes, and try again later."""
        with self._wake:
            self._failures += 1
            self._did = f"failed: {message}"
            self._ran_at = time.time()
            self._waiting |= self._running
            self._running = NOTHING
            pause = min(_RETRY_S * 2 ** (self._failures - 1), _LONGEST_RETRY_S)
            self._due = self._latest = time.monotonic() + pause
            self._wake.notify_all()
