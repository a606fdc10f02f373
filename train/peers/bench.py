"""The peers' side of `python -m train.bench`: each engine's own calls, timed without our adapters.

    rates("legal", boards, dice, repeats=5)     # {"gnubg-nn": 213000.0, "bgsage": 34000.0, …}

An engine answers one position or one batch a call, as its interface has it; boards are put into
its form beforehand, so that what is timed is the engine and the call into it. NOTES
says where a figure means something else than ours.
"""

import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import count, islice
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy.rules.batch import Afterstates, afterstates
from nardy.rules.board import Boards, flip
from nardy.rules.variants import variant
from train.peers import NotInstalledError
from train.peers.bgsage import SagePlayer
from train.peers.gnubg import GnubgProgram, program
from train.peers.gnubg_nn import sides

CHUNKS = {"legal": 400, "random_play": 6000, "evaluate": 4000, "best_move": 400, "two_ply": 16}
"""Units that are timed together, by stage."""

NOTES = {
    "gnubg": "through pipes, 256 positions a question",
    "OpenSpiel": "its own random positions; both orders of two moves count apart, a double's "
    "first two moves stand for the whole play",
    "pgx": "256 games at once in one compiled loop; a play is made of single moves, "
    "and need not use both dice",
}
"""What keeps an engine's figure from meaning quite what ours does."""


class Asked(NamedTuple):
    """What engines are asked, each position once: they keep what they have evaluated."""

    boards: Boards  # int8[B, 26], before the roll
    dice: NDArray[np.uint8]
    results: Afterstates

    def part(self, rows: slice) -> "Asked":
        """The positions `rows`, with their results."""
        offsets = self.results.offsets[rows.start : rows.stop + 1]
        results = Afterstates(self.results.boards[offsets[0] : offsets[-1]], offsets - offsets[0])
        return Asked(self.boards[rows], self.dice[rows], results)


def asked(boards: Boards, dice: NDArray[np.uint8]) -> Asked:
    """Questions about boards, int8[B, 26], and their dice, uint8[B, 2]."""
    return Asked(boards, dice, afterstates(boards, dice, variant("short")))


Work = Callable[[slice], int]
"""Does the units of a chunk, of which the slice is the place among all, and says how many."""
Maker = Callable[[Asked], Work]


class Peer(NamedTuple):
    """An engine: whether it is here, and what makes its work at each stage that it has."""

    here: Callable[[], bool]
    stages: dict[str, Maker]


def installed() -> list[str]:
    """Peers that are known here and installed."""
    return [name for name, peer in PEERS.items() if peer.here()]


def missing() -> list[str]:
    """Peers that are known here and not installed."""
    return [name for name, peer in PEERS.items() if not peer.here()]


def positions_needed(repeats: int) -> int:
    """How many positions `rates` asks for, so that none is asked twice."""
    return max(CHUNKS["legal"], CHUNKS["best_move"]) * (repeats + 1)


def rates(stage: str, boards: Boards, dice: NDArray[np.uint8], repeats: int) -> dict[str, float]:
    """Units a second of each installed peer that has the stage: the median of `repeats` chunks,
    after one more that is not counted.

    boards: int8[B, 26], with dice uint8[B, 2]; see `positions_needed`.
    """
    questions = asked(boards, dice)
    return {
        name: _rate(peer.stages[stage](questions), CHUNKS[stage], repeats)
        for name, peer in PEERS.items()
        if stage in peer.stages and peer.here()
    }


def _rate(work: Work, size: int, repeats: int) -> float:
    found = []
    for number in range(repeats + 1):
        began = time.perf_counter()
        done = work(slice(number * size, (number + 1) * size))
        found.append(done / (time.perf_counter() - began))
    return median(found[1:])


def _has(module: str) -> Callable[[], bool]:
    return lambda: importlib.util.find_spec(module) is not None


# --- gnubg-nn ----------------------------------------------------------------------------------


