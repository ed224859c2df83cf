"""Whether an agent's work was accepted: the turn was answered, did not fail, and the next prompt does not reject it."""

from __future__ import annotations

import re

from cm_tui.engine.memory.narrator.turn import Turn
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord

_REJECTS = re.compile(
    r"\s*(?:(?:no|nope|nah|stop|wrong|wait)\b[\s,.!:;—-]|(?:please\s+)?(?:revert|undo|roll\s*(?:it|that|this)?\s*back|back\s+(?:it|that|this)\s+out|"
    r"take\s+(?:it|that|this)\s+back|drop\s+(?:that|this|it)\b|throw\s+(?:that|this|it)\s+away)|(?:that|this|it)(?:'s|\s+is|\s+was)\s+"
    r"(?:wrong|not\s+(?:what|right|how|it)|broken|bad)|(?:that|this|it)\s+(?:broke|breaks|does\s*n[o']?t\s+work)|not\s+what\s+i|"
    r"(?:you\s+)?(?:should\s*n[o']?t|must\s*n[o']?t)\s+have|why\s+(?:did|would)\s+you|i\s+(?:did\s*n[o']?t|never)\s+(?:ask|want|say))",
    re.IGNORECASE,
)


def is_accepted(record: EpisodeRecord) -> bool:
    """Return whether a turn ended well, by its record."""
    return record.outcome not in ("failed", "interrupted", "unanswered")


def rejects(turn: Turn) -> bool:
    """Return whether a turn begins with a rejection of the previous one's work."""
    if turn.before is None or not is_accepted(turn.before.record):
        return False
    first = turn.record.prompts[0][:200] if turn.record.prompts else ""
    return _REJECTS.match(first.replace("’", "'")) is not None
