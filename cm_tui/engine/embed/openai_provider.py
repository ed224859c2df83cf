"""Any endpoint that speaks OpenAI's embeddings API: OpenAI, Gemini, Voyage, Ollama, vLLM, LM Studio and others."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from cm_tui.config import EmbeddingConfig
from cm_tui.counts import count
from cm_tui.engine.embed.provider import Matrix, encodable, fingerprint, unit_rows
from cm_tui.engine.redaction.key_lines import mark_key_lines
from cm_tui.engine.redaction.redact import BEYOND, redact
from cm_tui.errors import ModelError

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 5
LONGEST_WAIT = 60.0  # seconds; a server that asks for more is reported instead
MAX_CHARACTERS = 16_000  # about 5,000 tokens of code; the common limit is 8,191
INPUT = "redacted"
"""What is sent, as the fingerprint names it: vectors of texts that were sent as they are do not count any more. A pattern that
is added later changes nothing here: a vector stays that of its text, and asking again would only send all of it again."""
_KEPT = 300  # characters of a server's own message that are shown


class RemoteProvider:
    """An OpenAI-compatible endpoint.

    Args:
        config: `base_url`, `model`, `dimensions`, `headers`, key (`api_key`, else the variable `api_key_env`),
            `batch_size`, `concurrency` and `timeout_seconds`.
        sleep: waits between attempts.
        is_allowed: asked before each request; False: nothing is sent any more.
    """

    def __init__(
        self,
        config: EmbeddingConfig,
        sleep: Callable[[float], None] = time.sleep,
        is_allowed: Callable[[], bool] = lambda: True,
    ) -> None:
        self._config = config
        self._is_allowed = is_allowed
        self._sleep = sleep
        self._url = config.base_url.rstrip("/") + "/embeddings"
        self._key = config.api_key or os.environ.get(config.api_key_env, "")
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None
        self.batch = config.batch_size * config.concurrency
        self.dimensions = config.dimensions or 0
        kind = fingerprint(f"openai:{config.base_url.rstrip('/')}", config.model, config.dimensions)
        self.fingerprint = f"{kind}/{INPUT}"

    def check(self) -> None:
        """Do nothing: the endpoint is reached with the first text."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed passages, without the secrets in them: unit rows (n, dimensions).

        Raises:
            ModelError: the endpoint cannot be reached, refuses, or answers something else than vectors.
        """
        # The API refuses empty input, and a text beyond the model's limit fails its whole batch.
        clean = [encodable(_without_secrets(text)) or " " for text in texts]
        size = self._config.batch_size
        batches = [clean[start : start + size] for start in range(0, len(clean), size)]
        if not batches:
            return np.empty((0, self.dimensions), dtype=np.float32)
        if len(batches) == 1:
            parts = [self._ask(batches[0])]
        else:
            with ThreadPoolExecutor(self._config.concurrency, thread_name_prefix="cm-embed") as pool:
                parts = list(pool.map(self._ask, batches))
        matrix = unit_rows(_stacked(parts, self._url))
        self.dimensions = int(matrix.shape[1])
        return matrix

    def embed_query(self, text: str) -> Matrix:
        """Embed a question: one unit vector (dimensions,).

        Raises:
            ModelError: the endpoint cannot be reached, refuses, or answers something else than vectors.
        """
        vector: Matrix = self.embed([text])[0]
        return vector

    def _ask(self, texts: Sequence[str]) -> Matrix:
        """One request, tried again while the server is busy or failing."""
        import httpx

        failure = ""
        for attempt in range(ATTEMPTS):
            pause = min(0.5 * 2**attempt, 8.0)
            if not self._is_allowed():
                raise self._error("is not what the settings name any more", "Run the command again.")
            try:
                response = self._http().post(self._url, json=self._body(texts))
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise self._error(f"cannot be asked: {error}", "Check embedding.base_url.") from error
            except httpx.HTTPError as error:
                failure = f"{type(error).__name__}: {error}"
            else:
                if response.is_success:
                    return self._vectors(response, len(texts))
                failure = f"HTTP {response.status_code}: {_reason(response)}"
                if response.status_code != 429 and response.status_code < 500:
                    raise self._error(failure, self._advice(response.status_code))
                pause = _retry_after(response.headers) or pause
            if pause > LONGEST_WAIT:
                raise self._error(f"{failure} (asks to wait {pause:.0f} seconds)", "Try again later.")
            if attempt < ATTEMPTS - 1:
                self._sleep(pause)
        raise self._error(f"{failure} ({ATTEMPTS} attempts)", "Check the network and embedding.base_url.")

    def _http(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                import httpx

                key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
                self._client = httpx.Client(
                    headers={**key, **self._config.headers}, timeout=self._config.timeout_seconds
                )
            return self._client

    def _body(self, texts: Sequence[str]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._config.model, "input": list(texts)}
        if self._config.dimensions:
            name = "output_dimension" if "voyageai" in self._url else "dimensions"
            body[name] = self._config.dimensions
        return body

    def _vectors(self, response: httpx.Response, expected: int) -> Matrix:
        try:
            data = sorted(response.json()["data"], key=lambda item: int(item.get("index", 0)))
            matrix = np.asarray([item["embedding"] for item in data], dtype=np.float32)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._error("answered something else than vectors", "Check embedding.base_url.") from error
        if matrix.ndim != 2 or len(matrix) != expected or not np.isfinite(matrix).all():
            raise self._error(
                f"answered {count(len(data), 'vector')} for {count(expected, 'text')}", "Check embedding.model."
            )
        if self._config.dimensions not in (None, matrix.shape[1]):
            raise self._error(
                f"gives {matrix.shape[1]} dimensions, not {self._config.dimensions}",
                f"Set embedding.dimensions = {matrix.shape[1]}, or remove the setting.",
            )
        return matrix

    def _advice(self, status: int) -> str:
        if status in (401, 403):
            variable = f"the environment variable {self._config.api_key_env}"
            source = "embedding.api_key" if self._config.api_key else variable
            return f"Check the key in {source}." if self._key else f"No key is set: put it into {source}."
        if status == 404:
            return "Check embedding.base_url and embedding.model."
        return "Check embedding.model, embedding.dimensions and embedding.batch_size."

    def _error(self, what: str, hint: str) -> ModelError:
        message = f"The embedding endpoint {self._url} {what}"
        for secret in (self._key, *self._config.headers.values()):
            if len(secret) > 3:  # a server may repeat what it was sent
                message = message.replace(secret, "…")
        return ModelError(message, hint=f"{hint} Until then search is by keyword only.")


def _without_secrets(text: str) -> str:
    """What is sent of a text; of a long key a passage may hold the middle alone."""
    text = redact(text[: MAX_CHARACTERS + BEYOND], MAX_CHARACTERS).text
    return mark_key_lines(text)[:MAX_CHARACTERS]


def _stacked(parts: Sequence[Matrix], url: str) -> Matrix:
    if len({part.shape[1] for part in parts}) > 1:
        raise ModelError(f"The embedding endpoint {url} gave vectors of different lengths.", hint="Try again.")
    return np.concatenate(parts)


def _reason(response: httpx.Response) -> str:
    """The server's own words, where it has any."""
    try:
        body = response.json()
        error = body.get("error", body.get("detail", body))
        text = error.get("message", error) if isinstance(error, dict) else error
    except (ValueError, AttributeError):
        text = response.text
    return " ".join(str(text).split())[:_KEPT]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: a number or a date (RFC 9110, section 10.2.3)."""
    value = headers.get("Retry-After", "")
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
