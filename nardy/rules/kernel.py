"""Kernels: plain Python over arrays, compiled by numba when it is installed.

`@kernel` leaves numba unimported until a kernel is first called, so that `import nardy` stays
light. Compiled code is cached on disk under a name that depends on every file that kernels are made
of (rules/, net/ and *kernels*.py elsewhere): numba's own check looks at one file only and would
keep a caller whose callee has changed.

Set NARDY_JIT=0 to run every kernel uncompiled.
"""

import functools
import hashlib
import importlib.util
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

jit_enabled = os.environ.get("NARDY_JIT", "1") != "0" and (
    importlib.util.find_spec("numba") is not None
)
_compiling = threading.RLock()


class Kernel:
    """A function that numba compiles on its first call; callable from other kernels too."""

    def __init__(self, python: Callable[..., Any], fastmath: bool) -> None:
        self.python = python
        self.fastmath = fastmath
        self._dispatcher: Any = None
        functools.update_wrapper(self, python)

    def __call__(self, *args: Any) -> Any:
        if not jit_enabled:
            return self.python(*args)
        return self.compiled(*args)

    @property
    def compiled(self) -> Any:
        """The numba dispatcher, made on first use."""
        if self._dispatcher is None:
            # numba's cache folder is one setting of the whole process: one thread at a time
            with _compiling:
                if self._dispatcher is None:
                    self._dispatcher = _compile(self.python, self.fastmath)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        # numba asks a global it meets inside a kernel for its type through this name
        from numba.core import types

        return types.Dispatcher(self.compiled)


def kernel(python: Callable[..., Any]) -> Kernel:
    """Mark an integer kernel."""
    return Kernel(python, fastmath=False)


def float_kernel(python: Callable[..., Any]) -> Kernel:
    """Mark a kernel whose floating-point sums may be reordered, so that they vectorise."""
    return Kernel(python, fastmath=True)


def kernel_files() -> list[Path]:
    """The files of this package that kernels, or constants in them, come from."""
    rooms = Path(__file__).parents[1]
    return sorted(
        {*rooms.glob("rules/*.py"), *rooms.glob("net/*.py"), *rooms.glob("*/*kernels*.py")}
    )


@functools.cache
def _cache_folder() -> str | None:
    """A writable folder named after the contents of every kernel source, or None."""
    digest = hashlib.sha256()
    for path in kernel_files():
        digest.update(path.read_bytes())
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(base, "nardy", "kernels-" + digest.hexdigest()[:16])
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


def _compile(python: Callable[..., Any], fastmath: bool) -> Any:
    import numba

    config: Any = numba.core.config

    folder = _cache_folder()
    before, config.CACHE_DIR = config.CACHE_DIR, folder or ""
    try:
        # the cache folder is read while the dispatcher is made; other users keep their own
        return numba.njit(
            python,
            nogil=True,
            fastmath=fastmath,
            error_model="numpy",
            cache=folder is not None,
        )
    finally:
        config.CACHE_DIR = before
