"""The bundled model, run with numpy and tokenizers, as importing fastembed takes seconds."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import numpy as np

from cm_tui.engine.search.embed import verified
from cm_tui.engine.search.embed.provider import Matrix, encodable, fingerprint, unit_rows
from cm_tui.engine.search.embed.static_table import StaticTable, read_table
from cm_tui.engine.search.embed.wordpieces import Pieces
from cm_tui.engine.search.embed.worker_process import EmbeddingProcess

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NAME = "code-static-256"
VERSION = 2
"""Counted up with every new table: vectors of another one do not count any more."""
DIMENSIONS = 256
MAX_TOKENS = 512
MAX_CHARACTERS = 32_768  # 512 tokens are far fewer; a huge text is not worth splitting to its end
_FILES = ("model.onnx", "tokenizer.json")
WORTH_A_PROCESS = 8192
"""Texts; this many take about a second."""
_REINSTALL = "Install cm again as you did before, with pip's --force-reinstall. Until then search is by keyword only."


def bundled_folder() -> Path:
    """Return the folder of the model's files."""
    return Path(str(resources.files("cm_tui") / "data" / "models" / NAME))


class _Model:
    """The parts of a loaded model."""

    def __init__(self, pieces: Pieces, table: StaticTable) -> None:
        self.pieces = pieces
        self.table = table


_models: WeakValueDictionary[Path, _Model] = WeakValueDictionary()
"""Models in use, by their folder: one is in memory once, however many projects are open, and released with the last."""
_loading = threading.Lock()


class BundledProvider:
    """code-static-256: loaded with the first text, verified against its checksums each time.

    `folder`: of the model's files.
    """

    dimensions = DIMENSIONS
    batch = 2048

    def __init__(self, folder: Path | None = None) -> None:
        self.fingerprint = fingerprint("bundled", f"{NAME}.{VERSION}", DIMENSIONS)
        self._folder = folder or bundled_folder()
        self._loaded: _Model | None = None
        self._worker: EmbeddingProcess | None = None

    def check(self) -> None:
        """Compare the model's files with their checksums.

        Raises ModelError if one of them is missing or damaged.
        """
        for name in _FILES:
            verified.check(self._folder, name, self._folder, _REINSTALL)

    def prepare(self, texts: Sequence[str]) -> None:
        """Begin to embed texts in a separate process, if there are enough of them."""
        if self._worker is None and len(texts) < WORTH_A_PROCESS:
            return
        self._worker = self._worker or EmbeddingProcess()
        self._worker.prepare(texts, self.batch)

    def forget_prepared(self) -> None:
        """End what `prepare` began."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed passages: unit rows (n, 256).

        Raises ModelError if a file of the model is missing or damaged.
        """
        if self._worker is None:
            return self._embed(texts)
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        missing = self._worker.take(texts, vectors)
        if missing:
            vectors[missing] = self._embed([texts[position] for position in missing])
        return vectors

    def _embed(self, texts: Sequence[str]) -> Matrix:
        pieces, table = self._load()
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for start in range(0, len(texts), self.batch):
            part = [encodable(text[:MAX_CHARACTERS]) for text in texts[start : start + self.batch]]
            vectors[start : start + len(part)] = table.sums(pieces.count(part))
        return unit_rows(vectors)

    def embed_query(self, text: str) -> Matrix:
        """Embed a question: one unit vector (256,).

        Raises ModelError if a file of the model is missing or damaged.
        """
        vector: Matrix = self.embed([text])[0]
        return vector

    def _load(self) -> tuple[Pieces, StaticTable]:
        with _loading:
            if self._loaded is None:
                self._loaded = _models.get(self._folder) or self._read()
                _models[self._folder] = self._loaded
            return self._loaded.pieces, self._loaded.table

    def _read(self) -> _Model:
        table, tokenizer = (verified.read_verified(self._folder, name, self._folder, _REINSTALL) for name in _FILES)
        return _Model(Pieces(_tokenizer(tokenizer), MAX_TOKENS), read_table(table))


def _tokenizer(data: bytes) -> Tokenizer:
    # Explicit, as tokenizers otherwise warns on stderr when a parser process is forked after its first use.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_buffer(data)
    return tokenizer
