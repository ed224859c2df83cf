"""Facts that observations add up to, before they are compared with what is known."""

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
    """Episodes that say otherwise: of the same claim, or of another claim of the same subject."""
    first: float
    last: float
    last_opposed: float
    """Time of the last one that says otherwise; 0: none."""
    weight: float
    """The plainest of them, from 0 to 1."""
    speakers: int = 1
    """People who say so."""
    speakers_opposed: int = 0
    is_alike: bool = False
    """It was said in one session, and is much like another fact: it may be one more wording of that."""
    occasions: int = 0
    """Sessions, of which those with the same long prompt count once; 0: all of them count."""


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
