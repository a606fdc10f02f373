"""Checkpoints: numbered folders in a run folder, and the text files `latest` and `best`.

A checkpoint holds an exported net (net.safetensors, meta.json: what the arena and `nardy` read)
and what a resumed run needs besides (state.safetensors, state.json). It is written under a
temporary name, synced and renamed, so a killed run leaves the last one whole.
"""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from nardy.net.net import Net
from nardy.net.weights import read_tensors, write_tensors, write_whole
from train.net_folder import WEIGHTS, write_net

Arrays = dict[str, np.ndarray[Any, Any]]
AVERAGE = "average."
"""Arrays of averaged weights are named so, beside those that are learnt, weight.NAME."""


def resolve(path: str | Path) -> Path:
    """The folder with net.safetensors and meta.json that `path` means.

    path: an exported net or a checkpoint; a run folder, which means its latest checkpoint; or a
    run folder's file `latest` or `best`, which name one. Raises ValueError naming the path.
    """
    place = Path(path)
    if (place / "meta.json").is_file() and (place / "net.safetensors").is_file():
        return place
    pointer = place / "latest" if place.is_dir() else place
    if pointer.is_file() and pointer.name in ("latest", "best"):
        named = pointer.read_text().strip()
        if not named.startswith("checkpoint-"):
            raise ValueError(f"{str(pointer)!r} names no checkpoint but {named!r}")
        return resolve(pointer.parent / named)
    raise ValueError(f"{str(path)!r} is neither a run folder, a checkpoint nor an exported net")


def save(
    run: Path,
    number: int,
    net: Net,
    meta: dict[str, Any],
    arrays: Arrays,
    beside: Mapping[str, Arrays] = MappingProxyType({}),
) -> Path:
    """Write checkpoint `number` of a run and point `latest` at it.

    meta: JSON, goes into the net's meta.json; its entry "state" is for resuming.
    beside: more files of tensors, by name, such as a head.
    """
    target = run / f"checkpoint-{number:08d}"
    temporary = run / f".{target.name}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    state = meta.pop("state")
    write_net(temporary, net, meta)
    for name, tensors in ({"state.safetensors": arrays} | dict(beside)).items():
        write_tensors(temporary / name, tensors)
    write_whole(temporary / "state.json", json.dumps(state, indent=1).encode())
    _sync_folder(temporary)
    shutil.rmtree(target, ignore_errors=True)
    os.rename(temporary, target)
    _sync_folder(run)
    mark_latest(run, target)
    return target


def mark_latest(run: Path, checkpoint: Path) -> None:
    """Point `latest` at a checkpoint."""
    write_whole(run / "latest", checkpoint.name.encode())


def mark_best(run: Path, checkpoint: Path) -> None:
    """Point `best` at a checkpoint."""
    write_whole(run / "best", checkpoint.name.encode())


def prune(run: Path, keep: int) -> None:
    """Remove all but the newest `keep` checkpoints; those that are pointed at stay."""
    pointed = {
        (run / name).read_text().strip() for name in ("latest", "best") if (run / name).exists()
    }
    for folder in sorted(run.glob("checkpoint-*"))[:-keep]:
        if folder.name not in pointed:
            shutil.rmtree(folder)


def load(run: Path) -> tuple[dict[str, Any], dict[str, Any], Arrays]:
    """(meta, state, arrays) of a run's latest checkpoint.

    Raises ValueError in one sentence where it is not whole.
    """
    folder = resolve(run)
    try:
        meta = json.loads((folder / "meta.json").read_text())
        state = json.loads((folder / "state.json").read_text())
        for name in ("config", "best"):
            if name not in state:
                raise ValueError(f"state.json lacks {name!r}")
        return meta, state, load_file(folder / "state.safetensors")
    except (OSError, ValueError, SafetensorError) as error:
        raise ValueError(f"the checkpoint {str(folder)!r} is not whole: {error}") from None


def network_weights(path: str | Path) -> Arrays:
    """The trained network's arrays by parameter name, from a run, a checkpoint or an exported net;
    empty where an exported net came without them. Raises ValueError where a file is not whole."""
    folder = resolve(path)
    if (folder / WEIGHTS).exists():
        return read_tensors(folder / WEIGHTS)
    if not (folder / "state.safetensors").exists():
        return {}
    arrays = load(folder)[2]
    prefix = AVERAGE if any(name.startswith(AVERAGE) for name in arrays) else "weight."
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