def _each(function: Callable[..., Any], tables: list[tuple[Any, ...]], **options: Any) -> Work:
    """Work that calls an engine's function once a position."""

    def work(rows: slice) -> int:
        for table in tables[rows]:
            function(*table, **options)
        return len(tables[rows])

    return work


def _with_dice(questions: Asked) -> list[tuple[Any, ...]]:
    pairs = zip(questions.boards.tolist(), questions.dice.tolist(), strict=True)
    return [(sides(board), *roll) for board, roll in pairs]


def _gnubg_nn_legal(questions: Asked) -> Work:
    import gnubg_nn

    return _each(gnubg_nn.moves, _with_dice(questions))


def _gnubg_nn_evaluate(questions: Asked) -> Work:
    import gnubg_nn

    after = [(sides(board), 0) for board in flip(questions.results.boards).tolist()]
    return _each(gnubg_nn.probabilities, after)


def _gnubg_nn_best_move(questions: Asked) -> Work:
    import gnubg_nn

    return _each(gnubg_nn.best_move, _with_dice(questions), n=0, b=1)


# --- gnubg, the program ------------------------------------------------------------------------


def _gnubg_here() -> bool:
    try:
        program()
    except NotInstalledError:
        return False
    return True


def _gnubg_evaluate(questions: Asked) -> Work:
    engine, after = GnubgProgram(variant("short")), flip(questions.results.boards)
    return lambda rows: len(engine.probabilities(after[rows]))


def _gnubg_best_move(questions: Asked, ply: int = 0) -> Work:
    return _chosen(GnubgProgram(variant("short"), ply), questions)


def _chosen(engine: GnubgProgram | SagePlayer, questions: Asked) -> Work:
    """Work that chooses moves as the engine does in a match."""
    none = np.zeros(0, np.int64)
    return lambda rows: len(engine.choose(*questions.part(rows), none, none))


# --- bgsage ------------------------------------------------------------------------------------


@cache
def _bgsage_net() -> Any:
    import bgbot_cpp
    from bgsage.weights import default_weights

    weights = default_weights()
    return bgbot_cpp.create_strategy(weights.strategy_type, *weights.weight_args)


def _bgsage_legal(questions: Asked) -> Work:
    import bgbot_cpp

    places = zip(_positive_bars(questions.boards), questions.dice.tolist(), strict=True)
    return _each(bgbot_cpp.possible_moves, [(place, *roll) for place, roll in places])


def _bgsage_evaluate(questions: Asked) -> Work:
    import bgbot_cpp

    net, centred = _bgsage_net(), bgbot_cpp.CubeOwner.CENTERED
    after = [(place, 1, centred) for place in _positive_bars(flip(questions.results.boards))]

    def work(rows: slice) -> int:
        bgbot_cpp.batch_evaluate_positions(after[rows], net, 1, jacoby=False, beaver=False)
        return len(after[rows])

    return work


def _bgsage_best_move(questions: Asked) -> Work:
    import bgbot_cpp

    net, centred = _bgsage_net(), bgbot_cpp.CubeOwner.CENTERED
    tables = [
        {"board": place, "die1": die1, "die2": die2, "cube_value": 1, "cube_owner": centred}
        for place, (die1, die2) in zip(
            _positive_bars(questions.boards), questions.dice.tolist(), strict=True
        )
    ]

    def work(rows: slice) -> int:
        bgbot_cpp.batch_checker_play(tables[rows], net, n_threads=1, jacoby=False, beaver=False)
        return len(tables[rows])

    return work


def _bgsage_two_ply(questions: Asked) -> Work:
    return _chosen(SagePlayer(variant("short"), ply=2), questions)


def _positive_bars(boards: Boards) -> list[list[int]]:
    places = np.array(boards, np.int64)
    places[:, 0] = -places[:, 0]
    rows: list[list[int]] = places.tolist()
    return rows


# --- OpenSpiel ---------------------------------------------------------------------------------


