"""Analysis: judged decision by decision against the slow, obvious way, and what is written."""

import json
from pathlib import Path

import numpy as np
import pytest
from random_nets import make_net

from nardy.cli import main
from nardy.match.janowski import cube_values, efficiency, normalised
from nardy.match.score import Score
from nardy.net.net import Net
from nardy.notation.games import games_from_text, read_games
from nardy.notation.record import MatchRecord, Roll
from nardy.play.analysis_text import as_html, as_json, as_text, blunders
from nardy.play.analyze import Analysis, analyze
from nardy.play.player import Player
from nardy.play.search import Search
from nardy.play.tally import mark
from nardy.rules.batch import afterstates
from nardy.rules.board import flip
from nardy.rules.dice import ROLL_CHANCES, ROLLS

DATA = Path(__file__).parents[1] / "data"
MAT = DATA / "mat" / "gnubg.mat"


@pytest.fixture(scope="module")
def small() -> Net:
    return make_net(12, (8,), seed=4)


@pytest.fixture(scope="module")
def match() -> MatchRecord:
    return read_games(MAT)


@pytest.fixture(scope="module")
def judged(small: Net, match: MatchRecord) -> Analysis:
    return analyze(match, small)


def test_every_roll_is_judged_once(judged: Analysis, match: MatchRecord) -> None:
    rolls = [
        (number, turn)
        for number, game in enumerate(match.games, 1)
        for turn, action in enumerate(game.actions)
        if isinstance(action, Roll)
    ]
    assert [(d.game, d.turn) for d in judged.decisions if d.kind == "play"] == rolls


def test_errors_of_plays_are_those_of_the_player(
    judged: Analysis, match: MatchRecord, small: Net
) -> None:
    """A player asked play by play is the slow twin."""
    player = Player(small)
    for decision in [d for d in judged.decisions if d.kind == "play"][::7]:
        roll = match.games[decision.game - 1].actions[decision.turn]
        assert isinstance(roll, Roll) and roll.after is not None
        ranked = player.best(roll.board, roll.dice, score=decision.score)
        played = next(play for play in ranked if np.array_equal(play.board, roll.after))
        assert played.cubeful is not None and ranked[0].cubeful is not None
        assert decision.error == pytest.approx(ranked[0].cubeful - played.cubeful, abs=1e-5)
        assert decision.chosen == played.text
        assert decision.options[0].equity == pytest.approx(ranked[0].cubeful, abs=1e-5)


def test_luck_is_the_best_play_less_the_mean_over_all_rolls(
    judged: Analysis, match: MatchRecord, small: Net
) -> None:
    search = Search(small, 0, tables=Player(small).tables)
    for decision in [d for d in judged.decisions if d.kind == "play" and d.turn][3::17]:
        roll = match.games[decision.game - 1].actions[decision.turn]
        assert isinstance(roll, Roll) and decision.luck is not None
        values = {}
        for dice in ROLLS:
            results = afterstates(roll.board[None], dice[None], small.variant)
            best = results.boards[int(search.best(roll.board[None], results)[0])]
            theirs = search.chances(best[None], 0)[:, ::-1]
            x = efficiency(flip(best[None]))
            value = cube_values(theirs, decision.score.flip(), x).best
            mine = -value if decision.score.money else 1 - value
            values[tuple(dice.tolist())] = float(normalised(mine, decision.score)[0])
        mean = sum(p * v for p, v in zip(ROLL_CHANCES, values.values(), strict=True))
        thrown = values[tuple(sorted(roll.dice.tolist(), reverse=True))]
        assert decision.luck == pytest.approx(thrown - mean, abs=1e-4)


def test_the_first_roll_is_no_double(judged: Analysis, small: Net) -> None:
    """Its chances are those of K3: over the thirty openings its luck has the mean 0."""
    first = next(d for d in judged.decisions if d.kind == "play")
    board, unequal = first.board, ROLLS[ROLLS[:, 0] != ROLLS[:, 1]]
    text = " 1 point match\n\n Game 1\n a : 0   b : 0\n  1) {}{}: {}\n"
    luck = []
    for dice in unequal:
        played = Player(small).best(board, dice)[0].text
        game = analyze(games_from_text(text.format(*dice.tolist(), played)), small)
        luck.append(game.decisions[0].luck)
    assert np.mean(np.array(luck, float)) == pytest.approx(0, abs=1e-4)


def test_doubles_and_answers_are_judged_from_both_sides(small: Net) -> None:
    text = (
        " 0 point match\n\n Game 1\n a : 0   b : 0\n"
        "  1) 31: 8/5 6/5              52: 24/22 13/8\n"
        "  2)  Doubles => 2             {}\n"
    )
    for word, answer in (("Takes", "take"), ("Drops", "pass")):
        judged = analyze(games_from_text(text.format(word)), small)
        double, reply = judged.decisions[-2:]
        assert (double.kind, double.player, reply.kind, reply.player) == ("double", 0, "answer", 1)
        assert (double.chosen, reply.chosen) == ("double", answer)
        worth = {option.text: option.equity for option in double.options}
        offered = min(worth["double/take"], worth["double/pass"])
        assert double.error == pytest.approx(max(worth["no double"] - offered, 0), abs=2e-6)
        chosen = worth[f"double/{answer}"]
        assert reply.error == pytest.approx(chosen - offered, abs=2e-6)
        assert double.score == Score() and reply.score == Score()


