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

from nardy.play.search import first_best
from nardy.rules.batch import Afterstates
from nardy.rules.board import Boards, points_won
from nardy.rules.variants import Variant
from train.peers import NotInstalledError, check_asked, name_at


class SagePlayer:
    """bgsage at a fixed depth. One object serves one thread."""

    def __init__(self, game: Variant, ply: int = 0) -> None:
        """ply: 0 looks at the board, 1 and 2 search, with bgsage's own move filter.

        Raises ValueError where bgsage is not installed, or does not know the game or the depth.
        """
        check_asked("bgsage", game, ply)
        if importlib.util.find_spec("bgsage") is None:
            raise NotInstalledError("bgsage is not installed: pip install bgsage")
        self.name = name_at("bgsage", ply)
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
        if self._search is None:
            return first_best(self._static_equities(results.boards), results.offsets)
        parents, children = _cells(boards), _cells(results.boards)
        best = np.empty(len(boards), np.int64)
        offsets = results.offsets.tolist()
        for i, (begin, end) in enumerate(zip(offsets[:-1], offsets[1:], strict=True)):
            chosen = self._search.best_move_index(children[begin:end], parents[i])
            best[i] = begin + chosen
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
        engine = _engine()
        owners = (engine.CubeOwner.CENTERED, engine.CubeOwner.PLAYER)
        columns = (owned.tolist(), cube.tolist(), away.tolist(), crawford.tolist())
        positions = [
            (cells, value, owners[owns], *((*both, last) if any(both) else ()))
            for cells, owns, value, both, last in zip(_cells(boards), *columns, strict=True)
        ]
        if self.ply == 0:
            answers = engine.batch_evaluate_positions(
                positions, self._static, 1, jacoby=False, beaver=False
            )
        else:
            answers = [self._searched_cube(*position) for position in positions]
        names = ("equity_nd", "equity_dt", "equity_dp")
        return np.array([[answer[name] for name in names] for answer in answers]).reshape(-1, 3)

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

    def _searched_cube(
        self,
        cells: list[int],
        cube: int,
        owner: Any,
        mine: int = 0,
        theirs: int = 0,
        crawford: bool = False,
    ) -> Any:
        paths, hidden = self._weights.weight_args
        return _engine().cube_decision_nply_unified(
            cells,
            cube,
            owner,
            n_plies=self.ply + 1,
            strategy_type=self._weights.strategy_type,
            weight_paths=paths,
            hidden_sizes=hidden,
            away1=mine,
            away2=theirs,
            is_crawford=crawford,
            jacoby=False,
            beaver=False,
            bearoff_db=self._table,
        )


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
