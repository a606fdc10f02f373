"""The benchmark's arithmetic: against a plain twin, by hand, and the published baselines."""

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from made_up import first_rows, made_up
from random_nets import SHORT

from nardy.notation.moves import move_texts
from nardy.rules.board import start_board
from train.benchmark import worst_text
from train.benchmark_files import FOLDER, Cubes, Decisions, Values, read_cubes, read_decisions
from train.benchmark_phases import DECISION_PHASES
from train.benchmark_players import subject
from train.benchmark_scores import (
    cube_actions,
    losses_of,
    score_cubes,
    score_decisions,
    score_difference,
    score_values,
    worst,
)


def plain_mean(values: list[float], games: list[int]) -> tuple[float, float]:
    """Mean and half the 95 % interval, decisions of one game summed first."""
    mean = sum(values) / len(values)
    sums: dict[int, float] = defaultdict(float)
    for value, game in zip(values, games, strict=True):
        sums[game] += value - mean
    clusters = len(sums)
    variance = sum(s * s for s in sums.values()) * clusters / max(clusters - 1, 1)
    return mean, 1.96 * math.sqrt(variance) / len(values)


def test_scores_agree_with_a_plain_twin() -> None:
    decisions = made_up(60)
    rows = first_rows(decisions) + 1
    scores = score_decisions(decisions, rows)
    for name, losses in decisions.losses.items():
        lost = [1000 * float(losses[row]) for row in rows]
        games, score = decisions.games.tolist(), scores[name]
        assert (score["loss"], score["ci95"]) == pytest.approx(plain_mean(lost, games))
        assert score["pr"] == pytest.approx(0.5 * score["loss"])
        assert score["blunders"] == pytest.approx(sum(x > 80 for x in lost) / 60)
        for phase, part in score["by_phase"].items():
            among = [i for i in range(60) if DECISION_PHASES[decisions.phases[i]] == phase]
            mean, ci95 = plain_mean([lost[i] for i in among], [games[i] for i in among])
            assert part == pytest.approx({"decisions": len(among), "loss": mean, "ci95": ci95})
        assert sum(part["decisions"] for part in score["by_phase"].values()) == 60
        assert sum(part["share"] for part in score["by_size"].values()) == pytest.approx(1)
        parts = sum(part["loss"] for part in score["by_size"].values())
        assert parts == pytest.approx(score["loss"])


def test_a_score_worked_by_hand() -> None:
    decisions = made_up(3)
    offsets = decisions.results.offsets
    losses = np.zeros(len(decisions.results.boards))
    losses[offsets[:-1]] = 0.09, 0.0, 0.03
    decisions = Decisions(
        "x", *(decisions.boards, decisions.dice, decisions.results), {"gnubg2": losses},
        np.array([0, 6, 6]), np.array([7, 7, 9]), decisions.plies
    )  # fmt: skip
    score = score_decisions(decisions, first_rows(decisions))["gnubg2"]
    # 90, 0 | 30: deviations 50, -40 | -10, cluster sums 10 | -10, se = sqrt(200 * 2) / 3
    assert score["loss"] == pytest.approx(40)
    assert score["ci95"] == pytest.approx(1.96 * 20 / 3)
    assert score["pr"] == pytest.approx(20)
    assert score["blunders"] == pytest.approx(1 / 3)
    assert score["by_phase"]["opening"]["loss"] == pytest.approx(90)
    assert score["by_phase"]["race"]["loss"] == pytest.approx(15)
    assert score["by_size"]["none"]["share"] == pytest.approx(1 / 3)
    assert score["by_size"]["to 0.04"] == pytest.approx({"share": 1 / 3, "loss": 10})
    assert score["by_size"]["to 0.16"] == pytest.approx({"share": 1 / 3, "loss": 30})


def test_random_play_is_the_mean_over_all_results() -> None:
    decisions = made_up(10)
    lost = losses_of(decisions, None)["sage3"]
    begin, end = decisions.results.offsets[4:6]
    assert lost[4] == pytest.approx(decisions.losses["sage3"][begin:end].mean())


