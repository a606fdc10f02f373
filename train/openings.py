"""The opening of long nardy as a net sees it, as a page of tables.

    python -m train.openings net=checkpoints/long-01 to=docs/long_openings.md

For each first roll the play and what it is worth; for each reply to it the same; and for the
starter's second turn, the first with a choice to speak of, which play is best and after what share
of the replies. Rolls that lead to one position share a table. Moves are in the mover's own numbers.
OpeningsConfig lists the keys.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from nardy.net.net import Net
from nardy.net.weights import write_whole
from nardy.notation.moves import move_texts
from nardy.play.player import Player, RankedPlay
from nardy.play.search import PLIES, Search
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, start_board, turn
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.variants import OPTIONS
from train.arena import check_writable, progress_bar
from train.checkpoint import resolve
from train.command_line import answer
from train.config import about, help_text, parse_keys
from train.loop import commit

EXAMPLES = ("python -m train.openings net=checkpoints/long-01 to=docs/long_openings.md",)
UNEQUAL = ROLLS[ROLLS[:, 0] != ROLLS[:, 1]][::-1]
"""uint8[15, 2], the first rolls that there are (D3)."""

WIDTH, MARGIN, SHARE = 3, 0.1, 0.1
"""Plays of a reply that are shown, at most so many and within so many points; and of a second turn
those that are best after so large a share of the replies."""


@dataclass
class OpeningsConfig:
    """One page."""

    net: str | None = about("path to a net of long nardy or nardgammon", None)
    to: str | None = about("file to write, a page of Markdown", None)
    ply: int = about("how deep first plays and replies are looked at", 2)
    second_ply: int = about("and the starter's second turn", 1)

    def __post_init__(self) -> None:
        """Refuse what cannot be made, by name."""
        if self.net is None or self.to is None:
            raise ValueError("name the net and the page: net=checkpoints/long-01 to=page.md")
        for name in ("ply", "second_ply"):
            if getattr(self, name) not in PLIES:
                raise ValueError(f"{name} must be 0, 1, 2 or 3, not {getattr(self, name)!r}")


class Second(NamedTuple):
    """A roll on the starter's second turn, over all replies that may have come between."""

    equity: float  # mean, of the best plays
    plays: list[tuple[str, float]]  # the best ones, each with the share of replies it follows


class Opening(NamedTuple):
    """A first roll; `replies` and `seconds` are by dice.ROLLS."""

    dice: NDArray[np.uint8]
    plays: Sequence[RankedPlay]
    static: float  # of the first play, at 0-ply
    replies: Sequence[Sequence[RankedPlay]]
    seconds: list[Second]


def openings(net: Net, config: OpeningsConfig) -> list[Opening]:
    """Every first roll, the highest first. Raises ValueError where the net is not of the family."""
    game = net.variant
    if game.family != "blocking":
        raise ValueError(
            f"the net in {config.net!r} plays {game.name}, and this page is long nardy's"
        )
    for name in ("opening", "last_roll"):  # the page speaks of fifteen rolls, and of no draws
        if getattr(game, name) != OPTIONS[name][0]:
            raise ValueError(
                f"the net in {config.net!r} plays with {name}={getattr(game, name)}, "
                f"and this page is of {name}={OPTIONS[name][0]}"
            )
    player, search = Player(net, config.ply), Search(net, config.second_ply)
    found: list[Opening] = []
    with progress_bar(len(UNEQUAL), "roll") as bar:
        for dice in UNEQUAL:
            plays = player.best(start_board(game), dice)
            alike = next((one for one in found if _same_position(one.plays, plays)), None)
            if alike is None:
                board = turn(plays[0].board, game.family)
                replies = [player.best(board, reply) for reply in ROLLS]
                seconds = second_turns(search, np.stack([plays[0].board for plays in replies]))
                static = float(search.static_values(plays[0].board[None])[0])
                found.append(Opening(dice, plays, static, replies, seconds))
            else:
                found.append(alike._replace(dice=dice, plays=plays))
            bar.update()
    return found


def _same_position(plays: Sequence[RankedPlay], others: Sequence[RankedPlay]) -> bool:
    return bool((plays[0].board == others[0].board).all())


