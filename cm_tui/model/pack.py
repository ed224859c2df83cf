"""Records of a context pack: what a person pastes into a chat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class PackItem:
    """A piece of source chosen for a pack.

    `why` says how it came here: a hit with its rank, a caller of something chosen, added by hand.
    """

    path: str
    start_line: int
    end_line: int
    title: str
    text: str
    tokens: int
    why: str
    language: str = ""
    included: bool = True
    """False when it fell to the budget."""
    within: str = ""
    """Signature of the symbol in whose middle it begins."""
    remembered: str = ""
    """Kind and age of what is remembered, such as `episode, 3 days ago`; empty: it is source."""


@dataclass(frozen=True, slots=True)
class PackRequest:
    """What to put into a pack: lines of a file, in the order wanted."""

    path: str
    start_line: int
    end_line: int
    title: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Pack:
    """A ranked selection within a token budget, and its Markdown."""

    question: str
    items: tuple[PackItem, ...]
    tokens: int
    budget: int
    markdown: str
    notes: tuple[str, ...] = ()
    generation: int | None = None
    """State of the index that it was made from."""

    @property
    def recalled(self) -> tuple[str, ...]:
        """Return the paths of what is remembered and is in it, each once."""
        return tuple(dict.fromkeys(item.path for item in self.items if item.included and item.remembered))


PackFormat = Literal["markdown", "json"]
