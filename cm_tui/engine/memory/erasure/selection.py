"""The lines of a journal to erase: the named ones, and those that repeat them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, Self

from cm_tui.counts import count
from cm_tui.engine.memory.entries.entry_backup import entry_ids
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.ingested import origins_of
from cm_tui.engine.memory.projection.narrated import STANDS_ON, worded_of
from cm_tui.engine.memory.projection.turns import Turn, Turns
from cm_tui.engine.memory.projection.visibility import FORGOTTEN, REPLACED_BY, RESTORED, ids_of
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.erasure import Line
from cm_tui.engine.platform.journal.event import ERASED, ERASURE, MOVED, Event, Position, Problem
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.find import find
from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.redact import BEYOND, texts_of
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import ErasedEvent
from cm_tui.model.ids import SHORTEST_NAME

# --- possible secrets in stored texts ---

_PIECE = 1_000_000
_SHORT, _KEPT = 100, 20_000
_clean: set[str] = set()
"""Short texts that hold none: names, ids, paths and agents come again with every event, and make half of the work."""


def texts_of_problem(journal: Journal, problem: Problem) -> Iterator[str]:
    """Yield an invalid line of unknown length in overlapping pieces."""
    with journal.file(problem.position.segment).open("rb") as file:
        file.seek(problem.position.offset)
        left = problem.bytes
        tail = b""
        while left > 0 and (piece := file.read(min(left, _PIECE))):
            left -= len(piece)
            text = (tail + piece).decode("utf-8", "replace")
            # Invalid JSON may still be most of an event, with escaped line ends and quotes.
            yield text.replace("\\n", "\n").replace('\\"', '"')
            tail = piece[-BEYOND:]


def found_in(text: str) -> list[Found]:
    """Return what looks like a secret in a text."""
    short = len(text) <= _SHORT
    if short and text in _clean:
        return []
    found = list(find(text))
    if short and not found:
        if len(_clean) >= _KEPT:
            _clean.clear()
        _clean.add(text)
    return found


def kinds_in(texts: Iterator[str]) -> Counter[str]:
    """Return the number of secrets in some texts by kind."""
    return Counter(one.kind for text in texts for one in found_in(text))


def secrets_in(texts: Iterator[str]) -> set[str]:
    """Return what looks like a secret in some texts."""
    return {text[one.start : one.end] for text in texts for one in found_in(text)}


# --- the lines of a journal to erase ---

_ID_LETTERS = 24
"""Letters of an id that the journal gave."""
_SAYS_NOTHING = frozenset({ERASED, ERASURE, FORGOTTEN, RESTORED})
"""Kinds of events that hold no text of anybody."""
_WORDS = ("prompts", "prompt", "answer", "paths", "hook", "after", "before", "text", "shown")
"""Fields that identify an event to the user; the first existing one is used."""
_LONGEST_WORDS = 1_000


class Located(NamedTuple):
    """A line of a journal, and where it is."""

    found: Event | Problem
    begin: Position
    end: Position


class Chosen(NamedTuple):
    """A line to erase, and its event."""

    line: Line
    event: ErasedEvent | None

    def checked(self) -> Self:
        """Leave nothing of an event whose very name looks like a secret."""
        left = self.line.left
        clean = left is not None and not has_secrets({"names": [left[0], left[2]]})
        return self if clean else self._replace(line=self.line._replace(left=None))


def located(journal: Journal, start: Position, *, torn: bool) -> Iterator[Located]:
    """Yield events and invalid lines, with their start and end.

    `start`: between two lines; `torn`: treat a last line without an end as a problem, and not as unfinished. Raises
    StoreError if a file cannot be read.
    """
    at = start
    for found in journal.scan(start, torn=torn):
        if isinstance(found, Event):
            begin, end = at, found.position
            begin = begin if begin.segment == end.segment else Position(end.segment, 0)
        else:
            begin = found.position
            end = Position(begin.segment, begin.offset + found.bytes)
        at = end
        yield Located(found, begin, end)


class Selection:
    """The lines to erase: a named event is erased with its turn and the episode made from it.

    The journal may grow meanwhile: `read_on` continues to its end, for a caller that holds it.

    Args:
        journal: read once to find the named events, and once more for their turns.
        names: ids, unique prefixes, or SEGMENT:OFFSET of an invalid line.
        again: names of an interrupted erasure; missing ones are skipped.
        found: also every event with a possible secret.

    Raises:
        NotFoundError: a name is not in the journal.
        UsageError: a name is too short or ambiguous.
        StoreError: the journal cannot be read.
    """

    def __init__(self, journal: Journal, names: Collection[str], *, again: Collection[str] = (), found: bool) -> None:
        self._journal = journal
        self._wanted = _RequestedEvents(names, again, found=found)
        for line in located(journal, START, torn=True):
            self._wanted.look_at(journal, line)
        self._wanted.decide()
        self._at = START
        self._turns = Turns()
        self._waiting: dict[str, Chosen] = {}
        """Events of turns that have not ended."""
        self._stops: set[str] = set()
        self._chosen: list[Chosen] = []
        self._standing: list[tuple[Chosen, frozenset[str]]] = []
        """Events that go with any of some episodes."""
        self._archived: dict[str, str] | None = None
        self.read_on()

    def read_on(self, *, held: bool = False) -> None:
        """Read what was appended meanwhile.

        `held`: writing to the journal is blocked. Raises StoreError if the journal cannot be read.
        """
        for line in located(self._journal, self._at, torn=held):
            if isinstance(line.found, Event):
                self._follow(line.found, line)
            elif str(line.begin) in self._wanted.ids:
                self._chosen.append(Chosen(_line(line, None), None))
            self._at = line.end

    @property
    def chosen(self) -> Sequence[Chosen]:
        """Return the lines in order, and their text."""
        gone = {turn_id for turn in self._turns.under_way if self._takes(turn) for turn_id in turn.events}
        under_way = [one for name, one in self._waiting.items() if name in gone or name in self._wanted.ids]
        found = (*self._chosen, *under_way, *self.dependent_events)
        return sorted((one.checked() for one in found), key=lambda one: one.line)

    @property
    def dependent_events(self) -> tuple[Chosen, ...]:
        """Return events that are erased with an episode: proposals based on it, and decisions."""
        gone = self._wanted.ids.union(one.line.left[0] for one in self._chosen if one.line.left is not None)
        return tuple(one for one, ids in self._standing if not ids.isdisjoint(gone))

    @property
    def entries(self) -> frozenset[str]:
        """Return the ids of erased entries: named ones, and those of a named event."""
        return self._wanted.entries

    @property
    def open_prompts(self) -> int:
        """Return the number of erased prompts of unfinished turns."""
        turns = (turn for turn in self._turns.under_way if self._takes(turn))
        going = [self._waiting[name].event for turn in turns for name in turn.events if name in self._waiting]
        return sum(event is not None and event.kind == "hook.prompt" for event in going)

    def _takes(self, turn: Turn) -> bool:
        return not self._wanted.ids.isdisjoint(turn.events)

    def _follow(self, event: Event, line: Located) -> None:
        turn = self._turns.follow(event, line.begin)
        if event.kind in _SAYS_NOTHING:
            return
        told = ErasedEvent(event.id, event.kind, event.time, str(event.data.get("agent", "")), _words(event))
        chosen = Chosen(_line(line, event), told)
        if event.kind in {"hook.prompt", "hook.edit"}:
            self._waiting[event.id] = chosen
        elif turn is not None:
            self._end(turn, event, chosen)
        elif (
            event.id in self._wanted.ids
            or not self._wanted.entries.isdisjoint(entry_ids(event))
            or (event.kind == episode_record.KIND and EpisodeRecord.from_event(event).stop in self._stops)
        ):
            self._chosen.append(chosen._replace(line=chosen.line._replace(origin=self._origin(event))))
        elif ids := frozenset(event.texts(STANDS_ON)) or origins_of(event):
            self._standing.append((chosen, ids))

    def _origin(self, event: Event) -> str:
        """Return the name of an episode's turn, even if the journal only has the mark of its move."""
        if event.kind != MOVED:
            return episode_record.origin_of(event)
        if self._archived is None:
            archive = Archive(self._journal)
            found = (one for number in archive.files() for _, one in archive.read(number))
            self._archived = {one.id: episode_record.origin_of(one) for one in found}
        return self._archived.get(event.id, "")

    def _end(self, turn: Turn, stop: Event, chosen: Chosen) -> None:
        events = [found for name in turn.events if (found := self._waiting.pop(name, None)) is not None]
        if self._takes(turn) or stop.id in self._wanted.ids:
            self._stops.add(stop.id)
            self._chosen += [*events, chosen]


