"""The groups in which entries and notes are listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeVar, get_args

from textual.content import Content

from cm_tui.errors import NotFoundError, StoreError, UsageError
from cm_tui.model import Duplicates, Entry, Note, Proposal, Recalls, Scope, StaleItem
from cm_tui.tui.state.filter_line import one_of, read_fields
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.text import one_line

Item = Entry | Note | Proposal
"""What a row of the list is about."""


@dataclass(frozen=True)
class Group:
    """Rows below one heading."""

    key: str
    """Its kind, as the filter has it."""
    title: str
    holds: Literal["proposals", "entries", "notes"]


GROUPS = (
    Group("proposal", "Agents propose", "proposals"),
    Group("rule", "Rules", "entries"),
    Group("knowledge", "Knowledge", "entries"),
    Group("experience", "Experience", "entries"),
    Group("long-term", "Long-term memory", "notes"),
    Group("day", "Logs of days", "notes"),
    Group("topic", "Topics", "notes"),
    Group("project", "Notes of the project", "notes"),
    Group("user", "Your own notes", "notes"),
    Group("extra", "More folders", "notes"),
    Group("instructions", "Instructions for agents", "notes"),
)
KINDS = tuple(group.key for group in GROUPS if group.holds != "proposals")


def is_same(one: Item | None, other: Item | None) -> bool:
    """Return whether nothing of an item has changed; that a Rule was approved is no part of what it says."""
    if isinstance(one, Entry) and isinstance(other, Entry) and one.unapproved != other.unapproved:
        return False
    return one == other


def key_of(item: Item) -> tuple[str, str]:
    """Return what names an item among all others."""
    kind = "entry" if isinstance(item, Entry) else "note" if isinstance(item, Note) else "proposal"
    return kind, item.id


SHOWS = ("entries", "notes")
STATES = ("pinned", "held", "stale", "double", "never", "unapproved", "problem", "forgotten")
"""What of entries and notes can be asked for: `double` says nearly the same as another one, `never` is never recalled,
`problem` is a note that is not searched, or not wholly understood."""
_OF_BOTH = frozenset({"stale"})
_OF_NOTES = frozenset({"problem"})
_KNOWN = {"show": SHOWS, "kind": KINDS, "scope": get_args(Scope), "state": STATES}


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """What is listed."""

    text: str = ""
    """Words, each of which has to stand there."""
    show: str = ""
    """`entries` or `notes`; empty: both."""
    kinds: tuple[str, ...] = ()
    """Keys of groups; empty: all of them."""
    scope: str = ""
    state: str = ""

    def wants(self, key: str) -> bool:
        """Return whether the group of a key is listed."""
        group = next(one for one in GROUPS if one.key == key)
        if group.holds == "proposals":
            # Proposals that await the user are listed in any case, except in a filtered list.
            return self == MemoryFilter(show=self.show) and self.show != "notes"
        if self.state and self.state not in _OF_BOTH and (self.state in _OF_NOTES) != (group.holds == "notes"):
            return False
        return self.show in {"", group.holds} and (not self.kinds or key in self.kinds)


def read_line(text: str) -> tuple[MemoryFilter, str]:
    """Parse a filter line; return the filter and the problems, without invalid terms."""
    words, found, wrong = read_fields(text, _KNOWN, many=("kind",))
    return MemoryFilter(
        words, one_of(found["show"]), found["kind"], one_of(found["scope"]), one_of(found["state"])
    ), wrong


T = TypeVar("T")
MOST = 10_000
"""Items that are marked in the list."""


@dataclass(frozen=True)
class About:
    """What is asked about one item; None: it is not known."""

    recalls: Recalls | None = None
    stale: StaleItem | None = None


@dataclass(frozen=True)
class Marks:
    """What rows are marked with."""

    stale: dict[str, str] = field(default_factory=dict)
    """What is stale of an item, in words, by its path."""
    doubles: dict[str, tuple[Duplicates, ...]] = field(default_factory=dict)
    """Entries that say nearly the same as another one, by id."""

    def is_stale(self, item: Item) -> bool:
        """Return whether an item names something that is gone."""
        return path_of(item) in self.stale

    def has_double(self, item: Item) -> bool:
        """Return whether another entry says nearly the same."""
        return isinstance(item, Entry) and item.id in self.doubles


def path_of(item: Item) -> str:
    """Return the name of an item among passages; empty for a proposal."""
    return f"entry/{item.id}" if isinstance(item, Entry) else f"note/{item.id}" if isinstance(item, Note) else ""


def read_about(engine: Engine, path: str) -> About:
    """Read the details of an item; unavailable ones are None."""
    recalls = _or_none(lambda: engine.recall_counts([path]))
    return About(recalls[0] if recalls else None, _or_none(lambda: engine.mentions_of(path)))


def read_marks(engine: Engine) -> Marks:
    """Ask what the rows of the list are marked with."""
    return Marks(stale_paths(engine), doubles(engine))


def stale_paths(engine: Engine) -> dict[str, str]:
    """Return what is stale of entries and notes, by their paths."""
    page = _or_none(lambda: engine.stale_items(limit=MOST))
    return {item.path: item.words for item in page.rows} if page is not None else {}


def doubles(engine: Engine) -> dict[str, tuple[Duplicates, ...]]:
    """Return pairs of entries that say nearly the same, by the id of either."""
    page = _or_none(lambda: engine.duplicate_entries(limit=MOST))
    found: dict[str, tuple[Duplicates, ...]] = {}
    for pair in page.rows if page is not None else ():
        for entry in (pair.first, pair.second):
            found[entry.id] = (*found.get(entry.id, ()), pair)
    return found


def _or_none(call: Callable[[], T]) -> T | None:
    try:
        return call()
    except (NotFoundError, UsageError, StoreError):
        # Gone meanwhile, or not to be told now: the item itself is shown all the same.
        return None


PINNED, HELD, FORGOTTEN, OF_USER, PROBLEM = "★", "◌", "✗", "⌂", "▲"
NEVER, UNAPPROVED, DOUBLE, PROPOSED = "⊘", "!", "≈", "?"
_LONGEST = 400


def signs_of(item: Item, marks: Marks) -> Content:
    """Return two cells: the most pressing thing there is to say of an item, then whether it is pinned, and whose it is."""
    if isinstance(item, Proposal):
        return Content.styled(f"{PROPOSED} ", "bold $warning")
    pressing = _pressing(item, marks)
    if isinstance(item, Entry) and item.pinned:
        return Content.assemble(pressing, (PINNED, "$accent"))
    return Content.assemble(pressing, (OF_USER, "$secondary") if item.scope == "user" else " ")


def _pressing(item: Entry | Note, marks: Marks) -> tuple[str, str]:
    if isinstance(item, Note):
        return (PROBLEM, "$warning") if item.problem or marks.is_stale(item) else (" ", "")
    found = (
        (item.forgotten is not None, FORGOTTEN, "$muted"),
        (item.held, HELD, "$warning"),
        (item.unapproved, UNAPPROVED, "bold $warning"),
        (marks.is_stale(item), PROBLEM, "$warning"),
        (marks.has_double(item), DOUBLE, "$accent"),
        (item.never_recall, NEVER, "$muted"),
    )
    return next(((sign, style) for holds, sign, style in found if holds), (" ", ""))


def title_of(item: Entry | Note) -> str:
    """Return what an entry or a note is called, in one line."""
    return " ".join(one_line(item.title[:_LONGEST]).split()) or one_line(item.id)


def name_of(item: Item) -> str:
    """Return what an item is called, for a question about it."""
    return " ".join(one_line(item.words[:_LONGEST]).split()) if isinstance(item, Proposal) else title_of(item)
