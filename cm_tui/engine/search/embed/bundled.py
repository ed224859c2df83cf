"""The bundled model, run with numpy and tokenizers, as importing fastembed takes seconds.

A static model: a row per vocabulary piece; a text's vector is their mean. Stored as an ONNX file.

The file is a complete graph, for any program that runs ONNX. Here only its two tables are read, and numpy computes the
mean: just as fast (splitting texts into pieces takes the time), and with 30 MB less than a runtime for graphs.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.platform.numbering import numbered
from cm_tui.engine.search.embed import onnx_file, verified
from cm_tui.engine.search.embed.provider import Matrix, encodable, fingerprint, unit_rows
from cm_tui.engine.search.embed.worker_process import EmbeddingProcess

if TYPE_CHECKING:
    from tokenizers import Tokenizer


# --- vocabulary pieces of a text for the bundled model, with counts: the complete input of a static model ---

_WORD = re.compile(r"[0-9A-Za-z_]+|[^\x00-\x7f\s]+")
_WHOLE = ("[UNK]", "[PAD]", "\u212a", "\u0130")
"""Exceptions to our own splitting: letters that become ASCII in lower case, and the tokenizer's special words."""
_KNOWN_WORDS = 1 << 18
"""Most cached words; beyond that the cache is cleared."""

Ints = NDArray[np.int64]


class Counts(NamedTuple):
    """Pieces of some texts, flat: text by text, each piece of a text once."""

    start: Ints
    """Where each text begins, and the end: (n + 1,)."""
    piece: Ints
    times: Ints


class Pieces:
    """Counts pieces of texts. `tokenizer`: of the model, without truncation."""

    def __init__(self, tokenizer: Tokenizer, longest: int) -> None:
        self._tokenizer = tokenizer
        self._longest = longest
        self._vocabulary = tokenizer.get_vocab_size()
        self._known: dict[str, list[int]] = {}

    def count(self, texts: Sequence[str]) -> Counts:
        """Count the pieces of each text, with the same result as the tokenizer."""
        found = numbered(map(_words, texts))
        known = self._learn(found.vocabulary)
        piece, text = found.spread([known[word] for word in found.vocabulary])
        start = np.searchsorted(text, np.arange(len(texts)))
        kept = np.arange(len(piece)) - start[text] < self._longest
        # One sort groups equal pieces of a text.
        key = np.sort(text[kept].astype(np.int64) * self._vocabulary + piece[kept])
        first = np.flatnonzero(np.diff(key, prepend=-1))
        start = np.searchsorted(key[first], np.arange(len(texts) + 1) * self._vocabulary)
        return Counts(start, key[first] % self._vocabulary, np.diff(first, append=len(key)))

    def _learn(self, words: Iterable[str]) -> dict[str, list[int]]:
        """Pieces of all these words, and maybe of others."""
        known = self._known
        if len(known) > _KNOWN_WORDS:
            # A new dictionary: another thread may still be reading this one.
            known = self._known = {}
        new = [word for word in words if word not in known]
        encodings = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
        known.update(zip(new, (encoding.ids for encoding in encodings), strict=True))
        return known


def _words(text: str) -> list[str]:
    return [text] if any(mark in text for mark in _WHOLE) else _WORD.findall(text)


# --- the bundled model ---


@dataclass(frozen=True, slots=True)
class StaticTable:
    """The rows of a model."""

    codes: NDArray[np.int8]
    """Row by row."""
    scale: NDArray[np.float32]
    """Factor for a row's codes."""

    def sums(self, counts: Counts) -> Matrix:
        """Add up the rows of each text's pieces, unscaled; zeros for a text without pieces."""
        weights = self.scale[counts.piece] * counts.times.astype(np.float32)
        start = counts.start.tolist()
        sums = np.zeros((len(start) - 1, self.codes.shape[1]), dtype=np.float32)
        for text, (first, end) in enumerate(pairwise(start)):
            rows = self.codes[counts.piece[first:end]].astype(np.float32)
            np.dot(weights[first:end], rows, out=sums[text])
        return sums


def read_table(data: bytes) -> StaticTable:
    """Return the tables of a model's file. Raises ValueError if it is no such file."""
    try:
        graph = next(value for number, value in onnx_file.fields(memoryview(data)) if number == onnx_file.GRAPH)
        tensors = {}
        for number, value in onnx_file.fields(graph):
            if number == onnx_file.TENSOR:
                parts = dict(onnx_file.fields(value))
                tensors[bytes(parts[onnx_file.NAME]).decode()] = parts[onnx_file.DATA]
        scale = np.frombuffer(tensors["scale"], dtype="<f4")
        return StaticTable(np.frombuffer(tensors["table"], dtype=np.int8).reshape(len(scale), -1), scale)
    except (StopIteration, KeyError, ValueError, IndexError) as error:
        raise ValueError(f"no static model: {error!r}") from error


NAME = "code-static-256"
VERSION = 2
"""Counted up with every new table: vectors of another one do not count any more."""
DIMENSIONS = 256
MAX_TOKENS = 512
MAX_CHARACTERS = 32_768  # 512 tokens are far fewer; a huge text is not worth splitting to its end
_FILES = ("model.onnx", "tokenizer.json")
WORTH_A_PROCESS = 8192
"""Texts; this many take about a second."""
MOST_PREPARED = 60_000
"""Texts whose vectors may wait in memory: 2 kB each with the text. The next ones are embedded when they are stored."""
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
        if self._worker is None and len(texts) >= WORTH_A_PROCESS:
            self._worker = EmbeddingProcess()
        self.prepare_more(texts)

    def prepare_more(self, texts: Sequence[str]) -> None:
        """Begin to embed texts in that process, if there is one and it has not too many already."""
        if self._worker is not None and len(self._worker) < MOST_PREPARED:
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
    # Its threads, one a core, would stay, and do not make this quicker: only new words are split.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_buffer(data)
    return tokenizer
