"""Two players against each other, or a round robin of several: who is stronger, by how much.

    python -m train.arena a=runs/quick b=gnubg-nn pairs=2000 luck=true
    python -m train.arena a=checkpoints/short-01 b=random pairs=100 json=result.json
    python -m train.arena players=[runs/quick,gnubg-nn,pips] pairs=500 plot=ratings.png
    python -m train.arena a=checkpoints/short-01 b=gnubg cube=money pairs=1000 luck=true
    python -m train.arena a=checkpoints/short-01 b=gnubg length=7 pairs=300 luck=true

A player is random, pips, heuristic (of long nardy), gnubg-nn, gnubg, bgsage, exact (a game that
train.solve has solved), or a run folder, checkpoint or exported net.
A round robin leaves out a peer that is not installed, and says so.
Every game is played twice with the same dice and the seats swapped. ArenaConfig lists the keys.
Points are always a's. train.match plays the same from Python.
"""

import itertools
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# games are spread over threads here; a BLAS that starts more of its own slows all of them
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from nardy.match.score import Score
from nardy.net.weights import write_whole
from nardy.notation.matfile import write_mat, write_match
from nardy.rules.variants import Variant, variant
from train import ratings
from train.command_line import answer
from train.config import VariantConfig, about, help_text, parse
from train.cube_arena import cube_match, start_of
from train.cube_result import cube_dict, cube_record, cube_report
from train.luck import LuckJudge, NetRolls
from train.match import How, MatchResult, play_match
from train.peers import NotInstalledError
from train.players import NAMES, NetPlayer, Player, load_net, player
from train.solved import TableRolls, exact_player

EXAMPLES = (
    "python -m train.arena a=runs/quick b=gnubg-nn pairs=2000 luck=true",
    "python -m train.arena a=checkpoints/short-01 b=random pairs=100 json=result.json",
    "python -m train.arena a=runs/one b=runs/two ply=1 pairs=100000 luck=true until=0.01",
    "python -m train.arena players=[runs/one,runs/two,gnubg-nn] pairs=500 plot=ratings.png",
    "python -m train.arena a=runs/one b=gnubg cube=money pairs=1000 luck=true",
    "python -m train.arena a=runs/one b=gnubg length=7 pairs=300 luck=true",
    "python -m train.arena a=runs/cube b=runs/cube:formula cube=money pairs=15000 luck_looks=3 "
    "luck=true",
)

SAVED_GAMES = 100
"""How many games go into a .mat file."""


@dataclass
class ArenaConfig:
    """One match, or a round robin."""

    a: str | None = about(
        "random, pips, heuristic, gnubg-nn, gnubg, bgsage or a path to a net", None
    )
    b: str | None = about("the other player", None)
    players: list[str] = about("instead of a and b: each of these against each other", [])
    variant: VariantConfig = about("the game", VariantConfig)
    cube: str = about("off, or money: nets by what they learnt, else the formula", "off")
    jacoby: bool = about("with cube=money: gammons count once the cube has been turned", False)
    beavers: bool = about("with cube=money: who takes may double at once and keep the cube", False)
    auto_doubles: int = about("with cube=money: how often equal opening dice may double", 0)
    stake_cap: int | None = about("with cube=money: 3 or 10 points that a game may cost", None)
    length: int | None = about("matches to so many points, with the cube and Crawford", None)
    ply: int = about("how many plies players look ahead, 0 to 2", 0)
    a_ply: int | None = about("and a, where it is another number", None)
    b_ply: int | None = about("and b", None)
    pairs: int = about("pairs of games with the same dice, at most", 1000)
    until: float | None = about("points: stop when the 95 % interval is ± this", None)
    seconds: float | None = about("start no game after so long", None)
    luck: bool = about("take the luck of the dice out, at 21 evaluations for one", False)
    luck_looks: int | None = about("replies to a roll that tell luck, by a cheap look; all", None)
    judge: str | None = about("who tells luck: a net, by default the first to play, or exact", None)
    tables: bool = about("nets use the bear-off tables, as nardy play does", False)
    seed: int = about("of the dice, and of random players", 0)
    batch: int | None = about("games in progress in each thread; no effect on the result", None)
    threads: int | None = about("threads that play, by default one a core; likewise", None)
    json: str | None = about("file to write the result to", None)
    mat: str | None = about(f"file to write the first {SAVED_GAMES} games to", None)
    plot: str | None = about("picture of a round robin's ratings to write", None)


