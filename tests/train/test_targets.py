"""λ-returns: hand-written numbers, and online TD(λ) with eligibility traces as their slow twin."""

import numpy as np
import pytest
import referee
from hypothesis import given
from hypothesis import strategies as st

from nardy.rules.board import points_won, start_board
from nardy.rules.dice import roll
from nardy.rules.variants import SHORT_OUTCOMES, variant
from train.targets import lambda_returns

POINTS = np.array(SHORT_OUTCOMES, float)


def returns_of(chances: np.ndarray, final: np.ndarray, lam: float) -> np.ndarray:
    """float32[T + 1, K] by the function under test."""
    out = np.full(chances.shape, np.nan, np.float32)
    lambda_returns(chances.astype(np.float32), final.astype(np.float32), lam, out)
    return out


def random_episode(seed: int, turns: int) -> tuple[np.ndarray, np.ndarray]:
    """Distributions float64[turns, 6] and the last one's return, a win of 1, 2 or 3."""
    rng = np.random.default_rng(seed)
    final = np.zeros(6)
    final[rng.integers(3, 6)] = 1
    return rng.dirichlet(np.ones(6), turns), final


# ---------------------------------------------------------------- by hand


def test_returns_by_hand(kernels: str) -> None:
    chances = np.array([[9.0, 9], [0.25, 0.75], [0.5, 0.5]])
    found = returns_of(chances, np.array([0.0, 1]), 0.5)
    # G2 = final; G1 = flip(½ V2 + ½ G2) = flip(.25, .75); G0 = flip(½ V1 + ½ G1) = flip(.5, .5)
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.75, 0.25], [0.0, 1.0]])


def test_returns_by_hand_with_six_outcomes(kernels: str) -> None:
    chances = np.array([np.zeros(6), [0.1, 0.2, 0.3, 0.2, 0.1, 0.1]])
    found = returns_of(chances, np.array([0.0, 0, 0, 0, 1, 0]), 0.75)
    # ¼ V1 + ¾ G1 = (.025, .05, .075, .05, .775, .025), seen from the other side
    np.testing.assert_allclose(
        found[0], [0.025, 0.775, 0.05, 0.075, 0.05, 0.025], rtol=0, atol=1e-6
    )


def test_a_game_of_one_turn_is_its_end() -> None:
    found = returns_of(np.zeros((1, 6)), np.array([0.0, 0, 0, 0, 0, 1]), 0.3)
    assert found.tolist() == [[0, 0, 0, 0, 0, 1]]


def test_lambda_one_is_the_outcome_from_each_side() -> None:
    chances, final = random_episode(0, 8)
    found = returns_of(chances, final, 1.0)
    for turn in range(8):
        expected = final if (7 - turn) % 2 == 0 else final[::-1]
        assert (found[turn] == expected).all()


def test_lambda_zero_is_the_next_value_from_the_other_side() -> None:
    chances, final = random_episode(1, 8)
    found = returns_of(chances, final, 0.0)
    np.testing.assert_allclose(found[:-1], chances[1:, ::-1], rtol=1e-6)
    assert (found[-1] == final).all()


def test_the_first_row_of_the_chances_is_not_read() -> None:
    chances, final = random_episode(2, 5)
    other = chances.copy()
    other[0] = np.nan
    assert (returns_of(chances, final, 0.6) == returns_of(other, final, 0.6)).all()


@given(
    seed=st.integers(0, 2**32),
    turns=st.integers(1, 40),
    lam=st.floats(0, 1, allow_subnormal=False),
)
def test_returns_are_distributions_and_the_sum_of_n_step_returns(
    seed: int, turns: int, lam: float
) -> None:
    """G_t = (1 - λ) Σ λ^(n-1) G_t^(n) + λ^(T-t-1) G_T, the definition (Sutton and Barto 12.2)."""
    chances, final = random_episode(seed, turns)
    found = returns_of(chances, final, lam)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-5)
    for t in range(turns):
        left = turns - 1 - t
        steps = [chances[t + n] if n % 2 == 0 else chances[t + n, ::-1] for n in range(1, left + 1)]
        total = lam**left * (final if left % 2 == 0 else final[::-1])
        total = total + sum(
            ((1 - lam) * lam ** (n - 1) * step for n, step in enumerate(steps, 1)), np.zeros(6)
        )
        np.testing.assert_allclose(found[t], total, atol=2e-6)


