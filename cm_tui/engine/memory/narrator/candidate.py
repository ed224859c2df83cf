"""Facts as sums of observations, before they are compared with known ones."""

from __future__ import annotations

from dataclasses import dataclass

from cm_tui.model import Evidence, FactKind


@dataclass(frozen=True, slots=True)
class Tally:
    """How often and by whom something was said or shown."""

    support: int
    """Episodes."""
    sessions: int
    opposed: int
    """Contradicting episodes: of the same claim, or of another claim on the same subject."""
    first: float
    last: float
    last_opposed: float
    """Time of the last contradiction; 0: none."""
    weight: float
    """The plainest of them, from 0 to 1."""
    speakers: int = 1
    """Its authors."""
    speakers_opposed: int = 0
    is_alike: bool = False
    """It was said in one session, and is similar to another fact, of which it may be a wording."""
    occasions: int = 0
    """Sessions, counting those with the same long prompt once; 0: count all of them."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact that may be proposed."""

    kind: FactKind
    subject: str
    claim: str
    """Of the observation that came first: names the fact, also after more of it was seen."""
    claims: tuple[str, ...]
    """Digests of all claims that are counted as this fact."""
    text: str
    terms: tuple[str, ...]
    scope: str
    tally: Tally
    evidence: tuple[Evidence, ...]
    """The newest, with quotes."""
    episodes: tuple[str, ...]
    """Ids of all of them, the newest first, at most 200."""
