"""A solved game: exact equities of its positions, an exact player, and the judge of nets.

    game = variant("hyper")
    solved = SolvedGame.load(game_folder("runs/exact", game, cube=False), game)
    solved.equity(boards)            # float32[N]
    TablePlayer(solved)              # for the arena

train.solve makes the files.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Floats, Net
from nardy.net.weights import write_whole
from nardy.play.bearoff_kernels import rank_pairs
from nardy.play.search import first_best
from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import Boards, flip, points_won, start_board
from nardy.rules.dice import ROLLS, roll
from nardy.rules.variants import Variant
from train.benchmark_scores import mean_of
from train.checkpoint import resolve
from train.players import NAMES, NetPlayer, Player, player
from train.solve import CUBELESS, game_folder

GAMES = 256
"""Games in lock step while decisions are collected."""

STAGGER = 60
"""Turns until such games, some over early and begun again, are of every age."""


class SolvedGame:
    """Every position's equity, from the files that train.solve made."""

    def __init__(self, game: Variant, values: Floats, meta: dict[str, Any]) -> None:
        """values: float32[K, M, M], by cube state and ranks; meta: cubes, gap."""
        self.game = game
        self.values = values
        self.cubes: list[str] = meta["cubes"]
        self.gap = float(meta["gap"])

    @staticmethod
    def load(folder: Path, game: Variant) -> "SolvedGame":
        """Raises ValueError naming a folder that holds no solution of `game`."""
        try:
            meta = json.loads((folder / "meta.json").read_text())
            values = np.load(folder / "values.npy", mmap_mode="r", allow_pickle=False)
            solved = SolvedGame(game, np.asarray(values), meta)
            right = meta["checkers"] == game.checkers
        except FileNotFoundError:
            raise ValueError(
                f"{str(folder)!r} holds no solved game: make it with python -m train.solve"
            ) from None
        except (OSError, ValueError, EOFError, KeyError, TypeError) as error:
            raise ValueError(f"the solved game in {str(folder)!r} is not whole: {error}") from None
        if not right:
            raise ValueError(f"{str(folder)!r} is a game of {meta['checkers']} checkers")
        return solved

    def equity(self, boards: Boards, kind: int = 0) -> Floats:
        """float32[N]: points of the player on roll before his roll, to within `gap` / 2.

        boards: int8[N, 26], both sides with a checker left. kind: one of `cubes`; with a cube he
        has declined to double, and the unit is the cube.
        """
        ranks = np.empty((len(boards), 2), np.int64)
        rank_pairs(np.ascontiguousarray(boards), 25, ranks)
        values: Floats = self.values[kind, ranks[:, 0], ranks[:, 1]]
        return values

    def after(self, results: Boards) -> Floats:
        """float32[N]: points of the player who moved to `results`, int8[N, 26] in his view.

        With a cube: where it is centred. Exact where he has finished.
        """
        won = points_won(results, self.game)
        theirs = flip(results)
        value = self.equity(theirs)
        if self.cubes != list(CUBELESS):  # centred: the next player may double (K16)
            value = np.maximum(value, np.minimum(2 * self.equity(theirs, 2), 1))
        mine: Floats = np.where(won > 0, won.astype(np.float32), -value)
        return mine

    def first_player(self) -> float:
        """Points of the player who has won the first roll, before it is known what it is (K3)."""
        doubles = ROLLS[:, 0] == ROLLS[:, 1]
        rolls = ROLLS if self.game.opening == "reroll" else ROLLS[~doubles]
        weights = np.where(rolls[:, 0] == rolls[:, 1], 1, 2)
        starts = np.repeat(start_board(self.game)[None], len(rolls), 0)
        results = afterstates(starts, rolls, self.game)
        best = np.maximum.reduceat(self.after(results.boards), results.offsets[:-1])
        return float(np.average(best, weights=weights))

    def summary(self) -> str:
        """What was found, for a reader."""
        start = start_board(self.game)[None]
        lines = [f"first player's equity {self.first_player():+.6f} ± {self.gap / 2:.1e} points"]
        for kind, name in enumerate(self.cubes):
            value = float(self.equity(start, kind)[0])
            lines.append(f"on roll at the start, {name}: {value:+.6f}")
        return "\n".join(lines)


class TableRolls:
    """What each roll makes of a position of a solved game (train.luck.RollValues)."""

    def __init__(self, solved: SolvedGame) -> None:
        self.solved = solved
        self.game = solved.game

    def values(self, boards: Boards) -> Floats:
        """See RollValues."""
        parents = np.repeat(boards, len(ROLLS), 0)
        results = afterstates(parents, np.tile(ROLLS, (len(boards), 1)), self.game)
        after = self.solved.after(results.boards)
        best: Floats = np.maximum.reduceat(after, results.offsets[:-1])
        return best.reshape(len(boards), -1)

    def for_thread(self) -> "TableRolls":
        """See RollValues."""
        return self


