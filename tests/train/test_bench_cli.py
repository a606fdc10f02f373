"""The bench: what is wrong is said before anything is measured, and what the figures are of."""

import json
from pathlib import Path

import numpy as np
import pytest

from nardy.rules.variants import variant
from train import bench_stages
from train.bench import main
from train.export import reference_positions
from train.peers import bench as peers

SCRIPTED = {"legal_short", "evaluate", "best_move", "self_play_games", "latency_ms"}
"""Names of stages that scripts rely on."""
REPEATS = 9


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("json=/nowhere/bench.json", "json='/nowhere/bench.json'"),
        ("plot=/", "plot='/'"),
        ("repeats=4", "repeats must be at least 5, not 4"),
        ("seconds=0", "seconds must be above 0"),
        ("warmup=-1", "warmup must be 0 or above, not -1"),
        ("second=1", "'second'"),
    ],
)
def test_bad_input_is_one_sentence(
    argument: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([argument]) == 2
    out, err = capsys.readouterr()
    assert says in err and err.count("\n") == 1 and out == ""


def bench(tmp_path: Path) -> dict:
    """The figures of a short run, which also draws its plot."""
    files = [f"json={tmp_path / 'bench.json'}", f"plot={tmp_path / 'bench.png'}"]
    assert main(["seconds=0.001", "warmup=0", *files]) == 0
    assert (tmp_path / "bench.png").read_bytes().startswith(b"\x89PNG")
    return json.loads((tmp_path / "bench.json").read_text())


def test_a_run_writes_all_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "PEERS", {"none": peers.Peer(lambda: False, {})})
    monkeypatch.setattr(bench_stages, "POSITIONS", 64)
    monkeypatch.setattr(bench_stages, "BATCHES", (1, 64))
    monkeypatch.setattr(bench_stages, "TAILS", (32,))
    monkeypatch.setattr(bench_stages, "SELF_PLAY", ("net=small", "algo.games_in_flight=32"))
    monkeypatch.setattr(bench_stages, "cores", lambda: 2)
    figures = bench(tmp_path)
    stages = figures["stages"]
    both = {
        "legal_short", "legal_long", "random_play", "random_play_long", "evaluate", "best_move"
    }  # fmt: skip
    assert set(stages) == SCRIPTED | both | {f"{name}, 2 threads" for name in both} | {
        "evaluate, net=small", "evaluate, net=large", "evaluate, 512→32→32", "first_layer",
        "latency_ms, Player.best", "two_ply", "self_play_turns", "self_play_games, 1 thread",
        "self_play_turns, 1 thread", "bear-off, one-sided", "bear-off, two-sided",
    }  # fmt: skip
    assert all(stage["mb"] > 0 for stage in stages.values())
    # in a run as short as this no game need end
    assert all(s["rate"] > 0 for name, s in stages.items() if "self_play_games" not in name)
    assert stages["first_layer"]["ratio"] == pytest.approx(
        stages["first_layer"]["rate"] / stages["first_layer"]["peer"]["dense"]
    )
    grown = figures["growth"]
    for part in ("ns_by_batch", "mb_by_batch"):
        assert {size: list(by_batch) for size, by_batch in grown[part].items()} == {
            size: ["1", "64"] for size in bench_stages.SIZES
        }
    assert list(grown["rate_by_threads"]) == ["1", "2"]
    assert figures["peak_mb"] >= figures["start_mb"] > 0
    assert figures["peers_missing"] == ["none"]
    assert "none is not installed and is left out" in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_has_the_peers_beside_it(tmp_path: Path) -> None:
    figures = bench(tmp_path)
    assert set(figures["stages"]) >= SCRIPTED
    for stage, name in {
        "legal": "legal_short",
        "random_play": "random_play",
        "evaluate": "evaluate",
        "two_ply": "two_ply",
        "best_move": "best_move",
    }.items():
        having = {peer for peer in peers.installed() if stage in peers.PEERS[peer].stages}
        assert set(figures["stages"][name]["peer"]) == having
    assert not set(figures["peers_missing"]) & set(peers.installed())


def positions() -> tuple:
    boards = reference_positions(variant("short"), peers.positions_needed(REPEATS))
    return boards, np.tile(np.array([[3, 1]], np.uint8), (len(boards), 1))


@pytest.mark.parametrize("stage", ["legal", "evaluate", "best_move", "two_ply"])
def test_no_position_is_asked_twice_and_none_is_missing(
    stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines keep what they have evaluated; an empty chunk would be infinitely fast."""
    rows: list[int] = []

    def maker(asked: peers.Asked) -> peers.Work:
        total = len(asked.results.boards if stage == "evaluate" else asked.boards)

        def work(chunk: slice) -> int:
            rows.extend(range(total)[chunk])
            return len(range(total)[chunk])

        return work

    monkeypatch.setattr(peers, "PEERS", {"it": peers.Peer(lambda: True, {stage: maker})})
    assert set(peers.rates(stage, *positions(), REPEATS)) == {"it"}
    assert rows == list(range(peers.CHUNKS[stage] * (REPEATS + 1)))


def test_a_peer_without_the_stage_or_not_installed_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def maker(asked: peers.Asked) -> peers.Work:
        raise AssertionError("it was asked")

    found = {
        "absent": peers.Peer(lambda: False, {"legal": maker}),
        "without": peers.Peer(lambda: True, {"evaluate": maker}),
    }
    monkeypatch.setattr(peers, "PEERS", found)
    assert peers.rates("legal", *positions(), REPEATS) == {}
    assert (peers.installed(), peers.missing()) == (["without"], ["absent"])


@pytest.mark.parametrize(
    ("name", "stage"),
    [(name, stage) for name, peer in peers.PEERS.items() for stage in peer.stages],
)
def test_each_peer_does_the_units_that_it_counts(name: str, stage: str) -> None:
    peer = peers.PEERS[name]
    if not peer.here():
        pytest.skip(f"{name} is not installed")
    boards, dice = positions()
    work = peer.stages[stage](peers.asked(boards[:40], dice[:40]))
    for first in (0, 20):
        done = work(slice(first, first + 20))
        assert done >= 20 if stage == "random_play" else done == 20
