"""The filter as a line of text: `redis kind:command,fix state:deferred`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from cm_tui.model import FactKind, NarratedFilter, NarratedState
from cm_tui.tui.state.filter_line import one_of, read_fields

WISH, OUTDATED, INCLUDED = "entry", "outdated", "included"
"""Kinds of other sources: an agent's request about an entry, a memory that names missing code, an entry of the clone."""
KINDS: tuple[str, ...] = (*get_args(FactKind), WISH, OUTDATED, INCLUDED)
STATES: dict[str, tuple[NarratedState, ...]] = {
    "waiting": ("waiting",), "deferred": ("deferred",), "decided": ("approved", "rejected"), "automatic": ("approved",),
    "approved": ("approved",), "rejected": ("rejected",), "all": (),
}  # fmt: skip
"""What of them is listed; `automatic`: what a policy approved."""
SHOWN = ("waiting", "deferred", "decided", "automatic", "all")
"""Those that a key goes through in turn."""
_WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """What is listed."""

    text: str = ""
    """Words, each of which has to stand there."""
    kinds: tuple[str, ...] = ()
    """Kinds of proposals; empty: all of them."""
    state: str = _WAITING

    @property
    def narrated(self) -> NarratedFilter | None:
        """What is asked of the narrator; None: nothing of its own is wanted."""
        kinds = tuple(kind for kind in get_args(FactKind) if kind in self.kinds)
        if self.kinds and not kinds:
            return None
        policy = True if self.state == "automatic" else None
        return NarratedFilter(STATES[self.state], kinds, self.text, policy)

    def wants(self, kind: str, *texts: str) -> bool:
        """Return whether an item of another source matches; it waits, as long as it is listed."""
        text = "\n".join(texts).lower()
        is_listed = self.state in (_WAITING, "all") and (not self.kinds or kind in self.kinds)
        return is_listed and all(word in text for word in self.text.lower().split())


def read_line(text: str) -> tuple[InboxFilter, str]:
    """Parse a filter line; return the filter and the problems, without invalid terms."""
    words, found, wrong = read_fields(text, {"kind": KINDS, "state": STATES}, many=("kind",))
    return InboxFilter(words, found["kind"], one_of(found["state"], _WAITING)), wrong