def test_difference_is_paired() -> None:
    decisions = made_up(30)
    one, two = first_rows(decisions), first_rows(decisions) + 1
    apart = score_difference(decisions, one, two)["gnubg2"]
    losses = decisions.losses["gnubg2"]
    expected = plain_mean((1000 * (losses[one] - losses[two])).tolist(), decisions.games.tolist())
    assert (apart["loss"], apart["ci95"]) == pytest.approx(expected)
    assert score_difference(decisions, one, one)["gnubg2"] == {"loss": 0, "ci95": 0}


def test_worst_positions_are_drawn_with_both_moves() -> None:
    decisions = made_up(12)
    rows = first_rows(decisions)
    lost = [(sum(losses[row] for losses in decisions.losses.values()), i)
            for i, row in enumerate(rows)]  # fmt: skip
    expected = [i for _, i in sorted(lost, reverse=True)][:3]
    assert worst(decisions, rows, 3).tolist() == expected
    text = worst_text(decisions, rows, 3)
    worst_one = expected[0]
    begin, end = decisions.results.offsets[worst_one : worst_one + 2]
    texts = move_texts(
        decisions.boards[worst_one], decisions.dice[worst_one], decisions.results.boards[begin:end]
    )
    best = texts[int(decisions.losses["sage3"][begin:end].argmin())]
    loss = decisions.losses["sage3"][rows[worst_one]]
    assert f"1. decision {worst_one} of decisions_x.npz: played {texts[0]}\n" in text
    assert f"sage3: best {best}, lost {loss:.3f}" in text
    assert text.count("+13-14-15") == 3


def test_decisions_without_loss_are_not_among_the_worst() -> None:
    decisions = made_up(6)
    for losses in decisions.losses.values():
        losses[first_rows(decisions)[1:]] = 0
    assert worst(decisions, first_rows(decisions), 20).tolist() == [0]


def test_calibration_worked_by_hand() -> None:
    reference = np.array([[0.5, 0.1, 0, 0.1, 0], [0.7, 0.2, 0, 0.1, 0]])
    values = Values("values_x.npz", np.tile(start_board(SHORT), (2, 1)),
                    {"gnubg2": reference}, np.array([0, 5]))  # fmt: skip
    off = np.array([[0.1, 0, 0, 0, 0], [-0.2, 0.1, 0, 0, 0.04]])
    score = score_values(values, reference + off)["gnubg2"]
    assert score["bias"]["win"] == pytest.approx(-0.05)
    assert score["error"]["win"] == pytest.approx(0.15)
    assert score["bias"]["win_gammon"] == score["error"]["win_gammon"] == pytest.approx(0.05)
    assert score["bias"]["lose_backgammon"] == pytest.approx(0.02)
    # equity 2 * 0.1 = 0.2 and -0.4 + 0.1 - 0.04 = -0.34
    assert score["equity_error"] == pytest.approx(270)
    assert score["by_phase"] == pytest.approx({"contact": 200, "race": 340})


