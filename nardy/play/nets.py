"""Where nets are found: in a checkout's folders, or with the package.

    find_net()                # folder of the newest net here, else of the short one that is shipped
    find_net(game="long")
    shipped()                 # {"short": Path(...), "long": Path(...)}

A net is the folder that `train.export` writes: meta.json, net.safetensors and perhaps others.
"""

import json
import os
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_HOMES = (_PACKAGE / "checkpoints", _PACKAGE.parent / "checkpoints")
"""Where shipped nets lie: in an installed package, and in a checkout."""


def find_net(given: str | None = None, game: str | None = None) -> Path:
    """The folder given, else the one in NARDY_NET, else the newest in checkpoints/ and runs/ of the
    working folder, else the one that is shipped.

    game: the newest of that game, and only without any the newest of another; by default whatever
    is the newest here, or the short game's of those shipped. Raises ValueError where there is none.
    """
    named = given or os.environ.get("NARDY_NET")
    if named:
        return Path(named)
    nets = [*Path("checkpoints").glob("*/meta.json"), *Path("runs").glob("*/net/meta.json")]
    fitting = [path for path in nets if game in (None, _game(path))]
    ours = shipped().get(game or "short")
    if ours is not None and not fitting:
        return ours
    if not nets:
        raise ValueError(
            f"there is no net{f' for {game}' if game else ''} here: "
            "make one with `make train`, or name one with --net or NARDY_NET"
        )
    return max(fitting or nets, key=lambda path: (path.stat().st_mtime, str(path))).parent


def shipped() -> dict[str, Path]:
    """The folders of the nets that come with the package, the last by name of each game."""
    for home in _HOMES:
        found = {_game(path): path.parent for path in sorted(home.glob("*/meta.json"))}
        if found:
            return found
    return {}


def _game(path: Path) -> str:
    """What the net of a meta.json plays; nothing where the file does not say."""
    try:
        return str(json.loads(path.read_text())["variant"])
    except (ValueError, KeyError, TypeError):
        return ""
