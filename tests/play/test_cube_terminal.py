"""Games with the cube at the terminal, with a scripted user and bots of a fixed opinion."""

import numpy as np
import pytest

from nardy.cli import main
from nardy.match.score import Score, match_score
from nardy.net.net import Net
from nardy.play.player import Player
from nardy.play.terminal import play

MOVE, TAKE = "Your move> ", "Take or pass? "


def sure(net: Net, wins: float) -> Net:
    """A net that gives whoever is on roll so many single wins, and no gammons."""
    chances = np.array([1e-9, 1e-9, 1 - wins, wins, 1e-9, 1e-9])
    tails = [
        [*tail[:-1], (np.zeros_like(tail[-1][0]), np.log(chances).astype(np.float32))]
        for tail in net.tails
    ]
    return Net.build(net.variant, net.table, net.bias, tails)


def session(
    net: Net, score: Score | None, seed: int, *lines: str, refuse: bool = True
) -> list[str]:
    """What is shown when the user types `lines` and then ends the input, prompts included.

    refuse: whether he refuses resignations without a line of his own.
    """
    shown: list[str] = []
    typed = iter(lines)

    def ask(prompt: str) -> str:
        if prompt.startswith("The bot resigns") and refuse:
            return "n"
        for line in typed:
            shown.append(prompt + line)
            return line
        raise EOFError

    play(Player(net), seed, ask, shown.append, score)
    return shown


def seed_where(net: Net, starter: str) -> int:
    return next(s for s in range(99) if any(starter in t for t in session(net, Score(), s)))


PLAY = ("hint", "1")


def test_nobody_doubles_before_the_first_roll(net: Net) -> None:
    bold = sure(net, 0.9)
    yours = session(bold, Score(), seed_where(bold, "you start"))
    assert not any("doubl" in text for text in yours[1:])
    bots = session(bold, Score(), seed_where(bold, "the bot starts"))
    rolls = next(i for i, text in enumerate(bots) if "The bot rolls" in text)
    assert not any("The bot doubles" in text for text in bots[:rolls])


def test_a_pass_costs_the_old_stake(net: Net) -> None:
    bold = sure(net, 0.9)
    shown = session(bold, Score(), seed_where(bold, "you start"), *PLAY, "maybe", "pass", "n")
    assert "The bot doubles to 2." in shown and "Answer take or pass." in shown
    assert "The bot wins 1 point." in shown and "Score: you 0, the bot 1." in shown


def test_who_takes_owns_the_cube_and_may_redouble(net: Net) -> None:
    bold = sure(net, 0.9)
    script = (*PLAY, "take", "hint", "double", "n")
    shown = session(bold, Score(), seed_where(bold, "you start"), *script)
    assert "Roll or double to 4? double" in shown and "The bot passes." in shown
    assert any("verdict" in text for text in shown)
    assert "You win 2 points." in shown and "Score: you 2, the bot 0." in shown


def test_a_redouble_is_taken_and_a_resignation_counts_the_cube(net: Net) -> None:
    close = sure(net, 0.76)
    script = (*PLAY, "take", "d", "resign 1", "n")
    shown = session(close, Score(), seed_where(close, "you start"), *script)
    assert "The bot takes; the cube is on 4." in shown
    assert "The bot wins 4 points." in shown


def test_after_a_move_taken_back_nobody_doubles(net: Net) -> None:
    """The dice have been seen (K16), so that undo comes back to the move alone."""
    close = sure(net, 0.76)
    script = (*PLAY, "take", "roll", *PLAY, "roll", "undo", *PLAY)
    shown = session(close, Score(), seed_where(close, "you start"), *script)
    back = shown[shown.index(MOVE + "undo") + 1 :]
    assert not back[1].startswith("Roll or double") and back[1] == MOVE + "hint"
    assert sum(text.startswith("Roll or double to 4") for text in shown) == 2


def test_the_crawford_game_has_no_cube_and_the_next_one_has(net: Net) -> None:
    """A match to 2: giving up the first game leads to it."""
    bold = sure(net, 0.9)
    seed = seed_where(bold, "you start")
    shown = session(bold, match_score(2), seed, "resign 1", *PLAY * 3)
    assert shown[1] == "\nMatch to 2: you 0, the bot 0."
    second = shown.index("\nMatch to 2: you 0, the bot 1; the Crawford game, without the cube.")
    assert sum("The bot rolls" in text for text in shown[second:]) > 1
    assert not any("doubl" in text for text in shown[second:])
    given = session(bold, match_score(2), seed, "resign 1", *["resign 3"] * 3)
    assert given[-2] == "The bot wins the match."


def test_a_match_to_one_point_is_a_game_without_the_cube(net: Net) -> None:
    bold = sure(net, 0.9)
    shown = session(bold, match_score(1), 5, *PLAY * 400)
    assert not any("doubl" in text for text in shown[1:])
    assert shown[-2] in ("You win the match.", "The bot wins the match.")
    assert shown[-1] == "Goodbye."


