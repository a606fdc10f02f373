"""The peers' side of `python -m train.bench`: each engine's own calls, timed without our adapters.

An engine answers one position or one batch a call, as its interface has it; boards are put into
its form beforehand, so that what is timed is the engine and the call into it.
"""

import importlib.util
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards, flip

Work = Callable[[slice], None]
POSITIONS = 3000
"""Positions that `rates` wants: engines keep what they have evaluated, so none is asked twice."""
CHUNKS = {"legal": 400, "evaluate": 4000, "best_move": 400}


def missing() -> list[str]:
    """Peers that are known here and not installed."""
    return [name for name, (module, _) in PEERS.items() if importlib.util.find_spec(module) is None]


def rates(
    stage: str, boards: Boards, dice: Any, results: Afterstates, repeats: int
) -> dict[str, float]:
    """Units a second of each installed peer at "legal", "evaluate" or "best_move": the median
    of `repeats` chunks of positions, after one more that is not counted."""
    found = {}
    for name, (module, works) in PEERS.items():
        if importlib.util.find_spec(module) is None:
            continue
        work, size = works(boards, dice, results)[stage], CHUNKS[stage]
        seconds = []
        for number in range(repeats + 1):
            began = time.perf_counter()
            work(slice(number * size, (number + 1) * size))
            seconds.append(time.perf_counter() - began)
        found[name] = size / median(seconds[1:])
    return found


def _gnubg_nn(boards: Boards, dice: Any, results: Afterstates) -> dict[str, Work]:
    import gnubg_nn

    tables = [_two_sides(board) for board in boards.tolist()]
    after = [_two_sides(board) for board in flip(results.boards[:40_000]).tolist()]
    rolls = dice.tolist()

    def legal(rows: slice) -> None:
        for table, (die1, die2) in zip(tables[rows], rolls[rows], strict=True):
            gnubg_nn.moves(table, die1, die2)

    def evaluate(rows: slice) -> None:
        for table in after[rows]:
            gnubg_nn.probabilities(table, 0)

    def best_move(rows: slice) -> None:
        for table, (die1, die2) in zip(tables[rows], rolls[rows], strict=True):
            gnubg_nn.best_move(table, die1, die2, n=0, b=1)

    return {"legal": legal, "evaluate": evaluate, "best_move": best_move}


def _two_sides(board: list[int]) -> tuple[list[int], list[int]]:
    """gnubg's form: the opponent's and the mover's 25 counts, each in its own numbering."""
    return [max(-n, 0) for n in board[24::-1]], [max(n, 0) for n in board[1:26]]


def _bgsage(boards: Boards, dice: Any, results: Afterstates) -> dict[str, Work]:
    import bgbot_cpp
    from bgsage.weights import default_weights

    weights = default_weights()
    net = bgbot_cpp.create_strategy(weights.strategy_type, *weights.weight_args)
    centred = bgbot_cpp.CubeOwner.CENTERED
    places = _positive_bars(boards)
    rolls = dice.tolist()
    after = [(place, 1, centred) for place in _positive_bars(flip(results.boards[:40_000]))]
    asked = [
        {"board": place, "die1": die1, "die2": die2, "cube_value": 1, "cube_owner": centred}
        for place, (die1, die2) in zip(places, rolls, strict=True)
    ]

    def legal(rows: slice) -> None:
        for place, (die1, die2) in zip(places[rows], rolls[rows], strict=True):
            bgbot_cpp.possible_moves(place, die1, die2)

    def evaluate(rows: slice) -> None:
        bgbot_cpp.batch_evaluate_positions(after[rows], net, 1, jacoby=False, beaver=False)

    def best_move(rows: slice) -> None:
        bgbot_cpp.batch_checker_play(asked[rows], net, n_threads=1, jacoby=False, beaver=False)

    return {"legal": legal, "evaluate": evaluate, "best_move": best_move}


def _positive_bars(boards: Boards) -> list[list[int]]:
    places = np.array(boards, np.int64)
    places[:, 0] = -places[:, 0]
    rows: list[list[int]] = places.tolist()
    return rows


PEERS: dict[str, tuple[str, Callable[[Boards, Any, Afterstates], dict[str, Work]]]] = {
    "gnubg-nn": ("gnubg_nn", _gnubg_nn),
    "bgsage": ("bgbot_cpp", _bgsage),
}
"""Name, the module that shows it is installed, and what makes its works."""
