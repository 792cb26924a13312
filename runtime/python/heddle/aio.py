"""The calls of a model for asyncio: each runs in a thread of the loop's executor, without
the interpreter's lock. A task that is cancelled ends its call."""

from __future__ import annotations

import asyncio
import functools
from typing import Any, AsyncIterator, Callable, Optional

from .model import Call, Model, Texts


class AsyncModel:
    """A model whose methods are awaited. Shares the model: `AsyncModel(model)`."""

    def __init__(self, model: Model) -> None:
        self.model = model

    async def _run(
        self, method: Callable[..., Any], *arguments: Any, **settings: Any
    ) -> Any:
        call = Call()
        work = functools.partial(call.run, method, *arguments, **settings)
        waiting = asyncio.get_running_loop().run_in_executor(None, work)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            call.cancel()
            # The thread is given back before the task ends.
            await asyncio.wait([waiting])
            if not waiting.cancelled():
                waiting.exception()
            raise

    async def translate(self, texts: Texts, *, target: Any = None, **settings: Any) -> Any:
        return await self._run(self.model.translate, texts, target=target, **settings)

    generate = translate

    async def score(self, texts: Texts, targets: Texts, **settings: Any) -> Any:
        return await self._run(self.model.score, texts, targets, **settings)

    async def embed(self, texts: Texts, **settings: Any) -> Any:
        return await self._run(self.model.embed, texts, **settings)

    async def classify(self, texts: Texts, pairs: Any = None, **settings: Any) -> Any:
        return await self._run(self.model.classify, texts, pairs, **settings)

    async def tag(self, texts: Texts, **settings: Any) -> Any:
        return await self._run(self.model.tag, texts, **settings)

    async def fill(self, texts: Texts, **settings: Any) -> Any:
        return await self._run(self.model.fill, texts, **settings)

    async def answer(self, questions: Texts, contexts: Texts, **settings: Any) -> Any:
        return await self._run(self.model.answer, questions, contexts, **settings)

    async def stream(
        self, text: str, *, target: Optional[str] = None, **settings: Any
    ) -> AsyncIterator[str]:
        """The pieces of an answer as soon as they are certain."""
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[Optional[str]] = asyncio.Queue()
        call = Call()

        def put(piece: Optional[str]) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        def work() -> None:
            try:
                call.run(self.model._tell, text, put, target=target, **settings)
            finally:
                put(None)

        waiting = loop.run_in_executor(None, work)
        try:
            while (piece := await pieces.get()) is not None:
                if piece:
                    yield piece
            await waiting
        finally:
            call.cancel()
            await asyncio.wait([waiting])
            if not waiting.cancelled():
                waiting.exception()
