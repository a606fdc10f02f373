"""The page as files alone: a folder that any web server can hand out, the net in the browser.

    write_static(Path("out"), ["checkpoints/short-01"], Path("node_modules/onnxruntime-web/dist"))
    python -m http.server --directory out

The net runs in onnxruntime-web, whose files come from its npm package (`npm install
onnxruntime-web`) and are copied beside the page. The demo plays at the levels that do not search,
with the cube where the net has learnt it.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nardy.match.met import default_table
from nardy.net.net import Net
from nardy.play.cube_head import CubeHead
from nardy.play.nets import STANDS_IN, shipped
from nardy.play.player import LEVELS
from nardy.rules.variants import Variant

WEB = Path(__file__).parent / "web"
RUNTIME = (
    "ort.wasm.min.mjs",
    "ort-wasm-simd-threaded.mjs",
    "ort-wasm-simd-threaded.wasm",
)
"""The files of onnxruntime-web that the page loads."""


def static_nets(folder: Path) -> list[Path]:
    """`folder`'s net, and those shipped of other games that have come with their net.onnx."""
    name = Net.load(folder).variant.name
    others = [path for game, path in shipped().items() if game != name]
    return [folder, *(path for path in others if (path / "net.onnx").is_file())]


def write_static(
    folder: Path, nets: Sequence[str | Path], runtime: Path, first: Variant | None = None
) -> None:
    """Write the page and everything it needs into `folder`.

    nets: folders of exported nets, one of each variant; runtime: the dist folder of the npm
    package onnxruntime-web; first: what the first net plays, where it is not what it has learnt.
    Raises ValueError where something is missing.
    """
    for name in RUNTIME:
        if not (runtime / name).is_file():
            raise ValueError(
                f"{str(runtime)!r} holds no {name}: npm install onnxruntime-web and name its dist"
            )
    played = [first, *[None] * len(nets[1:])]
    games = [_game(Path(path), game) for path, game in zip(nets, played, strict=True)]
    shutil.copytree(WEB, folder, dirs_exist_ok=True)
    (folder / "ort").mkdir(exist_ok=True)
    for name in RUNTIME:
        shutil.copyfile(runtime / name, folder / "ort" / name)
    for path, game in zip(nets, games, strict=True):
        shutil.copyfile(Path(path) / "net.onnx", folder / game["net"])
    noise = {name: level.noise for name, level in LEVELS.items() if level.ply == 0}
    offer = {"engine": "onnx", "games": games, "levels": list(noise), "noise": noise}
    offer |= {"met": match_equities()}
    (folder / "games.json").write_text(json.dumps(offer))


def match_equities() -> dict[str, Any]:
    """The table of match equities as the page reads it; see nardy.match.met."""
    table = default_table()
    names = ("before", "after_crawford")
    return {name: getattr(table, name).round(6).tolist() for name in names}


def _game(path: Path, played: Variant | None) -> dict[str, Any]:
    game = played or Net.load(path).variant
    if not (path / "net.onnx").is_file():
        raise ValueError(f"{str(path)!r} holds no net.onnx")
    learnt = game.cube == "on" and CubeHead.load(path) is not None
    if game.name in STANDS_IN and not learnt:
        raise ValueError(
            f"the net in {str(path)!r} has not learnt the cube, without which {game.name} is "
            f"{STANDS_IN[game.name]}: write --variant {STANDS_IN[game.name]}, or serve it"
        )
    return {**asdict(game), "net": f"{game.name}.onnx", "learnt": learnt}
