"""Cube heads of random weights."""

import numpy as np

from nardy.net.net import Net
from nardy.play.cube_head import TERMS, CubeHead


def make_head(net: Net, seed: int = 0, scale: float = 0.3) -> CubeHead:
    """A head that fits the net; scale: of its weights, biases included."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(0, scale, shape).astype(np.float32)

    layers = ((normal(6, 5), normal(5)), (normal(5, 1), normal(1)))
    return CubeHead(normal(len(net.bias), 6), normal(TERMS, 6), normal(6), layers)