def test_wrong_stakes_are_one_sentence(net_folder, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["play", "--net", str(net_folder), "--seed", "1"]
    assert main([*asked, "--match", "99"]) == 2
    assert capsys.readouterr().err == "nardy: a match is played to 1 to 25 points, not 99\n"
    with pytest.raises(SystemExit) as done:
        main([*asked, "--match", "3", "--money"])
    assert done.value.code == 2


# ---------------------------------------------------------------- options of money play


def test_a_beaver_keeps_the_cube_with_the_user(net: Net) -> None:
    """The bot wins 76 in a hundred by its own account; it answers a beaver with a raccoon."""
    close = sure(net, 0.76)
    seed = seed_where(close, "you start")
    script = (*PLAY, "bear", "beaver", "take", "double", "n")
    shown = session(close, Score(beavers=True), seed, *script)
    assert "Take, pass or beaver? bear" in shown and "Answer take, pass or beaver." in shown
    assert "The bot raccoons; the cube is on 8." in shown and "Take or pass? take" in shown
    assert any(text.startswith("Roll or double to 16") for text in shown)
    passed = session(close, Score(beavers=True), seed, *PLAY, "b", "pass", "n")
    assert "The bot wins 4 points." in passed


def test_the_bot_beavers_a_bad_double(net: Net) -> None:
    """Whoever is on roll wins 30 in a hundred, the user believes otherwise."""
    poor = sure(net, 0.3)
    seed = seed_where(poor, "the bot starts")
    shown = session(poor, Score(beavers=True), seed, "double", "raccoon", "resign 1", "n")
    assert "The bot beavers; the cube is on 4." in shown
    assert "Take, pass or raccoon? raccoon" in shown
    assert "The bot takes; the cube is on 8." in shown and "The bot wins 8 points." in shown
    passed = session(poor, Score(beavers=True), seed, "double", "pass", "n")
    assert "The bot wins 2 points." in passed


def test_equal_dice_double_the_stake_as_often_as_allowed(net: Net) -> None:
    found = {}
    for seed in range(150):
        first = session(net, Score(auto_doubles=2), seed)[1:3]
        doubled = [text for text in first if "Both throw" in text]
        if doubled:
            found[len(doubled)] = seed
    assert set(found) == {1, 2}
    shown = session(net, Score(auto_doubles=2), found[2])
    assert shown[2].endswith("the stake is doubled, the cube is on 4.")
    assert "Both throw" not in session(net, Score(), found[2])[1]
    seed = found[1]
    if "you start" in session(net, Score(auto_doubles=1), seed)[2]:
        given = session(net, Score(auto_doubles=1), seed, "resign 3", "n")
        assert "The bot wins 6 points." in given


def test_a_bound_on_losses_holds_at_the_end(net: Net) -> None:  # K18
    seed = seed_where(net, "you start")
    given = session(net, Score(cube=2, stake_cap=3, auto_doubles=1), seed, "resign 3", "n")
    assert "The bot wins 3 points." in given


def test_the_bot_resigns_what_is_lost(net: Net) -> None:
    """Once refused it plays on; the user's points are those of the score."""
    hopeless = sure(net, 1e-9)
    seed = seed_where(hopeless, "you start")
    accepted = session(hopeless, Score(), seed, *PLAY, "eh", "y", "n", refuse=False)
    assert "Answer y or n." in accepted and "You win 1 point." in accepted
    assert any(text.startswith("The bot resigns a single game, 1 point.") for text in accepted)
    for score in (None, Score()):
        rest = ("roll", *PLAY) if score else PLAY
        played = session(hopeless, score, seed, *PLAY, "n", *rest, refuse=False)
        assert sum(text.startswith("The bot resigns") for text in played) == 1
        assert sum("The bot rolls" in text for text in played) == 2


def test_the_commands_options_are_what_is_played_for(
    net_folder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played = []
    monkeypatch.setattr(
        "nardy.play.terminal.play", lambda player, seed, score: played.append(score)
    )
    for asked, score in (
        ([], None),
        (["--money"], Score(doubling=False)),
        (["--cube"], Score()),
        (["--beavers", "--auto-doubles", "2"], Score(beavers=True, auto_doubles=2)),
        (["--jacoby", "--stake-cap", "10"], Score(jacoby=True, stake_cap=10)),
        (["--stake-cap", "3"], Score(doubling=False, stake_cap=3)),
        (["--match", "5"], match_score(5)),
    ):
        assert main(["play", "--net", str(net_folder), *asked]) == 0
        assert played.pop() == score
    for asked, says in (
        (["--match", "5", "--beavers"], "beavers is an option of money play, not of matches"),
        (["--auto-doubles", "9"], "there may be 0 to 6 automatic doubles, not 9"),
    ):
        assert main(["play", "--net", str(net_folder), *asked]) == 2
        assert capsys.readouterr().err == f"nardy: {says}\n"
