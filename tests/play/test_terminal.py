"""Sessions at the terminal with a scripted user."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from nardy.net.net import Net
from nardy.play.player import Player
from nardy.play.terminal import RESULTS, play
from nardy.rules.board import start_board
from nardy.rules.dice import roll
from nardy.rules.variants import variant

MOVE, AGAIN = "Your move> ", "Another game? [y/n] "


def session(net: Net, seed: int, *lines: str) -> list[str]:
    """What the user is shown when he types `lines` and then ends the input; [prompt] + line too."""
    shown: list[str] = []
    typed = iter(lines)

    def ask(prompt: str) -> str:
        for line in typed:
            shown.append(prompt + line)
            return line
        raise EOFError

    play(Player(net), seed, ask, shown.append)
    return shown


def seed_where(starter: str, net: Net) -> int:
    """The first seed with which `starter` ("you start" or "the bot starts")."""
    return next(seed for seed in range(99) if starter in session(net, seed)[1])


def after(shown: list[str], line: str) -> str:
    """What follows the user's `line`."""
    return shown[shown.index(MOVE + line) + 1]


def hint_player(stop_after: int) -> tuple[Callable[[str], str], list[str]]:
    """Plays the best hint every time, then says no to another game."""
    log: list[str] = []

    def answers() -> Iterator[str]:
        for _ in range(stop_after):
            yield "hint"
            yield "1"

    moves = answers()

    def ask(prompt: str) -> str:
        if prompt.startswith("The bot resigns"):
            return "n"
        log.append(prompt)
        return "n" if prompt == AGAIN else next(moves)

    return ask, log


def test_a_whole_game_by_hints(net: Net) -> None:
    ask, log = hint_player(400)
    shown: list[str] = []
    play(Player(net), 5, ask, shown.append)
    assert log[-1] == AGAIN and log.count(MOVE) > 10
    assert shown[-1] == "Goodbye."
    who, points = shown[-3].split(" win")[0], int(re.search(r"\d", shown[-3])[0])
    mine, bots = (points, 0) if who == "You" else (0, points)
    assert RESULTS[points] in shown[-3]
    assert shown[-2] == f"Score: you {mine}, the bot {bots}."
    again: list[str] = []
    play(Player(net), 5, hint_player(400)[0], again.append)
    assert again == shown


def test_who_bears_off_first_wins(net: Net) -> None:
    """With one checker a side, a roll from home, the starter wins a gammon at once (K14)."""
    game = variant("short", start={1: 1})
    tiny = Net.build(game, net.table, net.bias, net.tails)
    mine = session(tiny, seed_where("you start", tiny), "hint", "1")
    assert mine[-4:-2] == ["You win 2 points: a gammon (mars).", "Score: you 2, the bot 0."]
    bots = session(tiny, seed_where("the bot starts", tiny))
    assert "The bot rolls" in bots[2] and bots[2].endswith("1/off")
    assert bots[3:5] == ["The bot wins 2 points: a gammon (mars).", "Score: you 0, the bot 2."]


def test_the_higher_die_starts_with_both(net: Net) -> None:
    for seed in range(6):
        shown = session(net, seed)
        mine, bots = (int(word.rstrip(",:")) for word in shown[1].split() if word[0].isdigit())
        assert ("you start" in shown[1]) == (mine > bots)
        first = next(line for line in shown[2:] if "roll" in line)
        assert f"{max(mine, bots)}-{min(mine, bots)}" in first
        assert ("The bot rolls" in first) == (bots > mine)


def test_a_wrong_move_is_explained_and_asked_again(net: Net) -> None:
    seed = seed_where("you start", net)
    shown = session(net, seed, "26/20", "nonsense", "pass", "", "7")
    assert after(shown, "26/20") == "'26/20' is not a move: there is no point 26."
    assert after(shown, "nonsense").startswith("cannot read 'nonsense'")
    assert after(shown, "pass").startswith("you cannot pass")
    assert after(shown, "7").startswith("cannot read '7'")
    assert shown[-1] == "Goodbye."


def test_hint_shows_the_players_best_three(net: Net) -> None:
    seed = seed_where("you start", net)
    shown = session(net, seed, "hint")
    lines = shown[shown.index(MOVE + "hint") + 1 :][:3]
    assert [line.split(".")[0].strip() for line in lines] == ["1", "2", "3"]
    ranked = Player(net).best(start_board(variant("short")), roll(seed, [0], [0])[0])
    for line, best in zip(lines, ranked, strict=False):
        assert best.text in line and f"{best.equity:+.3f}" in line


def test_undo_goes_back_with_the_same_dice(net: Net) -> None:
    seed = seed_where("you start", net)
    shown = session(net, seed, "undo", "hint", "2", "undo", "hint", "2")
    assert after(shown, "undo") == "there is no move of yours to take back."
    drawings = [text for text in shown if text.startswith("+13")]
    assert drawings[2] == drawings[0] != drawings[1]
    assert drawings[3] == drawings[1]
    bots = [text for text in shown if "The bot rolls" in text]
    assert bots == [bots[0]] * 2


def test_resigning_three_is_always_taken(net: Net) -> None:
    seed = seed_where("you start", net)
    shown = session(net, seed, "resign 4", "resign 3", "n")
    assert after(shown, "resign 4") == "resign 1, 2 or 3 points, not '4'."
    assert after(shown, "resign 3") == "The bot wins 3 points: a backgammon (koks)."
    assert shown[-2:] == ["Another game? [y/n] n", "Goodbye."]


def test_too_small_a_resignation_is_refused(net: Net) -> None:
    """A net that is sure to win a gammon does not take one point for it."""
    # the user's plays are priced for the bot, who is then on roll
    surely = {2: 50.0}
    logits = np.array([surely.get(points, 0) for points in net.variant.outcomes], np.float32)
    tails = [[*tail[:-1], (np.zeros_like(tail[-1][0]), logits)] for tail in net.tails]
    sure = Net.build(net.variant, net.table, net.bias, tails)
    shown = session(sure, seed_where("you start", sure), "resign", "resign 2")
    assert after(shown, "resign") == "The bot plays on: it expects 2.00 points, more than 1."
    assert after(shown, "resign 2") == "The bot wins 2 points: a gammon (mars)."


def test_another_game_has_other_dice(net: Net) -> None:
    shown = session(net, seed_where("you start", net), "resign 3", "maybe", "y")
    assert "Answer y or n." in shown
    throws = [text for text in shown if text.startswith("\nYou throw")]
    assert len(throws) == 2


def test_quit_help_and_ctrl_c(net: Net) -> None:
    seed = seed_where("you start", net)
    shown = session(net, seed, "help", "board", "quit", "hint")
    assert "resign N" in after(shown, "help")
    assert after(shown, "board").startswith("+13")
    assert shown[-1] == "Goodbye." and MOVE + "hint" not in shown

    def interrupted(prompt: str) -> str:
        raise KeyboardInterrupt

    said: list[str] = []
    play(Player(net), seed, interrupted, said.append)
    assert said[-1] == "Goodbye."


def test_a_game_through_a_pipe(net_folder: Path) -> None:
    """The command itself, reading a script until the input ends."""
    done = subprocess.run(
        [sys.executable, "-m", "nardy", "play", "--net", str(net_folder), "--seed", "5"],
        input="hint\n1\n" * 400,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "Score: you" in done.stdout
    assert done.stdout.endswith("Goodbye.\n")
