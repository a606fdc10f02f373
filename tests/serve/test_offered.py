"""Which games a server and its page offer, by which rules, and what is refused."""

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_nets import make_net

from nardy.cli import main
from nardy.rules.board import start_board
from nardy.rules.variants import variant
from nardy.serve import offered
from nardy.serve.offered import other_nets
from nardy.serve.static import RUNTIME
from train.export import export
from train.net_folder import write_net

LONG, NARDGAMMON = variant("long"), variant("nardgammon")


@pytest.fixture
def nets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Nets that are shipped, of short and long nardy."""
    for name in ("short", "long"):
        (tmp_path / name).mkdir()
        write_net(tmp_path / name, make_net(8, game=variant(name)), {})
    found = {name: tmp_path / name for name in ("short", "long")}
    monkeypatch.setattr(offered, "shipped", lambda: found)
    return found


def names(folder: Path, served: str) -> list[str]:
    return [net.variant.name for net, _ in other_nets(folder, served)]


def test_the_net_of_long_nardy_also_plays_nardgammon(nets: dict[str, Path], tmp_path: Path) -> None:
    assert names(nets["short"], "short") == ["long", "nardgammon"]
    assert names(nets["long"], "long") == ["short", "nardgammon"]
    assert names(nets["long"], "nardgammon") == ["short", "long"]
    del nets["long"]
    assert names(nets["short"], "short") == []
    (tmp_path / "own").mkdir()
    write_net(tmp_path / "own", make_net(8, seed=3, game=LONG), {})
    own, stands_in = make_net(8, seed=3, game=LONG), other_nets(tmp_path / "own", "long")[1][0]
    assert stands_in.variant == NARDGAMMON
    start = start_board(LONG)[None]
    np.testing.assert_array_equal(stands_in.outcomes(start), own.outcomes(start))


def test_a_net_of_fewer_checkers_stands_in_for_none(nets: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "ends").mkdir()
    ends = variant("long", start={6: 3, 5: 2})
    write_net(tmp_path / "ends", make_net(8, game=ends), {})
    assert names(tmp_path / "ends", "long") == ["short"]


def test_gnubg_is_not_offered_what_it_does_not_play(
    nets: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gnubg-socket", "--net", str(nets["long"]), "--port", "0"]) == 2
    assert "gnubg does not play long" in capsys.readouterr().err


def test_a_server_plays_by_the_game_and_rules_that_were_asked_for(
    nets: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fastapi", reason="the HTTP door needs fastapi")
    httpx = pytest.importorskip("httpx", reason="httpx asks the application")
    from nardy.serve import http

    rules = {"prime_rule": "forbid", "opening": "reroll"}
    served = http.Served(str(nets["long"]), 0, "nardgammon", rules)
    monkeypatch.setenv("NARDY_SERVED", json.dumps(served))
    app = http.from_environment()

    def get(path: str, **body: Any) -> Any:
        async def ask() -> Any:
            client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://t")
            how = {"json": body} if body else {}
            return (await client.request("POST" if body else "GET", path, **how)).json()

        return asyncio.run(ask())

    games = {game["name"]: game for game in get("/games.json")["games"]}
    assert list(games) == ["nardgammon", "short", "long"]
    first = games["nardgammon"]
    assert (first["prime_rule"], first["opening"], first["cube"]) == ("forbid", "reroll", "on")
    assert games["long"]["prime_rule"] == "front_checker_ahead" and games["long"]["cube"] == "off"
    assert get("/health")["variant"] == "nardgammon"
    six = {"position": "23:1,6:1,5:2,4:1,2:1,1:9 24:14,1:1", "dice": [6, 2], "plays": 100}
    told = get("/v1/move", **six)["plays"]
    assert told and "23/17 5/3" not in [play["move"] for play in told]  # it makes a row of six


@pytest.mark.parametrize(
    ("net", "asked", "says"),
    [
        ("short", ["--variant", "nardgammon"], "short' plays short, not nardgammon"),
        ("long", ["--rule", "prime_rule"], "a rule has the form name=value, not 'prime_rule'"),
        ("long", ["--rule", "prime_rule=often"], "prime_rule must be one of "),
        ("long", ["--rule", "last_roll=second_player"], "plays long, not long last_roll="),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(
    nets: dict[str, Path], net: str, asked: list[str], says: str, capsys: Any
) -> None:
    pytest.importorskip("fastapi", reason="the HTTP door needs fastapi")
    assert main(["serve", "--net", str(nets[net]), *asked]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_files_are_written_by_the_rules_that_were_asked_for(tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("fastapi", reason="the command needs fastapi")
    export(make_net(8, game=LONG), {}, tmp_path / "net")
    for name in RUNTIME:
        (tmp_path / name).write_text("")
    asked = ["serve", "--net", str(tmp_path / "net"), "--ort", str(tmp_path)]
    asked += ["--static", str(tmp_path / "site")]
    assert main([*asked, "--variant", "nardgammon"]) == 2  # it would be long nardy under its name
    error = capsys.readouterr().err
    assert "not learnt the cube, without which nardgammon is long" in error
    assert not (tmp_path / "site").exists()
    assert main([*asked, "--rule", "prime_rule=forbid"]) == 0
    (game, *_) = json.loads((tmp_path / "site" / "games.json").read_text())["games"]
    assert (game["name"], game["prime_rule"]) == ("long", "forbid")
