"""Long nardy in play: written moves, the board, search, bear-off, the terminal, the commands."""

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import long_referee
import numpy as np
import pytest
from random_nets import make_net, play_out

from nardy.cli import main
from nardy.net.net import Net, first_layer, outcomes_by_numpy
from nardy.notation.matfile import Game, Turn, write_mat
from nardy.notation.moves import move_texts, parse_move
from nardy.notation.points import from_points, to_points
from nardy.play import bearoff
from nardy.play.bearoff import Bearoff, fits, tables_for
from nardy.play.board_text import draw
from nardy.play.look import Look
from nardy.play.player import Player
from nardy.play.rollout import rollout
from nardy.play.search import Search
from nardy.play.terminal import RESULTS, play
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, make_board, points_won, start_board, turn
from nardy.rules.dice import ROLL_CHANCES, ROLLS
from nardy.rules.variants import Variant, variant
from train.net_folder import write_net

LONG = variant("long")
FAMILY = LONG.family
POINTS = np.array(LONG.outcomes)


@pytest.fixture(scope="module")
def net() -> Net:
    return make_net(12, (8,), game=LONG)


def dice(first: int, second: int) -> np.ndarray:
    return np.array([first, second], np.uint8)


# ---------------------------------------------------------------- written moves


def texts(position: str, first: int, second: int) -> set[str]:
    board, thrown = from_points(position, FAMILY), dice(first, second)
    results = afterstates(board[None], thrown[None], LONG).boards
    return set(move_texts(board, thrown, results, FAMILY))


def test_worked_positions_as_they_are_written() -> None:
    start = "24:15 24:15"
    assert texts(start, 3, 1) == {"24/20"}
    assert texts(start, 6, 6) == {"24/18(2)"}
    assert texts("24:14,10:1 24:12,14:1,9:1,7:1", 5, 3) == {"10/5"}
    assert texts("23:1,6:1,5:2,4:1,2:1,1:9 24:15", 6, 2) == {"23/15", "23/17 4/2", "23/17 6/4"}
    assert texts("24:14,16:1 24:11,22:1,11:1,6:1,3:1", 6, 1) == {"Cannot Move"}


def test_every_text_is_read_back() -> None:
    boards, thrown, _ = play_out(LONG, games=10, turns=150)
    for board, roll in zip(boards[::15], thrown[::15], strict=True):
        results = afterstates(board[None], roll[None], LONG).boards
        written = move_texts(board, roll, results, FAMILY)
        assert len(set(written)) == len(results)
        for text, result in zip(written[:5], results[:5], strict=True):
            word = "pass" if text == "Cannot Move" else text
            assert (parse_move(word, board, roll, LONG) == result).all()


@pytest.mark.parametrize(
    ("position", "roll", "typed", "says"),
    [
        ("24:14,20:1 24:14,20:1", (2, 1), "24/22 24/23", "2 checkers cannot leave the head"),
        ("24:14,10:1 24:14,21:1", (2, 6), "10/8 24/18", ""),
        ("24:14,10:1 24:14,21:1", (2, 1), "10/8", "you must play both dice of 2-1"),
        ("24:14,10:1 24:14,21:1", (2, 1), "10/8 9/8", "no checker on point 9"),
        ("24:14,10:1 24:14,21:1", (2, 2), "10/8 8/6 6/4 24/22", ""),
        ("24:14,14:1 24:14,23:1", (3, 1), "14/11 24/23", "closed by 1 checker of the opponent"),
        ("23:1,6:1,5:2,4:1,2:1,1:9 24:15", (6, 2), "23/17 5/3", "six points in a row"),
        ("24:14,10:1 24:14,21:1", (2, 1), "bar/23", "no checker on the bar"),
    ],
)
def test_what_is_wrong_is_said(position: str, roll: tuple[int, int], typed: str, says: str) -> None:
    board = from_points(position, FAMILY)
    if not says:
        parse_move(typed, board, dice(*roll), LONG)
        return
    with pytest.raises(ValueError, match=says) as caught:
        parse_move(typed, board, dice(*roll), LONG)
    assert "\n" not in str(caught.value)


def test_positions_as_checkers_by_point() -> None:
    boards, _, _ = play_out(LONG, games=4, turns=120)
    for board in boards[::7]:
        assert (from_points(to_points(board, FAMILY), FAMILY) == board).all()
    start = start_board(variant("short"))
    assert to_points(start, "hitting") == "24:2,13:5,8:3,6:5 24:2,13:5,8:3,6:5"
    assert (from_points(to_points(start, "hitting"), "hitting") == start).all()
    assert (from_points("1:1 -", FAMILY) == make_board({1: 1}, {}, FAMILY)).all()
    for text in (
        "24:15",
        "24:15,24:1 1:1",
        "25:2 24:1",
        "25:1 25:1,24:1",
        "24:16 24:15",
        "24:1 12:1",
        "x",
        "",
    ):
        with pytest.raises(ValueError) as caught:
            from_points(text, FAMILY)
        assert "\n" not in str(caught.value)


