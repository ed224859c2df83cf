"""How hooks join the daemon: answers to prompts and to sessions that begin."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from cm_tui.agent_hooks.prompt_context import Assemble, PromptContexts, fitting_start
from cm_tui.agent_hooks.reply import BEFORE_ACTION, CHARACTERS, quote_block
from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.daemon.dispatcher import Dispatcher, engine_of
from cm_tui.daemon.http_api import body_of
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.api.assembly import has_definitions
from cm_tui.engine.api.at_start import has_memory_at_start
from cm_tui.errors import CmError, NotIndexedError
from cm_tui.lru import LRU
from cm_tui.model import Pack, WorkState

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

T = TypeVar("T")

_log = logging.getLogger(__name__)
_PROMPT_CHARACTERS = 1_000_000
_LONGEST_PROMPT = 2_000
_COLD_S = 5.0
"""Time after a daemon's start during which packs for prompts have no callers and callees."""
_SESSIONS = 200
_LONGEST_TASK = 20_000
"""Characters of a prompt that rules and definitions look at."""


class _Prompt(BaseModel):
    """What a hook asks."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    root: str = Field(min_length=1, max_length=4096, pattern=r"^[^\x00]+$")
    session: str = ""
    prompt: str = Field(default="", max_length=_PROMPT_CHARACTERS)
    agent: str = Field(default="", max_length=100)
    seconds: float = Field(ge=0, le=60)
    first: bool = False
    """It is the first prompt of a session that was given no memory when it began."""
    paths: tuple[str, ...] = Field(default=(), max_length=1_000)
    """Files below the root that a tool is about to write."""
    command: str = Field(default="", max_length=_PROMPT_CHARACTERS)
    """Line that a tool is about to give to a shell."""


class _HookRequests:
    """Requests of hooks to a daemon's projects.

    `dispatcher`: calls methods of the projects; `on_nudge`: called with the root of every prompt, as at a nudge; `clock`: for the time
    since the daemon's start.
    """

    def __init__(self, dispatcher: Dispatcher, on_nudge: Callable[[Path], object], clock: Clock) -> None:
        self._dispatcher = dispatcher
        self._on_nudge = on_nudge
        self._answers = PromptContexts(self._pack)
        self._reminded: LRU[str, set[str]] = LRU(_SESSIONS)
        """What each session was reminded of."""
        self._clock = clock
        self._started = clock.monotonic()

    def begun(self, asked: _Prompt) -> str:
        """Return what a session is given when it begins; what it was reminded of is no longer in its context."""
        self._reminded.pop(asked.session)
        root = Path(asked.root)
        return self._start(root, load_config(root).agents.start_budget, asked)

    def prompted(self, asked: _Prompt) -> str:
        """Return what is added to a prompt."""
        root = Path(asked.root)
        self._on_nudge(root)
        config = load_config(root).agents
        begun = self._start(root, config.start_budget, asked) if asked.first else ""
        # Where the memory of a beginning session takes its room, the first prompt's context has less.
        budget = config.budget - config.budget * len(begun) // CHARACTERS
        found = self._answers.prompt(
            root,
            asked.session,
            asked.prompt,
            budget=budget,
            seconds=asked.seconds,
            find_names=lambda words, common: self._names(root, words, common),
            assemble=self._assembly(root, asked),
            on_given=lambda given: self._count(root, given.recalled, asked.agent),
        )
        return "\n\n".join(part for part in (begun, found) if part)

    def acting(self, asked: _Prompt) -> str:
        """Return what is known about a tool call, each memory once in a session."""
        found = self._of_index(
            Path(asked.root),
            lambda engine: engine.reminders(paths=asked.paths, command=asked.command, session=asked.session),
        )
        told = self._reminded.get(asked.session) or set()
        new = [one for one in found or () if one.text not in told]
        if not new:
            return ""
        self._reminded.put(asked.session, told | {one.text for one in new})
        self._count(Path(asked.root), [one.path for one in new], asked.agent)
        return quote_block("\n".join(f"- {one.text}" for one in new), BEFORE_ACTION)

    def _start(self, root: Path, budget: int, asked: _Prompt) -> str:
        if not has_memory_at_start(root):
            return ""
        engine, prompt = self._engine(root), asked.prompt[:_LONGEST_PROMPT]
        given = fitting_start(
            lambda tokens: engine.inject(budget=tokens, prompt=prompt),
            engine.day_logs(),
            budget,
            self._work_state(root, asked.session),
        )
        self._count(root, given.paths, asked.agent)
        return given.text

    def _work_state(self, root: Path, session: str) -> WorkState | None:
        """Return where the session stopped, else the last one; None where that cannot be read: the rest is given all the same."""
        try:
            return self._engine(root).work_state(session=session)
        except CmError as error:
            _log.warning("where the last session of %s stopped: %s", root, error.message)
            return None

    def _assembly(self, root: Path, asked: _Prompt) -> Assemble | None:
        """Return what assembles for a prompt, where files of the project say what is handed over; else None."""
        if not has_definitions(root):
            return None
        assemble, prompt = self._engine(root).assemble, asked.prompt[:_LONGEST_TASK]
        return lambda budget, keep: assemble(prompt, budget=budget, session=asked.session, agent=asked.agent, keep=keep)

    def _pack(self, root: Path, question: str, budget: int) -> Pack | None:
        # In a daemon that has just started, the tables of calls would take longer than the hook waits.
        is_warm = self._clock.monotonic() - self._started >= _COLD_S
        return self._of_index(root, lambda engine: engine.pack(question, budget=budget, neighbours=is_warm))

    def _names(self, root: Path, words: Sequence[str], common: bool) -> Sequence[str] | None:
        return self._of_index(root, lambda engine: engine.known_names(words, common=common))

    def _of_index(self, root: Path, ask: Callable[[Engine], T]) -> T | None:
        """Return what the project's index answers; None where there is no index."""
        engine = self._engine(root)
        try:
            engine.stale_reason()
        except NotIndexedError:
            return None
        return ask(engine)

    def _count(self, root: Path, paths: Sequence[str], agent: str) -> None:
        """Count what an agent was given of the memory."""
        if paths:
            self._engine(root).note_recalled(paths, actor="agent", agent=agent)

    def _engine(self, root: Path) -> Engine:
        return engine_of(self._dispatcher, ProjectRef(str(root), own_index=True))


def prompts(dispatcher: Dispatcher, on_nudge: Callable[[Path], object], clock: Clock = SYSTEM) -> Starlette:
    """An application that answers prompts and sessions that begin, to be mounted at `/v1/hook`.

    `dispatcher`: calls methods of the projects; `on_nudge`: called with the root of every prompt, as at a nudge; `clock`: for the time
    since the daemon's start.
    """
    asked = _HookRequests(dispatcher, on_nudge, clock)
    return Starlette(
        routes=[
            Route("/prompt", _endpoint(asked.prompted), methods=["POST"]),
            Route("/start", _endpoint(asked.begun), methods=["POST"]),
            Route("/action", _endpoint(asked.acting), methods=["POST"]),
        ]
    )


def _endpoint(work: Callable[[_Prompt], str]) -> Callable[[Request], Awaitable[JSONResponse]]:
    async def answer(request: Request) -> JSONResponse:
        try:
            asked = _Prompt.model_validate(await body_of(request))
        except (CmError, ValueError) as error:
            return JSONResponse({"error": str(error)}, 400)
        try:
            return JSONResponse({"context": await anyio.to_thread.run_sync(work, asked)})
        except CmError as error:
            return JSONResponse({"error": error.message}, 409)

    return answer
