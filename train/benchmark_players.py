"""Whom the decision benchmark judges: nets at any depth, peers and the simple players.

judged = subject("gnubg", ply=1)
rows = judged.play(decisions)
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy.match.score import MAX_LENGTH, Owner, Score
from nardy.net.net import Net
from nardy.play.bearoff import tables_for
from nardy.play.cube_head import cube_of
from nardy.play.cubeful import cube_values_at
from nardy.play.search import Search
from nardy.rules.board import Boards, flip, points_won
from nardy.rules.variants import Variant, variant
from train.benchmark_files import FOLDER, Cubes, Decisions, Floats, read_decisions
from train.benchmark_scores import Rows, equities, score_decisions
from train.checkpoint import resolve
from train.peers.gnubg_nn import GnubgPlayer, sides
from train.players import Player, player

Chances = Callable[[Boards], Floats]

SHORT = variant("short")

ENGINES = ("gnubg-nn", "gnubg", "bgsage")
"""Those that judge and are judged here."""

NAMES = ("random", "pips", "heuristic", *ENGINES)
"""What a subject may be called that is no path."""


@dataclass(frozen=True)
class Subject:
    """A player under judgement, each of its abilities a function or None where it has none.

    play: int64[N], the row of decisions.results that it plays in each; None: all equally likely.
    chances: float64[N, 5] from int8[N, 26] boards before the roll, as in benchmark_files.Values.
    cube_values: float64[N, 3], what no double, double and take, double and pass are worth.
    """

    name: str
    play: Callable[[Decisions], Rows | None]
    chances: Chances | None = None
    cube_values: Callable[[Cubes], Floats] | None = None
    close: Callable[[], None] = lambda: None


def subject(name: str, ply: int = 0, tables: bool = False, game: Variant = SHORT) -> Subject:
    """The subject called `name`: one of NAMES, or a path to a net (see train.checkpoint.resolve).

    game: what it is to play.

    ply: how deep it looks; random and pips look at the board alone, whatever it is. tables: for
    nets, whether bear-off tables take their place where they reach.
    Raises ValueError naming a peer that is not installed, a depth that a player has not, or a
    path that is no net, or one that plays another game.
    """
    if name == "gnubg":
        from train.peers.gnubg import GnubgProgram

        program = GnubgProgram(game, ply)
        cube = _cube(program.cube_values)
        return Subject(program.name, _play(program), program.probabilities, cube, program.close)
    if name == "bgsage":
        from train.peers.bgsage import SagePlayer

        sage = SagePlayer(game, ply)
        return Subject(sage.name, _play(sage), sage.probabilities, _cube(sage.cube_values))
    if name == "gnubg-nn":
        peer = GnubgPlayer(game, ply)
        return Subject(peer.name, _play(peer), lambda boards: gnubg_nn_chances(boards, ply))
    if name not in NAMES:
        return _net_subject(name, ply, tables, game)
    if name == "random":
        return Subject(name, lambda decisions: None)
    return Subject(name, _play(player(name, game)))


def decision_scores(net: str, game: Variant, tables: bool = False) -> dict[str, Any]:
    """What the plays of the net at a path lose by the decisions of its game, by judge, as
    score_decisions; empty for a game, or other rules, that there is no file of.

    tables: as in `subject`.
    """
    file = FOLDER / f"decisions_{game.name}.npz"
    if not file.is_file() or game != variant(game.name):
        return {}
    decisions = read_decisions(file)
    return score_decisions(decisions, subject(net, 0, tables, game).play(decisions))


def engine(name: str) -> Player:
    """The engine called `name`, one of ENGINES, as a player at 0-ply.

    Raises ValueError naming an engine that is unknown or not installed.
    """
    if name not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}, not {name!r}")
    return player(name, variant("short"))


def engine_chances(name: str, ply: int) -> Chances:
    """How the engine called `name` judges a position at `ply`, without pruning of replies."""
    game = variant("short")
    if name == "gnubg":
        from train.peers.gnubg import GnubgProgram

        program = GnubgProgram(game, ply)
        return lambda boards: program.probabilities(boards, prune=False)
    if name == "bgsage":
        from train.peers.bgsage import SagePlayer

        return SagePlayer(game, ply).probabilities
    return lambda boards: gnubg_nn_chances(boards, ply)


def gnubg_nn_chances(boards: Boards, ply: int) -> Floats:
    """float64[N, 5] by gnubg-nn for the player on roll."""
    import gnubg_nn

    rows = [gnubg_nn.probabilities(sides(board), ply) for board in boards.tolist()]
    return np.array(rows, float).reshape(-1, 5)


def after_values(chances: Chances, results: Boards, game: Variant) -> Floats:
    """float64[N]: the mover's equity of each afterstate, int8[N, 26], exact where it ends (K14)."""
    values = points_won(results, game).astype(float)
    going = values == 0
    values[going] = -equities(chances(flip(results[going])))
    return values


