"""safetensors without its library: round trips, the library on either side, broken files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from nardy.net.weights import read_tensors, write_tensors, write_whole

RNG = np.random.default_rng(0)
TENSORS: dict[str, np.ndarray[Any, Any]] = {
    "table": RNG.normal(size=(3, 4, 5)).astype(np.float32),
    "half": RNG.normal(size=7).astype(np.float16),
    "double": RNG.normal(size=(2, 1)),
    "counts": RNG.integers(-99, 99, (4, 2)),
    "short counts": RNG.integers(-99, 99, 3).astype(np.int32),
    "boards": RNG.integers(-9, 9, (3, 26)).astype(np.int8),
    "bytes": RNG.integers(0, 255, 5).astype(np.uint8),
    "nothing": np.empty((0, 26), np.int8),
    "turned": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "scalar": np.array(2.5, np.float32),
}


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name].dtype == value.dtype and found[name].shape == value.shape, name
        assert (found[name] == value).all(), name


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t", TENSORS)
    same(read_tensors(tmp_path / "t"), TENSORS)
    assert [path.name for path in tmp_path.iterdir()] == ["t"]


def test_the_library_reads_what_we_write(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t", TENSORS)
    same(load_file(tmp_path / "t"), TENSORS)


def test_we_read_what_the_library_writes(tmp_path: Path) -> None:
    tensors = {name: np.ascontiguousarray(value) for name, value in TENSORS.items()}
    tensors["scalar"] = TENSORS["scalar"]
    save_file(tensors, tmp_path / "t", metadata={"from": "the library"})
    same(read_tensors(tmp_path / "t"), tensors)


def test_other_byte_orders_are_written_little_endian(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t", {"x": np.arange(3, dtype=">f4")})
    assert read_tensors(tmp_path / "t")["x"].tolist() == [0, 1, 2]


def test_every_truncation_is_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "t"
    write_tensors(path, {"a": TENSORS["counts"], "b": TENSORS["half"]})
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="is not a whole safetensors file") as caught:
            read_tensors(path)
        assert "\n" not in str(caught.value) and str(path) in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 64,
        b"PK\x03\x04" + b"\0" * 60,
        (2).to_bytes(8, "little") + b"[]",
        (9).to_bytes(8, "little") + b'{"a": []}',
        (14).to_bytes(8, "little") + b'{"a": {"b":0}}',
        (61).to_bytes(8, "little")
        + b'{"a": {"dtype": "X9", "shape": [0], "data_offsets": [0, 0]}}',
    ],
    ids=["empty", "ones", "zip", "list", "no entry", "no dtype", "unknown dtype"],
)
def test_garbage_is_refused_in_a_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "t").write_bytes(data)
    with pytest.raises(ValueError, match="is not a whole safetensors file") as caught:
        read_tensors(tmp_path / "t")
    assert "\n" not in str(caught.value)


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "f", b"one")
    write_whole(tmp_path / "f", b"two")
    assert (tmp_path / "f").read_bytes() == b"two"
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
