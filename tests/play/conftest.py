"""Small random nets, as objects and as exported folders."""

import json
from pathlib import Path

import numpy as np
import pytest

from nardy.net.features import FEATURE_VERSION, FEATURES, feature_rows
from nardy.net.net import FORMAT, Layer, Net
from nardy.net.weights import write_tensors
from nardy.play import bearoff
from nardy.play.bearoff import Bearoff
from nardy.rules.variants import variant


def random_net(seed: int = 0, width: int = 12) -> Net:
    """A net of short nardy with two phases and random weights."""
    rng = np.random.default_rng(seed)
    game = variant("short")
    rows = feature_rows().reshape(-1, FEATURES)
    weights = rng.normal(0, 0.3, (FEATURES, width)).astype(np.float32)
    table = (rows @ weights).reshape(28, 31, width)
    sizes = (width, 8, len(game.outcomes))
    tails: list[list[Layer]] = [
        [
            (rng.normal(0, 1 / 4, (a, b)).astype(np.float32), np.zeros(b, np.float32))
            for a, b in zip(sizes, sizes[1:], strict=False)
        ]
        for _ in range(2)
    ]
    return Net.build(game, table, np.zeros(width, np.float32), tails)


def export(net: Net, folder: Path) -> Path:
    """Write the folder that Net.load reads."""
    folder.mkdir(parents=True)
    tensors = {"table": net.table, "bias": net.bias}
    for phase, tail in enumerate(net.tails):
        for layer, (weight, bias) in enumerate(tail):
            tensors[f"tail.{phase}.{layer}.weight"] = weight
            tensors[f"tail.{phase}.{layer}.bias"] = bias
    write_tensors(folder / "net.safetensors", tensors)
    meta = {
        "format": FORMAT,
        "features": FEATURE_VERSION,
        "variant": net.variant.name,
        "variant_options": {},
        "phases": len(net.tails),
        "tail_layers": len(net.tails[0]),
    }
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


@pytest.fixture(scope="session")
def net() -> Net:
    return random_net()


@pytest.fixture(scope="session")
def net_folder(net: Net, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(net, tmp_path_factory.mktemp("nets") / "short")


@pytest.fixture(scope="session")
def tables() -> Bearoff:
    """The tables of the package."""
    one = bearoff.read_one_sided(bearoff.SHIPPED / "one-sided-6x15.npy", 6)
    two = bearoff.read_two_sided(bearoff.SHIPPED / "two-sided-6x3.npy")
    return Bearoff(variant("short"), one, two)
