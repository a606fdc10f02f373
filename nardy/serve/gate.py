"""What stands before every HTTP request: a limit of its size, and counters.

gate = Gate()
gate.guard(app)
gate.metrics()                 # Prometheus' text format
"""

import time
from collections import Counter
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 1 << 20  # bytes
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 10.0)


class Gate:
    """Counts requests and refuses large ones. One for each application."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._times: dict[str, list[float]] = {}  # by path: buckets, count, sum

    def guard(self, app: Starlette) -> None:
        """Put the gate before `app`."""
        app.add_middleware(_Middleware, gate=self)

    def count(self, path: str, status: int, seconds: float) -> None:
        """One more request is answered."""
        self._requests[path, status] += 1
        times = self._times.setdefault(path, [0.0] * (len(_BUCKETS) + 2))
        for place, bound in enumerate(_BUCKETS):
            times[place] += seconds <= bound
        times[-2] += 1
        times[-1] += seconds

    def metrics(self) -> str:
        """Requests by path and status, and a histogram of their seconds."""
        lines = ["# TYPE nardy_requests_total counter"]
        for (path, status), number in sorted(self._requests.items()):
            lines.append(f'nardy_requests_total{{path="{path}",status="{status}"}} {number}')
        lines.append("# TYPE nardy_request_seconds histogram")
        for path, times in sorted(self._times.items()):
            name = f'nardy_request_seconds_bucket{{path="{path}",le='
            bounds = [*map(str, _BUCKETS), "+Inf"]
            for bound, within in zip(bounds, times, strict=False):
                lines.append(f'{name}"{bound}"}} {within:.0f}')
            lines.append(f'nardy_request_seconds_count{{path="{path}"}} {times[-2]:.0f}')
            lines.append(f'nardy_request_seconds_sum{{path="{path}"}} {times[-1]:.6f}')
        return "\n".join(lines) + "\n"


class _Middleware:
    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app, self.gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, _limited(receive), noted)
        finally:
            route: Any = scope.get("route")
            path = str(getattr(route, "path", "other"))
            self.gate.count(path, status, time.perf_counter() - began)


def _limited(receive: Receive) -> Receive:
    """`receive`, which refuses to take in more than MAX_BODY."""
    read = 0

    async def limited() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > MAX_BODY:
            raise HTTPException(413, f"a request has up to {MAX_BODY} bytes")
        return message

    return limited
