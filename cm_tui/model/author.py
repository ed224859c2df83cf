"""Who writes something down, or changes it."""

from __future__ import annotations

from typing import NamedTuple

from cm_tui.model.episode import Actor


class Author(NamedTuple):
    """Who asks for a change.

    Attributes:
        actor: a person, or who else.
        agent: name of the agent.
        session: id of its session.
    """

    actor: Actor = "person"
    agent: str = ""
    session: str = ""
