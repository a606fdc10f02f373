"""Kernels made by several threads at once."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nardy.rules import kernel


def test_threads_leave_numbas_setting_and_the_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not kernel.jit_enabled:
        pytest.skip("nothing is compiled")
    import numba
    from numba.core import config

    njit, before = numba.njit, config.CACHE_DIR

    def slow_njit(*args: Any, **options: Any) -> Any:
        time.sleep(0.002)  # the others have time to come in between
        return njit(*args, **options)

    monkeypatch.setattr(numba, "njit", slow_njit)
    monkeypatch.chdir(tmp_path)
    kernels = [kernel.Kernel(lambda x: x + 1, fastmath=False) for _ in range(50)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda one: one.compiled._cache._cache_path, kernels))
    assert config.CACHE_DIR == before
    folder = kernel._cache_folder()
    assert folder is not None and all(Path(path).is_relative_to(folder) for path in made)
    assert not list(tmp_path.iterdir())
