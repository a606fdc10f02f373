"""Exporting: torch, ONNX Runtime, numba and numpy agree; the folder is whole or not there."""

import itertools
import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from random_heads import make_head
from random_nets import SHORT, make_net, play_out

from nardy.match.score import Score
from nardy.net.features import phases_of
from nardy.net.net import Evaluator, Net, outcomes_by_numpy
from nardy.net.weights import write_tensors
from nardy.play.cube_head import CONTEXT, FILE, CubeHead, context_of, learned
from nardy.play.cubeful import formula
from nardy.rules.board import Boards, flip, points_won
from nardy.rules.variants import variant
from train.config import Config, parse
from train.encode import encode
from train.export import REFERENCE_SCORES, export, main, reference_positions
from train.net_folder import write_net
from train.network import TorchTail, ValueNetwork, to_net
from train.trainer import Trainer

FILES = ["meta.json", "net.onnx", "net.safetensors", "reference.json"]


@pytest.fixture(scope="module")
def boards() -> Boards:
    """1,000 positions before the roll, and finished ones, which a graph must bear too."""
    before, _, after = play_out(SHORT, games=50, turns=198)
    finished = flip(after[points_won(after, SHORT) > 0])[:10]
    assert len(finished) == 10
    return np.concatenate([before[::10], finished])


@pytest.fixture(scope="module", params=[1, 2])
def network(request: pytest.FixtureRequest) -> ValueNetwork:
    """After a little training, so that the last layers are no longer zero."""
    trainer = Trainer(
        parse(
            "train",
            Config,
            [f"net.phases={request.param}", "net.hidden=40", "net.tail=[16]", "threads=1",
             "algo.games_in_flight=128", "algo.minibatch=128", "algo.rate=1e-2", "games=1200"],
        )
    )  # fmt: skip
    with ThreadPoolExecutor(1) as pool:
        while trainer.progress() < 1:
            trainer.round(pool)
    return trainer.network


@pytest.fixture(scope="module")
def net(network: ValueNetwork) -> Net:
    return to_net(network, SHORT)


