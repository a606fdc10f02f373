"""The published match equity table, for what is compared with it."""

from pathlib import Path

import numpy as np
import pytest

from nardy.match.met import MatchEquity

FILE = Path(__file__).parents[1] / "data" / "kazaross_xg2.txt"


@pytest.fixture(scope="session")
def kazaross() -> MatchEquity:
    """Kazaross-XG2, which gnubg uses; the file names its source."""
    lines = [line.split() for line in FILE.read_text().splitlines() if not line.startswith("#")]
    before = np.full((25, 25), 0.5)
    for i, line in enumerate(lines[:25]):
        before[i, i:] = line
        before[i:, i] = 1 - before[i, i:]
    return MatchEquity("Kazaross-XG2", before, np.array(lines[25], float))