def test_what_the_player_itself_would_do_has_no_error(match: MatchRecord, small: Net) -> None:
    for ply in (0, 1):
        player = Player(small, ply)
        roll = match.games[0].actions[0]
        assert isinstance(roll, Roll)
        best = player.best(roll.board, roll.dice, score=Score((3, 3), 3))[0].text
        first, second = roll.dice.tolist()
        text = f" 3 point match\n\n Game 1\n a : 0   b : 0\n  1) {first}{second}: {best}\n"
        assert analyze(games_from_text(text), small, ply).decisions[0].error == 0


def test_sums_and_rates(judged: Analysis) -> None:
    rolls = sum(d.kind == "play" for d in judged.decisions)
    for player, sums in enumerate(judged.tallies):
        mine = [d for d in judged.decisions if d.player == player]
        error = sum(d.error for d in mine)
        assert sums.play_error + sums.cube_error == pytest.approx(error)
        assert sums.snowie == pytest.approx(1000 * error / rolls)
        counted = sum(d.counts for d in mine)
        assert sums.pr == pytest.approx(500 * error / counted) and sums.unforced <= sums.plays
        assert sums.error_rate == pytest.approx(1000 * error / (sums.unforced + sums.cubes))
        assert sum(sums.marks) == sum(mark(d.error) != "" for d in mine)
    assert [mark(error) for error in (0.039, 0.04, 0.08, 0.16)] == ["", "?!", "?", "??"]


def test_losses_are_in_chances_of_winning_the_match(judged: Analysis) -> None:
    for decision in judged.decisions:
        zero, one = normalised([0.0, 1.0], decision.score)
        assert decision.loss * (one - zero) == pytest.approx(decision.error)
        assert 0 <= decision.loss <= 1


@pytest.mark.parametrize("path", sorted([*DATA.glob("mat/*.mat"), *DATA.glob("sgf/*.sgf")]))
def test_every_file_is_judged_and_written(path: Path, small: Net) -> None:
    match = read_games(path)
    if match.variant.name != "short":
        with pytest.raises(ValueError, match=f"plays short, the games are {match.variant.name}"):
            analyze(match, small)
        return
    judged = analyze(match, small)
    shown = as_text(judged)
    assert shown.count("\nGame ") == len(match.games)
    assert len(blunders(judged)) == shown.count("+13-14-15")
    told = json.loads(json.dumps(as_json(judged), allow_nan=False))
    assert len(told["decisions"]) == len(judged.decisions)
    page = as_html(judged)
    assert (
        page.count("http") == page.count('xmlns="http://www.w3.org/2000/svg"')
        and "<script" not in page
        and page.count("<details") == page.count("<svg") == len(blunders(judged))
    )


def test_names_cannot_break_the_page(small: Net) -> None:
    text = " 1 point match\n\n Game 1\n <b>a : 0   b&b : 0\n  1) 31: 8/5 6/5\n"
    page = as_html(analyze(games_from_text(text), small))
    assert "<b>a" not in page and "&lt;b&gt;a" in page and "b&amp;b" in page


def test_progress_reaches_one(match: MatchRecord, small: Net) -> None:
    shares: list[float] = []
    analyze(match, small, progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1


def test_the_command(net_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, data = tmp_path / "a.html", tmp_path / "a.json"
    asked = ["analyze", str(MAT), "--net", str(net_folder)]
    assert main([*asked, "--html", str(page), "--json", str(data)]) == 0
    assert "performance rating" in capsys.readouterr().out
    assert page.read_text().startswith("<!doctype html>")
    assert json.loads(data.read_text())["players"] == ["gnubg", "root"]
    assert main([*asked, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(data.read_text())


def test_what_cannot_be_written_is_said_before_all_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--html", "--json"):
        there = str(tmp_path / "none" / "a")
        assert main(["analyze", "nowhere.mat", "--net", str(tmp_path), option, there]) == 2
        said = f"nardy: there is no folder {str(tmp_path / 'none')!r} to write into\n"
        assert capsys.readouterr().err == said


def test_no_error_is_told_as_nothing(judged: Analysis) -> None:
    """Not as minus nought."""
    text, page = as_text(judged), as_html(judged)
    good = sum(decision.error == 0 for decision in judged.decisions)
    assert 0 < good < len(judged.decisions)
    assert page.count("<td class=n><td>") == good
    assert not any(0 < decision.error < 0.0005 for decision in judged.decisions)
    assert "-0.000  luck" not in text


def test_bad_files_get_one_sentence(
    net_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.mat"
    broken.write_text(" 3 point match\n\n Game 1\n a : 0   b : 0\n  1) 31: 8/1\n")
    for path in (broken, tmp_path / "none.mat"):
        assert main(["analyze", str(path), "--net", str(net_folder)]) == 2
        said = capsys.readouterr().err
        assert said.startswith("nardy: ") and said.count("\n") == 1
