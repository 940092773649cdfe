"""One call: its attempts, their limits, and what an answer means."""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import math
import os
import random
import re
import socket
import ssl
import threading
import time
import uuid
from email.utils import parsedate_to_datetime
from typing import Any, Dict, Generator, List, Mapping, NamedTuple, NoReturn, Optional, Tuple, Union, cast
from urllib.parse import quote, urlencode, urlsplit

from ._version import VERSION

#: An argument that was not given; None is sent as null.
UNSET: Any = ...

_JSON_TYPE = re.compile(r"application/(?:[\w.-]+\+)?json\b", re.IGNORECASE)
_REPEATED = frozenset((429, 500, 502, 503, 504))
_PATIENCE_SECONDS = 60
_PAUSE_FIRST_MS = 500
_PAUSE_MOST_MS = 8_000
_USER_REF_UNITS_MAX = 255
#: A service keeps an idle connection for five seconds at least.
_IDLE_SECONDS_MAX = 4.0
_IDLE_CONNECTIONS_MAX = 8
#: A timer takes no more; the limit of a call is far below.
_LIMIT_SECONDS_MAX = 86_400.0
_CHUNK_BYTES = 65_536


class FlockError(Exception):
    """The one error. Branch on `code`; a newer service may have codes and details that this version does not know.

    The client's own codes: CLIENT_NETWORK (no answer, or none of Flock), CLIENT_TIMEOUT, and CLIENT_INVALID for what is
    refused before anything is sent.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        details: Optional[Mapping[str, Any]] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[int] = None,
        attempts: int = 0,
        idempotency_key: Optional[str] = None,
        doc_url: Optional[str] = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        #: HTTP status; 0 where there was no answer.
        self.status = status
        self.details: Mapping[str, Any] = details or {}
        self.request_id = request_id
        #: Seconds that the service asks to wait.
        self.retry_after = retry_after
        #: Requests that were sent.
        self.attempts = attempts
        #: The key of the write: sent again with the same arguments it has the same effect, once.
        self.idempotency_key = idempotency_key
        #: The operation at a cloud's /docs; None at an edge, which has no such page.
        self.doc_url = doc_url

    def __reduce__(self) -> Tuple[Any, ...]:
        # Of its fields: an error that no other process can read would hang a pool of them.
        return _error_of, (dict(vars(self)), self.args)


def _error_of(fields: Dict[str, Any], args: Tuple[Any, ...]) -> FlockError:
    error = FlockError.__new__(FlockError, *args)
    error.args = args
    vars(error).update(fields)
    return error


class Clock:
    """What passes and what is random: tests give their own."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def random(self) -> float:
        """In [0, 1)."""
        return random.random()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    async def sleep_async(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Operation(NamedTuple):
    id: str
    method: str
    path: str
    marks: str


class _Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class _Failed(Exception):
    """How an attempt went wrong, and whether another one may go right."""

    def __init__(self, may_repeat: bool, code: str, message: str, **fields: Any) -> None:
        super().__init__(code)
        self.may_repeat = may_repeat
        self.code = code
        self.message = message
        self.fields = fields


def _invalid(field: str, message: str) -> NoReturn:
    raise FlockError("CLIENT_INVALID", message, details={"field": field}) from None


class _Attempt(NamedTuple):
    """One request and its whole answer within `limit` seconds."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: Optional[bytes]
    limit: float
    may_repeat: bool


class _Pause(NamedTuple):
    seconds: float


Steps = Generator[Union[_Attempt, _Pause], Optional[_Answer], Any]


class Settings:
    """Settings of one client, and what its calls do."""

    def __init__(
        self,
        base_url: str,
        api_key: Optional[str] = None,
        *,
        bearer: Optional[str] = None,
        environment: Optional[str] = None,
        expect: Optional[str] = None,
        retries: int = 2,
        timeout: float = 30.0,
        deadline: float = 60.0,
        pages_max: int = 10_000,
        ssl_context: Optional[ssl.SSLContext] = None,
        clock: Optional[Clock] = None,
    ) -> None:
        """`base_url` is your edge's (with a loc_ key) or the cloud's (flk_). `expect`, "live" or "sandbox": a key of the
        other one is refused. `timeout`: seconds of one attempt, its body included; `deadline`: of a whole call.

        Raises FlockError CLIENT_INVALID for what cannot work, without its value.
        """
        key = re.match(r"(flk|loc)_(live|test)_", api_key or "")
        if api_key is not None and (key is None or not re.fullmatch(r"[!-~]+", api_key)):
            _invalid("apiKey", "api_key begins with flk_live_, flk_test_, loc_live_ or loc_test_, and has no spaces")
        if bearer is not None and not re.fullmatch(r"[!-~]+", bearer):
            _invalid("bearer", "bearer is a token without spaces")
        for name, value in (("retries", retries), ("timeout", timeout), ("deadline", deadline), ("pagesMax", pages_max)):
            if not (isinstance(value, (int, float)) and value >= 0):
                _invalid(name, f"{name} is a number, 0 or more")
        its = environment if key is None else "live" if key[2] == "live" else "sandbox"
        if expect is not None and its != expect:
            _invalid("expect", f"{expect} is expected, and the {'environment' if key is None else 'key'} is another one")
        self._place(base_url)
        self._headers = {"accept": "application/json", "user-agent": f"flock-python/{VERSION}"}
        for header, said in (("x-api-key", api_key), ("x-environment", environment)):
            if said is not None:
                self._headers[header] = said
        if bearer is not None:
            self._headers["authorization"] = f"Bearer {bearer}"
        self._is_local_key = None if key is None else key[1] == "loc"
        self._retries = retries
        self._timeout = timeout
        self._deadline = deadline
        self._pages_max = pages_max
        self._clock = clock or Clock()
        self._tls = ssl_context
        self._open()

    def _open(self) -> None:
        """What is needed beside the settings."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._base}>"

    def _place(self, base_url: str) -> None:
        wrong = "base_url is an http or https address without user, password, query and fragment"
        try:
            url = urlsplit(base_url)
            port = url.port
        except (ValueError, AttributeError, TypeError):
            _invalid("baseUrl", wrong)
        if url.scheme not in ("http", "https") or not url.hostname or "@" in url.netloc or url.query or url.fragment:
            _invalid("baseUrl", wrong)
        self._is_tls = url.scheme == "https"
        self._host = url.hostname
        self._port = port
        self._prefix = url.path.rstrip("/")
        self._base = f"{url.scheme}://{url.netloc}{self._prefix}"

    # One call -----------------------------------------------------------------------------------------------------

    def _steps(
        self,
        operation: Operation,
        arguments: Dict[str, Any],
        idempotency_key: Optional[str],
        timeout: Optional[float],
        deadline: Optional[float],
    ) -> Steps:
        """What a call does, without doing it: whoever runs it sends the answer of an attempt, or throws _Failed."""
        arguments = {name: value for name, value in arguments.items() if value is not UNSET}
        is_keyed = "k" in operation.marks
        key = (idempotency_key if idempotency_key is not None else str(uuid.uuid4())) if is_keyed else None
        doc_url = None if self._is_local_key else f"{self._base}/docs#{operation.id}"
        wrong = self._problem_of(operation, arguments, key)
        if wrong is not None:
            raise FlockError("CLIENT_INVALID", wrong, idempotency_key=key, doc_url=doc_url)
        target, body = self._request_of(operation, arguments)
        headers = dict(self._headers)
        if body is not None:
            headers["content-type"] = "application/json"
        if key is not None:
            headers["idempotency-key"] = key
        clock = self._clock
        ends_at = clock.now() + (self._deadline if deadline is None else deadline)
        may_repeat = operation.method == "GET" or is_keyed
        attempts = 0
        error = FlockError(
            "CLIENT_TIMEOUT",
            "the time of the call was over before it was sent",
            details={"reason": "timeout"},
            idempotency_key=key,
            doc_url=doc_url,
        )
        while True:
            limit = min(self._timeout if timeout is None else timeout, ends_at - clock.now(), _LIMIT_SECONDS_MAX)
            # A pause may have been longer than it should: of a machine that slept, or a busy one.
            if not limit > 0:
                raise error
            attempts += 1
            try:
                answer = yield _Attempt(operation.method, target, headers, body, limit, may_repeat)
                return _value_of(cast(_Answer, answer), "d" in operation.marks, clock)
            except _Failed as failed:
                error = FlockError(
                    failed.code, failed.message, attempts=attempts, idempotency_key=key, doc_url=doc_url, **failed.fields
                )
                if not failed.may_repeat or not may_repeat or attempts > self._retries:
                    raise error from None
            least = error.retry_after or 0
            pause = max(least, _pause_ms(attempts - 1, clock.random()) / 1_000)
            if least > _PATIENCE_SECONDS or clock.now() + pause >= ends_at:
                raise error
            yield _Pause(pause)

    def _problem_of(self, operation: Operation, arguments: Mapping[str, Any], key: Optional[str]) -> Optional[str]:
        if self._is_local_key is True and "c" in operation.marks:
            return f"{operation.id} is served by the cloud alone: give its address as base_url, and an flk_ key"
        if self._is_local_key is False and "e" in operation.marks:
            return f"{operation.id} is served by an edge alone: give its address as base_url, and a loc_ key"
        # Blanks at its ends would be lost on the way, and two keys be one.
        if key is not None and not re.fullmatch(r"[!-~](?:[ -~]{0,253}[!-~])?", key):
            return "idempotency_key is 1 to 255 printable characters of ASCII, without blanks at its ends"
        user_ref = arguments.get("userRef")
        if user_ref is not None and not isinstance(user_ref, str):
            return 'user_ref is text: 42 is another customer than "042"'
        if len((user_ref or "").encode("utf-16-le", "surrogatepass")) // 2 > _USER_REF_UNITS_MAX:
            return f"user_ref has more than {_USER_REF_UNITS_MAX} characters"
        for name in re.findall(r"\{(\w+)\}", operation.path):
            # Dots alone are steps in the tree of addresses: the request would be of another operation.
            if str(arguments.get(name) or "") in ("", ".", ".."):
                return f"{name} is a part of the path: text, and not only dots"
        for name, value in arguments.items():
            if "b" not in operation.marks and not isinstance(value, (str, int, float)):
                return f"{name} is text, a number or a boolean"
            if not _is_sendable(value):
                return f"{name} has half of a surrogate pair, NaN or what is no JSON in it"
        return None

    def _request_of(self, operation: Operation, arguments: Mapping[str, Any]) -> Tuple[str, Optional[bytes]]:
        rest = dict(arguments)

        def put_in(match: "re.Match[str]") -> str:
            return quote(str(rest.pop(match[1], "")), safe="")

        path = self._prefix + re.sub(r"\{(\w+)\}", put_in, operation.path)
        if "b" in operation.marks:
            return path, json.dumps(rest, ensure_ascii=False, separators=(",", ":")).encode()
        given = {name: _query_text(value) for name, value in rest.items()}
        return (f"{path}?{urlencode(given, quote_via=quote)}" if given else path), None


class Core(Settings):
    """Runs calls on connections of the standard library; it may be used from several threads."""

    def _open(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._idle: List[Tuple[http.client.HTTPConnection, float]] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def close(self) -> None:
        """Closes idle connections; the client may be used again."""
        if self._process != os.getpid():
            return self._forget()
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def _call(
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
                    self._clock.sleep(step.seconds)
                else:
                    answer = self._attempt(*step)
            except _Failed as failed:
                step = steps.throw(failed)
                continue
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return end.value

    # One attempt --------------------------------------------------------------------------------------------------

    def _attempt(
        self, method: str, target: str, headers: Mapping[str, str], body: Optional[bytes], limit: float, may_repeat: bool
    ) -> _Answer:
        """One request and its whole answer within `limit` seconds. An idle connection may be closed by now, so what must
        not be sent twice has one of its own."""
        connection = self._connection(may_repeat)
        ends_at = time.monotonic() + limit
        #: What the timer cuts: the socket that is waited for now.
        at: List[socket.socket] = [] if connection.sock is None else [connection.sock]
        is_late = threading.Event()

        def stop() -> None:
            is_late.set()
            for sock in at:
                _shut(sock)

        timer = threading.Timer(limit, stop)
        timer.daemon = True
        timer.start()
        try:
            if connection.sock is None:
                self._connect(connection, ends_at, at)
            cast(socket.socket, connection.sock).settimeout(limit)  # one that is used again has that of the call before
            if is_late.is_set():
                raise socket.timeout()
            connection.request(method, target, body, dict(headers))
            response = connection.getresponse()
            parts = []
            while True:
                part = response.read(_CHUNK_BYTES)
                if not part:
                    break
                parts.append(part)
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
            # A body that ends with its connection was ended by the timer.
            if is_late.is_set():
                raise socket.timeout()
            answer = _Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, b"".join(parts))
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            if is_late.is_set() or isinstance(error, socket.timeout):
                message = f"no whole answer within {round(limit * 1_000)} ms"
                raise _Failed(True, "CLIENT_TIMEOUT", message, details={"reason": "timeout"}) from None
            reason = errno.errorcode.get(getattr(error, "errno", None) or 0, "connection")
            # A ValueError is of an address, a header or a certificate that cannot be: so it is the next time.
            may_help = not isinstance(error, ValueError)
            raise _Failed(may_help, "CLIENT_NETWORK", "no whole answer came", details={"reason": reason}) from None
        finally:
            timer.cancel()
        if is_late.is_set() or response.will_close:
            connection.close()
        else:
            self._keep(connection)
        return answer

    def _connection(self, may_reuse: bool) -> http.client.HTTPConnection:
        """One that is idle, or a new one that is not connected."""
        if self._process != os.getpid():
            self._forget()  # a fork has the sockets of its parent, whose answers they bring
        while may_reuse:
            with self._lock:
                if not self._idle:
                    break
                connection, since = self._idle.pop()
            if time.monotonic() - since < _IDLE_SECONDS_MAX:
                return connection
            connection.close()
        if not self._is_tls:
            return http.client.HTTPConnection(self._host or "", self._port)
        return http.client.HTTPSConnection(self._host or "", self._port, context=self._context())

    def _context(self) -> ssl.SSLContext:
        with self._lock:
            if self._tls is None:
                self._tls = ssl.create_default_context()
            return self._tls

    def _connect(self, connection: http.client.HTTPConnection, ends_at: float, at: List[socket.socket]) -> None:
        """Connects by `ends_at` (of time.monotonic), whatever number of addresses the name has and however slowly it
        goes; a look-up of the name that takes longer is waited for, and then it is too late."""
        why: Optional[OSError] = None
        for family, kind, protocol, _, address in socket.getaddrinfo(
            connection.host, connection.port, type=socket.SOCK_STREAM
        ):
            left = ends_at - time.monotonic()
            if left <= 0:
                raise socket.timeout()
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(left)
                sock.connect(address)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._is_tls:
                    # The handshake comes after: here the timer would not find the socket.
                    sock = self._context().wrap_socket(
                        sock, server_hostname=connection.host, do_handshake_on_connect=False
                    )
                at[:] = [sock]
                if time.monotonic() >= ends_at:
                    raise socket.timeout()
                if self._is_tls:
                    sock.do_handshake()  # type: ignore[attr-defined]
                connection.sock = sock
                return
            except OSError as error:
                sock.close()
                why = error
        raise why or OSError()

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < _IDLE_CONNECTIONS_MAX:
                self._idle.append((connection, time.monotonic()))
                return
        connection.close()

    # Lists --------------------------------------------------------------------------------------------------------

    def _walk(
        self, operation: Operation, arguments: Dict[str, Any], timeout: Optional[float], deadline: Optional[float]
    ) -> Generator[Any, None, None]:
        seen = set()
        for _ in range(self._pages_max):
            page = self._call(operation, arguments, None, timeout, deadline)
            yield from page["content"]
            after = page.get("next")
            if after is None:
                return
            if after in seen:
                _endless("cursor_repeats", "the list goes in a circle: a cursor came twice")
            seen.add(after)
            arguments = {**arguments, "after": after}
        _endless("pages", f"the list has more than {self._pages_max} pages: go on with after, or ask for larger ones")


def _endless(reason: str, message: str) -> NoReturn:
    raise FlockError("CLIENT_NETWORK", message, details={"reason": reason})


def _shut(sock: socket.socket) -> None:
    """Ends what another thread waits for on the socket. The method of the class below: that of TLS would let go of the
    encryption first, and what is still being sent would go without."""
    try:
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    except OSError:
        pass  # it has ended by itself


def _is_sendable(value: Any) -> bool:
    """Whether it arrives as it is: half of a surrogate pair is no text, NaN no JSON."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        return True
    except (TypeError, ValueError, RecursionError):
        return False


def _pause_ms(doublings: int, chance: float) -> int:
    longest: float = min(_PAUSE_MOST_MS, _PAUSE_FIRST_MS * 2 ** min(doublings, 40))
    return math.ceil(longest * (1 - chance))


def _query_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _value_of(answer: _Answer, is_document: bool, clock: Clock) -> Any:
    status, headers, body = answer
    if 300 <= status < 400:
        message = "a redirect is not followed: give the address itself as base_url"
        raise _Failed(False, "CLIENT_NETWORK", message, status=status, details={"reason": "redirect"})
    is_ok = 200 <= status < 300
    # JSON Lines are a text of many JSON values.
    if is_document and is_ok and not _JSON_TYPE.match(headers.get("content-type", "")):
        return body.decode("utf-8", "replace")
    parsed = _parse(body)
    if is_document and is_ok and parsed is not None:
        return parsed
    envelope = parsed if isinstance(parsed, dict) else {}
    if is_ok and envelope.get("success") is True:
        return envelope.get("data")
    around = {
        "status": status,
        "request_id": headers.get("x-request-id"),
        "retry_after": _retry_after_of(headers.get("retry-after", ""), clock),
    }
    error = envelope.get("error")
    if not is_ok and isinstance(error, dict) and isinstance(error.get("code"), str):
        details = error.get("details")
        details = details if isinstance(details, dict) else {}
        raise _Failed(status in _REPEATED, error["code"], str(error.get("message")), details=details, **around)
    message = f"status {status} without an answer of Flock: is base_url right?"
    may_repeat = is_ok or status in _REPEATED
    raise _Failed(may_repeat, "CLIENT_NETWORK", message, details={"reason": "no_envelope"}, **around)


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _retry_after_of(text: str, clock: Clock) -> Optional[int]:
    """Seconds: of a number, or until a date. None for anything else, and for what is over."""
    if re.fullmatch(r"[0-9]{1,9}", text):
        return int(text)
    try:
        seconds = math.ceil(parsedate_to_datetime(text).timestamp() - clock.now())
    except (TypeError, ValueError, IndexError):
        return None
    return seconds if seconds > 0 else None
