"""Runs calls on `httpx`, of which it uses only what versions 0.23 to 0.28 have in common."""

from __future__ import annotations

import asyncio
import errno
import ssl
from typing import Any, AsyncGenerator, Dict, MutableMapping, Optional, Union
from weakref import WeakKeyDictionary

import httpx

from ._core import Operation, Settings, _Answer, _Attempt, _endless, _Failed, _Pause

_Pools = MutableMapping[asyncio.AbstractEventLoop, httpx.AsyncHTTPTransport]


class AsyncCore(Settings):
    """Connections belong to the event loop that opened them: each loop has a pool of its own. Cancelling a call ends it."""

    def _open(self) -> None:
        self._pools: _Pools = WeakKeyDictionary()

    async def aclose(self) -> None:
        """Closes the connections of this event loop; the client may be used again."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.aclose()

    async def __aenter__(self) -> "AsyncCore":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _call(
        self,
        operation: Operation,
        arguments: Dict[str, Any],
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        deadline: Optional[float] = None,
    ) -> Any:
        steps = self._steps(operation, arguments, idempotency_key, timeout, deadline)
        step = next(steps)
        while True:
            answer = None
            try:
                if isinstance(step, _Pause):
                    await self._clock.sleep_async(step.seconds)
                else:
                    answer = await self._attempt(step)
            except _Failed as failed:
                step = steps.throw(failed)
                continue
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return end.value

    async def _attempt(self, its: _Attempt) -> _Answer:
        """An idle connection may be closed by now, so what must not be sent twice has one of its own."""
        pool = self._pool() if its.may_repeat else self._transport()
        clock = asyncio.get_running_loop()
        ends_at = clock.time() + its.limit
        message = f"no whole answer within {round(its.limit * 1_000)} ms"
        late = _Failed(True, "CLIENT_TIMEOUT", message, details={"reason": "timeout"})
        try:
            answer = await asyncio.wait_for(self._answer(pool, its), its.limit)
            # A body that ends with its connection may have been ended by the limit: then it is not whole.
            if clock.time() >= ends_at:
                raise late
            return answer
        except asyncio.TimeoutError:
            raise late from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            if clock.time() >= ends_at:
                raise late from None
            raise _Failed(True, "CLIENT_NETWORK", "no whole answer came", details={"reason": _reason_of(error)}) from None
        finally:
            if not its.may_repeat:
                await pool.aclose()

    async def _answer(self, pool: httpx.AsyncHTTPTransport, its: _Attempt) -> _Answer:
        # The transport itself: a client of httpx would keep cookies.
        port = "" if self._port is None else f":{self._port}"
        host = f"[{self._host}]" if ":" in self._host else self._host
        place = f"{'https' if self._is_tls else 'http'}://{host}{port}{its.target}"
        request = httpx.Request(its.method, place, headers=dict(its.headers), content=its.body)
        response = await pool.handle_async_request(request)
        try:
            body = await response.aread()
        finally:
            await response.aclose()
        return _Answer(response.status_code, {name.lower(): value for name, value in response.headers.items()}, body)

    def _pool(self) -> httpx.AsyncHTTPTransport:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None:
            pool = self._pools[loop] = self._transport()
        return pool

    def _transport(self) -> httpx.AsyncHTTPTransport:
        limits = httpx.Limits(max_keepalive_connections=8, keepalive_expiry=4.0)
        context: Union[ssl.SSLContext, bool] = False
        if self._is_tls:
            self._tls = self._tls or ssl.create_default_context()
            context = self._tls
        return httpx.AsyncHTTPTransport(verify=context, limits=limits, trust_env=False)

    async def _walk(
        self, operation: Operation, arguments: Dict[str, Any], timeout: Optional[float], deadline: Optional[float]
    ) -> AsyncGenerator[Any, None]:
        seen = set()
        for _ in range(self._pages_max):
            page = await self._call(operation, arguments, None, timeout, deadline)
            for row in page["content"]:
                yield row
            after = page.get("next")
            if after is None:
                return
            if after in seen:
                _endless("cursor_repeats", "the list goes in a circle: a cursor came twice")
            seen.add(after)
            arguments = {**arguments, "after": after}
        _endless("pages", f"the list has more than {self._pages_max} pages: go on with after, or ask for larger ones")


def _reason_of(error: BaseException) -> str:
    """The system's word, which stands at the end of what led to the error."""
    at: Optional[BaseException] = error
    while at is not None:
        number = getattr(at, "errno", None)
        if number:
            return errno.errorcode.get(number, "connection")
        at = at.__cause__ or at.__context__
    return "connection"