@pytest.fixture(scope="module")
def folder(net: Net, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("exports") / "net"
    export(net, {"games": 1200}, target)
    return target


def by_torch(network: ValueNetwork, boards: Boards) -> np.ndarray:
    """The module that is trained, on features."""
    phases = phases_of(boards, len(network.tails))
    order = np.argsort(phases, kind="stable")
    counts = np.bincount(phases, minlength=len(network.tails)).tolist()
    with torch.no_grad():
        logits = network(torch.from_numpy(encode(boards[order], 15)), counts)
    chances = np.empty((len(boards), 6), np.float32)
    chances[order] = torch.softmax(logits, -1).numpy()
    return chances


def session(folder: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(folder / "net.onnx", options)


def by_onnx(folder: Path, boards: Boards) -> np.ndarray:
    (chances,) = session(folder).run(None, {"boards": boards})
    return np.asarray(chances)


# ---------------------------------------------------------------- four ways, one answer


def test_torch_onnx_numba_and_numpy_agree(
    network: ValueNetwork, net: Net, folder: Path, boards: Boards
) -> None:
    shipped = Net.load(folder)
    expected = by_torch(network, boards)
    assert np.ptp(expected[:, 5]) > 0.05  # something has been learnt
    for found in (
        outcomes_by_numpy(shipped, boards),
        shipped.outcomes(boards),
        by_onnx(folder, boards),
        Evaluator(net, TorchTail(net, torch.float32)).outcomes(boards),
    ):
        assert found.dtype == np.float32
        assert np.abs(found - expected).max() <= 1e-5


def test_the_graph_takes_boards_and_nothing_else(folder: Path, boards: Boards) -> None:
    ran = session(folder)
    inputs, outputs = ran.get_inputs(), ran.get_outputs()
    assert [(one.name, one.type, one.shape) for one in inputs] == [
        ("boards", "tensor(int8)", ["N", 26])
    ]
    assert [(one.name, one.type, one.shape) for one in outputs] == [
        ("outcomes", "tensor(float)", ["N", 6])
    ]
    alone = np.concatenate([by_onnx(folder, board[None]) for board in boards[:20]])
    assert np.abs(alone - by_onnx(folder, boards)[:20]).max() <= 1e-6


def test_the_graph_says_what_it_is(folder: Path) -> None:
    model = onnx.load(folder / "net.onnx")
    onnx.checker.check_model(model, full_check=True)
    said = json.loads({entry.key: entry.value for entry in model.metadata_props}["nardy"])
    meta = json.loads((folder / "meta.json").read_text())
    assert said["variant"] == "short" and said["outcomes"] == list(SHORT.outcomes)
    assert {key: meta[key] for key in said} == said


def test_a_graph_of_another_game(tmp_path: Path) -> None:
    game = variant("hyper", opening="reroll")
    net = make_net(9, (), 2, game=game)
    export(net, {}, tmp_path / "net")
    boards = play_out(game, games=10, turns=20)[0]
    assert np.abs(by_onnx(tmp_path / "net", boards) - outcomes_by_numpy(net, boards)).max() <= 1e-5
    assert Net.load(tmp_path / "net").variant == game


# ---------------------------------------------------------------- the folder


def test_the_folder_is_whole_and_nothing_lies_beside_it(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert list(folder.parent.iterdir()) == [folder]
    meta = json.loads((folder / "meta.json").read_text())
    assert meta["games"] == 1200 and meta["hidden"] == 40


def test_the_reference_can_be_reproduced(folder: Path) -> None:
    reference = json.loads((folder / "reference.json").read_text())
    boards = np.array(reference["boards"], np.int8)
    assert boards.shape == (50, 26) and reference["outcomes"] == list(SHORT.outcomes)
    assert len({tuple(board) for board in boards.tolist()}) > 40
    expected = np.array(reference["expected"])
    shipped = Net.load(folder)
    for found in (outcomes_by_numpy(shipped, boards), by_onnx(folder, boards)):
        assert np.abs(found - expected).max() <= 1e-5


def test_reference_positions_are_positions_of_the_game() -> None:
    for game in (SHORT, variant("hyper"), variant("short", start={24: 1})):
        boards = reference_positions(game, 50)
        assert (np.maximum(boards, 0).sum(-1) <= game.checkers).all()
        assert ((boards > 0).any(-1) & (boards < 0).any(-1)).all()
        assert (boards == reference_positions(game, 50)).all()


def test_half_precision(net: Net, folder: Path, tmp_path: Path, boards: Boards) -> None:
    export(net, {}, tmp_path / "half", "float16")
    sizes = [(place / "net.safetensors").stat().st_size for place in (folder, tmp_path / "half")]
    assert sizes[1] < 0.6 * sizes[0]
    shipped = Net.load(tmp_path / "half")
    assert (shipped.table == net.table.astype(np.float16)).all()
    found = shipped.outcomes(boards)
    assert 0 < np.abs(found - net.outcomes(boards)).max() < 0.01
    assert np.abs(by_onnx(tmp_path / "half", boards) - found).max() <= 1e-5
    reference = json.loads((tmp_path / "half" / "reference.json").read_text())
    again = shipped.outcomes(np.array(reference["boards"], np.int8))
    assert np.abs(again - np.array(reference["expected"])).max() <= 1e-5


def test_an_existing_target_is_left_alone(net: Net, tmp_path: Path) -> None:
    target = tmp_path / "here"
    target.mkdir()
    (target / "mine").write_text("dear")
    with pytest.raises(ValueError, match="exists already; nothing was overwritten"):
        export(net, {}, target)
    assert [path.name for path in tmp_path.rglob("*")] == ["here", "mine"]


# ---------------------------------------------------------------- the cube


@pytest.fixture(scope="module")
def head(net: Net) -> CubeHead:
    """What a head may have learnt: some hundredths of a point."""
    return make_head(net, scale=0.2)


@pytest.fixture(scope="module")
def with_cube(net: Net, head: CubeHead, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("cubes") / "net"
    export(net, {"games": 1200}, target, head=head)
    return target


def all_scores() -> Iterator[Score]:
    """Money, and matches at some scores, whoever owns the cube whatever it shows."""
    for cube, owner in ((1, "centre"), *itertools.product((2, 4, 16, 64), ("mine", "theirs"))):
        yield Score(cube=cube, owner=owner)
        yield Score(cube=cube, owner=owner, jacoby=True)
        aways = itertools.product((1, 2, 3, 4, 7, 25), repeat=2)
        for away, crawford in itertools.product(aways, (False, True)):
            if not crawford or (1 in away and cube == 1):
                yield Score(away, 25, crawford, cube, owner)
    yield from (
        Score(doubling=False),
        Score(cube=4, auto_doubles=2),
        Score((2, 3), 5, doubling=False),
    )


def test_onnx_prices_the_cube_as_numpy_does(
    net: Net, head: CubeHead, with_cube: Path, boards: Boards
) -> None:
    ran, cube = session(with_cube), learned(net, head)
    rng, far = np.random.default_rng(0), 0.0
    contexts, wanted, asked = [], [], []
    for score in all_scores():
        some = boards[rng.integers(1000, size=3)]
        values = cube(some, outcomes_by_numpy(net, some), score).no_double
        plain = formula(some, outcomes_by_numpy(net, some), score).no_double
        far = max(far, np.abs(values - plain).max() / score.cube)
        wanted.append(values / (score.cube if score.money else 1))
        contexts.append(np.tile(context_of(score), (3, 1)))
        asked.append(some)
    assert far > 0.01  # the head has its say
    everything = {"boards": np.concatenate(asked), "context": np.concatenate(contexts)}
    chances, found = ran.run(None, everything)
    money = everything["context"][:, 3] == 0
    found = found / np.where(money, everything["context"][:, 2], 1)
    assert found.shape == money.shape and np.abs(found - np.concatenate(wanted)).max() <= 1e-5
    assert np.abs(chances - outcomes_by_numpy(net, everything["boards"])).max() <= 1e-5


def test_the_graph_takes_a_context(with_cube: Path) -> None:
    ran = session(with_cube)
    inputs = [(one.name, one.type, one.shape) for one in ran.get_inputs()]
    outputs = [(one.name, one.type, one.shape) for one in ran.get_outputs()]
    assert inputs[1:] == [("context", "tensor(float)", ["N", len(CONTEXT)])]
    assert outputs[1:] == [("cubeful", "tensor(float)", ["N"])]
    model = onnx.load(with_cube / "net.onnx")
    onnx.checker.check_model(model, full_check=True)
    said = json.loads({entry.key: entry.value for entry in model.metadata_props}["nardy"])
    assert said["context"] == list(CONTEXT)


def test_the_cubes_reference_can_be_reproduced(with_cube: Path) -> None:
    reference = json.loads((with_cube / "reference.json").read_text())
    boards = np.array(reference["boards"], np.int8)
    contexts = np.array(reference["contexts"], np.float32)
    assert (
        reference["context"]
        == list(CONTEXT)
        == json.loads((with_cube / "meta.json").read_text())["context"]
    )
    assert len({tuple(row) for row in contexts.tolist()}) == len(REFERENCE_SCORES)
    shipped, head = Net.load(with_cube), CubeHead.load(with_cube)
    cube, chances = learned(shipped, head), shipped.outcomes(boards)
    for i, expected in enumerate(reference["cubeful"]):
        score = REFERENCE_SCORES[i % len(REFERENCE_SCORES)]
        assert context_of(score).tolist() == contexts[i].tolist()
        row = slice(i, i + 1)
        found = cube(boards[row], chances[row], score).no_double[0]
        assert found == pytest.approx(expected, abs=1e-5)
    _, by_graph = session(with_cube).run(None, {"boards": boards, "context": contexts})
    assert np.abs(by_graph - np.array(reference["cubeful"])).max() <= 1e-5


def test_the_command_puts_a_cube_beside_a_net(
    folder: Path, head: CubeHead, with_cube: Path, tmp_path: Path, capsys: Any
) -> None:
    learnt = tmp_path / "learnt"
    shutil.copytree(folder, learnt)
    write_tensors(learnt / FILE, head.tensors())
    assert main([f"from={folder}", f"cube={learnt}", f"to={tmp_path / 'a'}"]) == 0
    said = capsys.readouterr()
    assert "with its cube" in said.out and not said.err
    assert main([f"from={learnt}", f"to={tmp_path / 'b'}"]) == 0
    for made in ("a", "b"):
        for name in (FILE, "net.onnx", "reference.json"):
            assert (tmp_path / made / name).read_bytes() == (with_cube / name).read_bytes()
    assert main([f"from={folder}", f"cube={folder}", f"to={tmp_path / 'c'}"]) == 2
    assert "no cube head in" in capsys.readouterr().err


def test_a_cube_of_another_net_is_told_or_refused(
    folder: Path, head: CubeHead, tmp_path: Path, capsys: Any
) -> None:
    for name, width in (("near", 40), ("far", 9)):
        (tmp_path / name).mkdir()
        other = make_net(width)
        write_net(tmp_path / name, other, {})
        write_tensors(tmp_path / name / FILE, make_head(other).tensors())
    assert main([f"from={folder}", f"cube={tmp_path / 'near'}", f"to={tmp_path / 'a'}"]) == 0
    assert "learnt with another net" in capsys.readouterr().err
    assert main([f"from={folder}", f"cube={tmp_path / 'far'}", f"to={tmp_path / 'b'}"]) == 2
    assert "sees 9 units" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "far", "near"]


def test_half_precision_rounds_the_cube_too(net: Net, head: CubeHead, tmp_path: Path) -> None:
    export(net, {}, tmp_path / "half", "float16", head=head)
    shipped, found = Net.load(tmp_path / "half"), CubeHead.load(tmp_path / "half")
    assert found.seen.dtype == np.float32
    assert (found.seen == head.seen.astype(np.float16)).all()
    reference = json.loads((tmp_path / "half" / "reference.json").read_text())
    boards = np.array(reference["boards"], np.int8)
    value = learned(shipped, found)(boards[:1], shipped.outcomes(boards[:1]), Score()).no_double
    assert value[0] == pytest.approx(reference["cubeful"][0], abs=1e-5)


# ---------------------------------------------------------------- the command line


def test_the_command_exports_what_it_is_given(folder: Path, tmp_path: Path, capsys: Any) -> None:
    assert main([f"from={folder}", f"to={tmp_path / 'deep' / 'net'}"]) == 0
    assert "short, 40 units, float32" in capsys.readouterr().out
    for name in ("net.safetensors", "net.onnx", "reference.json"):
        assert (tmp_path / "deep" / "net" / name).read_bytes() == (folder / name).read_bytes()
    meta = json.loads((tmp_path / "deep" / "net" / "meta.json").read_text())
    assert meta == json.loads((folder / "meta.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "from= is missing"),
        (["from=nowhere"], "to= is missing"),
        (["from=nowhere", "to=x"], "'nowhere'"),
        (["from=nowhere", "to=x", "dtype=int8"], "'int8'"),
        (["from=nowhere", "to=x", "form=y"], "'form=y'"),
        (["nowhere"], "'nowhere'"),
        (["from=", "to=x"], "from= is missing"),
    ],
)
def test_wrong_arguments_are_one_sentence(
    arguments: list[str], says: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == "" and says in said.err and said.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_command_refuses_what_it_cannot_write(
    folder: Path, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "file").write_text("not a folder")
    for target in (tmp_path / "file", tmp_path / "file" / "net"):
        assert main([f"from={folder}", f"to={target}"]) == 2
        said = capsys.readouterr().err
        assert str(tmp_path / "file") in said and said.count("\n") == 1
    assert (tmp_path / "file").read_text() == "not a folder"
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_help_shows_the_arguments(capsys: Any) -> None:
    assert main(["--help"]) == 0
    assert "from=" in capsys.readouterr().out
