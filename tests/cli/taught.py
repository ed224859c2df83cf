"""A project whose sessions teach something: what a person said and ran in several of them."""

from __future__ import annotations

import time

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import Step
from tests.cli.conftest import Shop

DAY = 86_400.0
RULE = "Never push to main on Fridays."
RULES = (
    RULE,
    "Never push to main on Fridays, please.",
    "Remember: never push to main on Fridays.",
    "As always, never push to main on Fridays.",
)
COMMAND = "python -m pytest -q tests/unit"


def teach(shop: Shop) -> list[str]:
    """Record sessions that say and do the same again and again; returns the ids of their episodes."""
    journal = Journal.of(shop.root)
    (shop.root / "tests" / "unit").mkdir(parents=True, exist_ok=True)
    (shop.root / "tests" / "unit" / "test_cart.py").write_text("def test_nothing() -> None: ...\n")
    now, ids = time.time(), []
    for number, said in enumerate(RULES):
        for turn, prompt in enumerate((said, f"Now change the tax of cart {number}.")):
            record = EpisodeRecord(
                agent="claude-code", session=f"s{number}", root=str(shop.root), prompts=(prompt,), answer="Done.",
                at=now - (len(RULES) - number) * DAY + turn * 60, turn=turn + 1, outcome="ok",
                files=("shop/cart.py",) if turn else (), tools=("Bash",),
                steps=(Step("tool", COMMAND, tool="Bash"),) if turn else (), step_count=turn,
            )  # fmt: skip
            ids.append(journal.append("episode", record.to_event_data()).id)
    return ids
