"""A pass of the narrator, asked for by hand: where a language model is on, what it costs is said before."""

from __future__ import annotations

from cm_tui.model import ModelCost
from cm_tui.tui.modes.review.view import ReviewView
from cm_tui.tui.screens.question import confirm
from cm_tui.tui.widgets.text import one_line


def run_pass(screen: ReviewView) -> None:
    """Have the narrator look at what is new."""

    def told(cost: ModelCost) -> None:
        if not cost.model:
            screen.cm.narrator_run.start()
        else:
            confirm(screen, cost_words(cost), "Run the pass", screen.cm.narrator_run.start)

    screen.ask("cost", lambda engine: engine.narrator_cost(), told)


def cost_words(cost: ModelCost) -> str:
    """Return what a pass would take of a model."""
    ceiling = f", and {cost.ceiling:,} at most: what is left then is done without it" if cost.ceiling else ""
    notes = "".join(f"\n{one_line(note)}" for note in cost.notes)
    return (
        f"Look at what is new with the model {one_line(cost.model)}?\n\n"
        f"About {cost.estimated:,} tokens{ceiling}.{notes}"
    )


def stop_pass(screen: ReviewView) -> None:
    """Stop the pass."""
    screen.cm.narrator_run.stop()
    screen.cm.tell("The pass is being stopped. What it read is kept; the next one goes on there.")