class TablePlayer:
    """Plays a solved game without a mistake: the best afterstate, the first of equals."""

    name = "exact"
    ply = 0

    def __init__(self, solved: SolvedGame) -> None:
        self.solved = solved

    def choose(
        self,
        boards: Boards,
        dice: NDArray[np.uint8],
        results: Afterstates,
        games: NDArray[np.int64],
        plies: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """See train.players.Player.choose."""
        return first_best(self.solved.after(results.boards), results.offsets)

    def for_thread(self) -> "TablePlayer":
        """See train.players.Player.for_thread."""
        return self


def exact_player(game: Variant, ply: int) -> TablePlayer:
    """The exact player of `game`, from runs/exact. Raises ValueError where it is not solved."""
    return TablePlayer(SolvedGame.load(game_folder("runs/exact", game, cube=False), game))


class Decisions(NamedTuple):
    """Positions with a choice, met in exact play."""

    boards: Boards  # int8[N, 26], mover's view
    dice: NDArray[np.uint8]  # uint8[N, 2]
    games: NDArray[np.int64]  # int64[N], the game each is of


class Judgement(NamedTuple):
    """How a player compares with the truth."""

    name: str
    games: int | None  # played in training, where it is known
    loss: float  # points a decision
    ci95: float  # half the width of its interval
    error: float | None  # mean |equity − exact|, where it is a net


def decisions(solved: SolvedGame, count: int, seed: int) -> Decisions:
    """`count` decisions of games that the table plays against itself.

    The first STAGGER turns are left out: games begun together are all young together.
    """
    boards = np.repeat(start_board(solved.game)[None], GAMES, 0)
    games, plies = np.arange(GAMES), np.zeros(GAMES, np.int64)
    found: list[Decisions] = []
    turn = 0
    while sum(len(part.boards) for part in found) < count:
        dice = roll(seed, games, plies, solved.game.opening)
        results = afterstates(boards, dice, solved.game)
        free = (np.diff(results.offsets) > 1) & (turn >= STAGGER)
        found.append(Decisions(boards[free], dice[free], games[free]))
        turn += 1
        chosen = results.boards[first_best(solved.after(results.boards), results.offsets)]
        over = points_won(chosen, solved.game) > 0
        boards = np.where(over[:, None], start_board(solved.game), flip(chosen))
        games, plies = np.where(over, games + GAMES, games), np.where(over, 0, plies + 1)
    parts = (np.concatenate(part)[:count] for part in zip(*found, strict=True))
    return Decisions(*parts)


def judged(
    one: Player, solved: SolvedGame, asked: Decisions, games: int | None = None
) -> Judgement:
    """One player's decision loss, and for a net its error before the roll."""
    boards, dice, numbers = asked
    results = afterstates(boards, dice, solved.game)
    values = solved.after(results.boards)
    rows = one.choose(boards, dice, results, numbers, np.zeros(len(boards), np.int64))
    loss = np.maximum.reduceat(values, results.offsets[:-1]) - values[rows]
    score = mean_of(loss.astype(float), numbers)  # decisions of one game are not independent
    error = None
    if isinstance(one, NetPlayer):
        error = float(np.abs(one.net.equity(boards) - solved.equity(boards)).mean())
    return Judgement(one.name, games, score["loss"], score["ci95"], error)


def judge(against: str, solved: SolvedGame, count: int, seed: int, json_path: str | None) -> None:
    """Print how `against` compares with the truth, a line for each checkpoint of a run."""
    if solved.cubes != list(CUBELESS):
        raise ValueError("nets are judged without a cube: leave out cube=true")
    asked = decisions(solved, count, seed)
    found: list[Judgement] = []
    for one, games in _players(against, solved.game, seed):
        if not found:  # here, so that a player who is not there gets one sentence alone
            print(f"{'games':>12}  loss a decision      error of equity   ({count} decisions)")
        found.append(judged(one, solved, asked, games))
        print(_line(found[-1]), flush=True)
    if json_path is not None:
        rows = [row._asdict() for row in found]
        write_whole(json_path, (json.dumps({"against": against, "rows": rows}) + "\n").encode())


def _line(row: Judgement) -> str:
    games = "" if row.games is None else f"{row.games:,d}"
    error = "" if row.error is None else f"{row.error:.5f}"
    return f"{games:>12}  {row.loss:.5f} ± {row.ci95:.5f}    {error:15}   {row.name}"


def _players(against: str, game: Variant, seed: int) -> Iterator[tuple[Player, int | None]]:
    """What `against` names: one player, or every checkpoint that a run has kept."""
    if against in NAMES:
        yield player(against, game, seed), None
        return
    folder = Path(against)
    checkpoints = sorted(folder.glob("checkpoint-*")) if folder.is_dir() else []
    for path in checkpoints or [resolve(folder)]:
        net = Net.load(path)
        yield player(str(path), game), net.meta.get("games")
