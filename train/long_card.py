"""What the card of a net of long nardy says, measured by one command.

    python -m train.long_card net=checkpoints/long-01 early=runs/long_strong/checkpoint-00000471

Prints rows for card.md: how the net's games with itself go (the first player's advantage, mars,
length), the net against random, pips, the hand-written player and an early net, and at 1-ply and
2-ply against itself at 0-ply, with the luck of the dice taken out. The matches can be played again
by the commands that are printed. CardConfig lists the keys; `pairs=` scales the time.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from nardy.net.net import Net
from nardy.rules.variants import OPTIONS, Variant, variant
from train.arena import check_writable, cores, progress_bar
from train.benchmark_players import decision_scores
from train.checkpoint import resolve
from train.command_line import answer
from train.config import about, help_text, parse_keys
from train.loop import commit
from train.luck import LuckJudge, NetRolls, adjust, mean_and_ci95
from train.match import MatchResult, play_match
from train.players import Player, installed_opponents, load_net, player

EXAMPLES = ("python -m train.long_card net=checkpoints/long-01 early=runs/x/checkpoint-00000100",)
EASY, JUDGED, SEARCHED = 4, 5, {1: 20, 2: 80}
"""How many times fewer pairs are played against random and pips, where luck is told, and at 1-ply
and 2-ply."""

LOOKS = 4
"""Replies to a roll that tell luck, the promising ones: as narrow as all of them, three times
sooner."""

Row = tuple[str, str]


@dataclass
class CardConfig:
    """One card."""

    net: str | None = about("path to a net of long nardy or nardgammon", None)
    early: str | None = about("an early net of the same game, to be beaten", None)
    pairs: int = about("pairs of games a match; fewer in those that are easy or slow", 4000)
    tables: bool = about("nets use the bear-off tables, as nardy play does", False)
    seed: int = about("of the dice", 0)
    threads: int | None = about("threads that play, by default one a core", None)
    to: str | None = about("file to write the rows to, besides printing them", None)

    def __post_init__(self) -> None:
        """Refuse what cannot be measured, by name."""
        if self.net is None:
            raise ValueError("net is missing: name a net of long nardy, net=checkpoints/long-01")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or above, not {self.seed!r}")
        if self.pairs < 2:
            raise ValueError(f"pairs must be at least 2, not {self.pairs!r}")


def rows(config: CardConfig) -> Iterator[Row]:
    """What was measured and the figure, one after the other.

    Raises ValueError where a net is none, or is of a game of another family.
    """
    path = str(config.net)
    game = Net.load(resolve(path)).variant
    if game.family != "blocking":
        raise ValueError(f"the net in {path!r} plays {game.name}, and this card is long nardy's")
    mine = player(path, game, tables=config.tables)
    early = [] if config.early is None else [player(config.early, game, tables=config.tables)]
    judge = LuckJudge(NetRolls(load_net(path, game), LOOKS), path)
    yield from own_games(_match(mine, mine, game, config, save=2 * config.pairs))
    yield first_player(_match(mine, mine, game, config, JUDGED, judge))
    for name in installed_opponents(game):
        other = player(name, game, config.seed + 1)  # as the arena's b
        fewer = EASY if name in ("random", "pips") else 1
        yield _against(_match(mine, other, game, config, fewer), game, config)
    for old in early:
        yield _against(_match(mine, old, game, config), game, config)
    for ply in SEARCHED:
        yield searched(path, ply, game, config, judge)
    yield from benchmark(path, game, config.tables)


def own_games(match: MatchResult) -> Iterator[Row]:
    """How a net's games with itself go. match: it against itself, all games saved."""
    # the twin of a game is the same game: one net, one dice
    points = match.points[:, 0].astype(float)
    lengths = np.array([len(game.turns) for game in match.saved[::2]], float)
    first, width = mean_and_ci95(points)
    long, spread = mean_and_ci95(lengths)
    shares = [f"{name} {share:.1%}" for name, share in (
        ("the first player wins", (points > 0).mean()),
        ("mars", (np.abs(points) == 2).mean()),
        ("draws", (points == 0).mean()),
    )]  # fmt: skip
    yield f"{len(points):,d} games with itself: the first player", f"{first:+.4f} ± {width:.4f}"
    yield "– shares", ", ".join(shares)
    yield "– turns a game, of both", f"{long:.1f} ± {spread:.1f}, at most {lengths.max():.0f}"