def _open_spiel_games() -> Iterator[Any]:
    """Finished games of random moves, each played by its own loop in C++."""
    import pyspiel

    game = pyspiel.load_game("backgammon")
    bots = [pyspiel.make_uniform_random_bot(player, 1 + player) for player in (0, 1)]
    for seed in count():
        state = game.new_initial_state()
        pyspiel.evaluate_bots(state, bots, seed)
        yield state


def _open_spiel_legal(questions: Asked) -> Work:
    # it cannot be given a position: `questions` says only how many to take from its own games
    states = list(islice(_open_spiel_positions(), len(questions.boards)))

    def work(rows: slice) -> int:
        for state in states[rows]:
            state.legal_actions()
        return len(states[rows])

    return work


def _open_spiel_positions() -> Iterator[Any]:
    """States after a roll."""
    for finished in _open_spiel_games():
        state, rolled = finished.get_game().new_initial_state(), False
        for step in finished.full_history():
            if rolled:
                yield state.clone()
            state.apply_action(step.action)
            rolled = step.player < 0


def _open_spiel_random_play(questions: Asked) -> Work:
    games = _open_spiel_games()

    def work(rows: slice) -> int:
        turns = 0
        while turns < rows.stop - rows.start:
            turns += sum(step.player < 0 for step in next(games).full_history())  # rolls
        return turns

    return work


# --- pgx ---------------------------------------------------------------------------------------

_PGX_GAMES = 256
_PGX_STEPS = 64
"""Single moves of each game in one call of the compiled loop."""


def _pgx_loop() -> tuple[Callable[[Any], Any], Any]:
    """A compiled function that plays some moves in all games, and what it starts from.

    It takes a state and a key, and gives them back as they are then, with the turns that ended.
    """
    # read when jax starts: one thread, as all engines here
    os.environ.update(JAX_PLATFORMS="cpu", NPROC="1", PJRT_NPROC="1")
    import jax
    import pgx
    from jax import numpy as jnp
    from pgx.experimental import auto_reset

    game = pgx.make("backgammon")
    step = jax.vmap(auto_reset(game.step, game.init))

    def move(carry: Any, _: None) -> tuple[Any, Any]:
        state, key = carry
        key, choice, dice = jax.random.split(key, 3)
        action = jax.random.categorical(choice, jnp.log(state.legal_action_mask))
        after = step(state, action, jax.random.split(dice, _PGX_GAMES))
        ended = (after._turn != state._turn) | after.terminated
        return (after, key), ended.sum()

    def play(carry: Any) -> tuple[Any, Any]:
        carry, ended = jax.lax.scan(move, carry, length=_PGX_STEPS)
        return carry, ended.sum()

    first, key = jax.random.split(jax.random.PRNGKey(1))
    return jax.jit(play), (jax.vmap(game.init)(jax.random.split(first, _PGX_GAMES)), key)


def _pgx_random_play(questions: Asked) -> Work:
    play, carry = _pgx_loop()

    def work(rows: slice) -> int:
        nonlocal carry
        done = 0
        while done < rows.stop - rows.start:
            carry, turns = play(carry)
            done += int(turns)  # waits for the result
        return done

    return work


PEERS = {
    "gnubg-nn": Peer(
        _has("gnubg_nn"),
        {
            "legal": _gnubg_nn_legal,
            "evaluate": _gnubg_nn_evaluate,
            "best_move": _gnubg_nn_best_move,
        },
    ),
    "gnubg": Peer(
        _gnubg_here,
        {
            "evaluate": _gnubg_evaluate,
            "best_move": _gnubg_best_move,
            "two_ply": partial(_gnubg_best_move, ply=2),
        },
    ),
    "bgsage": Peer(
        _has("bgbot_cpp"),
        {
            "legal": _bgsage_legal,
            "evaluate": _bgsage_evaluate,
            "best_move": _bgsage_best_move,
            "two_ply": _bgsage_two_ply,
        },
    ),
    "OpenSpiel": Peer(
        _has("pyspiel"), {"legal": _open_spiel_legal, "random_play": _open_spiel_random_play}
    ),
    "pgx": Peer(_has("pgx"), {"random_play": _pgx_random_play}),
}
