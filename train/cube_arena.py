"""The arena's side of the cube: what games are played for, by whom, and who tells luck."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nardy.match.score import Score, match_score
from nardy.play.cube_head import CubeHead
from nardy.rules.variants import Variant
from train.checkpoint import resolve
from train.cube_match import play_cube_match
from train.cube_players import CubePlayer, NetCube, cube_player
from train.cube_result import OPTIONS, CubeJudge, CubeResult
from train.luck import NetRolls
from train.match import How
from train.players import NAMES, load_net

if TYPE_CHECKING:
    from train.arena import ArenaConfig


def start_of(config: "ArenaConfig") -> Score | None:
    """What each unit is played for; None without the cube.

    Raises ValueError naming what does not go together.
    """
    if config.cube not in ("off", "money"):
        raise ValueError(f"cube must be off or money, not {config.cube!r}")
    options = {name: getattr(config, name) for name in OPTIONS}
    given = {name: value for name, value in options.items() if value != getattr(Score, name)}
    if config.cube == "money":
        if config.length is not None:
            raise ValueError(f"length={config.length} is for a match, cube=money for money play")
        return Score(**given)
    for name, value in given.items():
        raise ValueError(f"{name}={str(value).lower()} needs cube=money")
    return None if config.length is None else match_score(config.length)


def cube_match(config: "ArenaConfig", game: Variant, start: Score, how: How) -> CubeResult:
    """Play what `config` says. Raises ValueError naming what is wrong."""
    if config.mat is not None and start.auto_doubles:
        raise ValueError(f"mat={config.mat!r}: the format has no automatic doubles")
    plies = (config.ply if ply is None else ply for ply in (config.a_ply, config.b_ply))
    a, b = (
        cube_player(str(name), game, ply, config.tables, start)
        for name, ply in zip((config.a, config.b), plies, strict=True)
    )
    judge = _judge(config, game, (a, b))
    return play_cube_match(a, b, game, start, config.pairs, config.seed, judge=judge, **how)


def _judge(config: "ArenaConfig", game: Variant, players: Sequence[CubePlayer]) -> CubeJudge | None:
    """Who tells luck from play: `judge`, or with `luck` the first net that plays."""
    if config.judge in NAMES:
        raise ValueError(f"judge={config.judge!r} is not a net: with the cube a net tells luck")
    if config.judge is not None:
        rolls = NetRolls(load_net(config.judge, game), config.luck_looks)
        return CubeJudge(rolls, config.judge, CubeHead.load(resolve(config.judge)))
    if not config.luck:
        return None
    for one in players:
        if isinstance(one, NetCube):
            return CubeJudge(NetRolls(one.net, config.luck_looks), one.net_name, one.head)
    raise ValueError("luck=true needs a net to tell it, and none plays: name one, judge=…")
