"""Entries as text for a prompt: the most valuable ones within a budget of tokens, and the names of the omitted ones."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.counts import count
from cm_tui.engine.context.packs.budget import tokens, weight
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.search.ranking.tokens import content_words, split, terms
from cm_tui.model import ENTRIES, Entry, InjectedEntry, Injection, LeftOut, ScorePart
from cm_tui.model.text import one_line, unapproved

# --- an entry as a line of a prompt ---


def line_of(entry: Entry) -> str:
    """Return an entry as `- [Category] Title: Content`."""
    return as_item(f"[{entry.category}] {unapproved(body_of(entry))}")


def as_item(text: str) -> str:
    """Return a text as an item of a list: its further lines are indented, so that none looks like another entry."""
    return f"- {text}".replace("\n", "\n  ")


def body_of(entry: Entry) -> str:
    """Return an entry as `Title: Content`, without repeating the title."""
    title = " ".join(entry.title.split())
    content = entry.content.strip()
    begun = title.removesuffix("…")
    if not title or " ".join(content.split()).startswith(begun):
        first, _, rest = content.partition("\n")
        said = " ".join(first.split())
        return f"{said}\n{rest.strip()}" if rest.strip() else said
    return f"{title}: {content}"


# --- entries as text for a prompt ---

PINNED, RULE, RECENT, USED, PROMPT, FILES = 2.0, 1.0, 1.0, 1.0, 3.0, 3.0
"""Weights of an entry's value: relevance to the prompt counts more than recency."""
HALF_LIFE_DAYS = 30.0
"""After so many days an entry is half as recent."""
_OFTEN = 64
"""Recalls that count as much as any more do."""
_TITLES = {"user": "## For all projects", "project": "## For this project"}
_CATEGORIES = ("Rule", "Knowledge", "Experience")
_MISSES = 20
"""Entries in a row that do not fit, after which no shorter one is looked for."""
_COMMON = 500
_LISTED = 200
_LEAST_A_WORD = 0.8
_NAME_TOKENS = 120
"""Tokens for the names of omitted entries."""
_NAME_SHARE = 0.15
_FOLDER, _NAME, _PATH = 0.4, 0.7, 1.0
"""Value of an entry that names a file's folder, its name, or its path."""


Numbers = NDArray[np.float64]


class EntryRequest(NamedTuple):
    """A request for entries.

    Attributes:
        budget: tokens.
        scope: only this scope; empty: both.
        category: only this category; empty: all.
        prompt: the prompt.
        files: paths that the session works on, below the project's root.
    """

    budget: int
    scope: str = ""
    category: str = ""
    prompt: str = ""
    files: tuple[str, ...] = ()


class _Measures(NamedTuple):
    """Data on each entry, by its place in the table."""

    recent: Numbers
    used: Numbers
    prompt: Numbers
    files: Numbers


