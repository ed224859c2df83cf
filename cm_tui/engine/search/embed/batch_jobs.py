"""Batch jobs of remote providers: many texts at once, embedded when the provider finds the time, and cheaper.

OpenAI and Voyage take files of requests, Gemini a list of them. A job's results may come in any order, lack some, and
contain errors instead of vectors; the number in the job identifies a text.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cm_tui.engine.search.embed.provider import Provider
from cm_tui.engine.search.embed.remote import GeminiDialect, RemoteProvider, VoyageDialect
from cm_tui.errors import ModelError

State = Literal["running", "done", "failed"]
_ENDED_BADLY = ("failed", "expired", "cancelled", "batch_state_failed", "batch_state_cancelled", "batch_state_expired")
_DONE = ("completed", "batch_state_succeeded")


@dataclass(frozen=True, slots=True)
class JobReport:
    """State of a job."""

    state: State
    vectors: Mapping[int, Any] = field(default_factory=dict)
    """By the number of the text; a job that failed may have some too."""
    reason: str = ""
    """Why vectors are missing, in the provider's words."""
    files: tuple[str, ...] = ()
    """The provider's data on it."""


class _Jobs:
    """The batch jobs of one endpoint."""

    most_texts: int
    """Of one job; many fewer than are allowed, so that an answer fits into memory."""
    most_bytes: int
    """Of all texts of one job."""
    _place = "/"
    """Where the endpoint has its data on jobs."""

    def __init__(self, provider: RemoteProvider) -> None:
        self._provider = provider
        self._client = provider.client

    def tidy(self, report: JobReport) -> None:
        """Delete the endpoint's data on a job, if supported."""
        for file in report.files:
            self._delete(file)

    def _delete(self, file: str) -> None:
        with suppress(ModelError):
            self._client.ask("DELETE", f"{self._place}{file}", attempts=1)

    def _no_job(self) -> ModelError:
        return self._client.error("did not answer with a batch job", "Set embedding.batch.enabled = false.")


def batch_jobs_of(provider: Provider) -> FileJobs | InlineJobs | None:
    """Return the batch jobs of a provider; None: not configured, or not supported."""
    if not isinstance(provider, RemoteProvider) or not provider.settings.batch.enabled:
        return None
    if isinstance(provider.dialect, GeminiDialect):
        return InlineJobs(provider, provider.dialect)
    return FileJobs(provider)