def test_mat_files_have_no_long_nardy() -> None:
    board = start_board(LONG)
    after = afterstates(board[None], dice(3, 1)[None], LONG).boards[0]
    with pytest.raises(ValueError, match=r"\.mat files have no long nardy"):
        write_mat(("a", "b"), [Game(0, [Turn(board, dice(3, 1), after)], 1)], LONG)


def test_the_start_is_drawn_with_a_head_in_either_corner() -> None:
    lines = draw(start_board(LONG), 15, note="you roll 3-1", family=FAMILY).splitlines()
    assert lines[0].endswith("-23-24-+") and lines[-1].startswith("+12-11-")
    assert lines[1] == "|                  |   |                X |  O opponent: 360 pips, 0 off"
    assert lines[5] == "|                  |   |               15 |"
    assert lines[6] == "|                  |   |                  |  you roll 3-1"
    assert lines[7] == "|15                |   |                  |"
    assert lines[11] == "| O                |   |                  |  X you: 360 pips, 0 off"


# ---------------------------------------------------------------- search


def slow_value(net: Net, result: Boards, ply: int) -> float:
    """Points for the player who moved to `result`: the definition, one position at a time."""
    if points_won(result, LONG):
        return float(points_won(result, LONG))
    turned = turn(result, FAMILY)
    if ply == 0:
        return -float(outcomes_by_numpy(net, turned[None])[0].astype(float) @ POINTS)
    total = 0.0
    for chance, roll in zip(ROLL_CHANCES, ROLLS, strict=True):
        replies = afterstates(turned[None], roll[None], LONG).boards
        static = [slow_value(net, reply, 0) for reply in replies]
        total -= chance * slow_value(net, replies[int(np.argmax(static))], ply - 1)
    return total


@pytest.mark.parametrize("ply", [0, 1])
def test_every_play_is_priced_as_defined(net: Net, ply: int) -> None:
    boards, thrown, _ = play_out(LONG, games=2, turns=40)  # no one has borne off yet
    results = afterstates(boards[-2:], thrown[-2:], LONG)
    priced = Search(net, ply, filters=None).price(results)
    slow = [slow_value(net, result, ply) for result in results.boards]
    np.testing.assert_allclose(priced.values, slow, atol=1e-5)
    np.testing.assert_allclose(priced.chances @ POINTS, slow, atol=1e-5)


