"""Dependencies of the narrator's modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cm_tui.config import Config
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.platform.store.database import Database

if TYPE_CHECKING:
    from cm_tui.engine.memory.narrator.stale_facts import Code

Embed = Callable[[Sequence[str]], Any]
"""Turns texts into unit vectors, one row each; None: no model."""


@dataclass(frozen=True)
class Parts:
    """Dependencies of the narrator."""

    root: Path
    db: Database
    episodes: Episodes
    config: Callable[[], Config]
    """The current settings."""
    embed: Embed
    on_written: Callable[[], None]
    """Called after notes or entries were changed: searches are to see it at once."""
    code: Callable[[], Code | None] = lambda: None
    """Returns the lookup for names of the code; None: the code is unknown."""
    missing: Callable[[str], str] = lambda _: ""
    """Returns the first command in backticks of a text that the project no longer has; empty: none."""
