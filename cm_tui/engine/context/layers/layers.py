"""All layers of the memory through one interface: reading references, and writing values."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from cm_tui.engine.context.definitions.template import parsed_value, plain
from cm_tui.engine.context.layers.blobs import Blobs
from cm_tui.engine.context.layers.event_log import EventLog
from cm_tui.engine.context.layers.graph_views import GraphViews, file, symbol
from cm_tui.engine.context.layers.json_file import JsonStore
from cm_tui.engine.context.layers.kv import KvStore, KvValue, WorkingMemory
from cm_tui.engine.context.layers.ports import Item, MemoryPorts, Reading, Reference, parse
from cm_tui.engine.context.packs.clean_source import clean_lines
from cm_tui.engine.context.packs.injection import as_item, body_of
from cm_tui.engine.memory.projection.ingested import KnowledgeGraph
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import CODE, Entry, Episode, Hit

# --- search by meaning and by words: passages of an index as items ---


def search_items(
    ports: MemoryPorts, query: str, index: str, limit: int, least: float
) -> tuple[list[Item], tuple[str, ...]]:
    """Return passages that answer a question, the best first, and messages for the user.

    Args:
        ports: the engine.
        query: in words or code.
        index: `code`, `episodes`, `entries`, `notes`, or one that a pipeline writes.
        limit: how many at most.
        least: minimum score of each, from 0 to 1: for code its relevance (likelihood of being in the right place),
            where that is known.

    Raises:
        CmError: the index cannot be queried.
    """
    if not query.strip():
        return [], ("There was no query.",)
    result = ports.find(query, index, limit)
    hits = [hit for hit in result.hits if score_of(hit) >= least]
    return [_item(ports, hit) for hit in hits[:limit]], tuple(result.notes)


def score_of(hit: Hit) -> float:
    """Return how good a hit is, from 0 to 1."""
    return hit.relevance if hit.relevance is not None else hit.score


def _item(ports: MemoryPorts, hit: Hit) -> Item:
    text = clean_lines(ports.source, hit.path, hit.snippet_line, hit.snippet) if hit.source == CODE else hit.snippet
    item = {
        "text": text, "path": hit.path, "score": score_of(hit), "symbol": hit.symbol or "", "kind": hit.kind or "",
        "language": hit.language, "line": hit.snippet_line, "start_line": hit.start_line, "end_line": hit.end_line,
        "source": hit.source, "stale": hit.stale, "rank": hit.rank,
    }  # fmt: skip
    return {**item, "time": hit.time} if hit.time is not None else item


# --- all layers of the memory through one interface ---

_TURNS = 5
_CATEGORIES = {"": "Entries", "Rule": "Approved rules"}
_INJECTED = 2_000
_LONGEST_VALUE = 100_000


class Layers:
    """The memory of one project, by reference.

    Args:
        ports: the engine.
        working: the agents' working memory.
    """

    def __init__(self, ports: MemoryPorts, working: WorkingMemory) -> None:
        root: Path = ports.root
        self._ports = ports
        self.working = working
        self.kv = KvStore(root)
        self.records = JsonStore(root)
        self.blobs = Blobs(root)
        journal = Journal.of(root)
        self.log = EventLog(journal, ports.hidden_from_log)
        self.graph = GraphViews(ports, KnowledgeGraph(journal))
        self._readers: Mapping[str, Callable[[Reference], Reading]] = {
            "kv": self._kv,
            "json": self._json,
            "working": self._working,
            "markdown": self._note,
            "entry": self._entry,
            "entries": self._entries,
            "episode": self._episode,
            "episodic": self._episodic,
            "graph": self._graph,
            "vector": self._vector,
            "log": self._log,
            "file": lambda reference: file(self._ports, reference),
            "symbol": lambda reference: symbol(self._ports, reference),
            "blob": self._blob,
        }

    def read(self, text: str, *, session: str = "", prompt: str = "") -> Reading:
        """Return the content of a reference.

        Args:
            text: the reference.
            session: of the agent.
            prompt: for layers with semantic search.

        Raises:
            UsageError: the reference is invalid, a parameter is wrong, or a file is not JSON.
            NotFoundError: there is no such item.
            CmError: the layer cannot be read.
        """
        reference = replace(parse(text), session=session, prompt=prompt)
        reader = self._readers.get(reference.scheme)
        if reader is None:
            raise UsageError(f"{text[:80]} cannot be read, only run.", hint="`cm context run NAME` runs a definition.")
        return reader(reference)

    def write(self, text: str, value: str, *, ttl: float | None = None, session: str = "") -> Reading:
        """Write one value; an empty one removes it.

        Raises:
            UsageError: the layer has no values, or does not accept this one.
            StoreError: it cannot be written.
        """
        reference = parse(text)
        if len(value) > _LONGEST_VALUE:
            raise UsageError(
                f"The value has {len(value):,} characters.", hint=f"At most {_LONGEST_VALUE:,} are allowed."
            )
        if ttl is not None and ttl <= 0:
            raise UsageError("The time to live must be more than 0 seconds.", hint="Omit it to keep the value.")
        scheme, key = reference.scheme, reference.path
        removers: dict[str, Callable[[str], bool]] = {
            "kv": self.kv.remove, "json": self.records.remove, "working": partial(self.working.remove, session),
        }  # fmt: skip
        if scheme not in removers:
            raise UsageError(f"{scheme}:// takes no values.", hint="Use kv://, json:// or working://.")
        if scheme == "json" and ttl is not None:
            raise UsageError("Records do not expire.", hint="Use kv:// for values that expire.")
        if not value:
            removers[scheme](key)
            return Reading((), key)
        if scheme == "working":
            kept = self.working.put(session, key, value, ttl)
            return Reading(({"key": key, "text": f"{key}: {value}"},), key, value, kept.expires)
        parsed = parsed_value(value)
        if scheme == "kv":
            return _of_values([self.kv.put(key, parsed, ttl)])
        self.records.put(key, parsed)
        return Reading(({"text": _pretty(parsed)},), key, parsed)

    # --- values ---

    def _kv(self, reference: Reference) -> Reading:
        if set(reference.path) & set("*?"):
            return _of_values(self.kv.matching(reference.path))
        found = self.kv.get(reference.path)
        if found is None:
            near = get_close_matches(reference.path, list(self.kv.all()), 1)
            hint = f"Did you mean kv://{near[0]}?" if near else "`cm context put kv://KEY VALUE` writes one."
            raise NotFoundError(f"Value not found: {reference.path!r}.", hint=hint)
        return _of_values([found])

    def _json(self, reference: Reference) -> Reading:
        value = self.records.get(reference.path)
        return Reading(({"text": _pretty(value), "path": f"json/{reference.path}"},), reference.path, value)

    def _working(self, reference: Reference) -> Reading:
        session = reference.session
        since = self.log.turn_began(session) if session else 0.0
        found = self.working.matching(session, reference.path, since)
        if not found and not set(reference.path) & set("*?"):
            raise NotFoundError(f"This session has no value {reference.path!r}.")
        items: list[Item] = [{"key": one.key, "text": f"{one.key}: {one.value}", "value": one.value} for one in found]
        only = found[0] if len(found) == 1 else None
        return Reading(tuple(items), "Working memory", only.value if only else None, only.expires if only else None)

    # --- records and events ---

    def _note(self, reference: Reference) -> Reading:
        name = reference.path
        try:
            found = self._ports.note(name)
        except NotFoundError as error:
            titles = dict(self._ports.note_names())
            slugs = {id_: _slug(id_.rpartition("/")[2].rpartition(".")[0]) for id_ in titles}
            wanted = _slug(name)
            same = [id_ for id_, title in titles.items() if wanted in (_slug(title), slugs[id_])]
            if len(same) != 1:
                near = get_close_matches(wanted, list(dict.fromkeys(slugs.values())), 1)
                raise NotFoundError(
                    f"Note not found: {name!r}.", hint=f"Did you mean markdown://{near[0]}?" if near else error.hint
                ) from error
            found = self._ports.note(same[0])
        item = {"text": found.text, "path": f"note/{found.note.id}", "title": found.note.title}
        return Reading((item,), found.note.title or found.note.id)

    def _entry(self, reference: Reference) -> Reading:
        one = self._ports.entry(reference.path)
        if one.held or one.never_recall or one.unapproved:
            raise NotFoundError(
                f"The entry {one.id} is not given to agents.", hint=f"`cm entries show {one.id}` shows why."
            )
        return Reading((_entry_item(one, body_of(one)),), one.title or one.id)

    def _entries(self, reference: Reference) -> Reading:
        budget = int(reference.number("budget", _INJECTED, 1, 100_000))
        category = reference.path.strip("*")
        given = self._ports.inject(budget=budget, category=category, prompt=reference.prompt)
        items = ({**_entry_item(row.entry, as_item(body_of(row.entry))), "score": row.value} for row in given.rows)
        return Reading(tuple(items), _CATEGORIES.get(category, category))

    def _episode(self, reference: Reference) -> Reading:
        one = self._ports.episode(reference.path)
        if one.forgotten is not None:
            raise NotFoundError(f"The episode {reference.path} was forgotten.")
        return Reading((_episode_item(one),), " ".join(" ".join(one.prompts).split())[:60] or one.id)

    def _episodic(self, reference: Reference) -> Reading:
        if reference.path not in ("session", ""):
            return self._episode(reference)
        if not reference.session:
            return Reading((), "This session")
        found = self._ports.episodes_of(reference.session, int(reference.number("limit", _TURNS, 1, 100)))
        return Reading(tuple(_episode_item(one) for one in reversed(found)), "This session")

    # --- search ---

    def _graph(self, reference: Reference) -> Reading:
        limit = int(reference.number("limit", 50, 1, 1_000))
        params = {name: value for name, value in reference.params.items() if name != "limit"}
        title = f"{reference.path} {' '.join(params.values())}"
        return Reading(tuple(self.graph.read(reference.path, params, limit)), title)

    def _vector(self, reference: Reference) -> Reading:
        query = reference.param("query", reference.prompt)
        limit = int(reference.number("top_k", 8, 1, 1_000))
        least = reference.number("min_score", 0.5, 0, 1)
        items, notes = search_items(self._ports, query, reference.path or "code", limit, least)
        return Reading(tuple(items), f"{reference.path}: {query}"[:80], notes=notes)

    def _log(self, reference: Reference) -> Reading:
        fields = tuple(name for name in reference.param("fields").split(",") if name)
        limit = int(reference.number("limit", 20, 1, 1_000))
        items, note = self.log.search(reference.path, since=reference.param("since", "-7d"), fields=fields, limit=limit)
        return Reading(tuple(items), f"Log {reference.path}".strip(), notes=(note,) if note else ())

    def _blob(self, reference: Reference) -> Reading:
        text = self.blobs.read(reference.path).decode("utf-8", "replace")
        return Reading(({"text": text, "path": f"blob/{reference.path}"},), reference.path)


def _of_values(found: list[KvValue]) -> Reading:
    only = found[0] if len(found) == 1 else None
    items, title = tuple(map(value_item, found)), only.key if only else "Values"
    return Reading(items, title, only.value if only else None, only.expires if only else None)


def value_item(one: KvValue) -> Item:
    """Return a value as an item."""
    return {"key": one.key, "value": one.value, "text": f"{one.key}: {plain(one.value)}", "path": f"kv/{one.key}"}


def _entry_item(one: Entry, text: str) -> Item:
    return {"text": text, "path": f"entry/{one.id}", "category": one.category}


def _episode_item(one: Episode) -> Item:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.time))
    asked = " / ".join(one.prompts)
    text = f"{when} {one.agent}\nasked: {asked}\nanswered: {one.answer}" if one.answer else f"{when} {asked}"
    return {
        "text": text, "path": f"episode/{one.id}", "time": one.time, "prompt": asked, "answer": one.answer,
        "agent": one.agent, "session": one.session, "files": list(one.files),
    }  # fmt: skip


def _pretty(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _slug(text: str) -> str:
    return "-".join("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())
