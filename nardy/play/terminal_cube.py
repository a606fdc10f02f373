"""The cube at the terminal: automatic doubles, doubles and their answers, resignations.

Points are those that the player on roll wins, scores in his view, as in nardy.match.cube.
"""

from collections.abc import Callable
from dataclasses import dataclass

from nardy.match.cube import Offer, Reply, automatic_double, beaver, double, refuse, replies, take
from nardy.match.score import Score
from nardy.play.board_text import draw
from nardy.play.cube_text import decision_text
from nardy.play.player import Player
from nardy.rules.board import Boards, turn
from nardy.rules.dice import random_words
from nardy.rules.variants import Variant

CUBE_HELP = """\
Before your roll, where the cube is yours to turn:
  roll       or an empty line
  double     offer to play on for twice the stake
  hint       what the cube's actions are worth
When the bot doubles: take or pass, and beaver or raccoon where they are allowed. A resignation
counts games, which the cube multiplies."""

EQUAL_STREAM = 6
"""The stream of random_words that equal opening dice are read from."""

_SHORT = {"t": "take", "p": "pass", "drop": "pass", "b": "beaver", "r": "raccoon"}
_SAID = {"take": "takes", "pass": "passes", "beaver": "beavers", "raccoon": "raccoons"}

Ask = Callable[[str], str]
Say = Callable[[str], None]


class Leave(Exception):
    """The user wants to stop playing."""


@dataclass(frozen=True)
class CubeTalk:
    """Who talks: the bot, and the user at his terminal."""

    player: Player
    ask: Ask
    say: Say

    def opened(self, seed: int, number: int, score: Score) -> Score:
        """The score after the equal dice that were thrown before game `number` began (K3): each
        pair doubles the cube while automatic doubles are allowed."""
        for throw in range(score.auto_doubles):
            word = int(random_words(seed, [number], [throw], EQUAL_STREAM)[0])
            if word % 6:  # one throw in six is equal
                break
            score = automatic_double(score)
            die = word // 6 % 6 + 1
            self.say(f"\nBoth throw {die}: the stake is doubled, the cube is on {score.cube}.")
        return score

    def bot_doubles(self, board: Boards, score: Score) -> Score | int:
        """The user, and the bot again, answer the bot's double: the score, or points.

        board: int8[26]; both in the bot's view.
        """
        offer = double(score)
        self.say(draw_for_you(board, self.player.net.variant))
        self.say(f"The bot doubles to {offer.cube}.")
        return self._answered(board, offer, False)

    def you_roll_or_double(self, board: Boards, score: Score) -> Score | int:
        """The user rolls or doubles; as bot_doubles, in the user's view."""
        game = self.player.net.variant
        self.say(draw(board, game.checkers, ("you", "bot"), "your turn", game.family))
        while True:
            word = self.ask(f"Roll or double to {2 * score.cube}? ").strip().lower()
            if word in ("", "roll", "r"):
                return score
            if word in ("double", "d"):
                return self._answered(board, double(score), True)
            if word == "hint":
                self.say(decision_text(self.player.cube(board, score)))
            elif word in ("quit", "q", "exit"):
                raise Leave
            else:
                self.say(CUBE_HELP)

    def accepted(self, games: int, paid: int) -> bool:
        """Whether the user lets the bot resign so many games, which pay so many points."""
        points = f"{paid} point{'s' * (paid > 1)}"
        how = ("a single game", "a gammon", "a backgammon")[games - 1]
        while True:
            word = self.ask(f"The bot resigns {how}, {points}. Accept? [y/n] ").strip().lower()
            if word in ("y", "yes", "accept", ""):
                return True
            if word in ("n", "no", "reject"):
                return False
            if word in ("quit", "q", "exit"):
                raise Leave
            self.say("Answer y or n.")

    def _answered(self, board: Boards, offer: Offer, yours: bool) -> Score | int:
        """Offers answered by turns until one is taken or passed. yours: the user doubled."""
        while True:
            if offer.beavered == yours:
                reply = self._users(offer)
            else:
                reply = self.player.reply(board, offer)
                cube = offer.cube if reply == "take" else 2 * offer.cube
                now = "" if reply == "pass" else f"; the cube is on {cube}"
                self.say(f"The bot {_SAID[reply]}{now}.")
            if reply == "take":
                return take(offer)
            if reply == "pass":
                return refuse(offer)
            offer = beaver(offer)

    def _users(self, offer: Offer) -> Reply:
        """What the user answers to an offer."""
        allowed = replies(offer)
        *others, last = allowed
        words = f"{', '.join(others)} or {last}"
        while True:
            word = self.ask(f"{words.capitalize()}? ").strip().lower()
            word = _SHORT.get(word, word)
            for reply in allowed:
                if word == reply:
                    return reply
            if word in ("quit", "q", "exit"):
                raise Leave
            self.say(f"Answer {words}.")


def draw_for_you(board: Boards, game: Variant) -> str:
    """A board in the bot's view, int8[26], as the user sees it."""
    return draw(turn(board, game.family), game.checkers, ("you", "bot"), "", game.family)
