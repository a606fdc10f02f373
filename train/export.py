"""Export: a run's net as a folder that other programs can use.

    python -m train.export from=runs/quick to=checkpoints/short-01
    python -m train.export from=runs/quick/best to=out dtype=float16
    python -m train.export from=runs/quick cube=runs/cube to=checkpoints/short-02

Writes net.safetensors, net.onnx, meta.json and reference.json (fifty positions with the outcomes
expected for them, so that a port in any language can check itself). From a run or a checkpoint also
weights.safetensors, the network before folding, from which training can go on (init=out).

A cube that the net has learnt (python -m train.cube_head) goes with it, as cube.safetensors; cube=
names another folder to take it from. net.onnx then has a second input, what the game is played for
(nardy.play.cube_head.context_of), and a second output, the cubeful value; reference.json has
contexts and values too.
"""

import dataclasses
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

from nardy.match.score import Score, match_score
from nardy.net.net import Net
from nardy.net.weights import write_tensors, write_whole
from nardy.play.cube_head import CONTEXT, FILE, CubeHead, context_of, learned
from nardy.rules.batch import afterstates
from nardy.rules.board import Boards, ending, start_board, turn
from nardy.rules.dice import random_words, roll
from nardy.rules.variants import Variant
from train.command_line import answer
from train.net_folder import DTYPES, WEIGHTS, net_meta, write_net

REFERENCE_SCORES = (
    Score(),
    Score(jacoby=True),
    Score(cube=2, owner="mine"),
    Score(cube=4, owner="theirs"),
    match_score(7),
    match_score(5, 3, 1),
    match_score(9, 8, 4, crawford=True),
    match_score(9, 8, 4),
    match_score(9, 4, 8),
    Score((5, 4), 7, cube=2, owner="mine"),
    Score((2, 6), 11, cube=2, owner="theirs"),
    Score(doubling=False),
)
"""What the reference positions are played for, in turn."""
ROUNDING = 0.02
"""By how much float16 may have moved a net's table."""


def reference_positions(game: Variant, count: int, seed: int = 1) -> Boards:
    """int8[count, 26]: positions before the roll from games of random moves."""
    boards = np.repeat(start_board(game)[None], count, 0)
    games = np.arange(count)
    for ply in range(40):
        plies = np.full(count, ply)
        results = afterstates(boards, roll(seed, games, plies, game.opening), game)
        choice = random_words(seed, games, plies, stream=1) % np.diff(results.offsets).astype("u8")
        chosen = results.boards[results.offsets[:-1] + choice.astype(np.int64)]
        # each position stops at a ply of its own, or one before its game would end
        on = (games % 40 > ply) & ~ending(chosen, game)[0]
        boards[on] = turn(chosen[on], game.family)
    return boards