class FileJobs(_Jobs):
    """Jobs from a file with one request per line: OpenAI's batch API, and Voyage's, which differs slightly."""

    most_texts = 10_000
    most_bytes = 100_000_000  # OpenAI takes files of 200 MB
    _place = "/files/"

    def __init__(self, provider: RemoteProvider) -> None:
        super().__init__(provider)
        self._dialect = provider.dialect

    def submit(self, texts: Sequence[str]) -> str:
        """Hand texts over, which are in a form that may be sent; returns the job's id.

        Raises ModelError if the endpoint does not take them.
        """
        lines = "\n".join(json.dumps(self._line(number, text)) for number, text in enumerate(texts))
        files = {"file": ("passages.jsonl", f"{lines}\n".encode())}
        file = self._id(self._answer(self._client.ask("POST", "/files", data={"purpose": "batch"}, files=files)))
        try:
            return self._id(self._client.post("/batches", self._order(file)))
        except ModelError:
            self._delete(file)
            raise

    def report(self, job: str) -> JobReport:
        """Return the state of a job.

        Raises NotOfferedError if the endpoint does not know it; ModelError: the request failed.
        """
        found = self._client.get(f"/batches/{job}")
        try:
            status = str(found["status"]).lower()
            names = [found.get(name) for name in ("input_file_id", "output_file_id", "error_file_id")]
            errors = (found.get("errors") or {}).get("data") or [{}]
            reason = str(errors[0].get("message") or "")
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise self._no_job() from error
        if status not in (*_DONE, *_ENDED_BADLY):
            return JobReport("running")
        files = tuple(str(name) for name in names if name)
        vectors: dict[int, Any] = {}
        for name in files[1:]:
            for number, vector, problem in self._results(self._client.ask("GET", f"/files/{name}/content")):
                if vector is not None:
                    vectors[number] = vector
                reason = reason or problem
        reason = reason or ("" if status in _DONE else f"the job is {status}")
        return JobReport("done" if status in _DONE else "failed", vectors, reason, files)

    def _line(self, number: int, text: str) -> dict[str, Any]:
        if isinstance(self._dialect, VoyageDialect):
            return {"custom_id": str(number), "body": {"input": [text]}}
        body = self._dialect.body(self._provider.endpoint, [text], "document")
        return {"custom_id": str(number), "method": "POST", "url": "/v1/embeddings", "body": body}

    def _order(self, file: str) -> dict[str, Any]:
        order: dict[str, Any] = {"input_file_id": file, "endpoint": "/v1/embeddings", "completion_window": "24h"}
        if isinstance(self._dialect, VoyageDialect):
            parameters = self._dialect.parameters(self._provider.endpoint, "document")
            return {**order, "completion_window": "12h", "request_params": parameters}
        return order

    def _results(self, content: bytes) -> Iterator[tuple[int, Any, str]]:
        """Yield the text's number, its vector or None, and the error, for each line of results."""
        for line in io.BytesIO(content):
            try:
                result = json.loads(line)
                number = int(result["custom_id"])
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
            try:
                yield number, decoded(self._dialect.vectors(result["response"]["body"])[0]), ""
            except (ValueError, KeyError, TypeError, AttributeError, IndexError):
                yield number, None, _problem(result)

    def _answer(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise self._no_job() from error

    def _id(self, answer: Any) -> str:
        found = answer.get("id") if isinstance(answer, dict) else None
        if not isinstance(found, str) or not found.replace("-", "").replace("_", "").isalnum():
            raise self._no_job()
        return found


class InlineJobs(_Jobs):
    """Jobs from one list of requests: Gemini's, with an operation to poll."""

    most_texts = 2_000
    most_bytes = 15_000_000  # it takes 20 MB

    def __init__(self, provider: RemoteProvider, dialect: GeminiDialect) -> None:
        super().__init__(provider)
        self._dialect = dialect

    def submit(self, texts: Sequence[str]) -> str:
        """As `FileJobs.submit`."""
        endpoint = self._provider.endpoint
        requests = [
            {"request": self._dialect.request(endpoint, text, "document"), "metadata": {"key": str(number)}}
            for number, text in enumerate(texts)
        ]
        batch = {"displayName": "passages", "inputConfig": {"requests": {"requests": requests}}}
        path = f"/{self._dialect.model(endpoint)}:asyncBatchEmbedContent"
        answer = self._client.post(path, {"batch": batch})
        name = answer.get("name") if isinstance(answer, dict) else None
        if not isinstance(name, str) or not name.startswith("batches/") or not name[8:].replace("-", "").isalnum():
            raise self._no_job()
        return name

    def report(self, job: str) -> JobReport:
        """As `FileJobs.report`."""
        found = self._client.get(f"/{job}")
        try:
            described = found.get("metadata") or {}
            status = str(described.get("state") or found.get("state") or "").lower()
            reason = str((found.get("error") or {}).get("message") or "")
            if not (found.get("done") or status in (*_DONE, *_ENDED_BADLY)):
                return JobReport("running")
            output = found.get("response") or described.get("output") or {}
            rows = (output.get("inlinedResponses") or {}).get("inlinedResponses") or []
        except AttributeError as error:
            raise self._no_job() from error
        vectors: dict[int, Any] = {}
        for at, row in enumerate(rows):
            try:
                # In the order of the requests; the key is surer where it comes back.
                number = int((row.get("metadata") or {}).get("key", at))
                vectors[number] = row["response"]["embedding"]["values"]
            except (ValueError, KeyError, TypeError, AttributeError):
                reason = reason or _problem(row)
        is_done = status in _DONE or (not status and not reason)
        reason = reason or ("" if is_done else f"the job is {status}")
        return JobReport("done" if is_done else "failed", vectors, reason, (job,))


def decoded(vector: Any) -> Any:
    """Return a vector as numbers: some endpoints answer in base64."""
    return np.frombuffer(base64.b64decode(vector), dtype="<f4") if isinstance(vector, str) else vector


def _problem(result: Any) -> str:
    """Return the error in a line of results."""
    response = result.get("response") if isinstance(result, dict) else None
    body = response.get("body") if isinstance(response, dict) else None
    for place in (result, response, body):
        error = place.get("error") if isinstance(place, dict) else None
        if error:
            return str(error.get("message", error) if isinstance(error, dict) else error)[:300]
    return "a line of results has no vector"
