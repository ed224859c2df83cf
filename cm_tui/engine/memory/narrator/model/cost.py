"""Token cost of a language model, estimated and counted, within the ceiling."""

from __future__ import annotations

from cm_tui.model import ModelCost

_CHARACTERS = 3.0
"""Of a token, at least on average: common vocabularies take 3.5 to 4.5 for English and code, and the ceiling is to hold."""


def tokens_of(text: str) -> int:
    """Return a high estimate of a text's tokens; characters beyond ASCII count as one each."""
    plain = sum(letter < "\x80" for letter in text)
    return int(plain / _CHARACTERS) + (len(text) - plain) + 1


class Budget:
    """Tokens of one pass. `ceiling`: most tokens."""

    def __init__(self, model: str, ceiling: int, estimated: int = 0) -> None:
        self._model = model
        self._ceiling = ceiling
        self._estimated = estimated
        self._used = 0
        self._calls = 0
        self._notes: dict[str, None] = {}

    def allows(self, tokens: int) -> bool:
        """Return whether that many more stay below the ceiling; notes it, once, if they do not."""
        if self._used + tokens <= self._ceiling:
            return True
        self.note(f"the ceiling of {self._ceiling:,} tokens was reached: the rest was done without the model")
        return False

    def spend(self, tokens: int) -> None:
        """Add the tokens of a request."""
        self._used += tokens
        self._calls += 1

    def note(self, words: str) -> None:
        """Add a message for the user, once."""
        self._notes.setdefault(words)

    def cost(self) -> ModelCost:
        """Return the totals."""
        return ModelCost(self._model, self._estimated, self._ceiling, self._used, self._calls, tuple(self._notes))
