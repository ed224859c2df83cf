"""Vectors of an endpoint: OpenAI, Gemini, Voyage, Ollama, vLLM, LM Studio and others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import numpy as np

from cm_tui.config import EmbeddingConfig
from cm_tui.config.endpoints import Endpoint, Kind, fallback_of
from cm_tui.counts import count
from cm_tui.engine.platform.redaction.key_blocks import mark_key_lines
from cm_tui.engine.platform.redaction.redact import BEYOND, redact
from cm_tui.engine.search.embed.endpoint_client import ATTEMPTS, KEYWORD_ONLY, EndpointClient, RequestTooLargeError
from cm_tui.engine.search.embed.provider import Matrix, encodable, fingerprint, unit_rows
from cm_tui.errors import ModelError

# --- request and response formats of remote providers: OpenAI and compatible ones, Gemini, Voyage ---

Purpose = Literal["document", "query"]
"""Purpose of an embedding; some models embed queries and passages differently."""


class OpenAIDialect:
    """OpenAI's embeddings API, which many servers support, and the base of the others.

    Responses are untrusted: an invalid one raises `KeyError` or similar.
    """

    most_texts = 2048
    """Of one request."""
    most_characters = 600_000  # 300,000 tokens
    """Of one request, at two characters a token: less than code has."""
    text_characters = 16_000  # about 5,000 tokens of code; the common limit is 8,191
    """Most characters of one text; the rest is not sent."""
    suffix = ""
    """Part of the fingerprint besides address, model and dimensions."""

    def key_headers(self, key: str) -> Mapping[str, str]:
        """Return the headers that carry the key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def path(self, endpoint: Endpoint) -> str:
        """Return where texts are sent, below the base URL."""
        _ = endpoint
        return "/embeddings"

    def body(self, endpoint: Endpoint, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        """Return a request for the vectors of texts; OpenAI's API has no purposes."""
        _ = purpose
        body: dict[str, Any] = {"model": endpoint.model, "input": list(texts)}
        if endpoint.dimensions:
            # Voyage's address was used before Voyage had its own dialect.
            name = "output_dimension" if "voyageai" in endpoint.base_url else "dimensions"
            body[name] = endpoint.dimensions
        return body

    def vectors(self, answer: Any) -> list[Any]:
        """Return the vectors of an answer, in the order of the texts."""
        rows = sorted(answer["data"], key=lambda row: int(row.get("index", 0)))
        return [row["embedding"] for row in rows]


class VoyageDialect(OpenAIDialect):
    """Voyage's API: like OpenAI's, with a purpose, and another name for dimensions."""

    most_texts = 1000
    most_characters = 240_000  # 120,000 tokens, the least of its models
    suffix = "+purpose"

    def body(self, endpoint: Endpoint, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        """As `OpenAIDialect.body`."""
        return {"input": list(texts), **self.parameters(endpoint, purpose)}

    def parameters(self, endpoint: Endpoint, purpose: Purpose) -> dict[str, Any]:
        """Return a request's fields besides its texts."""
        dimensions = {"output_dimension": endpoint.dimensions} if endpoint.dimensions else {}
        return {"model": endpoint.model, "input_type": purpose, **dimensions}


class GeminiDialect(OpenAIDialect):
    """Gemini's own API: a batch has one request per text."""

    most_texts = 100
    most_characters = 800_000
    text_characters = 8_000  # gemini-embedding-001 reads 2,048 tokens
    suffix = "+purpose"

    def key_headers(self, key: str) -> Mapping[str, str]:
        """As `OpenAIDialect.key_headers`; never in the address, which ends up in logs."""
        return {"x-goog-api-key": key} if key else {}

    def path(self, endpoint: Endpoint) -> str:
        """As `OpenAIDialect.path`."""
        return f"/{self.model(endpoint)}:batchEmbedContents"

    def model(self, endpoint: Endpoint) -> str:
        """Return a model's name as the API has it: `models/NAME`."""
        return f"models/{endpoint.model.removeprefix('models/')}"

    def body(self, endpoint: Endpoint, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        """As `OpenAIDialect.body`."""
        return {"requests": [self.request(endpoint, text, purpose) for text in texts]}

    def request(self, endpoint: Endpoint, text: str, purpose: Purpose) -> dict[str, Any]:
        """Return the request for one text."""
        request: dict[str, Any] = {"model": self.model(endpoint)}
        if "gemini-embedding-2" in endpoint.model:
            # It accepts no task type: the purpose is part of the text.
            text = f"task: search result | query: {text}" if purpose == "query" else f"title: none | text: {text}"
        else:
            request["taskType"] = f"RETRIEVAL_{purpose.upper()}"
        if endpoint.dimensions:
            request["outputDimensionality"] = endpoint.dimensions
        return {**request, "content": {"parts": [{"text": text}]}}

    def vectors(self, answer: Any) -> list[Any]:
        """As `OpenAIDialect.vectors`."""
        return [row["values"] for row in answer["embeddings"]]


DIALECTS: Mapping[Kind, OpenAIDialect] = {
    "openai": OpenAIDialect(),
    "gemini": GeminiDialect(),
    "voyage": VoyageDialect(),
}


# --- vectors of an endpoint ---

INPUT = "redacted"
"""Part of the fingerprint for redaction: vectors of texts sent without it are not used any more. A pattern added later does not
change it: the vector of a text stays, as embedding it again would only send all of it again."""
_LEAST = 500
"""Characters; a text that is refused as too long is cut no shorter."""
_REST_SECONDS = 30.0
"""Time without requests after a failed one."""


class RemoteProvider:
    """A remote provider.

    `config`: `batch_size`, `concurrency` and `timeout_seconds`. `endpoint`: address and key. `sleep`: waits between
    attempts. `is_allowed`: called before each request; False: nothing is sent any more.
    """

    def __init__(
        self,
        config: EmbeddingConfig,
        endpoint: Endpoint,
        sleep: Callable[[float], None] = time.sleep,
        is_allowed: Callable[[], bool] = lambda: True,
    ) -> None:
        self.endpoint = endpoint
        self.settings = config
        self.dialect = dialect = DIALECTS[endpoint.kind]
        key_headers = dialect.key_headers(endpoint.key)
        meanwhile = KEYWORD_ONLY if fallback_of(config) is None else "Until then index runs use the fallback."
        self.client = EndpointClient(endpoint, key_headers, config.timeout_seconds, sleep, is_allowed, meanwhile)
        self._texts = min(config.batch_size, dialect.most_texts)
        self._lock = threading.Lock()
        self._failure: tuple[float, ModelError] | None = None
        self.batch = self._texts * config.concurrency
        self.dimensions = endpoint.dimensions or 0
        kind = fingerprint(f"{endpoint.kind}:{endpoint.base_url}", endpoint.model, endpoint.dimensions)
        self.fingerprint = f"{kind}{dialect.suffix}/{INPUT}"

    def check(self) -> None:
        """Do nothing: the endpoint is reached with the first text."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed passages with secrets redacted: unit rows (n, dimensions).

        Raises ModelError if the endpoint cannot be reached, refuses, or returns no valid vectors.
        """
        batches = list(self._batches([self.sendable(text) for text in texts]))
        if not batches:
            return np.empty((0, self.dimensions), dtype=np.float32)
        if len(batches) == 1:
            parts = [self._ask(batches[0], "document")]
        else:
            with ThreadPoolExecutor(self.settings.concurrency, thread_name_prefix="cm-embed") as pool:
                parts = list(pool.map(lambda batch: self._ask(batch, "document"), batches))
        return self.unit([row for part in parts for row in part], len(texts))

    def embed_query(self, text: str) -> Matrix:
        """Embed a query: one unit vector (dimensions,).

        Raises ModelError if the endpoint cannot be reached, refuses, or returns no valid vectors; raised at once for
        half a minute after that.
        """
        with self._lock:
            if self._failure is not None and time.monotonic() - self._failure[0] < _REST_SECONDS:
                raise self._failure[1]
        return self._question(text, ATTEMPTS)

    def ask_once(self) -> Matrix:
        """Request one vector, with one attempt. Raises ModelError: the model returned no vector."""
        return self._question("parse the configuration file", 1)

    def sendable(self, text: str) -> str:
        """Return a redacted text, cut to the length for sending; it may contain only the middle of a long key."""
        most = self.dialect.text_characters
        text = redact(text[: most + BEYOND], most).text
        # The APIs refuse empty input, and a text beyond the model's limit fails its whole batch.
        return encodable(mark_key_lines(text)[:most]) or " "

    def unit(self, rows: Sequence[Any], expected: int) -> Matrix:
        """Return an endpoint's vectors as unit rows. Raises ModelError if they are invalid."""
        try:
            matrix = np.asarray(rows, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise self._no_vectors() from error
        if matrix.ndim != 2 or len(matrix) != expected or not matrix.shape[1] or not np.isfinite(matrix).all():
            given = f"{count(len(rows), 'vector')} for {count(expected, 'text')}"
            said = given if len(rows) != expected else f"invalid numbers, {given}"
            raise self.client.error(f"answered {said}", "Check embedding.model.")
        if self.endpoint.dimensions not in (None, matrix.shape[1]):
            raise self.client.error(
                f"returns {matrix.shape[1]} dimensions, not {self.endpoint.dimensions}",
                f"Set embedding.dimensions = {matrix.shape[1]}, or remove the setting.",
            )
        self.dimensions = int(matrix.shape[1])
        return unit_rows(matrix)

    def _question(self, text: str, attempts: int) -> Matrix:
        try:
            rows = self._ask([self.sendable(text)], "query", attempts)
            vector: Matrix = self.unit(rows, 1)[0]
        except ModelError as error:
            with self._lock:
                self._failure = time.monotonic(), error
            raise
        with self._lock:
            self._failure = None
        return vector

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Yield the texts in order, in requests that the provider takes."""
        batch: list[str] = []
        characters = 0
        for text in texts:
            if batch and (len(batch) == self._texts or characters + len(text) > self.dialect.most_characters):
                yield batch
                batch, characters = [], 0
            batch.append(text)
            characters += len(text)
        if batch:
            yield batch

    def _ask(self, texts: Sequence[str], purpose: Purpose, attempts: int = ATTEMPTS) -> list[Any]:
        """One request; where it is more than the endpoint takes, two of half of it each."""
        body = self.dialect.body(self.endpoint, texts, purpose)
        try:
            answer = self.client.post(self.dialect.path(self.endpoint), body, attempts=attempts)
        except RequestTooLargeError:
            half = len(texts) // 2
            if half:
                return [*self._ask(texts[:half], purpose, attempts), *self._ask(texts[half:], purpose, attempts)]
            if len(texts[0]) <= _LEAST:
                raise
            return self._ask([texts[0][: len(texts[0]) // 2]], purpose, attempts)
        try:
            rows = self.dialect.vectors(answer)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._no_vectors() from error
        if len(rows) != len(texts):
            given = f"{count(len(rows), 'vector')} for {count(len(texts), 'text')}"
            raise self.client.error(f"answered {given}", "Check embedding.model.")
        return rows

    def _no_vectors(self) -> ModelError:
        return self.client.error("did not answer with vectors", "Check embedding.base_url.")
