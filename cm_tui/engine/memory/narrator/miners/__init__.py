"""Miners: each finds one kind of fact in turns, without a model, by a documented formula.

A miner is a function without state: earlier turns of the session are in `turn.before`.
"""

from __future__ import annotations

from cm_tui.engine.memory.narrator.miners.cochange import mine_cochange
from cm_tui.engine.memory.narrator.miners.commands import mine_commands
from cm_tui.engine.memory.narrator.miners.conventions import mine_conventions
from cm_tui.engine.memory.narrator.miners.fixes import mine_fixes
from cm_tui.engine.memory.narrator.miners.statements import mine_statements
from cm_tui.engine.memory.narrator.miners.workflows import mine_workflows
from cm_tui.engine.memory.narrator.turn import Miner

MINERS: tuple[Miner, ...] = (
    mine_statements, mine_commands, mine_workflows, mine_fixes, mine_cochange, mine_conventions,
)  # fmt: skip
VERSION = 2
"""Increase it with each change of what miners find: episodes are mined again then."""
