"""The groups in which entries and notes are listed, and the lines that are shown about each."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar, get_args

from rich.cells import cell_len
from textual.content import Content

from cm_tui.engine.api.weight import line_of, tokens
from cm_tui.errors import NotFoundError, StoreError, UsageError
from cm_tui.model import Duplicates, Entry, Note, Recalls, Scope, StaleItem
from cm_tui.model.dates import age, local_day, local_minute
from cm_tui.tui.state.authors import who_is
from cm_tui.tui.state.filter_line import one_of, read_fields
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.text import count, elide_end, elide_path, flat, one_line, size

Item = Entry | Note
"""What a row of the list is about."""


@dataclass(frozen=True)
class Group:
    """Rows below one heading."""

    key: str
    """Its kind, as the filter has it."""
    title: str
    of: Literal["entries", "notes"]


GROUPS = (
    Group("rule", "Rules", "entries"),
    Group("knowledge", "Knowledge", "entries"),
    Group("experience", "Experience", "entries"),
    Group("long-term", "Long-term memory", "notes"),
    Group("day", "Daily logs", "notes"),
    Group("topic", "Topics", "notes"),
    Group("project", "Project notes", "notes"),
    Group("user", "Your own notes", "notes"),
    Group("extra", "More folders", "notes"),
    Group("instructions", "Instructions for agents", "notes"),
)
KINDS = tuple(group.key for group in GROUPS)


def is_same(one: Item | None, other: Item | None) -> bool:
    """Return whether nothing of an item has changed; that a Rule was approved is no part of what it says."""
    if isinstance(one, Entry) and isinstance(other, Entry) and one.unapproved != other.unapproved:
        return False
    return one == other


def key_of(item: Item) -> tuple[str, str]:
    """Return what names an item among all others."""
    return "entry" if isinstance(item, Entry) else "note", item.id


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
        if self.state and self.state not in _OF_BOTH and (self.state in _OF_NOTES) != (group.of == "notes"):
            return False
        return self.show in {"", group.of} and (not self.kinds or key in self.kinds)


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
    """Return the name of an item among passages."""
    return f"entry/{item.id}" if isinstance(item, Entry) else f"note/{item.id}"


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
NEVER, UNAPPROVED, DOUBLE = "⊘", "!", "≈"


def signs_of(item: Item, marks: Marks) -> Content:
    """Return two cells: the most pressing thing there is to say of an item, then whether it is pinned, and whose it is."""
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
    return next(((sign, style) for is_so, sign, style in found if is_so), (" ", ""))


def title_of(item: Entry | Note) -> str:
    """Return what an entry or a note is called, in one line."""
    return flat(item.title) or one_line(item.id)


# --- the lines above a text: what it is, who wrote it, when and where, what it weighs ---

Piece = tuple[str, str]
"""Words and their style."""
NOTE_KINDS = {
    "long-term": "long-term memory", "day": "daily log", "project": "project note", "user": "your own note",
    "topic": "topic", "extra": "from another folder", "instructions": "instructions for agents",
}  # fmt: skip
_SCOPES = {"user": "for all projects", "project": "for this project"}
_DOT = " · "
_MOST_NAMED = 3
"""Most names, agents and other entries listed each."""


def entry_facts(entry: Entry, width: int, about: About, doubles: Sequence[Duplicates] = ()) -> Content:
    """Return what is known of an entry, in lines that fit a width.

    Args:
        entry: what was written down.
        width: of the panel.
        about: what was asked about it besides.
        doubles: other entries that say nearly the same.
    """
    at = entry.timestamp / 1000
    wrote = [who_is(entry.actor, entry.agent), f"{local_minute(at)}, {age(time.time() - at)}"]
    wrote += [f"session {elide_end(one_line(entry.session), 9)}"] if entry.session else []
    wrote += [f"at {one_line(entry.commit[:8])}"] if entry.commit else []
    wrote += [f"changed by {who_is(entry.changed_by, entry.changed_agent)}"] if entry.changed_by else []
    wrote += [f"made from {one_line(', '.join(entry.made_from))}"] if entry.made_from else []
    weighs: list[Piece] = [(f"about {count(tokens(line_of(entry)), 'token')} when injected", "")]
    if entry.redacted:
        weighs.append((f"{count(entry.redacted, 'secret')} redacted", "$warning"))
    lines = [_state(entry), [(one, "") for one in wrote], [*weighs, *_recalls(about)]]
    for pair in doubles[:_MOST_NAMED]:
        other = pair.second if pair.first.id == entry.id else pair.first
        lines.append([(f"{DOUBLE} {pair.likeness:.0%} like {other.id} “{title_of(other)}”: x merges them", "$accent")])
    lines += _stale(about)
    lines.append([(entry.id, "$muted"), *_tags(entry.keywords)])
    title = title_of(entry)
    # A title that the text begins with would stand there twice.
    is_said = flat(entry.content, None).startswith(title.rstrip("…"))
    return _wrapped_facts("" if is_said else title, lines, width)


def _state(entry: Entry) -> list[Piece]:
    """Return what becomes of an entry: where it counts, and what keeps it out of answers."""
    state: list[Piece] = [(entry.category, "bold $secondary"), (_SCOPES[entry.scope], "")]
    if entry.pinned:
        state.append((f"{PINNED} pinned", "$accent"))
    if entry.held:
        state.append((f"{HELD} included in the clone: not used until you trust it (T)", "$warning"))
    if entry.unapproved:
        state.append((f"{UNAPPROVED} unapproved Rule: not injected until you approve it (+)", "$warning"))
    if entry.never_recall:
        state.append((f"{NEVER} never recalled", "$warning"))
    if entry.forgotten is not None:
        gone = entry.forgotten
        state.append(
            (f"{FORGOTTEN} forgotten by {who_is(gone.actor, gone.agent)}, {local_minute(gone.time)}", "$warning")
        )
    return state


def _recalls(about: About) -> list[Piece]:
    """Return how often it was in an answer, when last, and whose that was."""
    recalls = about.recalls
    if recalls is None:
        return []
    if not recalls.times or recalls.last is None:
        return [("not recalled yet", "$muted")]
    names = [f"{'you' if one.who == 'person' else one_line(one.who)} {one.times:,}" for one in recalls.by[:_MOST_NAMED]]
    more = f" +{len(recalls.by) - len(names):,}" if len(recalls.by) > len(names) else ""
    often = f"recalled {count(recalls.times, 'time')}, last {age(time.time() - recalls.last)}"
    return [(f"{often} ({', '.join(names)}{more})", "")]


def _stale(about: About) -> list[list[Piece]]:
    """Return which names of the code it says that are so no more."""
    flagged = about.stale.flagged if about.stale is not None else ()
    lines: list[list[Piece]] = [[(f"{PROBLEM} {one_line(one.words)}", "$warning")] for one in flagged[:_MOST_NAMED]]
    if len(flagged) > len(lines):
        lines.append([(f"and {count(len(flagged) - len(lines), 'more name')}", "$warning")])
    return lines


def note_facts(note: Note, weight: int | None, width: int, about: About) -> Content:
    """Return what is known of a note, in lines that fit a width.

    Args:
        note: the note.
        weight: tokens of its text; None: not all of it was read.
        width: of the panel.
        about: what was asked about it besides.
    """
    state: list[Piece] = [(NOTE_KINDS[note.kind], "bold $secondary"), (_SCOPES[note.scope], "")]
    state.append(
        (f"of {local_day(note.time)}, score decays" if note.time is not None else "undated, score does not decay", "")
    )
    if note.came_along:
        state.append(("tracked by git", "$soft"))
    if not note.writable:
        state.append(("read-only in cm", "$soft"))
    much: list[Piece] = [(f"changed {local_minute(note.modified)}, {age(time.time() - note.modified)}", "")]
    much.append((f"{count(note.lines, 'line')}, {size(note.bytes)}", ""))
    if weight is not None:
        much.append((f"about {count(weight, 'token')}", ""))
    place = (elide_path(one_line(note.file), max(8, width - 2)), "$muted")
    lines = [state, [*much, *_recalls(about)], *_stale(about), [place]]
    if note.tags:
        lines.append(_tags(note.tags))
    if note.problem:
        lines.append([(f"{PROBLEM} {one_line(note.problem)}", "$warning")])
    return _wrapped_facts(title_of(note), lines, width)


def _tags(words: Sequence[str]) -> list[Piece]:
    return [(" ".join(f"#{one_line(word)}" for word in words), "$secondary")] if words else []


def _wrapped_facts(title: str, lines: Sequence[Sequence[Piece]], width: int) -> Content:
    """Return a title, then lines whose pieces go on in the next line where there is no room."""
    room = max(8, width - 2)
    rows = [Content.styled(f" {elide_end(title, room)}", "bold")] if title else []
    for pieces in lines:
        line, used = Content(" "), 0
        for words, style in pieces:
            if used and used + len(_DOT) + cell_len(words) > room:
                rows.append(line)
                line, used = Content(" "), 0
            dot = Content.styled(_DOT, "$faint") if used else Content("")
            shown = elide_end(words, room)
            line = Content.assemble(line, dot, (shown, style or "$soft"))
            used += cell_len(shown) + (len(_DOT) if used else 0)
        if used:
            rows.append(line)
    return Content("\n").join(rows)
