"""The filter as a line of text: `redis kind:rule,day scope:user state:pinned`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from cm_tui.model import Scope
from cm_tui.tui.modes.memory.groups import GROUPS, KINDS
from cm_tui.tui.state.filter_line import one_of, read_fields

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