def report(result: MatchResult) -> str:
    """The result for a reader, a few lines."""
    shares = {"wins": 1, "gammons": 2, "backgammons": 3}
    paid = {n: p for n, p in shares.items() if p <= max(variant(result.variant).outcomes)}
    rows = [
        f"{seat:4}{_cells(f'{result.won(sign * points):.1%}' for points in paid.values())}   {name}"
        for seat, sign, name in (("a", 1, result.a), ("b", -1, result.b))
    ]
    lines = [
        f"{result.ppg:+.4f} ± {result.ci95:.4f} points a game for a "
        f"(95 %, {result.pairs} pairs of {result.variant})"
    ]
    if result.adjusted is not None:
        lines.append(
            f"{result.adjusted.ppg:+.4f} ± {result.adjusted.ci95:.4f} "
            f"with the luck taken out, as {result.judge} tells it"
        )
        raw, told = (
            _games_for(0.01, result, width) for width in (result.ci95, result.adjusted.ci95)
        )
        lines.append(f"for ± 0.01 it takes {raw:,d} games as they fell, {told:,d} without luck")
    return "\n".join(
        [
            *lines,
            f"{'':4}{_cells(paid)}",
            *rows,
            f"draws {result.draws:.1%}, {result.games_per_s:.1f} games/s",
        ]
    )


def _cells(texts: Iterable[str]) -> str:
    """A line of the table of wins, gammons and, where they are paid, backgammons."""
    return "".join(f"{text:>{width}}" for text, width in zip(texts, (8, 10, 12), strict=False))


def _games_for(half_width: float, result: MatchResult, reached: float) -> int:
    """How many games bring an interval from the width that was reached to this one."""
    return round(2 * result.pairs * (reached / half_width) ** 2)


def as_dict(result: MatchResult) -> dict[str, Any]:
    """The result for JSON. wins, gammons, backgammons: a's shares of all games, each within the
    last; ci95: half the width of the interval; ply: null where a and b differ; adjusted: null
    without a judge."""
    adjusted = result.adjusted
    return {
        "a": result.a,
        "b": result.b,
        "variant": result.variant,
        "ply": result.a_ply if result.a_ply == result.b_ply else None,
        "a_ply": result.a_ply,
        "b_ply": result.b_ply,
        "cube": "off",
        "pairs": result.pairs,
        "ppg": result.ppg,
        "ci95": result.ci95,
        "adjusted": None
        if adjusted is None
        else {"ppg": adjusted.ppg, "ci95": adjusted.ci95, "judge": result.judge},
        "wins": result.won(1),
        "gammons": result.won(2),
        "backgammons": result.won(3),
        "draws": result.draws,
        "games_per_s": result.games_per_s,
        "seed": result.seed,
    }


def run(config: ArenaConfig) -> None:
    """Play, print the result, and write it where asked.

    Raises ValueError or OSError naming what is wrong; a file that cannot be written is found out
    before the match, not after it.
    """
    for name in ("json", "mat", "plot"):
        check_writable(name, getattr(config, name))
    start = start_of(config)
    if config.players:
        if start is not None:
            raise ValueError("a round robin, players=[…], is played without the cube")
        _run_round_robin(config)
    elif start is not None:
        _check_two(config)
        _run_cube_match(config, start)
    else:
        _run_match(config)


def _check_two(config: ArenaConfig) -> None:
    for name, value in (("a", config.a), ("b", config.b)):
        if value is None:
            raise ValueError(f"{name} is missing: name two players, a=… b=…, or players=[…]")
    if config.plot is not None:
        raise ValueError(f"plot={config.plot!r} is for a round robin, players=[…]")


def _run_cube_match(config: ArenaConfig, start: Score) -> None:
    game = config.variant.make()
    with progress_bar(2 * max(config.pairs, 0), "game" if start.money else "match") as bar:
        how = _how(config, bar.update)
        if config.mat is not None:  # a .mat file holds one match, or a session
            how["save"] = SAVED_GAMES if start.money else 1
        result = cube_match(config, game, start, how)
    print(cube_report(result))
    if config.json is not None:
        _write_json(config.json, cube_dict(result))
    if config.mat is not None:
        write_whole(config.mat, write_match(cube_record(result, game)).encode())


def _run_match(config: ArenaConfig) -> None:
    _check_two(config)
    game = config.variant.make()
    if config.mat is not None and game.family != "hitting":
        raise ValueError(f"mat={config.mat!r}: the format has no {game.name} nardy")
    # two random players are two: they do not share their choices
    a = _player(config, game, config.a, config.a_ply, 0)
    b = _player(config, game, config.b, config.b_ply, 1)
    result = _match(config, game, a, b, config.seed, _judge(config, game, (a, b)))
    print(report(result))
    if config.json is not None:
        _write_json(config.json, as_dict(result))
    if config.mat is not None:
        text = write_mat((result.a, result.b), result.saved, game)
        write_whole(config.mat, text.encode())