def cumulative_chances(chances: NDArray[np.float32], outcomes: tuple[int, ...]) -> Floats:
    """float64[N, 5] as the files have them, from float32[N, K] chances of `outcomes`."""
    points = np.array(outcomes)
    parts = (points >= 1, points >= 2, points >= 3, points <= -2, points <= -3)
    return np.column_stack([chances[:, part].sum(1, dtype=float) for part in parts])


def game_of(name: str) -> Variant | None:
    """The game that the net at a path plays; None for one of NAMES.

    Raises ValueError where there is no net.
    """
    if name in NAMES:
        return None
    if not Path(name).exists():
        raise ValueError(f"{name!r} is neither {', '.join(NAMES)} nor a path that exists")
    return Net.load(resolve(name)).variant


def _net_subject(path: str, ply: int, tables: bool, wanted: Variant) -> Subject:
    game = game_of(path)
    assert game is not None
    # nackgammon is short nardy from another start
    if (game.family, game.checkers) != (wanted.family, wanted.checkers):
        raise ValueError(
            f"the net in {path!r} plays {game.name}; the benchmark is {wanted.name} nardy with "
            f"{wanted.checkers} checkers"
        )
    if game.family == "blocking" and game != wanted:
        raise ValueError(f"the net in {path!r} plays {game}, the benchmark is {wanted}")
    net = Net.load(resolve(path))
    search = Search(net, ply, tables=tables_for(game) if tables else None)

    def chances(boards: Boards) -> Floats:
        return cumulative_chances(search.before_roll(boards), game.outcomes)

    cube = cube_of(resolve(path), net)

    def actions(cubes: Cubes) -> Floats:
        scores = [score_of(cubes, i) for i in range(len(cubes.boards))]
        values = cube_values_at(cubes.boards, search.before_roll(cubes.boards), scores, cube)
        return np.column_stack(values[:3])

    return Subject(
        path if ply == 0 else f"{path} at {ply}-ply",
        lambda decisions: search.best(decisions.boards, decisions.results),
        chances,
        actions,
    )


def score_of(cubes: Cubes, i: int) -> Score:
    """What position `i` is played for, in the view of its player on roll.

    The file gives the points that are missing and not the match's length, which changes nothing.
    An owned cube on 1 stands for one on 2 in money play, where the stake is only a unit.
    """
    mine, theirs = cubes.away[i].tolist()
    owned, cube = bool(cubes.owned[i]), int(cubes.cube[i])
    if owned and cube == 1:
        cube = 2
    owner: Owner = "mine" if owned else "centre"
    if not mine:
        return Score(cube=cube, owner=owner)
    return Score((mine, theirs), MAX_LENGTH, bool(cubes.crawford[i]), cube, owner)


def _play(chooser: Player) -> Callable[[Decisions], Rows]:
    return lambda decisions: chooser.choose(
        decisions.boards, decisions.dice, decisions.results, decisions.games, decisions.plies
    )


def _cube(values: Callable[..., Floats]) -> Callable[[Cubes], Floats]:
    return lambda cubes: values(cubes.boards, cubes.owned, cubes.cube, cubes.away, cubes.crawford)
