"""A net's folder as nardy reads it: what checkpoints and exported nets have alike."""

import json
from pathlib import Path
from typing import Any

import numpy as np

import nardy
from nardy.net.features import FEATURE_VERSION
from nardy.net.net import FORMAT, Net
from nardy.net.weights import write_tensors, write_whole
from nardy.rules.variants import OPTIONS, Variant, variant

WEIGHTS = "weights.safetensors"
"""The network before folding, from which training can go on."""
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