def second_turns(search: Search, replied: Boards) -> list[Second]:
    """The starter's second turn by dice.ROLLS. replied: int8[21, 26], in the replier's view, the
    positions after his best play of each of dice.ROLLS."""
    game = search.net.variant
    boards = turn(replied, game.family)
    found = []
    for dice in ROLLS:
        results = afterstates(boards, np.tile(dice, (len(boards), 1)), game)
        best = search.best(boards, results)
        chosen = results.boards[best]
        shares: defaultdict[str, float] = defaultdict(float)
        for board, after, chance in zip(boards, chosen, ROLL_CHANCES.tolist(), strict=True):
            shares[move_texts(board, dice, after[None], game.family)[0]] += chance
        equity = float(search.static_values(chosen) @ ROLL_CHANCES)
        found.append(Second(equity, sorted(shares.items(), key=lambda item: -item[1])))
    return found


# --- the page --------------------------------------------------------------------------------


def page(found: Sequence[Opening], config: OpeningsConfig) -> str:
    """The tables."""
    mean = float(np.mean([opening.plays[0].equity for opening in found]))
    keys = f"net={config.net} to={config.to} ply={config.ply} second_ply={config.second_ply}"
    lines = [
        "# The opening of long nardy",
        "",
        f"    python -m train.openings {keys}",
        "",
        f"Made at commit {commit()} by that command, and true as far as the net is. Moves are in",
        "the mover's own numbers, equities his points a game; mars won and lost: shares of games.",
        f"First plays and replies are looked at {config.ply} plies deep, the second turn "
        f"{config.second_ply}.",
        "",
        f"Before the first roll the starter's game is worth {mean:+.3f} points, the mean of the",
        "fifteen rolls that he may begin with (D3). Each of them has one play only (D4).",
        "",
        "| first roll | play | equity | 0-ply | wins | mars won | mars lost |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [_first_row(opening, play) for opening in found for play in opening.plays[:WIDTH]]
    lines += [
        "",
        "Below, for each first play: the reply by the roll that the other side throws, and the",
        "starter's second turn by the roll that he then throws, with the mean equity over replies.",
        f"Where one roll has several plays those within {MARGIN} points are given; on the second",
        f"turn those that are best after {SHARE:.0%} of the replies or more, with that share.",
    ]
    for opening in found:
        alike = [one for one in found if _same_position(one.plays, opening.plays)]
        if alike[0] is opening:
            lines += ["", *_section(opening, ", ".join(_roll(one.dice) for one in alike))]
    return "\n".join(lines) + "\n"


def _first_row(opening: Opening, play: RankedPlay) -> str:
    win, mars, lost = play.chances[-2:].sum(), play.chances[-1], play.chances[0]
    cells = (
        _roll(opening.dice),
        play.text,
        f"{play.equity:+.3f}",
        f"{opening.static:+.3f}",
        *(f"{share:.1%}" for share in (win, mars, lost)),
    )
    return _row(cells)


def _section(opening: Opening, rolls: str) -> list[str]:
    """rolls: all that lead to its position."""
    first = opening.plays[0]
    lines = [
        f"## {rolls}: {first.text} ({first.equity:+.3f})",
        "",
        "| roll | the reply | equity | the starter's second turn | equity |",
        "|---|---|---|---|---|",
    ]
    for dice, replies, second in zip(ROLLS, opening.replies, opening.seconds, strict=True):
        near = [r for r in replies[:WIDTH] if replies[0].equity - r.equity <= MARGIN]
        equities = " or ".join(f"{reply.equity:+.3f}" for reply in near)
        texts = [
            f"{text} ({share:.0%})" if share < 0.995 else text
            for text, share in second.plays
            if share >= SHARE or text == second.plays[0][0]
        ]
        plays = " or ".join(reply.text for reply in near)
        cells = (_roll(dice), plays, equities, ", ".join(texts), f"{second.equity:+.3f}")
        lines.append(_row(cells))
    return lines


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _roll(dice: NDArray[np.uint8]) -> str:
    return "-".join(str(die) for die in sorted(dice.tolist(), reverse=True))


def run(config: OpeningsConfig) -> None:
    """Write the page. Raises ValueError naming what is wrong, before anything is searched."""
    check_writable("to", config.to)
    net = Net.load(resolve(str(config.net)))
    text = page(openings(net, config), config)
    write_whole(Path(str(config.to)), text.encode())
    print(f"{config.to}: {len(text.splitlines())} lines")


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.openings",
        lambda: run(parse_keys(OpeningsConfig, arguments)),
        arguments,
        help_text(
            OpeningsConfig, "python -m train.openings net=NET to=PAGE [key=value ...]", EXAMPLES
        ),
        stopped="interrupted, nothing written",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
