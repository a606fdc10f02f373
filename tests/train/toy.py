"""Training runs of a few seconds by the real command line, and what they leave on the disk."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

TOY = (
    "variant=hyper", "net.hidden=16", "net.tail=[8]", "algo.games_in_flight=32",
    "algo.minibatch=64", "threads=1", "gauge_pairs=2", "gauge_minutes=1e9",
    "checkpoint_minutes=1e9", "games=60", "name=toy",
)  # fmt: skip
"""One short run of hypergammon; later arguments take the place of these."""


def arguments(*others: str) -> list[str]:
    """TOY with others in the place of those of the same key."""
    keys = {other.split("=")[0] for other in others}
    return [*(one for one in TOY if one.split("=")[0] not in keys), *others]


def start(folder: Path, *others: str) -> subprocess.Popen[str]:
    """`python -m train` in a process of its own, with its runs under `folder`."""
    return subprocess.Popen(
        [sys.executable, "-m", "train", *others],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    """What every file under `folder` holds, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
