"""Where nets are found: in a checkout's folders, or with the package.

    find_net()                # folder of the newest net here, else of the short one that is shipped
    find_net(game="long")
    shipped()                 # {"short": Path(...), "long": Path(...)}
    load_by_rules(find_net(game="long"), "long", {"prime_rule": "forbid"})

A net is the folder that `train.export` writes: meta.json, net.safetensors and perhaps others.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nardy.net.net import Net
from nardy.rules.variants import OPTIONS, variant

_PACKAGE = Path(__file__).parents[1]
_HOMES = (_PACKAGE / "checkpoints", _PACKAGE.parent / "checkpoints")
"""Where shipped nets lie: in an installed package, and in a checkout."""

STANDS_IN = {"nardgammon": "long"}
"""The game whose nets play another as well, which differs by the cube alone."""


def find_net(given: str | None = None, game: str | None = None) -> Path:
    """The folder given, else the one in NARDY_NET, else the newest in checkpoints/ and runs/ of the
    working folder, else the one that is shipped.

    game: the newest of that game, or of STANDS_IN, and only without any the newest of another; by
    default whatever is the newest here, or the short game's of those shipped. Raises ValueError
    where there is none.
    """
    named = given or os.environ.get("NARDY_NET")
    if named:
        return Path(named)
    nets = [*Path("checkpoints").glob("*/meta.json"), *Path("runs").glob("*/net/meta.json")]
    fitting = [path for path in nets if game in (None, _game(path))]
    ours = shipped().get(game or "short")
    if game in STANDS_IN and ours is None and not fitting:
        return find_net(game=STANDS_IN[game])
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


def read_rules(texts: Sequence[str]) -> dict[str, str]:
    """What load_by_rules takes, of texts as "prime_rule=forbid". Raises ValueError for another."""
    for text in texts:
        if "=" not in text:
            raise ValueError(f"a rule has the form name=value, not {text!r}")
    return dict(text.split("=", 1) for text in texts)


def load_by_rules(folder: Path, name: str | None, rules: Mapping[str, str]) -> Net:
    """The net of a folder, for a game that may differ by rules from the one it has learnt.

    name: of the game, None for the net's own; rules: options of variants.OPTIONS that differ.
    Raises ValueError where there is no such net or game, or they do not fit: the checkers must
    stand alike at the start, and the same points be paid.
    """
    net = Net.load(folder)
    learnt = net.variant
    own: dict[str, Any] = {}
    if name in (None, learnt.name):
        own = {option: getattr(learnt, option) for option in OPTIONS}
        own["start"] = {point: count for point, count in enumerate(learnt.start) if count > 0}
    game = variant(name or learnt.name, **own | dict(rules))
    if (game.start, game.outcomes) != (learnt.start, learnt.outcomes):
        wanted = " ".join([game.name, *(f"{key}={value}" for key, value in rules.items())])
        raise ValueError(f"the net in {str(folder)!r} plays {learnt.name}, not {wanted}")
    return replace(net, variant=game)


def _game(path: Path) -> str:
    """What the net of a meta.json plays; nothing where the file does not say."""
    try:
        return str(json.loads(path.read_text())["variant"])
    except (ValueError, KeyError, TypeError):
        return ""
