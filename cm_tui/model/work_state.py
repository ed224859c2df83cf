"""Record of where the work of a session stopped."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkState:
    """Where the last session of a project stopped, from its own record and git; without a session all of it is empty.

    Texts are those of people, agents and programs: they may hold control characters. Secrets that can be recognised are
    replaced.
    """

    agent: str = ""
    session: str = ""
    parent: str = ""
    """The session that started this one, which is a sub-agent's."""
    title: str = ""
    episode: str = ""
    """Id of its newest episode; empty: its first turn is still under way."""
    ended: float = 0.0
    """When it did something last: seconds since the epoch."""
    request: str = ""
    """What the user asked last."""
    decisions: tuple[str, ...] = ()
    """What was decided, corrected or written down in it, the newest first; what only the agent calls decided begins with its name."""
    files: tuple[str, ...] = ()
    """Files with uncommitted changes, those that the session touched first; without git those that it touched."""
    command: str = ""
    """The last command that failed and did not pass since."""
    error: str = ""
    """Why it failed: a line of its output."""
    plan: str = ""
    steps: tuple[str, ...] = ()
    """Steps of the plan that are not done, in its order."""
