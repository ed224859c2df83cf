"""Memory references, what layers find for them, and what they ask of the rest of the engine."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote

from cm_tui import model
from cm_tui.engine.context.definitions.lint import SCHEMES
from cm_tui.engine.context.definitions.template import plain
from cm_tui.errors import UsageError

# --- memory references: `SCHEME://PATH?name=value`, as used by rules, routes and prompts ---

_LONGEST = 4_000
_MOST_PARAMETERS = 50


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to something remembered."""

    text: str
    """As it was written."""
    scheme: str
    path: str
    """Decoded part after `://`."""
    params: Mapping[str, str] = field(default_factory=dict)
    fragment: str = ""
    session: str = ""
    """Of the agent that is asking."""
    prompt: str = ""
    """The agent's task."""

    def param(self, name: str, default: str = "") -> str:
        """Return a parameter, or what holds without it."""
        return self.params.get(name, default)

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """Return a numeric parameter.

        Raises:
            UsageError: it is not a number, or out of range.
        """
        text = self.params.get(name)
        if text is None:
            return default
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise UsageError(
                f"{self.text[:80]}: {name} is {text[:20]!r}.", hint=f"Use a number from {least:g} to {most:g}."
            )
        return value


def parse(text: str) -> Reference:
    """Parse a reference.

    Raises:
        UsageError: it is not a memory reference.
    """
    scheme, separator, rest = text.partition("://")
    if not separator or len(text) > _LONGEST or any(ord(letter) < 32 for letter in text):
        raise UsageError(f"Not a memory reference: {text[:80]!r}.", hint="Use markdown://…, kv://…, json://….")
    if scheme not in SCHEMES:
        near = get_close_matches(scheme, SCHEMES, 1)
        hint = f"Did you mean {near[0]}://?" if near else f"Use {', '.join(SCHEMES)}."
        raise UsageError(f"Unknown memory: {scheme[:40]!r}.", hint=hint)
    fragment = ""
    if scheme == "file":
        rest, _, fragment = rest.partition("#")
    path, _, query = rest.partition("?")
    try:
        params = dict(parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS))
    except ValueError as error:
        raise UsageError(f"{text[:80]!r} has too many parameters.") from error
    return Reference(text, scheme, unquote(path), params, fragment)


# --- what layers find: items with a text, and where they come from ---

Item = Mapping[str, Any]
"""`text`, and if known `path`, `time` (seconds since the epoch), `score` (0 to 1) and further fields."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Content of a reference."""

    items: tuple[Item, ...]
    title: str = ""
    value: Any = None
    """For layers with values."""
    expires: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return it as it is handed over."""
        return "\n\n".join(text for item in self.items if (text := text_of(item).strip()))

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the shown items, each once."""
        return paths_of(self.items)


def paths_of(items: Sequence[Item]) -> tuple[str, ...]:
    """Return the paths of items, each once."""
    return tuple(dict.fromkeys(str(item["path"]) for item in items if item.get("path")))


def text_of(item: Item) -> str:
    """Return the text of an item."""
    return plain(item.get("text"))


# --- what layers ask of the rest of the engine ---


class MemoryPorts(Protocol):
    """The engine's interface for layers; it reads the generation of the thread."""

    @property
    def root(self) -> Path:
        """Return the project's root folder."""

    def find(self, query: str, index: str, limit: int) -> model.SearchResult:
        """Return an index's matches for a query."""

    def pack_within(self, question: str, budget: int, *, neighbours: bool, profile: str) -> model.Pack:
        """Return a pack of code."""

    def callers(self, name: str) -> model.Page[model.Edge]:
        """Return who calls a symbol."""

    def callees(self, name: str) -> model.Page[model.Edge]:
        """Return a symbol's callees."""

    def dependencies(self, path: str) -> model.Page[model.ImportEdge]:
        """Return a file's imports."""

    def importers(self, target: str) -> model.Page[model.ImportEdge]:
        """Return who imports a file."""

    def symbols(self, *, file: str | None = None, limit: int = 1000) -> model.Page[model.Symbol]:
        """Return the symbols of a file."""

    def definitions(self, name: str) -> model.Page[model.Symbol]:
        """Return the definitions of a name."""

    def source(self, path: str, start_line: int = 1, end_line: int | None = None) -> model.Source:
        """Return lines of a file."""

    def changed_together(self, path: str, limit: int) -> Sequence[tuple[str, int, int]]:
        """Return files often changed together with this one: path, common commits, commits with this one."""

    def note(self, name: str) -> model.NoteText:
        """Return a note."""

    def note_names(self) -> Sequence[tuple[str, str]]:
        """Return id and title of every note."""

    def entry(self, name: str) -> model.Entry:
        """Return an entry."""

    def inject(self, *, budget: int = 2000, category: str = "", prompt: str = "") -> model.Injection:
        """Return entries for a prompt."""

    def episode(self, name: str) -> model.Episode:
        """Return an episode."""

    def episodes_of(self, session: str, limit: int) -> Sequence[model.Episode]:
        """Return the latest episodes of a session, the newest first."""

    def hidden_from_log(self) -> Collection[str]:
        """Return ids and sessions of forgotten episodes."""