def _run_round_robin(config: ArenaConfig) -> None:
    for name in ("a", "b", "a_ply", "b_ply", "mat"):
        if getattr(config, name) is not None:
            raise ValueError(
                f"{name}={getattr(config, name)!r} is for a match, not for players=[…]"
            )
    if config.plot is not None:
        ratings.check_picture(config.plot)
    game = config.variant.make()
    players = _players(config, game)
    names = [one.name for one in players]
    if len(players) < 2:
        raise ValueError(f"a round robin needs two players or more, not {names}")
    judge = _judge(config, game, players)
    matches = {}
    for number, (i, j) in enumerate(itertools.combinations(range(len(players)), 2)):
        # each match has dice of its own, so that ratings see independent games
        seed = config.seed + number
        result = matches[i, j] = _match(config, game, players[i], players[j], seed, judge)
        points = result.adjusted or result
        print(f"{result.a} - {result.b}: {points.ppg:+.4f} ± {points.ci95:.4f}", flush=True)
    print(ratings.text(names, matches))
    if config.json is not None:
        rated = ratings.as_dict(names, matches)
        played = [as_dict(match) for match in matches.values()]
        _write_json(config.json, {"players": rated, "matches": played})
    if config.plot is not None:
        ratings.plot(names, matches, config.plot)


def _player(
    config: ArenaConfig, game: Variant, name: str | None, ply: int | None, number: int
) -> Player:
    assert name is not None
    depth = config.ply if ply is None else ply
    return player(name, game, config.seed + number, depth, config.tables)


def _players(config: ArenaConfig, game: Variant) -> list[Player]:
    """Who plays in a round robin: a peer that is not installed is left out, and said to be."""
    found = []
    for number, name in enumerate(config.players):
        try:
            found.append(_player(config, game, name, None, number))
        except NotInstalledError as error:
            print(f"without {name}: {error}", file=sys.stderr)
    return found


def _judge(config: ArenaConfig, game: Variant, players: Sequence[Player]) -> LuckJudge | None:
    """Who tells luck from play: `judge`, or with `luck` the first net that plays."""
    if config.judge == "exact":
        return LuckJudge(TableRolls(exact_player(game, 0).solved), "exact")
    if config.judge in NAMES:
        raise ValueError(f"judge={config.judge!r} is neither a net nor exact")
    if config.judge is not None:
        return LuckJudge(NetRolls(load_net(config.judge, game), config.luck_looks), config.judge)
    if not config.luck:
        return None
    for one in players:
        if isinstance(one, NetPlayer):
            return LuckJudge(NetRolls(one.net, config.luck_looks), one.net_name)
    raise ValueError("luck=true needs a net to tell it, and none plays: name one, judge=…")


def _match(
    config: ArenaConfig, game: Variant, a: Player, b: Player, seed: int, judge: LuckJudge | None
) -> MatchResult:
    with progress_bar(2 * max(config.pairs, 0)) as bar:
        how = _how(config, bar.update)
        how["save"] = SAVED_GAMES if config.mat is not None else 0
        return play_match(a, b, game, config.pairs, seed, judge=judge, **how)


def _how(config: ArenaConfig, finished: Callable[[int], Any]) -> How:
    threads = cores() if config.threads is None else config.threads
    return How(
        batch=config.batch,
        threads=threads,
        finished=finished,
        until=config.until,
        seconds=config.seconds,
    )


def _write_json(path: str, values: dict[str, Any]) -> None:
    write_whole(path, (json.dumps(values, indent=2) + "\n").encode())


def check_writable(name: str, path: str | None) -> None:
    """Raise ValueError where the file of the key `name`, if one is given, cannot be written."""
    if path is not None and (Path(path).is_dir() or not os.access(Path(path).parent, os.W_OK)):
        raise ValueError(f"{name}={path!r} is not a file that can be written")


def cores() -> int:
    """The processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def progress_bar(games: int, unit: str = "game") -> Any:
    """A bar on stderr: at once on a terminal, elsewhere only in a match of more than seconds."""
    from tqdm import tqdm

    terminal = sys.stderr.isatty()
    delay, every = (0, 0.2) if terminal else (5, 10)
    return tqdm(total=games, unit=unit, delay=delay, mininterval=every, leave=terminal)


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    usage = "python -m train.arena a=PLAYER b=PLAYER | players=[PLAYER,...] [key=value ...]"
    return answer(
        "train.arena",
        # "until=±0.005" is how people write it
        lambda: run(parse("arena", ArenaConfig, [a.replace("=±", "=") for a in arguments])),
        arguments,
        help_text(ArenaConfig, usage, EXAMPLES),
        stopped="interrupted, no result",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
