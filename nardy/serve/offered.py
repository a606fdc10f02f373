"""Which games the page offers beside the one that is served.

    other_nets(Path("checkpoints/short-01"), "short")      # of long nardy and nardgammon

A game that has no net of its own is played by the one that stands in for it (nardy.play.nets).
"""

from contextlib import suppress
from pathlib import Path

from nardy.net.net import Net
from nardy.play.cube_head import CubeHead
from nardy.play.nets import STANDS_IN, load_by_rules, shipped


def other_nets(folder: Path, served: str) -> list[tuple[Net, CubeHead | None]]:
    """Nets of other games than `served`, each with the cube that it has learnt.

    They are those shipped; for what the net in `folder` has learnt itself, that one; and for a
    game that has none, the net that stands in.
    """
    folders = shipped() | {Net.load(folder).variant.name: folder}
    others = [path for game, path in folders.items() if game != served]
    found = [(Net.load(path), CubeHead.load(path)) for path in others]
    for game, other in STANDS_IN.items():
        if game != served and game not in folders and other in folders:
            with suppress(ValueError):  # a net of fewer checkers, say, stands in for none
                found.append((load_by_rules(folders[other], game, {}), None))
    return found
