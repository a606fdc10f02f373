"""Export: a run's net as a folder that other programs can use.

    python -m train.export from=runs/quick to=checkpoints/short-01
    python -m train.export from=runs/quick/best to=out dtype=float16

Writes net.safetensors, net.onnx, meta.json and reference.json (fifty positions with the outcomes
expected for them, so that a port in any language can check itself). From a run or a checkpoint also
weights.safetensors, the network before folding, from which training can go on (init=out).
"""

import dataclasses
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

import nardy
from nardy.net.features import FEATURE_VERSION
from nardy.net.net import FORMAT, Net
from nardy.net.weights import write_tensors, write_whole
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, points_won, start_board, turn
from nardy.rules.dice import random_words, roll
from nardy.rules.variants import OPTIONS, Variant, variant

WEIGHTS = "weights.safetensors"
DTYPES = {"float32": np.float32, "float16": np.float16}


def write_net(folder: Path, net: Net, meta: dict[str, Any], dtype: str = "float32") -> None:
    """Write net.safetensors and meta.json into an existing folder."""
    tensors = {"table": net.table, "bias": net.bias}
    for phase, tail in enumerate(net.tails):
        for number, (weight, bias) in enumerate(tail):
            tensors[f"tail.{phase}.{number}.weight"] = weight
            tensors[f"tail.{phase}.{number}.bias"] = bias
    if net.pairs.shape[1]:
        tensors["pairs"] = net.pairs
    kind = DTYPES[dtype]
    write_tensors(
        folder / "net.safetensors",
        {name: np.ascontiguousarray(value, kind) for name, value in tensors.items()},
    )
    whole = {**net_meta(net), **meta}
    write_whole(folder / "meta.json", json.dumps(whole, indent=1).encode())


def net_meta(net: Net) -> dict[str, Any]:
    """What a reader of the net must know (nardy.net.net.Net.load)."""
    game = net.variant
    own = {point: count for point, count in enumerate(game.start) if count > 0}
    return {
        "format": FORMAT,
        "features": FEATURE_VERSION,
        "variant": game.name,
        "variant_options": {**other_options(game), "start": own},
        "outcomes": list(game.outcomes),
        "hidden": len(net.bias),
        "phases": len(net.tails),
        "tail_layers": len(net.tails[0]),
        "code": nardy.__version__,
    }


def other_options(game: Variant) -> dict[str, str]:
    """The options in which a game differs from the variant of its name."""
    usual = variant(game.name)
    chosen = {option: getattr(game, option) for option in OPTIONS}
    return {option: value for option, value in chosen.items() if value != getattr(usual, option)}


def reference_positions(game: Variant, count: int, seed: int = 1) -> Boards:
    """int8[count, 26]: positions before the roll from games of random moves."""
    boards = np.repeat(start_board(game)[None], count, 0)
    games = np.arange(count)
    for ply in range(40):
        plies = np.full(count, ply)
        results = afterstates(boards, roll(seed, games, plies, game.opening), game)
        choice = random_words(seed, games, plies, stream=1) % np.diff(results.offsets).astype("u8")
        chosen = results.boards[results.offsets[:-1] + choice.astype(np.int64)]
        # each position stops at a ply of its own, or one before its game would end
        on = (games % 40 > ply) & (points_won(chosen, game) == 0)
        boards[on] = turn(chosen[on], game.family)
    return boards


def export(
    net: Net,
    meta: dict[str, Any],
    to: Path,
    dtype: str = "float32",
    weights: dict[str, Any] | None = None,
) -> None:
    """Write the whole exported folder, all of it or nothing.

    weights: the trained network's arrays by parameter name, where they are at hand.
    """
    from train.onnx_graph import onnx_bytes

    if to.exists():
        raise ValueError(f"{str(to)!r} exists already; nothing was overwritten")
    temporary = to.with_name(f".{to.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    write_net(temporary, net, meta, dtype)
    shipped = Net.load(temporary)  # the rounded weights are what the other files must match
    write_whole(temporary / "net.onnx", onnx_bytes(shipped, net_meta(shipped)))
    boards = reference_positions(net.variant, 50)
    reference = {
        "outcomes": list(net.variant.outcomes),
        "boards": boards.tolist(),
        "expected": shipped.outcomes(boards).astype(float).round(7).tolist(),
    }
    write_whole(temporary / "reference.json", json.dumps(reference).encode())
    if weights:
        write_tensors(temporary / WEIGHTS, weights)
    os.rename(temporary, to)


@dataclasses.dataclass
class ExportConfig:
    """Arguments of `python -m train.export`; `from` is a Python word, hence `source`."""

    source: str
    to: str
    dtype: str = "float32"


def parse_arguments(arguments: list[str]) -> ExportConfig:
    """from=… to=… dtype=…; raises ValueError naming what is wrong."""
    given = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or key not in ("from", "to", "dtype"):
            raise ValueError(f"expected from=, to= or dtype=, not {argument!r}")
        given["source" if key == "from" else key] = value
    for key in ("source", "to"):
        if not given.get(key):
            raise ValueError(f"{'from' if key == 'source' else key}= is missing")
    if given.get("dtype", "float32") not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, not {given['dtype']!r}")
    return ExportConfig(**given)


def main(arguments: list[str]) -> int:
    """The command line; its exit code."""
    from train.checkpoint import network_weights, resolve

    if "--help" in arguments or "-h" in arguments:
        print(__doc__)
        return 0
    try:
        config = parse_arguments(arguments)
        source = resolve(config.source)
        net = Net.load(source)
        export(net, net.meta, Path(config.to), config.dtype, network_weights(source))
    except (ValueError, OSError) as error:
        print(f"train.export: {error}", file=sys.stderr)
        return 2
    print(f"{config.to}: {net.variant.name}, {len(net.bias)} units, {config.dtype}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