def made_up_cubes(match: bool) -> Cubes:
    rng = np.random.default_rng(1)
    actions = rng.normal(0.6, 0.4, (40, 3))
    actions[:, 2] = 1
    crawford = np.arange(40) % 5 == 0 if match else np.zeros(40, bool)
    actions[crawford, 1:] = np.nan
    away = rng.integers(1, 9, (40, 2)) if match else np.zeros((40, 2), int)
    return Cubes("cube_x.npz", np.tile(start_board(SHORT), (40, 1)), np.ones(40, bool),
                 np.ones(40, int), away, crawford, rng.choice([0.5, 3], 40), {"sage3": actions},
                 np.arange(40) % 9, np.arange(40) // 3)  # fmt: skip


@pytest.mark.parametrize("match", [False, True])
def test_cube_costs_agree_with_a_plain_twin(match: bool) -> None:
    cubes = made_up_cubes(match)
    rng = np.random.default_rng(2)
    double, take = rng.random(40) < 0.5, rng.random(40) < 0.5
    scores, unit = score_cubes(cubes, double, take)["sage3"], 10_000 if match else 1000
    doubling, taking, games = [], [], []
    for i in range(40):
        if cubes.crawford[i]:
            continue
        stay, taken, passed = cubes.actions["sage3"][i].tolist()
        doubled = min(taken, passed)
        doubling.append(unit * (max(stay, doubled) - (doubled if double[i] else stay)))
        taking.append(unit * ((taken if take[i] else passed) - doubled))
        games.append(int(cubes.games[i]))
    for part, lost in (("doubling", doubling), ("taking", taking)):
        expected = plain_mean(lost, games)
        assert (scores[part]["loss"], scores[part]["ci95"]) == pytest.approx(expected)
        assert scores[part]["decisions"] == len(lost)
        assert min(lost) == 0 < max(lost)


def test_agreement_on_close_decisions_by_hand() -> None:
    """Close is what is within 0.04 of equity; in a match that is less of a chance of winning it."""
    cubes = made_up_cubes(False)
    actions = np.tile([0.2, 0.0, 1.0], (40, 1))
    actions[:4] = [[0.66, 0.7, 1], [0.73, 0.7, 1], [0.75, 0.7, 1], [0.9, 0.97, 1]]
    cubes = replace(cubes, actions={"sage3": actions}, unit=np.ones(40))
    yes, no = np.ones(40, bool), np.zeros(40, bool)
    bold, timid = score_cubes(cubes, yes, yes)["sage3"], score_cubes(cubes, no, no)["sage3"]
    assert bold["doubling"]["close"] == {"decisions": 2, "agrees": 0.5}
    assert bold["taking"]["close"] == {"decisions": 1, "agrees": 1.0}
    assert timid["taking"]["close"] == {"decisions": 1, "agrees": 0.0}
    match = replace(cubes, unit=np.full(40, 0.2))
    none = score_cubes(match, yes, yes)["sage3"]["doubling"]["close"]
    assert none == {"decisions": 0, "agrees": None}


def test_cube_actions_by_hand() -> None:
    values = np.array([[0.5, 0.7, 1], [0.8, 0.7, 1], [0.9, 1.2, 1], [1.1, 1.3, 1]])
    double, take = cube_actions(values)
    assert double.tolist() == [True, False, True, False]  # the last is too good
    assert take.tolist() == [True, True, False, False]


def test_baseline_of_random_play() -> None:
    decisions = read_decisions(FOLDER / "decisions_short.npz")
    scores = score_decisions(decisions, None)
    assert round(scores["gnubg2"]["loss"], 1) == 151.4
    assert round(scores["sage3"]["loss"], 1) == 152.2
    assert round(scores["gnubg2"]["ci95"], 1) == 4.5
    assert round(scores["sage3"]["by_phase"]["back game"]["loss"], 1) == 135.4


def test_baseline_of_gnubg_nn() -> None:
    pytest.importorskip("gnubg_nn")
    decisions = read_decisions(FOLDER / "decisions_short.npz")
    scores = score_decisions(decisions, subject("gnubg-nn").play(decisions))
    assert round(scores["gnubg2"]["loss"], 1) == 3.0
    assert round(scores["sage3"]["loss"], 1) == 4.2
    assert round(scores["sage3"]["by_phase"]["back game"]["loss"], 1) == 9.4


@pytest.mark.parametrize(
    ("file", "doubling", "taking"),
    [
        ("cube_money.npz", (41.6, 42.0), (293.1, 292.1)),
        ("cube_match.npz", (36.9, 36.7), (259.4, 257.5)),
    ],
)
def test_baseline_of_never_doubling_and_always_taking(
    file: str, doubling: tuple[float, float], taking: tuple[float, float]
) -> None:
    cubes = read_cubes(FOLDER / file)
    count = len(cubes.boards)
    scores = score_cubes(cubes, np.zeros(count, bool), np.ones(count, bool))
    for i, judge_name in enumerate(("gnubg2", "sage3")):
        assert round(scores[judge_name]["doubling"]["loss"], 1) == doubling[i]
        assert round(scores[judge_name]["taking"]["loss"], 1) == taking[i]


def test_a_judge_loses_nothing_by_itself() -> None:
    cubes = read_cubes(FOLDER / "cube_money.npz")
    score = score_cubes(cubes, *cube_actions(cubes.actions["sage3"]))["sage3"]
    assert score["doubling"]["loss"] == score["taking"]["loss"] == 0
