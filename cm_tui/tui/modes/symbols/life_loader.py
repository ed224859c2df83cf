"""Asks for the life of the symbol that is shown, and has it drawn in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from cm_tui.errors import CmError
from cm_tui.model import HistoryStatus, Page, SymbolHistory, SymbolKey
from cm_tui.tui.tasks.ask import Ask
from cm_tui.tui.widgets.lifeline import LifeLine

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


class LifeLoader:
    """The life of one symbol after the other.

    Args:
        line: draws it.
        ask: asks the engine.
        drop: forgets a question by its topic.
    """

    def __init__(self, line: LifeLine, ask: Ask, drop: Callable[[str], None]) -> None:
        self._line = line
        self._ask = ask
        self._drop = drop
        self._key: SymbolKey | None = None
        self._life: SymbolHistory | None = None
        self._status: HistoryStatus | None = None
        self._problem = ""
        self._here = 0

    def show(self, key: SymbolKey | None, here: int = 0, *, again: bool = False) -> None:
        """Show the life of a symbol, or of none.

        Args:
            key: whose.
            here: the ordinal that is shown; 0: now.
            again: ask also when it is the symbol that is shown already, as the past has news.
        """
        self._here = here
        if key != self._key or again:
            self._key = key
            self._life, self._problem = (self._life if again else None), ""
            if key is None:
                self._drop("life")
            else:
                self._look_up(key)
        self._draw()

    def stand(self, here: int) -> None:
        """Mark another ordinal on the line that is shown, which tells of all times; 0: now."""
        self._here = here
        self._draw()

    def _look_up(self, key: SymbolKey) -> None:
        def call(engine: Engine) -> tuple[HistoryStatus, Page[SymbolHistory] | None]:
            status = engine.history()
            return status, engine.symbol_history(key, limit=1) if status.head and status.known else None

        self._ask("life", call, self._got, self._failed, delay=0.1)

    def _got(self, answer: tuple[HistoryStatus, Page[SymbolHistory] | None]) -> None:
        self._status, page = answer
        self._life = page.rows[0] if page and page.rows else None
        self._problem = ""
        self._draw()

    def _failed(self, error: CmError) -> None:
        self._life, self._problem = None, error.message
        self._draw()

    def _draw(self) -> None:
        if self._key is None:
            self._line.hide()
        else:
            self._line.show(self._life, self._status, self._problem, self._here)
