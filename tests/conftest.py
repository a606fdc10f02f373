"""What every test may ask for: the two ways kernels run, and how hypothesis behaves."""

import pytest
from hypothesis import HealthCheck, settings

from nardy.rules import kernel

# the same commit gets the same verdict, and a busy machine never fails a test
settings.register_profile(
    "nardy", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("nardy")


@pytest.fixture(params=["numba", "python"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs the test twice: with compiled kernels, and with the same functions uncompiled."""
    if request.param == "python":
        monkeypatch.setattr(kernel, "jit_enabled", False)
    elif not kernel.jit_enabled:
        pytest.skip("numba is not installed or NARDY_JIT=0")
    return str(request.param)