class _RequestedEvents:
    """The named events."""

    def __init__(self, names: Collection[str], again: Collection[str], *, found: bool) -> None:
        for name in names:
            if len(name) < SHORTEST_NAME and ":" not in name:
                raise UsageError(f"{name!r} is too short for an id.", hint=f"Give at least {SHORTEST_NAME} characters.")
        self._matches: dict[str, dict[str, set[str]]] = {name: {} for name in names}
        """Possible meanings of each name, with all events to erase then."""
        self._beginnings = tuple(name for name in names if len(name) < _ID_LETTERS)
        self._found = found
        self.ids = set(again)
        self.entries: frozenset[str] = frozenset()
        self._told: dict[str, set[str]] = {}
        """Ids of each entry's events."""
        self._replaced: dict[str, set[str]] = {}
        """Ids of hidden episodes by the one that repeats them."""

    def look_at(self, journal: Journal, line: Located) -> None:
        """Take in a line: is it named, or does it hold what looks like a secret?"""
        if isinstance(line.found, Problem):
            place = str(line.begin)
            if place in self._matches:
                self._matches[place][place] = {place}
            if self._found and kinds_in(texts_of_problem(journal, line.found)):
                self.ids.add(place)
            return
        event = line.found
        for name in {name for name in self._beginnings if event.id.startswith(name)} | (
            {event.id} & self._matches.keys()
        ):
            self._matches[name][event.id] = _ids_of(event)
        if (proposal := worded_of(event)) in self._matches:
            self._matches[proposal].setdefault(proposal, set()).add(event.id)
        for entry in entry_ids(event):
            self._told.setdefault(entry, set()).add(event.id)
        if event.kind == FORGOTTEN and (by := event.text(REPLACED_BY)):
            self._replaced.setdefault(by, set()).update(ids_of(event))
        if self._found and event.kind not in _SAYS_NOTHING and has_secrets(event.data):
            self.ids |= _ids_of(event)

    def decide(self) -> None:
        """Resolve the names.

        Raises NotFoundError if one is not in the journal; UsageError if one is ambiguous.
        """
        named: set[str] = set()
        for name, found in self._matches.items():
            if name in self._told:
                found[name] = self._told[name]
            if name in self.ids:
                # Events erased by an interrupted erasure are named again.
                found.setdefault(name, {name})
            if not found:
                raise NotFoundError(f"Event not found: {name!r}.", hint="`cm secrets scan` and `cm episodes` list ids.")
            if len(found) > 1 and name not in found:
                raise UsageError(
                    f"{count(len(found), 'event')} begin with {name!r}.", hint="Give more characters of the id."
                )
            named |= found[name] if name in found else next(iter(found.values()))
        # An entry is erased with all its versions, by whichever name.
        self.entries = frozenset(entry for entry, events in self._told.items() if not events.isdisjoint(named))
        self.ids |= named.union(*(self._told[entry] for entry in self.entries))
        going = list(self.ids)
        while going:
            new = self._replaced.get(going.pop(), set()) - self.ids
            self.ids |= new
            going += new


def _ids_of(event: Event) -> set[str]:
    """Return the id; an episode's stop identifies its turn."""
    return (
        {event.id, EpisodeRecord.from_event(event).stop or event.id}
        if event.kind == episode_record.KIND
        else {event.id}
    )


def has_secrets(data: Mapping[str, object]) -> bool:
    """Return whether an event's data contains a possible secret."""
    return any(found_in(text) for text in texts_of(data))


def _line(line: Located, event: Event | None) -> Line:
    left = None if event is None else (event.id, event.time, event.kind)
    return Line(line.begin.segment, line.begin.offset, line.end.offset, left)


def _words(event: Event) -> str:
    """Return how an event begins, as it is stored."""
    said = (", ".join(islice(texts_of(_field_text(event, name)), 5))[:_LONGEST_WORDS] for name in _WORDS)
    return next((text for text in said if text.strip()), "")


def _field_text(event: Event, name: str) -> object:
    """Return the text of a field; for a proposal, which has many fields, all of its text."""
    value = event.data.get(name)
    return value.get("text") if name == "shown" and isinstance(value, Mapping) else value
