"""How hooks join the daemon: answers to prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cm_tui.agent_hooks.prompt_context import Answers
from cm_tui.config import load_config
from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.errors import CmError, NotIndexedError
from cm_tui.model import Pack

_BODY_BYTES = 1_000_000


class OnNudge(Protocol):
    """Work that follows from the journal of a project."""

    def on_nudge(self, root: Path) -> None:
        """Note that the journal of the project at this root has news."""


class _Prompt(BaseModel):
    """What a hook asks."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    root: str = Field(min_length=1, max_length=4096)
    session: str = ""
    prompt: str
    seconds: float = Field(ge=0, le=60)


def prompts(dispatcher: Dispatcher, work: OnNudge) -> Starlette:
    """An application that answers prompts, to be mounted at `/v1/hook`.

    Args:
        dispatcher: the way to the projects.
        work: told of every prompt, as of a nudge.
    """

    def pack(root: Path, question: str, budget: int) -> Pack | None:
        where = ProjectRef(str(root), own_index=True)
        try:
            dispatcher.call("stale_reason", where, {})
        except NotIndexedError:
            return None
        found: Pack = dispatcher.call("pack", where, {"question": question, "budget": budget})
        return found

    answers = Answers(pack)

    def answered(asked: _Prompt) -> str:
        root = Path(asked.root)
        work.on_nudge(root)
        budget = load_config(root).agents.budget
        return answers.prompt(root, asked.session, asked.prompt, budget=budget, seconds=asked.seconds)

    async def prompt(request: Request) -> JSONResponse:
        try:
            asked = _Prompt.model_validate_json(await _body(request))
            context = await anyio.to_thread.run_sync(answered, asked)
        except (ValidationError, ValueError) as error:
            return _refused(str(error), 400)
        except CmError as error:
            return _refused(error.message, 409)
        return JSONResponse({"context": context})

    return Starlette(routes=[Route("/prompt", prompt, methods=["POST"])])


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _BODY_BYTES:
            raise ValueError(f"A prompt's request may have {_BODY_BYTES:,} bytes at most.")
    return bytes(body)


def _refused(message: str, status: int) -> JSONResponse:
    said: dict[str, Any] = {"error": message}
    return JSONResponse(said, status)
