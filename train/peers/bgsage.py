"""bgsage (PyPI), Open Sage's nets and search, as a player and a judge: cubeless moves, outcomes
and its cube.

    pip install bgsage
    python -m train.benchmark net=bgsage

    peer = SagePlayer(variant("short"), ply=1)
    peer.probabilities(boards)     # float64[N, 5]

It is for games of fifteen checkers a side. It prices the legal results it is given, so its own
move generator is not asked. Depths count as everywhere here, 0 being its nets alone, which bgsage
calls 1-ply. Its one-sided bear-off table answers where it reaches.
"""

import functools
import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards, points_won
from nardy.rules.variants import Variant

PLIES = (0, 1, 2)


class SagePlayer:
    """bgsage at a fixed depth. One object serves one thread."""

    def __init__(self, game: Variant, ply: int = 0) -> None:
        """ply: 0 looks at the board, 1 and 2 search, with bgsage's own move filter.

        Raises ValueError where bgsage is not installed, or does not know the game or the depth.
        """
        if game.family != "hitting" or game.checkers != 15:
            raise ValueError(
                f"bgsage plays short nardy with 15 checkers, not {game.name} with {game.checkers}"
            )
        if ply not in PLIES:
            raise ValueError(f"bgsage's ply must be 0, 1 or 2, not {ply!r}")
        if importlib.util.find_spec("bgsage") is None:
            raise ValueError("bgsage is not installed: pip install bgsage")
        self.name = "bgsage" if ply == 0 else f"bgsage-{ply}ply"
        self.ply = ply
        self._game = game
        self._weights, self._table, self._static = _loaded()
        self._search = _search(ply) if ply else None

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: NDArray[np.int64],
        plies: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """See train.players.Player.choose."""
        from train.players import first_best

        if self._search is None:
            return first_best(self._static_equities(results.boards), results.offsets)
        parents, children = _cells(boards), _cells(results.boards)
        won = points_won(results.boards, self._game)
        best = np.empty(len(boards), np.int64)
        offsets = results.offsets.tolist()
        for i, (begin, end) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
            if end == begin + 1 or won[begin:end].any():
                best[i] = begin + int(won[begin:end].argmax())
            else:
                best[i] = begin + self._search.best_move_index(children[begin:end], parents[i])
        return best

    def probabilities(self, boards: Boards) -> NDArray[np.float64]:
        """float64[N, 5] for the player on roll: win, win gammon, win backgammon, lose gammon, lose
        backgammon, each including the greater ones."""
        engine = _engine()
        positions = [(cells, 1, engine.CubeOwner.CENTERED) for cells in _cells(boards)]
        answers = engine.batch_evaluate_positions(
            positions, self._search or self._static, 1, jacoby=False, beaver=False
        )
        return np.array([answer["probs"] for answer in answers]).reshape(-1, 5)

    def cube_values(
        self,
        boards: Boards,
        owned: NDArray[np.bool_],
        cube: NDArray[np.int64],
        away: NDArray[np.int64],
        crawford: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        """float64[N, 3] for the player on roll: no double, double and take, double and pass (K16).

        owned: he owns the cube, else it is in the middle; cube: its value; away: int64[N, 2],
        points he and the opponent need, 0 and 0 for money without Jacoby; crawford: K17. In units
        of the present cube for money, in a unit that grows with the chance of the match otherwise.
        At 1- and 2-ply the search is cubeful.
        """
        owners = (_engine().CubeOwner.CENTERED, _engine().CubeOwner.PLAYER)
        columns = (owned.tolist(), cube.tolist(), away.tolist(), crawford.tolist())
        rows = [
            self._cube(cells, owners[owns], value, *both, is_crawford)
            for cells, owns, value, both, is_crawford in zip(_cells(boards), *columns, strict=True)
        ]
        return np.array(rows).reshape(-1, 3)

    def for_thread(self) -> "SagePlayer":
        """See train.players.Player.for_thread: with a search and its memory of its own."""
        return SagePlayer(self._game, self.ply)

    def _static_equities(self, results: Boards) -> NDArray[np.float64]:
        """float64[N]: cubeless equity for the player who moved, exact where he has finished."""
        engine = _engine()
        positions = [(cells, engine.CubeOwner.CENTERED) for cells in _cells(results)]
        answers = engine.batch_evaluate_post_move(positions, self._static, 1, jacoby=False)
        won = points_won(results, self._game)
        return np.where(won > 0, won, [answer["cubeless_equity"] for answer in answers])

    def _cube(
        self, cells: list[int], owner: Any, cube: int, mine: int, theirs: int, crawford: bool
    ) -> tuple[float, float, float]:
        match = {"away1": mine, "away2": theirs, "is_crawford": crawford}
        rules = {"jacoby": False, "beaver": False, "bearoff_db": self._table}
        paths, hidden = self._weights.weight_args
        nets = {
            "strategy_type": self._weights.strategy_type,
            "weight_paths": paths,
            "hidden_sizes": hidden,
        }
        if self.ply == 0:
            decide = _engine().evaluate_cube_decision_unified
        else:
            decide = functools.partial(
                _engine().cube_decision_nply_unified, n_plies=self.ply + 1, n_threads=1
            )
        answer = decide(cells, cube, owner, **nets, **match, **rules)
        return answer["equity_nd"], answer["equity_dt"], answer["equity_dp"]


def _engine() -> Any:
    import bgbot_cpp

    return bgbot_cpp


@functools.cache
def _loaded() -> tuple[Any, Any, Any]:
    """(weights, bear-off table, nets with the table); they never change, so threads share them."""
    from bgsage.weights import bearoff_db_path, default_weights

    engine, weights = _engine(), default_weights()
    table = engine.BearoffDB()
    if not table.load(bearoff_db_path()):
        raise ValueError(f"bgsage's bear-off table {bearoff_db_path()!r} cannot be read")
    paths, hidden = weights.weight_args
    nets = engine.create_strategy(weights.strategy_type, paths, hidden)
    return weights, table, engine.BearoffStrategy(nets, table)


def _search(ply: int) -> Any:
    """A search, with its cache; bgsage counts one ply more."""
    engine = _engine()
    weights, table, _ = _loaded()
    paths, hidden = weights.weight_args
    search = engine.create_multipy(
        weights.strategy_type, paths, hidden, n_plies=ply + 1, parallel_evaluate=False
    )
    engine.multipy_set_bearoff_db(search, table)
    return search


def _cells(boards: Boards) -> list[list[int]]:
    """Boards as bgsage takes them: 26 counts, the opponent's bar a positive one."""
    cells = np.array(boards, np.int64)
    cells[..., 0] *= -1
    rows: list[list[int]] = cells.tolist()
    return rows
