"""Matches and states made up at random, and what makes two records the same."""

import numpy as np
from hypothesis import strategies as st
from rules.strategies import placements

from nardy.notation.moves import move_texts
from nardy.notation.record import GameRecord, MatchRecord, Recorder, Roll
from nardy.notation.state import GAMES, MatchState, Position
from nardy.rules.batch import afterstates
from nardy.rules.variants import Variant, variant


@st.composite
def states(draw: st.DrawFn) -> MatchState:
    """Any state that a Match ID holds."""
    length = draw(st.sampled_from((0, 1, 2, 3, 7, 25, 32767)))
    top = max(length - 1, 0) if length else 32767
    points = (draw(st.integers(0, top)), draw(st.integers(0, top)))
    doubled = draw(st.booleans())
    dice = None if doubled else draw(st.none() | st.tuples(st.integers(1, 6), st.integers(1, 6)))
    near = length > 0 and max(points) == length - 1
    return MatchState(
        cube=1 << draw(st.integers(0, 15)),
        owner=draw(st.sampled_from((None, 0, 1))),
        on_roll=draw(st.integers(0, 1)),
        dice=dice,
        doubled=doubled,
        resigned=draw(st.integers(0, 3)),
        turn=draw(st.sampled_from((None, 0, 1))),
        length=length,
        points=points,
        crawford=near and draw(st.booleans()),
        jacoby=not length and draw(st.booleans()),
        game=draw(st.sampled_from(GAMES)),
    )


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """A board and a state."""
    return Position(draw(placements()), draw(states()))


def made_up(
    seed: int, length: int, game: Variant | None = None, jacoby: bool = False
) -> MatchRecord:
    """A match of random plays, doubles, drops and resignations; of money play three games."""
    rng = np.random.default_rng(seed)
    game = game or variant("short")
    score, games, played = (0, 0), [], False
    while (max(score) < length) if length else (len(games) < 3):
        near = length > 0 and (score[0] == length - 1) != (score[1] == length - 1)
        record = _game(rng, game, score, near and not played, jacoby)
        played |= near
        games.append(record)
        won = [record.points * (record.winner == player) for player in (0, 1)]
        score = (score[0] + won[0], score[1] + won[1])
    return MatchRecord(("anna", "boris"), length, game, games, jacoby=jacoby)


def _game(
    rng: np.random.Generator, game: Variant, score: tuple[int, int], crawford: bool, jacoby: bool
) -> GameRecord:
    recorder = Recorder(game, jacoby)
    player = int(rng.integers(2))
    while recorder.winner is None:
        may = not crawford and recorder.owner != 1 - player and recorder.cube < 8
        if recorder.actions and may and rng.random() < 0.04:
            recorder.double(player)
            recorder.answer(1 - player, "drop" if rng.random() < 0.3 else "take")
            if recorder.winner is not None:
                break
        dice = rng.integers(1, 7, 2) if recorder.actions else rng.permutation(6)[:2] + 1
        if recorder.actions and rng.random() < 0.005:
            points = recorder.cube * int(rng.integers(1, 4))
            return recorder.finished(score, crawford, int(rng.integers(2)), points)
        play(recorder, player, (int(dice[0]), int(dice[1])), int(rng.integers(1000)))
        player = 1 - player
    return recorder.finished(score, crawford)


def play(recorder: Recorder, player: int, dice: tuple[int, int], choice: int) -> None:
    """One roll, the play being one of the legal ones."""
    numbers = np.array(dice, np.uint8)
    results = afterstates(recorder.board[None], numbers[None], recorder.variant).boards
    after = results[choice % len(results)]
    text = move_texts(recorder.board, numbers, after[None])[0]
    recorder.roll(player, dice, text)


def facts(match: MatchRecord) -> list[object]:
    """All that two records of the same match have in common, names and tags apart."""
    return [
        match.length,
        match.variant,
        [
            (game.score, game.crawford, game.winner, game.points, game.resigned)
            for game in match.games
        ],
        [_action(action) for game in match.games for action in game.actions],
    ]


def _action(action: object) -> tuple[object, ...]:
    if isinstance(action, Roll):
        after = None if action.after is None else action.after.tolist()
        dice = sorted(action.dice.tolist())
        return (action.player, action.board.tolist(), dice, after, action.cube, action.owner)
    values = vars(action)
    return tuple(v.tolist() if isinstance(v, np.ndarray) else v for v in values.values())
