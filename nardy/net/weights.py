"""Reading and writing safetensors with numpy alone.

The format: eight bytes little-endian length of a JSON header, the header (name to dtype, shape
and byte range), then the tensors' bytes. See the safetensors project's format description.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_DTYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


def read_tensors(path: str | Path) -> dict[str, NDArray[Any]]:
    """Every tensor of a safetensors file. Raises ValueError naming a file that is not whole."""
    data = Path(path).read_bytes()
    try:
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        header.pop("__metadata__", None)
        body = memoryview(data)[8 + size :]
        return {name: _tensor(body, entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{str(path)!r} is not a whole safetensors file: {error}") from None


def _tensor(body: memoryview, entry: dict[str, Any]) -> NDArray[Any]:
    begin, end = entry["data_offsets"]
    if not 0 <= begin <= end <= len(body):
        raise ValueError(f"bytes {begin}..{end} lie outside its {len(body)}")
    values: NDArray[Any] = np.frombuffer(body[begin:end], _DTYPES[entry["dtype"]])
    return values.reshape(entry["shape"])


def write_tensors(path: str | Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write `tensors`, all of it or nothing."""
    header: dict[str, Any] = {}
    begin = 0
    for name, value in tensors.items():
        end = begin + value.nbytes
        header[name] = {
            "dtype": _NAMES[value.dtype.newbyteorder("<") if value.itemsize > 1 else value.dtype],
            "shape": list(value.shape),
            "data_offsets": [begin, end],
        }
        begin = end
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    parts = [len(head).to_bytes(8, "little"), head]
    parts += [value.astype(value.dtype.newbyteorder("<")).tobytes() for value in tensors.values()]
    write_whole(path, b"".join(parts))


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write that takes its name when all of it is on disk: it is written under another,
    synced, and renamed. Where writing fails nothing is left, whoever else writes the same file."""
    target = Path(path)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: str | Path, data: bytes) -> None:
    """Write a file, all of it or nothing."""
    with whole_file(path) as file:
        file.write(data)
