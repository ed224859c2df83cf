"""Reranking: a cross-encoder reads query and passage together. Off unless configured."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from threading import Lock
from typing import Any, Final, Protocol

import numpy as np

from cm_tui.engine.search.ranking.adjust import Stage
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.engine.search.ranking.diversify import order
from cm_tui.errors import ModelError
from cm_tui.model import Profile

_BUDGET: Final = 0.3
"""Seconds that `auto` may add to a question."""
_REMEMBERED = 5
_AGAIN: Final = 600.0
"""Seconds after which a reranker that was too slow is tried again: the machine may have been busy."""


class Reranker(Protocol):
    """Reads a query and a passage together."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return how well each text answers, from 0 to 1.

        Raises:
            ModelError: the model cannot be loaded.
        """


class TimedReranker:
    """A reranker with measured latency; the first query is not counted, as it loads the model.

    Args:
        inner: reads query and passages.
        clock: seconds.
    """

    def __init__(self, inner: Reranker, clock: Callable[[], float] = time.monotonic) -> None:
        self._inner = inner
        self._clock = clock
        self._is_loaded = False
        self._seconds: deque[float] = deque(maxlen=_REMEMBERED)
        self._asked_at = 0.0

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return how well each text answers; as for the inner one."""
        start = self._clock()
        found = self._inner.scores(query, texts)
        self._asked_at = self._clock()
        if self._is_loaded:
            self._seconds.append(self._asked_at - start)
        self._is_loaded = True
        return found

    def too_slow(self) -> str:
        """Return why `auto` leaves it out for now; empty: it does not."""
        if not self._seconds or (took := median(self._seconds)) <= _BUDGET:
            return ""
        if self._clock() - self._asked_at > _AGAIN:
            self._seconds.clear()
            return ""
        return (
            f'it takes {took:.1f} s per query, and `rerank = "auto"` allows {_BUDGET:g} s; set `"on"` to use it anyway.'
        )


class FastembedReranker:
    """A fastembed cross-encoder, by the name of a model or by a local folder; loaded with the first query."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._lock = Lock()
        self._encoder: Any = None

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Cross-encoder scores through a sigmoid.

        Raises:
            ModelError: the model is missing or cannot be loaded.
        """
        with self._lock:
            if self._encoder is None:
                self._encoder = self._load()
            raw = np.array(list(self._encoder.rerank(query, list(texts), batch_size=8)), dtype=np.float64)
        return [float(value) for value in 1 / (1 + np.exp(-np.clip(raw, -50, 50)))]

    def _load(self) -> Any:
        try:
            from fastembed.common.model_description import ModelSource
            from fastembed.rerank.cross_encoder import TextCrossEncoder

            folder = Path(self._model).expanduser()
            if not folder.is_dir():
                return TextCrossEncoder(self._model)
            name = f"local/{folder.name}"
            known = {model["model"] for model in TextCrossEncoder.list_supported_models()}
            if name not in known:
                TextCrossEncoder.add_custom_model(
                    model=name, sources=ModelSource(hf="local/none"), model_file=_onnx_file(folder)
                )
            return TextCrossEncoder(name, specific_model_path=str(folder))
        except Exception as error:
            # fastembed raises errors of all its parts: a missing file, a bad graph, a failed download.
            raise ModelError(
                f"The reranker {self._model} cannot be loaded: {error}",
                hint="Set search.reranker to a folder with model.onnx and tokenizer files, or remove the setting.",
            ) from error


def _onnx_file(folder: Path) -> str:
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.onnx"))
    if not files:
        raise FileNotFoundError(f"{folder} contains no .onnx file")
    return files[0]


def rerank(
    table: CandidateTable, scores: Column, profile: Profile, query: str, reranker: Reranker
) -> tuple[Column, list[Stage]]:
    """Blend `(1-α)·first + α·cross-encoder` for the best; both on the scale of the best first score.

    Scores below the depth are only multiplied by `1-α`, so that they stay below.

    Raises:
        ModelError: the model cannot be loaded.
    """
    first = order(scores)[: profile.rerank_depth]
    if not len(first):
        return scores, []
    values = np.zeros(len(scores))
    values[first] = reranker.scores(query, [table.texts[row] for row in first.tolist()])
    top = max(float(scores[first[0]]), 0.0)
    alpha = profile.rerank_alpha
    read = frozenset(first.tolist())
    contributions = alpha * (values * top - np.maximum(scores, 0.0))

    def detail(row: int) -> str:
        return f"{profile.rerank_alpha:g} of the cross-encoder" if row in read else "below the reranker's depth"

    return scores + contributions, [Stage("rerank", "rerank", values, alpha * top, contributions, detail)]
