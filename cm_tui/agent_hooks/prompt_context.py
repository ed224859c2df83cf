"""The daemon's responses to hooks: context for a prompt, within a budget, marked as memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from cm_tui.agent_hooks.reply import AT_START, CHARACTERS, quote_block
from cm_tui.engine.api.at_start import AtStart, memory_at_start
from cm_tui.engine.api.prompts import FindNames, Recent, classify
from cm_tui.model import Assembly, Injection, NoteText, Pack, WorkState

MARKS_TOKENS = 120
"""What preamble and marks take of the budget."""
_LONGEST_QUESTION = 2_000
Made = TypeVar("Made")
AskPack = Callable[[Path, str, int], Pack | None]
"""A pack for a question about a root within a budget; None where there is no index."""
Assemble = Callable[[int, bool], Assembly]
"""An assembly for a prompt within a budget, of which a snapshot is kept or not."""


class PromptContexts:
    """Answers prompts; each question of a session once in a minute.

    `pack`: what makes a pack; `clock`: seconds that only grow.
    """

    def __init__(self, pack: AskPack, clock: Callable[[], float] = time.monotonic) -> None:
        self._pack = pack
        self._clock = clock
        self._recent = Recent()

    def prompt(
        self,
        root: Path,
        session: str,
        prompt: str,
        *,
        budget: int,
        seconds: float,
        find_names: FindNames = lambda *_: None,
        assemble: Assemble | None = None,
        on_given: Callable[[Pack | Assembly], None] = lambda _: None,
    ) -> str:
        """Return what is added to a prompt; empty when nothing is.

        Args:
            root: the project's root.
            session: whose prompt.
            prompt: what the person wrote.
            budget: most tokens of the context.
            seconds: how long the hook waits; an answer that comes later is not counted as given.
            find_names: finds the words of the prompt that name something in the project's index.
            assemble: makes what is handed over where files of the project say what that is; None: it is a pack.
            on_given: called with the added context.

        Raises:
            CmError: the project cannot be searched.
        """
        begun = self._clock()
        if (
            budget <= MARKS_TOKENS
            or not classify(prompt, find_names).substantive
            or self._recent.was_answered(session, prompt, begun)
        ):
            return ""
        room = budget - MARKS_TOKENS
        given: Pack | Assembly | None
        if assemble is not None:
            text, given = _assembled(assemble, room, lambda: self._clock() - begun > seconds)
        else:
            text, given = self._pack_for(root, prompt[:_LONGEST_QUESTION], room)
        now = self._clock()
        if now - begun <= seconds:
            self._recent.answered(session, prompt, now)
            if given is not None:
                on_given(given)
        return text

    def _pack_for(self, root: Path, question: str, budget: int) -> tuple[str, Pack | None]:
        """Return a pack that also fits into what agents take; a smaller one is asked for when it does not."""

        def make(tokens: int) -> tuple[str, Pack | None]:
            pack = self._pack(root, question, tokens)
            if pack is None or not any(item.included for item in pack.items):
                return "", None
            # A pack begins with its question, which the agent has already.
            return quote_block(pack.markdown.removeprefix(pack.question.strip())), pack

        return _fitting(make, budget)


def _fitting(make: Callable[[int], tuple[str, Made | None]], budget: int) -> tuple[str, Made | None]:
    """Return a text and what it was made of, made smaller until agents take it; empty: nothing fits."""
    for _ in range(3):
        text, made = make(budget)
        if len(text) <= CHARACTERS:
            return text, made
        budget = budget * CHARACTERS // len(text) * 9 // 10
    return "", None


def _assembled(assemble: Assemble, budget: int, is_late: Callable[[], bool]) -> tuple[str, Assembly | None]:
    """Return an assembly that also fits into what agents take; of that one alone a snapshot is kept."""

    def make(tokens: int) -> tuple[str, Assembly | None]:
        made = assemble(tokens, False)
        text = quote_block(made.text)
        # Where the hook has stopped waiting, a snapshot would record a context that was never delivered.
        if not made.text.strip() or is_late():
            return "", None
        if len(text) > CHARACTERS:
            return text, None
        kept = assemble(tokens, True)
        # A file may have changed between the two.
        again = quote_block(kept.text)
        return (again, kept) if len(again) <= CHARACTERS else (text, made)

    return _fitting(make, budget)


def fitting_start(
    inject: Callable[[int], Injection], day_logs: Sequence[NoteText], budget: int, work: WorkState | None = None
) -> AtStart:
    """Return memory for a session that begins, which also fits into what agents take from a hook.

    `inject`: gives entries within a budget of tokens. `day_logs`: of yesterday and today, the older one first.
    `budget`: tokens. `work`: where the last session stopped; None: that is not known.
    """

    def make(tokens: int) -> tuple[str, AtStart | None]:
        found = memory_at_start(inject, day_logs, max(0, tokens - MARKS_TOKENS), work or WorkState())
        return (quote_block(found.text, AT_START), found) if found.text else ("", found)

    text, found = _fitting(make, budget)
    return AtStart(text, found.paths) if found is not None else AtStart("")
