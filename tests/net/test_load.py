"""Net.load: what it reads, and one sentence for everything it refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_nets import make_net, play_out

from nardy.net.net import Net
from nardy.net.weights import read_tensors, write_tensors
from nardy.rules.variants import variant
from train.net_folder import write_net

Meta = dict[str, Any]
Tensors = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_net(tmp_path, make_net(16, (8,)), {"games": 5})
    return tmp_path


def change_meta(folder: Path, change: Callable[[Meta], object]) -> None:
    meta = json.loads((folder / "meta.json").read_text())
    change(meta)
    (folder / "meta.json").write_text(json.dumps(meta))


def change_tensors(folder: Path, change: Callable[[Tensors], object]) -> None:
    tensors = read_tensors(folder / "net.safetensors")
    change(tensors)
    write_tensors(folder / "net.safetensors", tensors)


def refused(folder: Path) -> str:
    with pytest.raises(ValueError) as caught:
        Net.load(folder)
    sentence = str(caught.value)
    assert "\n" not in sentence and str(folder) in sentence, sentence
    return sentence


@pytest.mark.parametrize("phases", [1, 2])
@pytest.mark.parametrize("tail", [(), (8,), (8, 4)])
def test_a_net_comes_back_as_it_was(tmp_path: Path, phases: int, tail: tuple[int, ...]) -> None:
    game = variant("short", start={24: 1, 6: 1}, opening="reroll")
    net = make_net(16, tail, phases, game=game)
    write_net(tmp_path, net, {"games": 5})
    found = Net.load(tmp_path)
    assert found.variant == game and found.meta["games"] == 5
    assert (found.pairs == net.pairs).all() and found.pairs.shape[1] == 5
    boards, _, _ = play_out(game, games=5, turns=5)
    assert (found.outcomes(boards) == net.outcomes(boards)).all()


def test_half_precision_weights_are_read(tmp_path: Path) -> None:
    net = make_net(16)
    write_net(tmp_path, net, {}, "float16")
    found = Net.load(tmp_path)
    assert found.table.dtype == np.float32
    assert (found.table == net.table.astype(np.float16)).all()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda meta: meta.update(format=99), "format 99"),
        (lambda meta: meta.pop("format"), "format None"),
        (lambda meta: meta.update(features=0), "features 0"),
        (lambda meta: meta.update(variant="chess"), "'chess'"),
        (lambda meta: meta.update(variant=["short"]), "list"),
        (lambda meta: meta.pop("variant"), "'variant'"),
        (lambda meta: meta["variant_options"].update(colour="red"), "colour"),
        (lambda meta: meta["variant_options"].update(start={"99": 1}), "99"),
        (lambda meta: meta["variant_options"].update(start={"x": 1}), "x"),
        (lambda meta: meta.update(variant_options=3), "int"),
        (lambda meta: meta.update(phases=3), "tail.2.0.weight"),
        (lambda meta: meta.update(phases=0), "0 tails"),
        (lambda meta: meta.update(phases="two"), "str"),
        (lambda meta: meta.update(tail_layers=3), "tail.0.2.weight"),
        (lambda meta: meta.update(tail_layers=1), "8 values for 6 outcomes"),
        (lambda meta: meta.update(tail_layers=0), "2 tails of 0 layers"),
        (lambda meta: meta.pop("tail_layers"), "'tail_layers'"),
    ],
)
def test_other_metadata_is_refused(folder: Path, change: Callable[[Meta], Any], says: str) -> None:
    change_meta(folder, change)
    assert says in refused(folder)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("table", (28, 31, 17)),
        ("table", (26, 31, 16)),
        ("table", (28 * 31, 16)),
        ("bias", (15,)),
        ("bias", (16, 1)),
        ("tail.0.0.weight", (8, 16)),
        ("tail.1.0.weight", (16, 9)),
        ("tail.1.0.bias", (1,)),
        ("tail.0.1.bias", ()),
        ("tail.0.1.weight", (8, 5)),
    ],
)
def test_wrong_shapes_are_refused(folder: Path, name: str, shape: tuple[int, ...]) -> None:
    change_tensors(folder, lambda tensors: tensors.update({name: np.zeros(shape, np.float32)}))
    assert str(shape) in refused(folder)


@pytest.mark.parametrize("name", ["table", "bias", "tail.0.0.weight", "tail.1.1.bias"])
def test_missing_tensors_are_refused(folder: Path, name: str) -> None:
    change_tensors(folder, lambda tensors: tensors.pop(name))
    assert repr(name) in refused(folder)


def test_other_outcomes_than_the_game_s_are_refused(folder: Path) -> None:
    change_tensors(
        folder,
        lambda tensors: tensors.update(
            {
                "tail.1.1.weight": np.zeros((8, 5), np.float32),
                "tail.1.1.bias": np.zeros(5, np.float32),
            }
        ),
    )
    assert "tail 1 gives 5 values for 6 outcomes" in refused(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"net"', "\0"])
def test_broken_metadata_is_refused(folder: Path, text: str) -> None:
    (folder / "meta.json").write_text(text)
    assert "JSON" in refused(folder)


@pytest.mark.parametrize("name", ["meta.json", "net.safetensors"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert f"holds no {name}" in refused(folder)


def test_a_truncated_net_is_refused(folder: Path) -> None:
    data = (folder / "net.safetensors").read_bytes()
    (folder / "net.safetensors").write_bytes(data[: len(data) // 2])
    assert "is not a whole safetensors file" in refused(folder)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "no meta.json" in refused(tmp_path / "nowhere")
