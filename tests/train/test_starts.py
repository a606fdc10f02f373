"""Games that begin elsewhere than at the opening: where from, with which dice, and what is told."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from random_nets import SHORT, make_net

from nardy.net.exact import ExactTail
from nardy.net.net import Evaluator
from nardy.notation.ids import position_id
from nardy.rules.board import check_board, make_board, start_board
from nardy.rules.variants import variant
from train.config import Config, parse
from train.loop import Window
from train.memory import Memory
from train.phases import fast_phases
from train.selfplay import Games, Sample
from train.starts import random_starts, read_starts, remembered_starts
from train.trainer import Trainer

GAME = variant("hyper")  # its games are short
NET = make_net(8, game=GAME)
EVALUATOR = Evaluator(NET, ExactTail(NET))
"""Its values do not depend on what is evaluated beside."""

ENDS = np.stack([make_board({1: 1}, {6: 3}), make_board({1: 2}, {6: 2})])
"""Whoever is on roll bears off at once: a gammon from the first, one point from the second."""


@pytest.fixture(scope="module")
def met() -> np.ndarray:
    """Positions of random play."""
    return random_starts(GAME, 3)


def games_from(pool: np.ndarray, starts: float, slots: int = 64, **others: float) -> Games:
    games = Games(GAME, 5, 0.7, 300, slots, np.arange(slots), starts=starts, **others)
    games.pool = pool
    return games


# ---------------------------------------------------------------- games


def test_games_begin_with_their_share_of_the_pool_and_are_told_apart() -> None:
    games = games_from(ENDS, 0.6)
    sample, tally = games.play(EVALUATOR, 300)
    # each game is followed by others with a chance of 0.6
    assert tally.games > 300
    expected = 1.5 * tally.games
    assert abs(tally.others - expected) < 4 * np.sqrt(expected * 2.5)
    elsewhere = (sample.boards == ENDS[:, None]).all(-1)
    assert elsewhere.any(0).sum() == tally.others
    assert abs(elsewhere[0].sum() - elsewhere[1].sum()) < 4 * np.sqrt(tally.others)


def test_what_is_told_of_games_is_of_those_from_the_opening_alone() -> None:
    """The games of the same numbers, with and without others between them."""
    plain = games_from(np.empty((0, 26), np.int8), 0.0, slots=1)
    mixed = games_from(ENDS, 0.5, slots=1)
    lengths: dict[int, tuple[int, int, int]] = {}
    for _ in range(1500):
        number = int(plain.numbers[0])
        _, tally = plain.play(EVALUATOR, 1)
        if tally.games:
            lengths[number] = (tally.length, tally.gammons, tally.backgammons)
    seen = others = 0
    for _ in range(500):
        number, opened = int(mixed.numbers[0]), (mixed.boards[0, 0] == start_board(GAME)).all()
        _, tally = mixed.play(EVALUATOR, 1)
        if tally.games:
            assert opened and (tally.length, tally.gammons, tally.backgammons) == lengths[number]
            assert tally.others == 0
            seen += 1
        elif tally.others:
            assert not opened
            assert (tally.length, tally.gammons, tally.backgammons, tally.cut_off) == (0, 0, 0, 0)
            others += 1
    assert seen > 5 and others > 5


def test_another_start_is_learnt_from_and_its_first_roll_may_be_a_double() -> None:
    """Two checkers on 6 and 5 leave at one roll by a double alone, 3-3 and higher, or by 6-5 and
    6-6; 6-5 is 2 of 36 throws, and the doubles 3-3 to 6-6 are 4."""
    board = make_board({6: 1, 5: 1}, {1: 3})
    games = games_from(board[None], 1.0, slots=200)
    games.play(EVALUATOR, 60)
    sample, tally = games.play(EVALUATOR, 60)
    first = (sample.boards == board).all(-1)
    assert first.sum() == tally.others > 2000
    at_once = sample.targets[first][:, -2] == 1  # a gammon: the other has borne none off
    assert abs(at_once.mean() - 6 / 36) < 4 * np.sqrt(5 / 36 / first.sum())


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_restored_games_go_on_identically(label: float, met: np.ndarray) -> None:
    games = games_from(met, 0.7, slots=12, label=label)
    games.play(EVALUATOR, 150)
    assert (games.boards[:, 0] != start_board(GAME)).any(-1).any()
    state = {name: values.copy() for name, values in games.state().items()}
    expected, tally = games.play(EVALUATOR, 60)
    other = games_from(met, 0.7, slots=12, label=label)
    other.play(EVALUATOR, 10)
    other.restore(state)
    found, tally_again = other.play(EVALUATOR, 60)
    assert tally == tally_again and tally.others > 0
    assert (found.boards == expected.boards).all() and (found.targets == expected.targets).all()


def test_groups_begin_the_games_of_one_group(met: np.ndarray) -> None:
    whole = games_from(met, 0.5, slots=12)
    _, tally = whole.play(EVALUATOR, 150)
    parts = []
    for slots in np.array_split(np.arange(12), 3):
        games = Games(GAME, 5, 0.7, 300, 12, slots, starts=0.5)
        games.pool = met
        parts.append(games.play(EVALUATOR, 150)[1])
    assert sum(part.others for part in parts) == tally.others > 5
    assert sum(part.games for part in parts) == tally.games


def test_the_window_counts_them_apart() -> None:
    from train.learner import Fit
    from train.selfplay import Tally
    from train.trainer import Round

    window = Window(SHORT.outcomes)
    window.add(Round(Tally(games=10, gammons=3, length=500, others=30), Fit(0, 0.0), 1e-3), 2.0)
    values = window.values()
    assert (values["play/length"], values["play/gammons"]) == (50, 0.3)
    assert (values["play/other_starts"], values["play/games_per_s"]) == (0.75, 20)


# ---------------------------------------------------------------- where positions come from


def test_random_positions_can_stand_and_are_not_the_start() -> None:
    for game in (SHORT, variant("hyper"), variant("long")):
        boards = random_starts(game, 7)
        assert len(boards) > 900 and len(np.unique(boards, axis=0)) > 300
        for board in boards[:100]:
            check_board(board, game)
        assert not (boards == start_board(game)).all(-1).any()
    assert (random_starts(game, 8)[:50] != boards[:50]).any()


def test_remembered_positions_are_of_all_phases() -> None:
    memory = Memory(5000, 6)
    assert len(remembered_starts(memory, SHORT, np.random.default_rng(1))) == 0
    boards = random_starts(SHORT, 3)
    memory.add(Sample(boards, np.zeros((len(boards), 6), np.float32)))
    drawn = remembered_starts(memory, SHORT, np.random.default_rng(1))
    natural = np.bincount(fast_phases(boards), minlength=9) / len(boards)
    share = np.bincount(fast_phases(drawn), minlength=9) / len(drawn)
    assert share.max() < natural.max() - 0.1
    assert set(np.flatnonzero(share).tolist()) <= set(np.flatnonzero(natural).tolist())


def test_a_file_of_positions(tmp_path: Path) -> None:
    file = tmp_path / "starts.txt"
    ids = [position_id(board) for board in ENDS]
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:3:0:10"
    file.write_text(f"# ends\n{ids[0]}\n\n  {ids[1]}  \n{xgid}\n")
    boards = read_starts(file, SHORT)
    assert (boards[:2] == ENDS).all() and (boards[2] == start_board(SHORT)).all()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no position"),
        ("# none\n", "holds no position"),
        ("4HPwATDgc/ABMA\nnonsense\n", "line 2 of"),
        ("AAAAAAAAAAAAAA\n", "line 1 of"),
    ],
)
def test_a_wrong_file_is_a_sentence(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "starts.txt"
    file.write_text(text)
    with pytest.raises(ValueError, match=says) as caught:
        read_starts(file, SHORT)
    assert "\n" not in str(caught.value) and "starts.txt" in str(caught.value)
    with pytest.raises(ValueError, match="cannot be read"):
        read_starts(tmp_path / "nowhere", SHORT)


# ---------------------------------------------------------------- runs

TOY = (
    "threads=1", "net.hidden=8", "net.tail=[4]", "precision=float32", "algo.games_in_flight=16",
    "algo.longest_game=80", "algo.minibatch=64", "algo.starts=0.5",
)  # fmt: skip


def rounds(count: int, *overrides: str) -> Trainer:
    trainer = Trainer(parse("train", Config, [*overrides[:1], *TOY, *overrides[1:]]))
    with ThreadPoolExecutor(1) as pool:
        for _ in range(count):
            trainer.round(pool)
    return trainer


def begun_elsewhere(trainer: Trainer) -> np.ndarray:
    boards = trainer.groups[0].boards[:, 0]
    return boards[(boards != start_board(trainer.variant)).any(-1)]


def test_a_stage_without_a_memory_begins_games_at_random_positions() -> None:
    boards = begun_elsewhere(rounds(20, "algo=td"))
    pool = {board.tobytes() for board in random_starts(SHORT, 1)}
    assert len(boards) and all(board.tobytes() in pool for board in boards)


def test_a_stage_with_a_memory_begins_them_at_remembered_ones() -> None:
    trainer = rounds(25, "algo=one_roll", "algo.memory=100_000", "algo.label=1")
    boards = begun_elsewhere(trainer)
    assert trainer.memory is not None and len(boards)
    remembered = trainer.memory.state()["boards"]
    known = {board.tobytes() for board in remembered}
    assert all(board.tobytes() in known for board in boards)


def test_a_file_comes_before_both(tmp_path: Path) -> None:
    file = tmp_path / "starts.txt"
    file.write_text("\n".join(position_id(board) for board in ENDS))
    trainer = rounds(20, "algo=one_roll", "algo.memory=1000", f"algo.start_file={file}")
    assert trainer.games > 40  # twice as many as there would be: those games are short, and count
    boards = trainer.memory.state()["boards"] if trainer.memory else ENDS
    assert (boards == ENDS[:, None]).all(-1).any()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["algo.starts=1.5"], "algo.starts must lie between 0 and 1, not 1.5"),
        (["algo.balance=-1"], "algo.balance must lie between 0 and 1, not -1"),
        (["algo.balance=0.5"], "needs a memory"),
        (["algo.start_file=x"], "needs starts above 0"),
        (["variant.name=long", "algo.starts=0.5", "algo.start_file=x"], "hitting family"),
        (["algo.targets=rollout", "algo.rollout_plies=0"], "algo.rollout_plies must be above 0"),
    ],
)
def test_bad_values(arguments: list[str], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse("train", Config, arguments)


def test_a_missing_file_is_told_before_the_run_begins() -> None:
    with pytest.raises(ValueError, match="'nowhere.txt' cannot be read"):
        rounds(0, "algo=td", "algo.start_file=nowhere.txt")
