"""A client of OpenAI's chat API: one request, one response, and its cost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cm_tui.config.endpoints import Endpoint
from cm_tui.config.sections import NarratorModelConfig
from cm_tui.engine.search.embed.endpoint_client import EndpointClient
from cm_tui.errors import ConfigError, ModelError

_ATTEMPTS = 2
"""A pass does without the model rather than wait for it."""
_MOST_BYTES = 2_000_000
_ENV = "OPENAI_API_KEY"


class Answer(NamedTuple):
    """A model's response.

    Attributes:
        text: its words, unchecked.
        tokens: sent and received, as counted by the endpoint, else by us.
    """

    text: str
    tokens: int


class Chat:
    """Sends requests to one model.

    `is_allowed`: called before each request; False: nothing is sent any more. `sleep`: waits between attempts.
    `section`: of the settings that name it. Raises ConfigError if the address or the model is missing.
    """

    def __init__(
        self,
        config: NarratorModelConfig,
        is_allowed: Callable[[], bool] = lambda: True,
        sleep: Callable[[float], None] = time.sleep,
        section: str = "narrator.model",
    ) -> None:
        for value, setting in ((config.base_url, "base_url"), (config.name, "name")):
            if not value.strip():
                raise ConfigError(
                    f"A language model is enabled, but {section}.{setting} is empty.",
                    hint="Set it in your own settings, or `enabled = false`.",
                )
        endpoint = _endpoint(config, section)
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self.name = config.name
        self._section = section
        self._client = EndpointClient(
            endpoint, headers, config.timeout_seconds, sleep, is_allowed, "Until then nothing is phrased by a model.",
            section, _MOST_BYTES,
        )  # fmt: skip

    def ask(self, system: str, user: str, most_tokens: int) -> Answer:
        """Send one request with a deterministic response.

        Raises ModelError if the endpoint cannot be reached, refuses, or returns an invalid response.
        """
        body = {
            "model": self.name,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "temperature": 0,
            "max_tokens": most_tokens,
            "stream": False,
        }
        answer = self._client.post("/chat/completions", body, attempts=_ATTEMPTS)
        try:
            text = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise self._nothing() from error
        if not isinstance(text, str):
            raise self._nothing()
        return Answer(text, _used(answer) or tokens_of(system) + tokens_of(user) + tokens_of(text))

    def _nothing(self) -> ModelError:
        return self._client.error("did not answer with a message", f"Check {self._section}.base_url.")


def _endpoint(config: NarratorModelConfig, section: str) -> Endpoint:
    variable = "" if config.api_key else config.api_key_env or _ENV
    source = f"the environment variable {variable}" if variable else f"{section}.api_key"
    return Endpoint(
        kind="openai", base_url=config.base_url.rstrip("/"), model=config.name, dimensions=None,
        key=config.api_key or os.environ.get(variable, ""), key_source=source, key_variable=variable,
        headers=dict(config.headers),
    )  # fmt: skip


def _used(answer: Mapping[str, Any]) -> int:
    usage = answer.get("usage")
    given = usage.get("total_tokens") if isinstance(usage, Mapping) else None
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else 0


_CHARACTERS = 3.0
"""Of a token, at least on average: common vocabularies take 3.5 to 4.5 for English and code, and the ceiling is to hold."""


def tokens_of(text: str) -> int:
    """Return a high estimate of a text's tokens; characters beyond ASCII count as one each."""
    plain = sum(letter < "\x80" for letter in text)
    return int(plain / _CHARACTERS) + (len(text) - plain) + 1
