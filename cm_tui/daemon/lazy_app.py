"""An ASGI application that is made with its first request: what most daemons never need should not slow their start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send


class Lazy(Starlette):
    """Wraps an application and creates it with the first request.

    `make`: imports and creates it; called once, on a thread.
    """

    def __init__(self, make: Callable[[], Starlette]) -> None:
        super().__init__(lifespan=self._living)
        self._make = make
        self._app: Starlette | None = None
        self._lock = asyncio.Lock()
        self._end = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Create the application if necessary, and forward the request."""
        if scope["type"] == "lifespan":
            await super().__call__(scope, receive, send)
            return
        async with self._lock:
            if self._app is None:
                await self._begin()
        assert self._app is not None
        await self._app(scope, receive, send)

    async def _begin(self) -> None:
        app = await asyncio.to_thread(self._make)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def live() -> None:
            # What a lifespan holds must be let go by the task that took it.
            try:
                async with app.router.lifespan_context(app):
                    ready.set_result(None)
                    await self._end.wait()
            except Exception as error:
                if ready.done():
                    raise
                ready.set_exception(error)

        self._running = asyncio.create_task(live())
        await ready
        self._app = app

    @asynccontextmanager
    async def _living(self, _: Starlette) -> AsyncIterator[None]:
        yield
        self._end.set()
        if self._running is not None:
            await self._running
