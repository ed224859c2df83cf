"""Identical questions that are asked at the same time: answered once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any


class SameQuestions:
    """Questions that are being answered, by what they ask of which state."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: dict[Hashable, Future[Any]] = {}

    def answer(self, question: Hashable, ask: Callable[[], Any]) -> Any:
        """Return the result of a request, shared with an identical one in progress.

        `question`: equal for requests with the same result. Raises BaseException: what answering raised, to everybody
        who asked.
        """
        with self._lock:
            shared = self._asked.get(question)
            mine: Future[Any] | None = None
            if shared is None:
                mine = shared = self._asked[question] = Future()
        if mine is None:
            return shared.result()
        try:
            answer = ask()
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(answer)
            return answer
        finally:
            with self._lock:
                del self._asked[question]
