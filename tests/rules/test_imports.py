"""What importing and running the rules brings in: numpy alone, and numba only when it is used."""

import os
import subprocess
import sys

import pytest

REPORT = """
import sys
before = set(sys.modules)
{code}
new = {{name.split(".")[0] for name in set(sys.modules) - before if sys.modules[name]}}
print(*sorted(new - set(sys.stdlib_module_names)))
"""
PLAY = """
import numpy as np
from nardy.rules import variants, batch, board
game = variants.variant("short")
dice = np.array([[3, 1]], np.uint8)
assert len(batch.afterstates(board.start_board(game)[None], dice, game).boards) == 16
"""


def imported(code: str, **env: str) -> list[str]:
    """Packages outside the standard library that a fresh interpreter has after `code`."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT.format(code=code)],
        capture_output=True,
        text=True,
        env=dict(os.environ) | env,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("module", ["nardy.rules.batch", "nardy.rules.dice", "nardy.net.net"])
def test_imports_bring_numpy_alone(module):
    assert imported(f"import {module}") == ["nardy", "numpy"]


def test_the_package_itself_brings_nothing_more():
    assert set(imported("import nardy")) <= {"nardy", "numpy"}


def test_rules_without_the_compiler():
    assert imported(PLAY, NARDY_JIT="0") == ["nardy", "numpy"]


def test_rules_where_numba_is_not_installed():
    # None in sys.modules makes an import fail as if nothing were there
    assert imported("sys.modules['numba'] = None" + PLAY) == ["nardy", "numpy"]
