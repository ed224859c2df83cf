"""Memory by reference: every layer through one interface."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.context import ContextMethods
from cm_tui.engine.api.needs import in_process, needs
from cm_tui.engine.api.notes import NoteMethods
from cm_tui.engine.platform.lazy import shared_property
from cm_tui.errors import ConfigError, ModelError, NotFoundError

if TYPE_CHECKING:
    from cm_tui.engine.context.assembly.reader import MemoryReader
    from cm_tui.engine.context.layers.kv import WorkingMemory
    from cm_tui.engine.context.layers.layers import Layers
    from cm_tui.engine.context.layers.ports import Reading


_SOURCES = {"episodes": "episode", "entries": "entry", "notes": "note"}
"""Indexes of the memory, by the name of their source."""
_DEEPER = 5
"""Of texts that pipelines wrote, so many times as many are looked at: indexes share one source."""
_REWRITE_TOKENS = 80
_MOST_FORGOTTEN = 10_000
_MOST_NOTES = 5_000


class LayerMethods(ContextMethods, NoteMethods):
    """Every layer of the memory through one interface."""

    @needs("nothing")
    def read_memory(self, reference: str, *, session: str = "") -> model.MemoryValue:
        """Return what one memory reference leads to.

        `reference`: such as `kv://release`, `markdown://architecture-notes`, `graph://callers?name=main`; `session`: of
        the agent, for its working memory and history. Raises UsageError if it is no reference, or a parameter is wrong;
        NotFoundError if there is nothing; CmError if the layer cannot be read.
        """
        self._read_what_was_recorded(model.CODE)
        return self._of_one_generation(lambda: _value(reference, self._layers.read(reference, session=session)))

    @needs("nothing", writes=("memory",))
    def write_memory(
        self, reference: str, value: str, *, ttl: float | None = None, session: str = ""
    ) -> model.MemoryValue:
        """Write one value of a layer with values: `kv://`, `json://` and `working://`.

        `value`: JSON, or else text; empty: remove it. `ttl`: seconds until it expires; None: never. Only for `kv://`
        and `working://`. Raises UsageError if the layer has no values, or the value does not fit the schema; StoreError
        if it cannot be written.
        """
        return _value(reference, self._layers.write(reference, value, ttl=ttl, session=session))

    @shared_property
    def _working(self) -> WorkingMemory:
        from cm_tui.engine.context.layers.kv import WorkingMemory

        return WorkingMemory()

    @shared_property
    def _layers(self) -> Layers:
        from cm_tui.engine.context.layers.layers import Layers

        return Layers(self, self._working)

    @shared_property
    def _memory_reader(self) -> MemoryReader:
        from cm_tui.engine.context.assembly.reader import MemoryReader

        context = self.config.context
        return MemoryReader(
            self._layers, self, lambda: self._library, self._db.reading, self._stamp_of_memory, self._ask_model,
            context.timeout_seconds, context.cache_seconds,
        )  # fmt: skip

    def _stamp_of_memory(self) -> str:
        """Return a stamp that changes when something is recorded outside the index's generations."""
        return str(self._journal.end())

    def _ask_model(self, system: str, user: str, most_tokens: int = _REWRITE_TOKENS) -> str:
        """Ask the language model of the settings, without secrets.

        Raises ConfigError if it is switched off; ModelError if it cannot be reached, or nothing may be sent now.
        """
        from cm_tui.engine.memory.narrator.model.chat import Chat
        from cm_tui.engine.platform.redaction.redact import redact

        config = self.config.context.model
        if not config.enabled:
            raise ConfigError("No language model is enabled.", hint="Set context.model in your own settings.")
        if why := self._why_not_recorded():
            raise ModelError(f"Nothing is sent now: {why}")
        chat = Chat(config, lambda: not self._why_not_recorded(), section="context.model")
        return chat.ask(system, redact(user).text, most_tokens).text

    # --- what layers ask: each is answered from the generation that the thread reads ---

    @in_process
    def find(self, query: str, index: str, limit: int) -> model.SearchResult:
        """Return an index's matches for a query."""
        searcher = self._searcher
        if index == model.CODE:
            profile = replace(searcher.profile(model.CODE), beside="", min_score=0.0)
            return searcher.search(query, profile=profile, limit=limit)
        source = _SOURCES.get(index, model.INGESTED)
        recall = searcher.profile("notes" if index == "notes" else model.RECALL)
        profile = replace(recall, sources=(source,), quotas={}, min_score=0.0)
        if source != model.INGESTED:
            return searcher.search(query, profile=profile, limit=limit)
        if index not in self._ingested_indexes():
            raise NotFoundError(
                f"Unknown index: {index!r}.",
                hint=f"Available: {', '.join([model.CODE, *_SOURCES, *self._ingested_indexes()])}; pipelines create others.",
            )
        found = searcher.search(query, profile=profile, limit=limit * _DEEPER)
        mine = tuple(hit for hit in found.hits if hit.path.startswith(f"vector/{index}/"))
        return replace(found, hits=mine[:limit])

    def _ingested_indexes(self) -> list[str]:
        rows = self._db.rows("SELECT DISTINCT split_part(path, '/', 2) FROM passage WHERE source = ?", [model.INGESTED])
        return sorted(str(row[0]) for row in rows)

    @in_process
    def changed_together(self, path: str, limit: int) -> Sequence[tuple[str, int, int]]:
        """Return files often changed together with this one: path, common commits, commits with this one."""
        rows = self._db.rows(
            "WITH mine AS (SELECT DISTINCT from_ord FROM file_span WHERE path = ? AND from_ord > 0), "
            "together AS (SELECT path, count(DISTINCT from_ord) AS times FROM file_span "
            "WHERE from_ord IN (SELECT from_ord FROM mine) AND path <> ? GROUP BY path) "
            "SELECT t.path, t.times, (SELECT count(DISTINCT s.from_ord) FROM file_span s WHERE s.path = t.path) "
            "FROM together t ORDER BY t.times DESC, t.path LIMIT ?",
            [self._inside(path), self._inside(path), limit],
        )
        return [(str(name), int(times), int(alone)) for name, times, alone in rows]

    @in_process
    def note_names(self) -> Sequence[tuple[str, str]]:
        """Return id and title of every note."""
        from cm_tui.engine.memory.notes import note_table

        rows, _ = note_table.page(self._db, [], "", "", _MOST_NOTES)
        return [(one.id, one.title) for one in rows]

    @in_process
    def episodes_of(self, session: str, limit: int) -> Sequence[model.Episode]:
        """Return the latest episodes of a session, the newest first."""
        return self._episodes.page("", model.EpisodeFilter(session=session), None, limit).rows

    @in_process
    def hidden_from_log(self) -> Collection[str]:
        """Return ids and sessions of forgotten episodes."""
        rows = self._episodes.page("", model.EpisodeFilter(state="forgotten"), None, _MOST_FORGOTTEN).rows
        return {one.id for one in rows} | {one.session for one in rows if one.session}


def _value(reference: str, found: Reading) -> model.MemoryValue:
    value = "" if found.value is None else json.dumps(found.value, ensure_ascii=False)
    return model.MemoryValue(reference, found.text, value, found.expires, found.paths)
