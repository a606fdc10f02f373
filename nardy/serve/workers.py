"""Worker processes that share one port, the kernel dealing out its connections among them.

    with reserved("127.0.0.1", 8000) as port:
        keep(2, work, ("127.0.0.1", port))      # each runs work(host, port), with a `listener`

A socket that all workers accept from would not do: who wakes first takes all that wait, and one
worker had the connections of 32 clients to itself. Linux alone deals them out (`deals_out`).
"""

import multiprocessing
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

SOON = 10
"""Seconds within which a worker that ends has not come up at all, and is not started again."""


def deals_out() -> bool:
    """Whether several listeners can share a port here."""
    return sys.platform == "linux" and hasattr(socket, "SO_REUSEPORT")


@contextmanager
def reserved(host: str, port: int) -> Iterator[int]:
    """A port where nobody else listens; 0 finds one. Raises ValueError where it is taken."""
    _bound(host, port).close()  # shared ports are no fault to the kernel, but another server is
    with _bound(host, port, share=deals_out()) as line:
        yield int(line.getsockname()[1])


def listener(host: str, port: int) -> socket.socket:
    """A worker's own socket at a shared port."""
    return _bound(host, port, share=True)


def keep(count: int, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Run work(*arguments) in so many processes until interrupted; start again one that dies.

    Raises ValueError where one does not come up.
    """
    context = multiprocessing.get_context("spawn")
    signal.signal(signal.SIGTERM, _interrupt)
    running: dict[BaseProcess, float] = {}

    def begin() -> None:
        process = context.Process(target=work, args=arguments, daemon=True)
        process.start()
        running[process] = time.monotonic()

    try:
        for _ in range(count):
            begin()
        while True:
            ended = wait([process.sentinel for process in running])
            for process in [process for process in running if process.sentinel in ended]:
                process.join()
                if time.monotonic() - running.pop(process) < SOON:
                    raise ValueError(f"a worker ended at once, with code {process.exitcode}")
                begin()
    except KeyboardInterrupt:
        pass
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.join()


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt  # SIGINT itself is ignored by what a script has put in the background


def _bound(host: str, port: int, share: bool = False) -> socket.socket:
    line = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if share:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        line.bind((host, port))
    except OSError as error:
        line.close()
        raise ValueError(f"cannot listen at {host}:{port}: {error.strerror or error}") from None
    return line
