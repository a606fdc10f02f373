"""The cheap look against derivatives and sums written out."""

import numpy as np
import pytest
from random_nets import make_net, play_out

from nardy.net.features import phases_of
from nardy.net.net import Net, first_layer
from nardy.play.look import Look
from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import Boards, flip, make_board
from nardy.rules.dice import ROLLS
from nardy.rules.variants import variant

SHORT = variant("short")
POINTS = np.array(SHORT.outcomes, float)
BEAR_OFF = make_board({3: 1, 2: 2}, {2: 1, 1: 2})
LAST_ROLL = make_board({2: 1, 1: 1}, {13: 15})
BREAKING = make_board({10: 1, 2: 3}, {16: 1, 3: 4})  # most rolls bring the last one past


def boards_of(count: int) -> Boards:
    return np.concatenate(
        [np.stack([BEAR_OFF, LAST_ROLL, BREAKING]), play_out(SHORT, count, 12)[0][-count:]]
    )


def every_roll(boards: Boards) -> Afterstates:
    parents, dice = np.repeat(boards, 21, 0), np.tile(ROLLS, (len(boards), 1))
    return afterstates(parents, dice, SHORT)


def equity(net: Net, phase: int, x: np.ndarray) -> float:
    """Of the player on roll, from the first layer's output, in float64."""
    *hidden, (weight, bias) = net.tails[phase]
    for hidden_weight, hidden_bias in hidden:
        x = np.maximum(x @ hidden_weight.astype(float) + hidden_bias, 0)
    logits = x @ weight.astype(float) + bias
    chances = np.exp(logits - logits.max())
    return float(chances @ POINTS / chances.sum())


@pytest.mark.parametrize("tail", [(), (16,), (16, 8)])
def test_slopes_are_the_derivative(tail: tuple[int, ...], kernels: str) -> None:
    net, rng = make_net(12, tail), np.random.default_rng(1)
    boards = boards_of(4)
    slopes = Look(net).slopes(boards)
    phases = phases_of(boards, 2)
    assert set(phases.tolist()) == {0, 1}
    for board, slope, phase in zip(boards, slopes, phases.tolist(), strict=True):
        x = first_layer(net, board[None])[0].astype(float)
        for direction in rng.normal(0, 1e-6, (5, len(x))):
            change = equity(net, phase, x + direction) - equity(net, phase, x - direction)
            assert change == pytest.approx(2 * direction @ slope, rel=1e-2, abs=1e-9)


def test_scores_are_slope_times_activations(kernels: str) -> None:
    net = make_net(12)
    boards = boards_of(3 if kernels == "numba" else 1)
    results = every_roll(boards)
    look = Look(net)
    scores, slopes = look.scores(boards, results), look.slopes(flip(boards))
    owners = np.repeat(np.arange(len(boards) * 21), np.diff(results.offsets)) // 21
    over = ~(results.boards > 0).any(1)
    assert over.any() and not over.all()
    other = phases_of(results.boards, 2) != phases_of(boards, 2)[owners]
    assert (other & ~over).any()  # who breaks contact is priced by another tail
    over |= other
    assert np.isposinf(scores[over]).all()
    expected = -(first_layer(net, flip(results.boards)) * slopes[owners]).sum(1)
    np.testing.assert_allclose(scores[~over], expected[~over], rtol=1e-3, atol=1e-4)


def test_the_best_few_of_each_roll_are_kept_in_order() -> None:
    boards, look = boards_of(4), Look(make_net(12))
    results = every_roll(boards)
    scores = look.scores(boards, results)
    known = np.arange(len(scores)) % 7 == 0
    for most, always in ((3, None), (1, None), (2, known)):
        few = look.few(boards, results, most, always)
        for i in range(len(boards) * 21):
            rows = range(results.offsets[i], results.offsets[i + 1])
            judged = [row for row in rows if np.isfinite(scores[row])]
            front = sorted(judged, key=lambda row: (-scores[row], row))[:most]
            front += [row for row in rows if np.isinf(scores[row])]
            if always is not None:
                front += [row for row in rows if always[row]]
            expected = results.boards[sorted(set(front))]
            kept = few.boards[few.offsets[i] : few.offsets[i + 1]]
            np.testing.assert_array_equal(kept, expected)


def test_a_look_does_not_depend_on_the_batch() -> None:
    boards, look = boards_of(5), Look(make_net(12))
    results = every_roll(boards)
    scores = look.scores(boards, results)
    for i in range(len(boards)):
        alone = look.scores(boards[i : i + 1], every_roll(boards[i : i + 1]))
        assert (alone == scores[results.offsets[21 * i] : results.offsets[21 * i + 21]]).all()
