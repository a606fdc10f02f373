"""Small nets and their players, as objects and as folders, and positions to play from."""

import json
from pathlib import Path

import numpy as np
from random_nets import SHORT, make_net

from nardy.net.net import Net
from nardy.net.weights import write_tensors
from nardy.rules.batch import afterstates
from nardy.rules.board import flip, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import Variant, variant
from train.players import NetPlayer, RandomPlayer

HYPER = variant("hyper")


def random_net(seed: int, game: Variant = SHORT, last: float = 1.0) -> Net:
    """A net of random weights; `last` scales those of its last layer."""
    net = make_net(64, seed=seed, game=game)
    factor = np.float32(last)
    tails = [[*tail[:-1], (factor * tail[-1][0], factor * tail[-1][1])] for tail in net.tails]
    return Net.build(game, net.table, net.bias, tails)


def net_player(seed: int, game: Variant = SHORT) -> NetPlayer:
    return NetPlayer(random_net(seed, game), f"net {seed}")


def save_net(folder: Path, net: Net) -> Path:
    """The least that Net.load reads."""
    folder.mkdir(parents=True)
    tensors = {"table": net.table, "bias": net.bias}
    for p, tail in enumerate(net.tails):
        for i, (weight, bias) in enumerate(tail):
            tensors |= {f"tail.{p}.{i}.weight": weight, f"tail.{p}.{i}.bias": bias}
    write_tensors(folder / "net.safetensors", tensors)
    meta = {"format": 1, "features": 1, "variant": net.variant.name, "phases": 2, "tail_layers": 2}
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def positions(games: int, plies: int) -> np.ndarray:
    """int8[games, 26] met in random play after `plies` turns, none of them over."""
    chooser, numbers = RandomPlayer(5), np.arange(games)
    boards = np.tile(start_board(SHORT), (games, 1))
    for ply in range(plies):
        turn = np.full(games, ply)
        dice = roll(9, numbers, turn)
        results = afterstates(boards, dice, SHORT)
        boards = flip(results.boards[chooser.choose(boards, dice, results, numbers, turn)])
    return boards
