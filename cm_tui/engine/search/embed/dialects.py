"""Request and response formats of remote providers: OpenAI and compatible ones, Gemini, Voyage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from cm_tui.config.endpoints import Endpoint, Kind

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