def test_the_cheap_look_is_the_slope_at_the_board() -> None:
    net = make_net(33, (8,), game=LONG)
    boards, _, _ = play_out(LONG, games=3, turns=120)
    boards = boards[::40]
    parents = np.repeat(boards, len(ROLLS), 0)
    results = afterstates(parents, np.tile(ROLLS, (len(boards), 1)), LONG)
    look = Look(net)
    slopes = look.slopes(turn(boards, FAMILY))
    owners = np.repeat(np.arange(len(parents)) // len(ROLLS), np.diff(results.offsets))
    expected = -(first_layer(net, turn(results.boards, FAMILY)) * slopes[owners]).sum(1)
    expected[points_won(results.boards, LONG) > 0] = np.inf
    np.testing.assert_allclose(look.scores(boards, results), expected, rtol=1e-4, atol=1e-4)


# ---------------------------------------------------------------- bear-off

TWO = variant("long", start={24: 2})


@functools.cache
def exact_equity(cells: tuple[int, ...]) -> float:
    """Points of the player on roll in a race of two checkers a side, by the referee (D10, D11)."""
    total = 0.0
    for chance, roll in zip(ROLL_CHANCES, ROLLS.tolist(), strict=True):
        worths = []
        for after in long_referee.results(cells, roll):
            over, points = long_referee.ending(after, 2, starter=True)
            turned = tuple(turn(np.array(after, np.int8), FAMILY).tolist())
            worths.append(float(points) if over else -exact_equity(turned))
        total += chance * max(worths)
    return total


def shipped(game: Variant) -> Bearoff:
    """The tables of the package, for a game of long nardy."""
    one = bearoff.read_one_sided(bearoff.SHIPPED / "one-sided-6x15.npy", 6)
    two = bearoff.read_two_sided(bearoff.SHIPPED / "two-sided-6x3.npy")
    return Bearoff(game, one, two)


def test_tables_know_races_of_long_nardy() -> None:
    tables, found = shipped(TWO), []
    rng = np.random.default_rng(2)
    for _ in range(60):
        mine, his = (rng.integers(1, 7, rng.integers(1, 3)).tolist() for _ in range(2))
        board = make_board(*({p: s.count(p) for p in s} for s in (mine, his)), FAMILY)
        chances = tables.outcomes(board[None])[0]
        assert chances.sum() == pytest.approx(1, abs=1e-5)
        found.append(abs(float(chances @ POINTS) - exact_equity(tuple(board.tolist()))))
    assert max(found) < 0.01 and np.mean(found) < 0.002  # each side plays for the fewest rolls


def test_tables_reach_what_they_should() -> None:
    tables = shipped(LONG)
    boards = [
        make_board({6: 15}, {6: 15}, FAMILY),
        make_board({7: 1, 6: 14}, {6: 15}, FAMILY),
        make_board({6: 15}, {7: 1, 6: 14}, FAMILY),
        make_board({19: 15}, {6: 15}, FAMILY),
        make_board({1: 1}, {18: 1}, FAMILY),
    ]
    assert tables.covers(np.array(boards)).tolist() == [True, False, False, False, False]
    played, _, _ = play_out(LONG, games=20, turns=220)
    covered = tables.covers(played)
    assert (covered == tables.covers(turn(played, FAMILY))).all() and covered.sum() > 20
    home = [
        not board[7:13].any() and not board[19:25].any() and (board[1:7] >= 0).all()
        and (board[13:19] <= 0).all() for board in played
    ]  # fmt: skip
    assert (covered == home).all()


@pytest.mark.parametrize("rule", ["forbid", "enemy_home"])
def test_no_tables_where_a_row_at_home_may_be_forbidden(rule: str) -> None:
    assert fits(LONG) and not fits(variant("long", prime_rule=rule))
    assert tables_for(variant("long", prime_rule=rule)) is None


def test_rollouts_end_where_the_tables_say(net: Net) -> None:
    board = make_board({6: 2, 3: 1}, {5: 2, 2: 1}, FAMILY)
    tables = shipped(LONG)
    exact = float(tables.outcomes(board[None])[0] @ POINTS)
    played = rollout(net, board[None], 432, seed=1)
    assert played.games[0] == 432
    # the net's play is no better than the tables', whatever the dice
    assert played.equities[0] < exact + 5 * played.stderrs[0]
    known = rollout(net, board[None], 432, seed=1, tables=tables)
    assert known.equities[0] == pytest.approx(exact, abs=1e-6)


# ---------------------------------------------------------------- the terminal and the commands


def session(net: Net, seed: int, answers: Iterator[str]) -> list[str]:
    shown: list[str] = []

    def ask(prompt: str) -> str:
        try:
            line = next(answers)
        except StopIteration:
            raise EOFError from None
        shown.append(prompt + line)
        return line

    play(Player(net), seed, ask, shown.append)
    return shown


def test_a_whole_game_by_hints(net: Net) -> None:
    def answers() -> Iterator[str]:
        yield "help"
        yield "resign 3"
        for _ in range(200):
            yield "hint"
            yield "1"

    shown = session(net, 5, answers())
    end = next(line for line in shown if line.startswith(("You win", "The bot wins")))
    points = int(re.search(r"\d", end)[0])  # type: ignore[index]
    assert points in (1, 2) and RESULTS[points] in end
    assert any("in which your point 24 is its 12" in line for line in shown)
    assert any(line == "resign 1 or 2 points, not '3'." for line in shown)
    text = "\n".join(shown)
    assert "bar" not in text.lower().replace("board", "") and "backgammon" not in text
    assert text.count("O bot:") > 10


def test_two_points_are_the_most_to_resign(net: Net) -> None:
    shown = session(net, 3, iter(["resign 2", "n"]))
    assert "The bot wins 2 points: a gammon (mars)." in shown


def saved(net: Net, folder: Path) -> Path:
    folder.mkdir(parents=True)
    write_net(folder, net, {})
    return folder


@pytest.fixture
def folder(net: Net, tmp_path: Path) -> Path:
    return saved(net, tmp_path / "long")


def test_the_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = ["--position", "24:15 24:15"]
    assert main(["move", "--net", str(folder), *start, "--dice", "31", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["variant"] == "long" and [play["move"] for play in found["plays"]] == ["24/20"]
    asked = ["rollout", "--net", str(folder), *start, "--games", "36", "--plies", "2", "--json"]
    assert main(asked) == 0
    assert json.loads(capsys.readouterr().out)["rollouts"][0]["games"] == 36
    assert main(["show", "--variant", "long", *start]) == 0
    assert "360 pips" in capsys.readouterr().out


def test_a_position_id_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (
        ["move", "--net", str(folder), "--dice", "31"],
        ["rollout", "--net", str(folder)],
        ["show", "--variant", "long"],
    ):
        assert main([*command, "--position", "4HPwATDgc/ABMA"]) == 2
        said = capsys.readouterr().err
        assert "write checkers by point" in said and said.count("\n") == 1


def test_the_newest_net_of_the_game_is_taken(
    net: Net,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    saved(net, tmp_path / "checkpoints/one")
    saved(make_net(12, (8,)), tmp_path / "checkpoints/two")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NARDY_NET", raising=False)
    asked = ["move", "--position", "24:15 24:15", "--dice", "31", "--variant", "long"]
    assert main(asked) == 0
    assert "24/20" in capsys.readouterr().out


def test_a_player_reads_checkers_by_point(net: Net) -> None:
    text = "24:13,18:2 24:14,20:1"
    first, second = (Player(net).best(asked, [6, 6]) for asked in (text, from_points(text, FAMILY)))
    assert [play.text for play in first] == [play.text for play in second] == ["24/18"]  # 19.
