"""Any fastembed model: by name, or an ONNX model in a local folder."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from cm_tui import paths
from cm_tui.config import EmbeddingConfig
from cm_tui.counts import count
from cm_tui.engine.search.embed.bundled import NAME
from cm_tui.engine.search.embed.provider import Matrix, encodable, fingerprint, unit_rows
from cm_tui.errors import ModelError

_POOLING = {"none": "DISABLED", "mean": "MEAN", "cls": "CLS", "last": "LAST_TOKEN"}
_registering = threading.Lock()
_downloading = threading.Lock()


class FastembedProvider:
    """A fastembed model, imported and loaded with the first text.

    `config`: `model` is a name known to fastembed; or `path` is a folder with tokenizer files and the ONNX model
    `model_file`, whose token vectors are pooled by `pooling`. `say`: called before a download starts.
    """

    def __init__(self, config: EmbeddingConfig, say: Callable[[str], None]) -> None:
        self._config = config
        self._say = say
        self._lock = threading.Lock()
        self._model: Any = None
        self._folder = Path(config.path).expanduser() if config.path else None
        self._file = config.model_file or "model.onnx"
        self.batch = config.batch_size * 4
        self.dimensions = config.dimensions or 0
        self._name = config.model or NAME
        name = f"{self._name}@{_content_mark(self._folder / self._file)}" if self._folder else self._name
        suffix = "" if config.pooling == "none" else f"+{config.pooling}"
        self.fingerprint = fingerprint("fastembed", name + suffix, config.dimensions)

    def check(self) -> None:
        """Check the model file of a local folder; a named model is found with the first text.

        Raises ModelError if it is missing.
        """
        if self._folder is not None and not (self._folder / self._file).is_file():
            raise ModelError(f"Model not found: {self._folder / self._file}.", hint=_HINT)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed passages: unit rows (n, dimensions).

        Raises ModelError if the model is unknown, damaged, or its hub cannot be reached.
        """
        return self._run("embed", [encodable(text) for text in texts])

    def embed_query(self, text: str) -> Matrix:
        """Embed a query, with the prefix that some models need for queries.

        Raises ModelError if the model is unknown, damaged, or its hub cannot be reached.
        """
        vector: Matrix = self._run("query_embed", [encodable(text)])[0]
        return vector

    def _run(self, method: str, texts: list[str]) -> Matrix:
        model = self._loaded()
        options = {"batch_size": self._config.batch_size} if method == "embed" else {}
        try:
            rows = list(getattr(model, method)(texts, **options))
        except Exception as error:
            # onnxruntime raises a different class for each mismatch between graph and input.
            raise ModelError(f"{self._name} failed on {count(len(texts), 'text')}: {error}", hint=_HINT) from error
        if not rows:
            return np.empty((0, self.dimensions), dtype=np.float32)
        if rows[0].ndim != 1:
            raise ModelError(
                f"{self._name} returns a vector for each token, not for each text.",
                hint='Set embedding.pooling to "mean", "cls" or "last", as documented in the model card.',
            )
        matrix = unit_rows(np.asarray(rows, dtype=np.float32))
        if self._config.dimensions not in (None, matrix.shape[1]):
            raise ModelError(
                f"{self._name} returns {matrix.shape[1]} dimensions, not {self._config.dimensions}.",
                hint=f"Set embedding.dimensions = {matrix.shape[1]}, or remove the setting.",
            )
        self.dimensions = int(matrix.shape[1])
        return matrix

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._from_folder(self._folder) if self._folder else self._by_name()
            return self._model

    def _from_folder(self, folder: Path) -> Any:
        file = folder / self._file  # an absolute path is used as it is
        for needed in (file, folder / "tokenizer.json", folder / "tokenizer_config.json"):
            if not needed.is_file():
                raise ModelError(
                    f"The model {self._name} is not complete: {needed} is missing.",
                    hint="Set embedding.path to its folder and embedding.model_file to its ONNX file.",
                )
        import fastembed

        name = f"cm-local/{self.fingerprint}/{folder}"
        _register(name, file, self._config)
        return _load(self._name, lambda: fastembed.TextEmbedding(name, specific_model_path=str(folder)))

    def _by_name(self) -> Any:
        import fastembed

        name, cache = self._name, paths.data_dir() / "models"
        known = {entry["model"].lower() for entry in fastembed.TextEmbedding.list_supported_models()}
        if name.lower() not in known:
            raise ModelError(
                f"fastembed has no model named {name}.",
                hint="Set embedding.path to a local folder of it, or choose one of fastembed's list of models.",
            )
        paths.private_dir(cache)
        try:
            with _quiet():
                return fastembed.TextEmbedding(name, cache_dir=str(cache), local_files_only=True)
        except Exception as error:  # noqa: BLE001 - missing or incomplete: the download below handles both
            self._say(f"{name} is not in {cache} ({type(error).__name__}): downloading it from its hub, once.")
        with _quiet():
            return _load(name, lambda: fastembed.TextEmbedding(name, cache_dir=str(cache)))


_HINT = "Check embedding.model and embedding.path; `cm doctor` tries the model. Until then search is by keyword only."


def _load(name: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Exception as error:
        # Hub clients, onnxruntime and tokenizers each raise their own classes; all mean that the model is unusable.
        raise ModelError(
            f"The model {name} cannot be loaded: {error}",
            hint="Without a network, set embedding.path to a folder that holds it. "
            "Until it loads, search is by keyword only.",
        ) from error


def _register(name: str, file: Path, config: EmbeddingConfig) -> None:
    """Register a model with fastembed once per process: a second time is an error there."""
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    with _registering:
        if any(entry["model"] == name for entry in TextEmbedding.list_supported_models()):
            return
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType[_POOLING[config.pooling]],
            normalization=config.pooling != "none",
            sources=ModelSource(hf="local/none"),
            dim=config.dimensions or _hidden_size(file.parent),
            model_file=str(file),
        )


def _hidden_size(folder: Path) -> int:
    """Return the dimension in the folder's config.json, else 1: fastembed only reports it, the vectors decide."""
    try:
        return int(json.loads((folder / "config.json").read_text(encoding="utf-8"))["hidden_size"])
    except (OSError, ValueError, KeyError, TypeError):
        return 1


def _content_mark(file: Path) -> str:
    """A short fingerprint of a file from its size and 16 samples, so that another model in the same folder is noticed."""
    try:
        size = file.stat().st_size
        digest = hashlib.blake2b(str(size).encode(), digest_size=6)
        with file.open("rb") as stream:
            for step in range(16):
                stream.seek(size * step // 16)
                digest.update(stream.read(4096))
    except OSError:
        return "missing"
    return digest.hexdigest()


@contextmanager
def _quiet() -> Iterator[None]:
    """fastembed logs each attempt to stderr, across the application's screen; our own error reports it once."""
    from loguru import logger

    hub = logging.getLogger("huggingface_hub")
    with _downloading:
        level = hub.level
        logger.disable("fastembed")
        hub.setLevel(logging.ERROR)
        try:
            yield
        finally:
            logger.enable("fastembed")
            hub.setLevel(level)
