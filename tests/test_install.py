"""What `pip install nardy` brings into an empty environment, and how soon it moves.

    python -m pytest -m slow -s tests/test_install.py     # prints the figures

The slow test needs a package index for numpy.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from nardy.play.nets import shipped
from nardy.rules import kernel

ROOT = Path(__file__).parents[1]
MOST = 15_000_000  # bytes of ours, unpacked
FIRST_MOVE = """
import json, time
began = time.perf_counter()
from nardy.play import Player
imported = time.perf_counter()
from nardy.notation.ids import from_position_id
text = Player().best(from_position_id("4HPwATDgc/ABMA"), [3, 1])[0].text
moved = time.perf_counter()
print(json.dumps({"import_s": imported - began, "move_s": moved - imported, "move": text}))
"""


def test_the_newest_net_of_each_game_is_shipped() -> None:
    """pyproject.toml names the files; the checkout's checkpoints are what it would find."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    files = project["tool"]["setuptools"]["package-data"]["nardy.checkpoints"]
    newest = shipped()
    assert {Path(file).parts[0] for file in files} == {path.name for path in newest.values()}
    for path in newest.values():
        assert path.parent == ROOT / "checkpoints"
        kept = {Path(file).name for file in files if Path(file).parts[0] == path.name}
        there = {file.name for file in path.iterdir()}
        wanted = {"meta.json", "net.safetensors", "cube.safetensors"} & there
        assert wanted <= kept


def run(folder: Path, *command: str | Path, **env: str) -> str:
    """What a command prints that runs in `folder`, where no checkout is in the way."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "NARDY_NET")} | env,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_an_empty_environment(tmp_path: Path) -> None:
    source, home = tmp_path / "source", tmp_path / "env"
    source.mkdir()
    for name in ("nardy", "checkpoints"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, source / name)
    run(tmp_path, sys.executable, "-m", "venv", home)
    python = home / "bin" / "python"
    try:
        run(
            tmp_path,
            python,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "-d",
            tmp_path,
            "numpy",
        )
    except AssertionError as error:
        pytest.skip(f"no package index: {str(error)[-80:]}")
    run(tmp_path, python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, source)
    (wheel,) = tmp_path.glob("nardy-*.whl")
    before = packages(tmp_path, python)
    run(tmp_path, python, "-m", "pip", "install", "--quiet", wheel)
    assert packages(tmp_path, python) - before == {"nardy", "numpy"}

    room = Path(run(tmp_path, python, "-c", "import nardy; print(nardy.__path__[0])").strip())
    size = sum(path.stat().st_size for path in room.rglob("*") if "__pycache__" not in path.parts)
    print(f"\nwheel {wheel.stat().st_size / 1e6:.1f} MB, unpacked {size / 1e6:.1f} MB")
    assert size < MOST
    for _ in range(2):
        print(json.loads(run(tmp_path, python, "-c", FIRST_MOVE)))
    assert moved(run(tmp_path, python, "-c", FIRST_MOVE)) == moved(
        run(tmp_path, sys.executable, "-c", FIRST_MOVE)
    )


@pytest.mark.slow
@pytest.mark.skipif(not kernel.jit_enabled, reason="numba is not installed")
def test_kernels_are_compiled_once(tmp_path: Path) -> None:
    """The second process reads what the first has compiled."""
    print()
    seen: list[set[str]] = []
    for _ in range(2):
        print(
            json.loads(
                run(tmp_path, sys.executable, "-c", FIRST_MOVE, XDG_CACHE_HOME=str(tmp_path))
            )
        )
        seen.append({str(path) for path in tmp_path.rglob("*.nbc")})
    assert seen[0] and seen[0] == seen[1]


def moved(told: str) -> Any:
    return json.loads(told)["move"]


def packages(folder: Path, python: Path) -> set[str]:
    listed = json.loads(run(folder, python, "-m", "pip", "list", "--format", "json"))
    return {re.sub("[-_.]+", "-", row["name"]).lower() for row in listed}