class InjectionTable:
    """All current entries, prepared for many prompts.

    Args:
        entries: from the files.
        notes: messages about the files.
    """

    def __init__(self, entries: Sequence[Entry], notes: Sequence[str] = ()) -> None:
        self._kept = tuple(one for one in entries if one.held or one.never_recall or one.unapproved)
        self._notes = tuple(notes)
        # Of equal values the last changed comes first: a stable sort keeps that.
        given = (one for one in entries if not (one.held or one.never_recall or one.unapproved))
        self.entries = tuple(sorted(given, key=lambda one: (-one.timestamp, one.id, one.scope)))
        self._fixed = np.array([PINNED * one.pinned + RULE * (one.category == "Rule") for one in self.entries])
        self._written = np.array([one.timestamp / 1000 for one in self.entries])
        self._places = {_path(one): place for place, one in enumerate(self.entries)}
        self._lines: dict[int, tuple[str, float]] = {}

    def inject(self, wanted: EntryRequest, times: Mapping[str, int], now: float | None = None) -> Injection:
        """Return the entries for a prompt.

        Args:
            wanted: the request.
            times: number of recalls by path.
            now: seconds since the epoch; None: the current time.
        """
        begun = time.perf_counter()
        measures = self._measured(wanted, times, time.time() if now is None else now)
        values = self._fixed + RECENT * measures.recent + USED * measures.used
        values += PROMPT * measures.prompt + FILES * measures.files
        ordered: list[int] = np.argsort(-values, kind="stable").tolist()
        if wanted.scope or wanted.category:
            ordered = [place for place in ordered if self._is_meant(place, wanted)]
        chosen, left, reserve = self._choose(ordered, wanted.budget)
        text = self._text(chosen, left, reserve)
        return Injection(
            text=text,
            tokens=tokens(text) if text else 0,
            budget=wanted.budget,
            rows=tuple(self._row(one, float(values[one]), measures, times) for one in chosen),
            left_out=tuple(self._left(one, float(values[one])) for one in left[:_LISTED]),
            left_out_total=len(left),
            **self._withheld_counts(wanted),
            took_ms=round((time.perf_counter() - begun) * 1000, 2),
            notes=self._notes,
        )

    # --- values ---

    def _is_meant(self, place: int, wanted: EntryRequest) -> bool:
        entry = self.entries[place]
        return wanted.scope in {"", entry.scope} and wanted.category in {"", entry.category}

    def _measured(self, wanted: EntryRequest, times: Mapping[str, int], now: float) -> _Measures:
        recent = 0.5 ** (np.maximum(0.0, now - self._written) / 86_400 / HALF_LIFE_DAYS)
        used = np.zeros(len(self.entries))
        for path, often in times.items():
            if (place := self._places.get(path)) is not None:
                used[place] = min(1.0, math.log1p(often) / math.log1p(_OFTEN))
        return _Measures(recent, used, self._about_prompt(wanted.prompt), self._about_files(wanted.files))

    def _row(self, place: int, value: float, measures: _Measures, times: Mapping[str, int]) -> InjectedEntry:
        entry = self.entries[place]
        often = times.get(_path(entry), 0)
        measured = (
            ("pinned", float(entry.pinned), PINNED, ""),
            ("rule", float(entry.category == "Rule"), RULE, ""),
            ("recent", measures.recent[place], RECENT, f"halved every {HALF_LIFE_DAYS:g} days"),
            ("used", measures.used[place], USED, f"recalled {count(often, 'time')}"),
            ("prompt", measures.prompt[place], PROMPT, "share of the prompt's words in it"),
            ("files", measures.files[place], FILES, "mentions a file in use"),
        )
        parts = tuple(
            ScorePart(name, round(float(found), 4), share, round(float(found) * share, 4), detail)
            for name, found, share, detail in measured
            if found
        )
        return InjectedEntry(entry, round(value, 4), parts, math.ceil(self._line(place)[1]))

    @cached_property
    def _by_term(self) -> Mapping[str, Sequence[int]]:
        """Return the places of each word."""
        found: dict[str, list[int]] = {}
        for place, text in enumerate(self._texts):
            for term in set(terms(text)):
                found.setdefault(term, []).append(place)
        return found

    @cached_property
    def _texts(self) -> Sequence[str]:
        return [f"{one.title}\n{one.content}\n{' '.join(one.keywords)}" for one in self.entries]

    def _about_prompt(self, prompt: str) -> Numbers:
        """Return each entry's share of a prompt's words; a rare word counts more than a frequent one."""
        found = np.zeros(len(self.entries))
        if not self.entries or not prompt.strip():
            return found
        wanted = dict.fromkeys(term for word in content_words(prompt) for term in split(word)[:1])
        held = {term: self._by_term.get(term, ()) for term in wanted}
        weights = {term: math.log(1 + len(self.entries) / max(1, len(places))) for term, places in held.items()}
        for term, places in held.items():
            found[list(places)] += weights[term] / sum(weights.values())
        return found

    def _about_files(self, files: Iterable[str]) -> Numbers:
        """Return how nearly each entry names one of the files at hand."""
        found = np.zeros(len(self.entries))
        for path in files:
            folder, _, name = path.strip("/").rpartition("/")
            for said, share in ((path.strip("/"), _PATH), (name, _NAME), (f"{folder}/" if folder else "", _FOLDER)):
                for place in self._naming(said):
                    found[place] = max(found[place], share)
        return found

    def _naming(self, said: str) -> Iterator[int]:
        """Yield the entries that contain a text: only those with its words are searched."""
        words = set(terms(said))
        rarest = min((self._by_term.get(word, ()) for word in words), key=len, default=())
        # A folder that hundreds of entries name singles out none of them.
        if len(rarest) <= _COMMON:
            yield from (place for place in rarest if said.lower() in self._texts[place].lower())

    # --- choice ---

    def _choose(self, ordered: Sequence[int], budget: int) -> tuple[list[int], list[int], float]:
        """Return fitting and omitted entries, and the tokens reserved for the names of the latter."""
        chosen, left, reserve = *self._fitting(ordered, budget), 0.0
        if left:
            reserve = min(_NAME_TOKENS, budget * _NAME_SHARE)
            chosen, left = self._fitting(ordered, budget - reserve)
        return chosen, left, reserve

    def _fitting(self, ordered: Sequence[int], budget: float) -> tuple[list[int], list[int]]:
        chosen: list[int] = []
        left: list[int] = []
        headed: set[str] = set()
        spent, misses = 0.0, 0
        for number, place in enumerate(ordered):
            scope, content = self.entries[place].scope, self.entries[place].content
            heading = 0.0 if scope in headed else weight(f"\n\n{_TITLES[scope]}")
            # A far too long one is not searched for secrets: a word costs a token, or becomes part of a mark.
            if spent + len(content.split()) * _LEAST_A_WORD > budget or spent + self._line(place)[1] + heading > budget:
                left.append(place)
                misses += 1
                if misses >= _MISSES:
                    return chosen, [*left, *ordered[number + 1 :]]
                continue
            chosen.append(place)
            headed.add(scope)
            spent, misses = spent + self._line(place)[1] + heading, 0
        return chosen, left

    def _line(self, place: int) -> tuple[str, float]:
        """Return an entry as text, redacted, and its cost with the line break."""
        if place not in self._lines:
            line = redact(line_of(self.entries[place])).text
            self._lines[place] = (line, weight(f"\n{line}"))
        return self._lines[place]

    # --- text ---

    def _text(self, places: Sequence[int], left: Sequence[int], reserve: float) -> str:
        """Return the chosen ones by scope and category, each sorted by value."""
        parts = []
        for scope, title in _TITLES.items():
            of_scope = [place for place in places if self.entries[place].scope == scope]
            lines = [
                self._line(place)[0]
                for category in _CATEGORIES
                for place in of_scope
                if self.entries[place].category == category
            ]
            if lines:
                parts.append("\n".join((title, *lines)))
        if left and reserve:
            parts.append(self._names(left, reserve))
        return "\n\n".join(part for part in parts if part)

    def _names(self, left: Sequence[int], room: float) -> str:
        """Return a line that names the omitted entries, as far as there is room."""
        head = f"{len(left):,} more omitted"
        names: list[str] = []
        spent = weight(f"\n\n{head}; and {len(left):,} others.")
        if spent > room:
            return ""
        for place in left:
            entry = self.entries[place]
            name = redact(one_line(f"{entry.id} {' '.join(entry.title.split())[:60]}")).text
            spent += weight(f"; {name}")
            if spent > room:
                break
            names.append(name)
        if not names:
            return f"{head}."
        more = len(left) - len(names)
        rest = f"; and {count(more, 'other')}" if more else ""
        return f"{head}: {'; '.join(names)}{rest}."

    def _left(self, place: int, value: float) -> LeftOut:
        entry = self.entries[place]
        return LeftOut(entry.id, entry.title, round(value, 4))

    def _withheld_counts(self, wanted: EntryRequest) -> dict[str, int]:
        """Return how many entries are in no answer, by the reason that comes first."""
        reasons = Counter(
            "held" if one.held else "never_recall" if one.never_recall else "unapproved"
            for one in self._kept
            if wanted.scope in {"", one.scope} and wanted.category in {"", one.category}
        )
        return {name: reasons[name] for name in ("held", "never_recall", "unapproved")}


def _path(entry: Entry) -> str:
    return f"{ENTRIES}/{entry.id}"