# ---------------------------------------------------------------- eligibility traces


def td_lambda_with_traces(
    states: list[int], values: np.ndarray, final: np.ndarray, lam: float, rate: float
) -> np.ndarray:
    """Change of a table of values by TD(λ) over one episode, by eligibility traces.

    states: the state of each turn; values: float64[S, K], for the player on roll, held still
    within the episode; final: float64[K], what the last position turned out to be worth.
    Each state's trace says how much of an error at this turn is its own, for either side: a
    turn later the other player looks at it, so its share is turned around (Sutton and Barto,
    section 12.2, with accumulating traces).
    """
    change = np.zeros_like(values)
    # [side, state]: side 0 shares the view of the player on roll now, side 1 the opponent's
    traces = np.zeros((2, len(values)))
    for turn, state in enumerate(states):
        traces = lam * traces[::-1]
        traces[0, state] += 1
        last = turn + 1 == len(states)
        following = final if last else values[states[turn + 1], ::-1]
        error = following - values[state]
        change += rate * (traces[0][:, None] * error + traces[1][:, None] * error[::-1])
    return change


def forward_view(
    states: list[int], values: np.ndarray, final: np.ndarray, lam: float, rate: float
) -> np.ndarray:
    """The same change by `lambda_returns`: each turn moves its state towards its return."""
    change = np.zeros_like(values)
    returns = returns_of(values[states], final, lam)
    for turn, state in enumerate(states):
        change[state] += rate * (returns[turn] - values[state])
    return change


@given(
    seed=st.integers(0, 2**32),
    turns=st.integers(1, 30),
    lam=st.floats(0, 1, allow_subnormal=False),
)
def test_traces_and_returns_move_a_table_alike(seed: int, turns: int, lam: float) -> None:
    """Random episodes over five states, so that states come back, seen from either side."""
    rng = np.random.default_rng(seed)
    values, final = random_episode(seed, 5)
    states = rng.integers(0, 5, turns).tolist()
    expected = td_lambda_with_traces(states, values, final, lam, rate=0.1)
    np.testing.assert_allclose(
        forward_view(states, values, final, lam, rate=0.1), expected, atol=1e-5
    )


def tiny_game(number: int) -> tuple[list[tuple[int, ...]], int]:
    """Boards of a one-checker game played by the referee's first result, and the points won."""
    game = variant("short", start={24: 1}, opening="reroll")
    board = tuple(start_board(game).tolist())
    boards = []
    while True:
        boards.append(board)
        dice = roll(5, [number], [len(boards)])[0]
        after = min(referee.results(board, dice))
        points = int(points_won(np.array(after, np.int8), game))
        if points:
            return boards, points
        board = tuple(-count for count in reversed(after))


@pytest.mark.parametrize("lam", [0.0, 0.4, 0.7, 1.0])
def test_traces_and_returns_learn_the_same_table_from_tiny_games(lam: float) -> None:
    games = [tiny_game(number) for number in range(30)]
    index: dict[tuple[int, ...], int] = {}
    for boards, _ in games:
        for board in boards:
            index.setdefault(board, len(index))
    by_traces = np.full((len(index), 6), 1 / 6)
    by_returns = by_traces.copy()
    for boards, points in games:
        states = [index[board] for board in boards]
        final = (points == POINTS).astype(float)
        by_traces += td_lambda_with_traces(states, by_traces, final, lam, rate=0.3)
        by_returns += forward_view(states, by_returns, final, lam, rate=0.3)
    assert np.abs(by_traces - 1 / 6).max() > 0.1
    np.testing.assert_allclose(by_returns, by_traces, atol=1e-4)