def export(
    net: Net,
    meta: dict[str, Any],
    to: Path,
    dtype: str = "float32",
    weights: dict[str, Any] | None = None,
    head: CubeHead | None = None,
) -> None:
    """Write the whole exported folder, all of it or nothing.

    weights: the trained network's arrays by parameter name, where they are at hand.
    head: the cube that the net has learnt. Raises ValueError where it does not fit the net.
    """
    from train.onnx_graph import onnx_bytes

    if to.exists():
        raise ValueError(f"{str(to)!r} exists already; nothing was overwritten")
    if head is not None:
        head.check(net)
    temporary = to.with_name(f".{to.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    meta = {name: value for name, value in meta.items() if name != "context"}
    write_net(temporary, net, meta | head_meta(head), dtype)
    if head is not None:
        tensors = {name: array.astype(DTYPES[dtype]) for name, array in head.tensors().items()}
        write_tensors(temporary / FILE, tensors)
    # the rounded weights are what the other files must match
    shipped, head = Net.load(temporary), CubeHead.load(temporary)
    graph = onnx_bytes(shipped, net_meta(shipped) | head_meta(head), head)
    write_whole(temporary / "net.onnx", graph)
    boards = reference_positions(net.variant, 50)
    expected = shipped.outcomes(boards)
    reference = {
        "outcomes": list(net.variant.outcomes),
        "boards": boards.tolist(),
        "expected": expected.astype(float).round(7).tolist(),
    }
    if head is not None:
        reference |= cube_reference(shipped, head, boards, expected)
    write_whole(temporary / "reference.json", json.dumps(reference).encode())
    if weights:
        write_tensors(temporary / WEIGHTS, weights)
    os.rename(temporary, to)


def head_meta(head: CubeHead | None) -> dict[str, Any]:
    """What meta.json says of a learned cube: the numbers of a context, by name."""
    return {} if head is None else {"context": list(CONTEXT)}


def cube_reference(net: Net, head: CubeHead, boards: Boards, chances: Any) -> dict[str, Any]:
    """Contexts for the reference positions, and the cubeful values expected there: before the
    roll, nobody doubling now; points, or in a match the chance of winning it."""
    cube = learned(net, head)
    scores = [REFERENCE_SCORES[i % len(REFERENCE_SCORES)] for i in range(len(boards))]
    values = [
        float(cube(boards[i : i + 1], chances[i : i + 1], score).no_double[0])
        for i, score in enumerate(scores)
    ]
    contexts = [context_of(score).tolist() for score in scores]
    return {"context": list(CONTEXT), "contexts": contexts, "cubeful": np.round(values, 7).tolist()}


def head_from(folder: Path, net: Net) -> tuple[CubeHead, dict[str, Any]]:
    """The head in a folder, for another net, and what meta.json there tells of it.

    Raises ValueError where there is none. One that was learnt with other weights than the net's is
    taken, as they may differ a little, but it is said on stderr.
    """
    head, theirs = CubeHead.load(folder), Net.load(folder)
    if head is None:
        raise ValueError(f"there is no cube head in {str(folder)!r}")
    same = theirs.table.shape == net.table.shape
    if not (same and np.allclose(theirs.table, net.table, rtol=0, atol=ROUNDING)):
        name = str(folder)
        print(f"train.export: the cube in {name!r} was learnt with another net", file=sys.stderr)
    return head, {name: said for name, said in theirs.meta.items() if name == "cube"}


@dataclasses.dataclass
class ExportConfig:
    """Arguments of `python -m train.export`; `from` is a Python word, hence `source`."""

    source: str
    to: str
    cube: str | None = None
    dtype: str = "float32"


def parse_arguments(arguments: list[str]) -> ExportConfig:
    """from=… to=… cube=… dtype=…; raises ValueError naming what is wrong."""
    given = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or key not in ("from", "to", "cube", "dtype"):
            raise ValueError(f"expected from=, to=, cube= or dtype=, not {argument!r}")
        given["source" if key == "from" else key] = value
    for key in ("source", "to"):
        if not given.get(key):
            raise ValueError(f"{'from' if key == 'source' else key}= is missing")
    if given.get("dtype", "float32") not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, not {given['dtype']!r}")
    return ExportConfig(**given)


def run(config: ExportConfig) -> None:
    """Write the folder. Raises ValueError or OSError naming what is wrong."""
    from train.checkpoint import network_weights, resolve

    source = resolve(config.source)
    net, weights = Net.load(source), network_weights(source)
    head, meta = CubeHead.load(source), net.meta
    if config.cube is not None:
        head, said = head_from(resolve(config.cube), net)
        meta = {name: value for name, value in meta.items() if name != "cube"} | said
    export(net, meta, Path(config.to), config.dtype, weights, head)
    cube = "" if head is None else ", with its cube"
    print(f"{config.to}: {net.variant.name}, {len(net.bias)} units, {config.dtype}{cube}")


def main(arguments: list[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer("train.export", lambda: run(parse_arguments(arguments)), arguments, str(__doc__))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
