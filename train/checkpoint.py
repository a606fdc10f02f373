"""Checkpoints: numbered folders in a run folder, and the text files `latest` and `best`."""

from pathlib import Path


def resolve(path: str | Path) -> Path:
    """The folder with net.safetensors and meta.json that `path` means.

    path: an exported net or a checkpoint; a run folder, which means its latest checkpoint; or a
    run folder's file `latest` or `best`, which name one. Raises ValueError naming the path.
    """
    place = Path(path)
    if (place / "meta.json").is_file() and (place / "net.safetensors").is_file():
        return place
    pointer = place / "latest" if place.is_dir() else place
    if pointer.is_file() and pointer.name in ("latest", "best"):
        return resolve(pointer.parent / pointer.read_text().strip())
    raise ValueError(f"{str(path)!r} is neither a run folder, a checkpoint nor an exported net")
