"""Requests to a remote provider's endpoint: with retries and limits, and without revealing keys."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cm_tui.config.endpoints import Endpoint
from cm_tui.engine.search.embed.provider import NotChosenError
from cm_tui.errors import ModelError

if TYPE_CHECKING:
    import ssl

    import httpx

ATTEMPTS = 5
LONGEST_WAIT = 60.0  # seconds; a longer wait requested by a server is reported instead
_KEPT = 300  # characters of a server's own message to show
_MOST_BYTES = 1_000_000_000
"""Of an answer: 50,000 vectors of 3,072 numbers as text are less."""
_SLOWEST = 4.0
"""Factor on the time limit for a response that arrives slowly."""
_TOO_MUCH = ("token", "too long", "too large", "length", "batch size", "at most", "maximum", "payload")
"""Words of servers for a request that is larger than they take."""


KEYWORD_ONLY = "Until then search is by keyword only."


class RequestTooLargeError(ModelError):
    """A request is larger than the endpoint takes; a part of it may be taken."""


class NotOfferedError(ModelError):
    """The endpoint has nothing under this address."""


class EndpointClient:
    """HTTP client of one endpoint.

    Args:
        endpoint: its address and key.
        key_headers: the provider's headers for the key.
        timeout: seconds until a response has to begin.
        sleep: waits between attempts.
        is_allowed: called before each request; False: nothing is sent any more.
        meanwhile: what works while the endpoint fails, for hints.
        section: of the settings that name it.
        most_bytes: of a response.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        key_headers: Mapping[str, str],
        timeout: float,
        sleep: Callable[[float], None] = time.sleep,
        is_allowed: Callable[[], bool] = lambda: True,
        meanwhile: str = KEYWORD_ONLY,
        section: str = "embedding",
        most_bytes: int = _MOST_BYTES,
    ) -> None:
        self.endpoint = endpoint
        self._section = section
        self._most_bytes = most_bytes
        self._meanwhile = meanwhile
        self._key_headers = key_headers
        self._timeout = timeout
        self._sleep = sleep
        self._is_allowed = is_allowed
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    def post(self, path: str, body: Any, *, attempts: int = ATTEMPTS) -> Any:
        """Send JSON and return the JSON response.

        Raises ModelError if the endpoint cannot be reached, refuses, or returns invalid JSON.
        """
        return self._json(self.ask("POST", path, attempts=attempts, json=body))

    def get(self, path: str) -> Any:
        """Return the JSON at a path. Raises ModelError as for `post`."""
        return self._json(self.ask("GET", path))

    def ask(self, method: str, path: str, *, attempts: int = ATTEMPTS, **content: Any) -> bytes:
        """Send one request, with retries while the server is busy or failing; return the response's body.

        Args:
            method: of HTTP.
            path: below the base URL, with its slash.
            attempts: the most attempts.
            content: for httpx: `json`, or `data` with `files`.

        Raises:
            RequestTooLargeError: the request is too large for the endpoint.
            NotOfferedError: the address does not exist.
            ModelError: the endpoint cannot be reached, refuses, or breaks off.
        """
        import httpx

        url, failure = self.endpoint.base_url + path, ""
        for attempt in range(attempts):
            pause = min(0.5 * 2**attempt, 8.0)
            if not self._is_allowed():
                said = "is no longer the configured one"
                raise self.error(said, "Run the command again.", url, NotChosenError)
            try:
                response, body = self._send(method, url, content)
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise self.error(f"cannot be reached: {error}", f"Check {self._section}.base_url.", url) from error
            except httpx.HTTPError as error:
                failure = f"{type(error).__name__}: {error}"
            else:
                if response.is_success:
                    return body
                failure = f"HTTP {response.status_code}: {_reason(response, body)}"
                if response.status_code not in (408, 429) and response.status_code < 500:
                    raise self._refusal(response, body, failure, url)
                pause = _retry_after(response.headers) or pause
            if pause > LONGEST_WAIT:
                raise self.error(f"{failure} (asks to wait {pause:.0f} seconds)", "Try again later.", url)
            if attempt < attempts - 1:
                self._sleep(pause)
        tried = f" ({attempts} attempts)" if attempts > 1 else ""
        raise self.error(f"{failure}{tried}", f"Check the network and {self._section}.base_url.", url)

    def error(self, what: str, hint: str, url: str = "", kind: type[ModelError] = ModelError) -> ModelError:
        """Return the message for a failure, without the key and without values of headers."""
        message = f"The {self._section} endpoint {url or self.endpoint.base_url} {what}"
        for secret in self.endpoint.secrets:
            if len(secret) > 3:  # a server may repeat its input
                message = message.replace(secret, "…")
        return kind(message, hint=f"{hint} {self._meanwhile}")

    @property
    def _model(self) -> str:
        """Return the setting that names the model."""
        return f"{self._section}.model" if self._section == "embedding" else f"{self._section}.name"

    def _send(self, method: str, url: str, content: Mapping[str, Any]) -> tuple[httpx.Response, bytes]:
        """One request; redirects are not followed, for the key would go along."""
        import httpx

        until = time.monotonic() + _SLOWEST * self._timeout
        body = bytearray()
        with self._http().stream(method, url, **content) as response:
            for part in response.iter_bytes():
                body += part
                if len(body) > self._most_bytes or time.monotonic() > until:
                    raise httpx.ReadTimeout("the response is too long or takes too long")
            return response, bytes(body)

    def _http(self) -> httpx.Client:
        with self._lock:
            if self._client is None:
                import httpx

                headers = {**self._key_headers, **self.endpoint.headers}
                tls = _tls(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
                self._client = httpx.Client(headers=headers, timeout=self._timeout, verify=tls, follow_redirects=False)
            return self._client

    def _json(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            awaited = "vectors" if self._section == "embedding" else "a response of the API"
            raise self.error(f"did not answer with {awaited}: not JSON", f"Check {self._section}.base_url.") from error

    def _refusal(self, response: httpx.Response, body: bytes, failure: str, url: str) -> ModelError:
        status = response.status_code
        if 300 <= status < 400:
            to = response.headers.get("Location", "elsewhere")[:_KEPT]
            what = f"redirects to {to}, which is not followed: the key would be sent there"
            return self.error(what, f"Set {self._section}.base_url to the right address.", url)
        if status in (401, 403):
            source = self.endpoint.key_source
            hint = f"Check the key in {source}." if self.endpoint.key else f"No key is set: put it into {source}."
            return self.error(failure, hint, url)
        if status in (404, 405):
            hint = f"Check {self._section}.base_url and {self._model}."
            return self.error(failure, hint, url, NotOfferedError)
        limits = ", embedding.dimensions and embedding.batch_size" if self._section == "embedding" else ""
        hint = f"Check {self._model}{limits}."
        said = _reason(response, body).lower()
        is_size = status == 413 or (status in (400, 422) and any(word in said for word in _TOO_MUCH))
        # Gemini answers so where others answer 401.
        if status == 400 and "api key" in said:
            return self.error(failure, f"Check the key in {self.endpoint.key_source}.", url)
        return self.error(failure, hint, url, RequestTooLargeError if is_size else ModelError)


@lru_cache(1)
def _tls(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """Return what checks certificates, with those that the environment names: reading them takes 20 ms for each client."""
    import httpx

    return httpx.create_ssl_context()


def _reason(response: httpx.Response, body: bytes) -> str:
    """The server's own words, where it has any."""
    text = body[:10_000].decode("utf-8", "replace")
    try:
        answer = json.loads(body)
        # Gemini's OpenAI dialect puts its error into a list.
        answer = answer[0] if isinstance(answer, list) and answer else answer
        error = answer.get("error", answer.get("detail", answer))
        text = error.get("message", error) if isinstance(error, dict) else error
    except (ValueError, AttributeError, RecursionError):
        if "html" in response.headers.get("Content-Type", ""):
            text = "an HTML page, not a response of an API"
    return " ".join(str(text).split())[:_KEPT]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server requests to wait: a number or a date (RFC 9110, section 10.2.3)."""
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
