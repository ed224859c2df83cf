"""Data in a pipeline: items with their texts, and the processors' output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from cm_tui.model import Trigger

Item = dict[str, Any]
MOST_ITEMS = 10_000
LONGEST_TEXT = 2_000_000


@dataclass(frozen=True, slots=True)
class Input:
    """An event, or a user's input."""

    trigger: Trigger
    key: str
    """Names it: the same is not ingested twice by one pipeline."""
    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    """The events of the journal that it came from, the last one first."""


@dataclass(slots=True)
class Batch:
    """A pipeline's data; plain values only, so that it can be saved."""

    input: Item
    items: list[Item]
    made: dict[str, list[Item]] = field(default_factory=dict)
    """Chunks, records, entities and relations."""
    writes: list[tuple[str, Item]] = field(default_factory=list)
    """Output of processors: a destination and an item."""

    @classmethod
    def of(cls, given: Input) -> Batch:
        """Begin with one item: the whole input."""
        fields = {**given.fields, "trigger": given.trigger, "text": given.text}
        return cls(dict(fields), [numbered({**fields}, 0)])

    def collection(self, name: str) -> list[Item]:
        """Return the items for a route."""
        if name == "input":
            return [self.input]
        return self.items if name == "items" else self.made.get(name, [])

    def to_plain(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Batch:
        """Parse saved data."""
        return cls(plain["input"], plain["items"], plain["made"], [(str(to), item) for to, item in plain["writes"]])


def numbered(item: Item, index: int) -> Item:
    """Return an item with its number and a digest of its text."""
    return {**item, "index": index, "digest": digest_of(str(item.get("text", "")))[:16]}


def digest_of(*parts: str) -> str:
    """Return the digest of the texts."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


AskModel = Callable[[str, str, int], str]
"""Calls the configured language model with an instruction, input and length limit; raises a CmError."""


@dataclass(frozen=True, slots=True)
class Means:
    """What processors may use."""

    ask_model: AskModel
    allowed: tuple[str, ...] = ()
    """Names of custom processors that the user's settings allow."""
