"""Vectors of a project: those of code by one model, those of prose by another, if there is one.

The model of code may fail permanently. A configured fallback then takes over completely, for queries and passages, with
the next index run; vectors of two models are never compared. Vectors of the first choice are kept meanwhile.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from cm_tui.config import EmbeddingConfig
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed.choice import embed_test, prose_provider_for
from cm_tui.engine.search.embed.prose_process import ProseProcesses
from cm_tui.engine.search.embed.provider import NotChosenError, Provider, model_name
from cm_tui.engine.search.vectors import batch_fill
from cm_tui.engine.search.vectors.index import State, VectorIndex
from cm_tui.engine.search.vectors.snapshot import FALLBACK_FOLDER, PROSE_FOLDER
from cm_tui.errors import ModelError
from cm_tui.files import write_atomically
from cm_tui.model import CODE, Cancel
from cm_tui.model.dates import local_minute
from cm_tui.state_file import read_record

# --- the model of a project's vectors, since when, and why it is not the first choice: a file next to the store ---

FILE = "embedding.json"


@dataclass(frozen=True, slots=True)
class InUse:
    """The model in use."""

    fingerprint: str
    since: float
    """Seconds since the epoch."""
    instead_of: str = ""
    """Fingerprint of the first choice, where this is its fallback."""
    reason: str = ""
    """Why the first choice is not used."""

    @property
    def note(self) -> str:
        """Return the note where vectors are used; empty for a first choice."""
        if not self.instead_of:
            return ""
        return (
            f"{model_name(self.fingerprint)} is used instead of {model_name(self.instead_of)} "
            f"since {local_minute(self.since)}: {self.reason} "
            "Index runs try the first choice again and return to it when it works."
        )


def read(folder: Path) -> InUse | None:
    """Return what was last noted; None where nothing was, or it cannot be read."""
    return read_record(folder / FILE, InUse)


def write(folder: Path, in_use: InUse) -> None:
    """Record it; where the folder cannot be written, the next process decides again."""
    with suppress(OSError):
        write_atomically(folder / FILE, json.dumps(asdict(in_use), indent=1))


# --- vectors of a project ---

Choice = tuple[Provider, EmbeddingConfig]
"""A model, and the settings that ask for it."""


@dataclass(frozen=True, slots=True)
class Side:
    """What answers questions as long as one model is in use."""

    provider: Provider
    settings: EmbeddingConfig
    code: VectorIndex
    """Of all sources if prose has no model of its own."""
    prose_provider: Provider | None
    prose: VectorIndex | None


def open_side(db: Database, folder: Path, prose_folder: Path, choice: Choice, fingerprints: Sequence[str]) -> Side:
    """Open the vectors of a model.

    `choice`: the model of code; `fingerprints`: of all models of code whose vectors are kept.
    """
    provider, settings = choice
    prose = prose_provider_for(settings)
    beside = [*fingerprints, *([] if prose is None else [prose.fingerprint])]
    entries = settings.cache_entries
    code = VectorIndex(db, folder, provider, entries=entries, scope="all" if prose is None else "code", beside=beside)
    if prose is None:
        return Side(provider, settings, code, None, None)
    # A name such as `episode/18a0…` is meaningless.
    said = VectorIndex(db, prose_folder, prose, entries=entries, path_weight=0.0, scope="prose", beside=beside)
    return Side(provider, settings, code, prose, said)


ASK_AGAIN_SECONDS = 60.0
"""Where a fallback is named, index runs ask the first choice whether it answers, at most so often."""


class ProjectVectors:
    """The vector indexes of a project, each with its model: updated, filled and checked together.

    `folder`: of their files; `provider`: the configured model; `fallback`: the configured fallback, and its settings.
    """

    def __init__(
        self,
        db: Database,
        folder: Path,
        provider: Provider,
        embedding: EmbeddingConfig,
        *,
        fallback: Choice | None = None,
    ) -> None:
        self._db = db
        self._folder = folder
        self._first = provider, embedding
        self._fallback = fallback
        self._problem = ""
        self._jobs = ""
        self._news: list[str] = []
        self._asked = -math.inf
        self._in_use = read(folder)
        known = self._in_use
        if (
            fallback is not None
            and known is not None
            and (known.instead_of, known.fingerprint) == (provider.fingerprint, fallback[0].fingerprint)
        ):
            self._side = self._open_fallback(fallback, known)
        else:
            self._side = self._open(self._first, folder)
            if embedding.batch.enabled:
                self._say_of_jobs(self._side)

    @property
    def provider(self) -> Provider:
        """Return the model of code in use."""
        return self._side.provider

    @property
    def code(self) -> VectorIndex:
        """Return the vectors of code, where prose has its own; else of all."""
        return self._side.code

    @property
    def prose(self) -> VectorIndex | None:
        """Return the vectors of prose, if another model makes them."""
        return self._side.prose

    @property
    def in_use(self) -> InUse:
        """Return which model is in use since when, and why."""
        known, now = self._in_use, self.provider.fingerprint
        return known if known is not None and known.fingerprint == now else InUse(now, time.time())

    @property
    def is_noted(self) -> bool:
        """Return whether an index run was made with the model in use."""
        return self._in_use is not None and self._in_use.fingerprint == self.provider.fingerprint

    @property
    def fallback_name(self) -> str:
        """Return the fingerprint of the fallback; empty where none is named."""
        return self._fallback[0].fingerprint if self._fallback is not None else ""

    @property
    def jobs_note(self) -> str:
        """Return the note on batch jobs; empty: none."""
        return self._jobs

    @property
    def is_fallback(self) -> bool:
        """Return whether the fallback is used instead of the first choice."""
        return self.provider is not self._first[0]

    def of(self, source: str) -> tuple[VectorIndex, Provider]:
        """Return the index and the model of a source."""
        side = self._side
        if source == CODE or side.prose is None or side.prose_provider is None:
            return side.code, side.provider
        return side.prose, side.prose_provider

    @property
    def _each(self) -> tuple[VectorIndex, ...]:
        side = self._side
        return (side.code,) if side.prose is None else (side.code, side.prose)

    @property
    def state(self) -> State:
        """How the vectors of code are currently searched; of prose if there are no others."""
        return next((index.state for index in self._each if index.state != "none"), "none")

    @property
    def has_model(self) -> bool:
        """Return whether there is a model; without one no passage gets a vector."""
        return self.code.has_model

    @property
    def notes(self) -> list[str]:
        """Messages on damaged or stale data."""
        return [*(note for index in self._each for note in index.notes), *([self._problem] if self._problem else [])]

    def coverage(self) -> tuple[int, int]:
        """Return how many passages have a vector, of how many."""
        every = [index.coverage() for index in self._each]
        return sum(done for done, _ in every), sum(total for _, total in every)

    def begin_prose(self) -> None:
        """Start the process with the model of prose, if a question about memory would wait for it."""
        provider, prose = self._side.prose_provider, self.prose
        if isinstance(provider, ProseProcesses) and provider.has_ended and prose is not None and prose.coverage()[0]:
            provider.begin()

    def prepare(self, texts: Sequence[str]) -> None:
        """Begin to embed code that the next `fill` will ask for."""
        self.code.prepare(texts)

    def fill(self, cancel: Cancel | None = None, *, prose_seconds: float = math.inf) -> Iterator[tuple[int, int]]:
        """Embed the passages without a vector: code first, which takes seconds.

        Args:
            cancel: ends it after a batch.
            prose_seconds: time limit for prose (0: skip it); the rest is embedded the next time.

        Yields:
            (done, total) passages with a vector; first the initial state.

        Raises:
            ModelError: neither the model of code nor its fallback is usable; an unusable model of prose is reported in
                the notes.
            CancelledError: `cancel` was set; the batches so far are kept and searchable.
        """
        done, total = 0, 0
        there, wanted = (0, 0) if self.prose is None else self.prose.coverage()
        for done, total in self._fill_code(cancel):
            yield done + there, total + wanted
        if wanted and prose_seconds:
            until = time.monotonic() + prose_seconds
            for there, wanted in self.fill_prose(cancel):
                yield done + there, total + wanted
                if time.monotonic() > until:
                    break

    def take_news(self) -> tuple[str, ...]:
        """Return, once, the messages on changes of the model by `fill`."""
        news, self._news = tuple(self._news), []
        return news

    def _fill_code(self, cancel: Cancel | None) -> Iterator[tuple[int, int]]:
        """Embed code by the first choice or, where that fails, by the fallback."""
        try:
            if self.is_fallback:
                yield from self._return_to_first(cancel)
            else:
                self._responds(patiently=True)
                yield from self._fill_all(self._side, cancel)
        except ModelError as error:
            if self._fallback is None or isinstance(error, NotChosenError):
                raise
            self._fall_back(self._fallback, error)
        if self.is_fallback:
            yield from self._fill_all(self._side, cancel)
        if not self.is_noted:
            self._note(InUse(self.provider.fingerprint, time.time()))

    def _fill_all(self, side: Side, cancel: Cancel | None) -> Iterator[tuple[int, int]]:
        """Embed code, large amounts by batch jobs where the settings ask for that."""
        waiting: frozenset[str] = frozenset()
        if side.settings.batch.enabled:
            # Late import: it loads the client of endpoints.
            from cm_tui.engine.search.vectors.batch_fill import BatchFill

            if jobs := BatchFill.of(self._db, self._folder, side.code, side.provider):
                try:
                    yield from jobs.run(cancel or Cancel())
                finally:
                    self._say_of_jobs(side)
                    self._news += [self._jobs] if self._jobs else []
                if jobs.keeps_the_rest():
                    return
                waiting = jobs.waiting
        yield from side.code.fill(cancel, waiting)

    def _say_of_jobs(self, side: Side) -> None:
        """Include pending jobs in the notes of responses and status."""
        before, self._jobs = self._jobs, batch_fill.read(self._folder).note(side.provider.fingerprint)
        # Jobs of a restored first choice are reported while the fallback still serves.
        notes = self.code.notes
        if before in notes:
            notes.remove(before)
        if self._jobs:
            notes.append(self._jobs)

    def _responds(self, *, patiently: bool) -> bool:
        """Request a vector from the first choice, if there is a fallback and that is due; return whether it was done.

        `patiently`: with repetitions, as for a query. Raises ModelError: no response.
        """
        if self._fallback is None or time.monotonic() - self._asked < ASK_AGAIN_SECONDS:
            return False
        self._asked = time.monotonic()
        embed_test(self._first[0], patiently=patiently)
        return True

    def _return_to_first(self, cancel: Cancel | None) -> Iterator[tuple[int, int]]:
        """Return to the first choice once it responds and has a vector for every passage; until then the fallback serves."""
        if not self._responds(patiently=False):
            return
        first = self._open(self._first, self._folder)
        yield from self._fill_all(first, cancel)
        done, total = first.code.coverage()
        if done < total:
            return
        before, self._side = self._side, first
        self._news.append(
            f"{model_name(first.provider.fingerprint)} works again and is used instead of "
            f"{model_name(before.provider.fingerprint)}."
        )
        self._note(InUse(first.provider.fingerprint, time.time()))

    def _fall_back(self, fallback: Choice, error: ModelError) -> None:
        """Use the fallback from now on, and note why."""
        # A server's error may repeat parts of the request.
        said = redact(error.message).text.rstrip(".")
        before = self._in_use if self.is_fallback else None
        since = before.since if before else time.time()
        now = InUse(fallback[0].fingerprint, since, self._first[0].fingerprint, f"{said}.")
        self._note(now)
        if before is None:
            self._side = self._open_fallback(fallback, now)
            self._news.append(now.note)
        elif before.note != now.note:
            self.code.notes[:] = [now.note if note == before.note else note for note in self.code.notes]

    def _note(self, now: InUse) -> None:
        self._in_use = now
        write(self._folder, now)

    def _open_fallback(self, fallback: Choice, now: InUse) -> Side:
        # Separate files: those of the first choice are kept for its return.
        side = self._open(fallback, self._folder / FALLBACK_FOLDER)
        side.code.notes.append(now.note)
        return side

    def _open(self, choice: Choice, folder: Path) -> Side:
        every = [self._first[0].fingerprint, self.fallback_name]
        return open_side(self._db, folder, self._folder / PROSE_FOLDER, choice, [one for one in every if one])

    def fill_prose(self, cancel: Cancel | None = None) -> Iterator[tuple[int, int]]:
        """Embed prose without vectors, newest first; an unusable model is reported in the notes.

        Yields (done, total) passages with a vector; first the initial state. Raises CancelledError if `cancel` was set;
        the batches so far are kept and searchable.
        """
        if self.prose is None:
            return
        try:
            yield from self.prose.fill(cancel)
            self._problem = ""
        except ModelError as error:
            self._problem = f"Conversations and notes are searched by keyword only: {error.message}"

    def build_graph(self, cancel: Cancel | None = None) -> Iterator[tuple[int, int]]:
        """Build and save the graphs of large indexes. Raises CancelledError if `cancel` was set."""
        for index in self._each:
            yield from index.build_graph(cancel)

    def verify(self) -> tuple[str, ...]:
        """Compare every row with the store, and repair differences; return a description of them."""
        return tuple(problem for index in self._each for problem in index.verify())
