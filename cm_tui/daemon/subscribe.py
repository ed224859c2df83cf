"""Following the daemon from outside: what happens there, and its jobs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from cm_tui import model
from cm_tui.daemon import bootstrap, rpc
from cm_tui.daemon.connection import Connection, DaemonGoneError
from cm_tui.errors import DaemonError

if TYPE_CHECKING:
    from cm_tui.daemon.jobs import JobRecord

RETRY_S = 1.0
"""How often a daemon that has gone is looked for again."""


def events(stop: threading.Event) -> Iterator[dict[str, Any]]:
    """Give what happens in the daemon, as it happens; never starts one, and waits for the next when it goes.

    Each record has `event` (`index`, `config`, `job-started`, `job-ended`, `nudge`, `gone`, `ending`, `lost`), `at`,
    and what belongs to it. `connected` and `disconnected` say whether it is reached. `stop`: ends it, within a second.
    """
    while not stop.is_set():
        connection = Connection(10.0)
        connected = False
        with closing(connection):
            try:
                for status, data in connection.lines("GET", "/v1/events"):
                    if stop.is_set():
                        return
                    # A daemon that refuses, as it speaks another protocol, is none to be connected to.
                    record = rpc.parse_response(status, data) if data else {}
                    if not connected:
                        connected = True
                        yield {"event": "connected"}
                    if record:
                        yield record
            except DaemonError:
                # Gone, or hanging: the next one is looked for below.
                connection.close()
        if connected:
            yield {"event": "disconnected"}
        stop.wait(RETRY_S)


def jobs() -> list[JobRecord]:
    """Return the daemon's jobs, oldest first; none when there is no daemon."""
    from cm_tui.daemon.jobs import JobRecord

    answer = bootstrap.request("GET", "/v1/jobs")
    if answer is None:
        return []
    found = rpc.parse_response(*answer).get("result")
    records: list[JobRecord] = rpc.checked(TypeAdapter(list[JobRecord]), found, "jobs")
    return records


def follow(method: str, path: str, body: Any = None) -> Iterator[dict[str, Any]]:
    """Give the records of a job, to its end: its number in `job`, each step in `step`; empty ones are signs of life.

    Raises CmError if the job failed, as it says, or was cancelled; DaemonGoneError if the daemon has gone.
    """
    connection = Connection(bootstrap.START_SECONDS)
    with closing(connection):
        for status, data in connection.lines(method, path, body):
            record = rpc.parse_response(status, data) if data else {}
            if "error" in record:
                raise rpc.error_of(record["error"])
            if "end" in record:
                return
            yield record
    raise DaemonGoneError


def watch(job: str) -> Iterator[model.Progress]:
    """Give the steps of a job from its beginning to its end. Raises as `follow` does."""
    adapter = TypeAdapter(model.Progress)
    for record in follow("GET", f"/v1/jobs/{job}"):
        if "step" in record:
            yield rpc.checked(adapter, record["step"], "step")


def cancel(job: str) -> None:
    """Ask a job to stop, regardless of who started it.

    Raises NotFoundError if there is no such job; DaemonError if there is no daemon.
    """
    answer = bootstrap.request("POST", f"/v1/jobs/{job}/cancel", {})
    if answer is None:
        raise DaemonGoneError
    rpc.parse_response(*answer)
