"""One question to a running daemon, within a time; no daemon: no answer."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from cm_tui.errors import DaemonError

_LIMIT = 1_000_000
_NOTHING = "nothing was added to the prompt"
"""The event is in the journal anyway; this explains to the user why the agent got no context."""


def ask(path: str, question: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:
    """What the daemon answers; None when none runs.

    `path`: such as `/v1/hook/prompt`; `question`: sent as JSON; `seconds`: for all of it. Raises DaemonError if it
    takes longer, or does not answer with a record.
    """
    from cm_tui.daemon import endpoint

    until = time.monotonic() + seconds
    try:
        channel = endpoint.connect_socket(seconds)
        if channel is None:
            return None
        # By hand, as a nudge is: the standard client would cost a hook more than all the rest of it.
        body = json.dumps(question).encode("ascii")
        said = {**endpoint.headers(), "Content-Type": "application/json", "Content-Length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in {**said, "Connection": "close"}.items())
        answer = bytearray()
        with channel:
            channel.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body)
            while len(answer) <= _LIMIT:
                channel.settimeout(max(until - time.monotonic(), 0.001))
                piece = channel.recv(1 << 16)
                if not piece:
                    break
                answer += piece
        return _record(bytes(answer))
    except TimeoutError as error:
        raise DaemonError(f"{_NOTHING}: the daemon took longer than {seconds:.2g} s (agents.wait_seconds).") from error
    except (OSError, ValueError) as error:
        raise DaemonError(f"{_NOTHING}: {error}") from error


def _record(answer: bytes) -> dict[str, Any]:
    if not answer:
        raise ValueError("the daemon ended meanwhile")
    head, _, body = answer.partition(b"\r\n\r\n")
    found = json.loads(body)
    if head.split(b" ", 2)[1:2] != [b"200"]:
        raise ValueError(str(found.get("error")) if isinstance(found, dict) else "the daemon refused it")
    return found if isinstance(found, dict) else {}
