"""`code_pack`: code that answers the query, as `cm pack` chooses it."""

from __future__ import annotations

from cm_tui.engine.context.assembly.run_state import RunState
from cm_tui.engine.context.definitions.shapes.retrieval import CodePack
from cm_tui.model import Pack


def run(step: CodePack, state: RunState) -> None:
    """Add the pieces of a pack that fit into the room."""
    query = state.query or state.task.text
    key = ("code_pack", query, state.room, step.neighbours, step.profile)
    pack: Pack = state.shared(
        key,
        lambda: state.means.ports.pack_within(query, state.room, neighbours=step.neighbours, profile=step.profile),
    )
    state.items += [
        {
            "text": item.text, "path": item.path, "title": item.title, "why": item.why, "line": item.start_line,
            "start_line": item.start_line, "end_line": item.end_line, "language": item.language,
        }
        for item in pack.items
        if item.included
    ]  # fmt: skip
    state.text = _without(query, pack.markdown) if any(item.included for item in pack.items) else ""
    state.notes += [f"{state.name}: {note}" for note in pack.notes]
    state.detail = f"{pack.tokens:,} of {pack.budget:,} tokens, estimated"


def _without(question: str, text: str) -> str:
    """Return a pack without the question at its beginning, which the reader has asked."""
    return text.removeprefix(question.strip()).lstrip("\n")