def first_player(match: MatchResult) -> Row:
    """His advantage, less noisily. match: a net against itself, with a judge."""
    assert match.luck is not None
    found = adjust(match.points[:, 0].astype(float), match.luck[:, 0])
    return f"– luck taken out of {match.pairs:,d}", f"{found.ppg:+.4f} ± {found.ci95:.4f}"


def _against(match: MatchResult, game: Variant, config: CardConfig) -> Row:
    text = f"{match.ppg:+.4f} ± {match.ci95:.4f} points a game, {match.won(1):.1%} wins"
    text += f", {match.won(2):.1%} mars, {match.won(-2):.1%} lost"
    if 0 in game.outcomes:
        text += f", {match.draws:.1%} draws"
    return _command(game, config, f"a={match.a} b={match.b}", f"pairs={match.pairs}"), text


def _command(game: Variant, config: CardConfig, players: str, how: str) -> str:
    """The arena's command line for a match of the card."""
    usual, words = variant(game.name), [f"train.arena {players} variant={game.name}"]
    for option in OPTIONS:
        value = getattr(game, option)
        words += [f"variant.{option}={value}"] if value != getattr(usual, option) else []
    if game.start != usual.start:
        stands = ",".join(f"{point}:{n}" for point, n in enumerate(game.start) if n > 0)
        words.append(f"variant.start={{{stands}}}")
    words += [how] + ["tables=true"] * config.tables + [f"seed={config.seed}"] * (config.seed != 0)
    return f"`{' '.join(words)}`"


def searched(path: str, ply: int, game: Variant, config: CardConfig, judge: LuckJudge) -> Row:
    """The net at 1-ply or 2-ply against itself at 0-ply, without the luck."""
    a, b = (player(path, game, ply=n, tables=config.tables) for n in (ply, 0))
    match = _match(a, b, game, config, SEARCHED[ply], judge)
    assert match.adjusted is not None
    how = f"pairs={match.pairs} luck=true luck_looks={LOOKS}"
    asked = _command(game, config, f"a={path} a_ply={ply} b={path}", how)
    return asked, f"{match.adjusted.ppg:+.4f} ± {match.adjusted.ci95:.4f}, luck taken out"


def benchmark(path: str, game: Variant, tables: bool) -> Iterator[Row]:
    """What its plays lose by the benchmark of its game, where there is one."""
    for name, score in decision_scores(path, game, tables).items():
        text = f"{score['loss']:.2f} ± {score['ci95']:.2f} millipoints a decision"
        yield f"`train.benchmark net={path}`, decisions_{game.name}.npz by {name}", text


def _match(
    a: Player,
    b: Player,
    game: Variant,
    config: CardConfig,
    fewer: int = 1,
    judge: LuckJudge | None = None,
    save: int = 0,
) -> MatchResult:
    pairs = max(config.pairs // fewer, 2)
    threads = cores() if config.threads is None else config.threads
    with progress_bar(2 * pairs) as bar:
        return play_match(
            a, b, game, pairs, config.seed, threads=threads, finished=bar.update, judge=judge,
            save=save,
        )  # fmt: skip


def run(config: CardConfig) -> None:
    """Measure and print the rows, and write them where asked. Raises ValueError naming what is
    wrong."""
    check_writable("to", config.to)
    lines = [f"| measured at commit {commit()} | figure |", "|---|---|"]
    print("\n".join(lines), flush=True)
    for what, figure in rows(config):
        lines.append(f"| {what} | {figure} |")
        print(lines[-1], flush=True)
    if config.to is not None:
        Path(config.to).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.long_card",
        lambda: run(parse_keys(CardConfig, arguments)),
        arguments,
        help_text(CardConfig, "usage: python -m train.long_card [key=value …]", EXAMPLES),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
