"""The miners that look at every episode."""

from __future__ import annotations

from cm_tui.engine.memory.narrator.miners.cochange import Cochange
from cm_tui.engine.memory.narrator.miners.commands import Commands
from cm_tui.engine.memory.narrator.miners.conventions import Conventions
from cm_tui.engine.memory.narrator.miners.fixes import Fixes
from cm_tui.engine.memory.narrator.miners.statements import SAYINGS
from cm_tui.engine.memory.narrator.miners.workflows import Workflows
from cm_tui.engine.memory.narrator.turn import Miner

MINERS: tuple[Miner, ...] = (
    *SAYINGS,
    Commands(),
    Workflows(),
    Fixes(),
    Cochange(),
    Conventions(),
)
VERSION = 2
"""Increase it with each change of what miners find: episodes are mined again then."""
