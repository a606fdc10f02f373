"""What a run writes down while it goes: TensorBoard, metrics.jsonl and one line a minute.

TAGS is the only list of scalars; `Metrics.write` refuses any other.
`python -m train.metrics` prints it, and OTHERS, which are TensorBoard's alone.
"""

import json
import math
import time
from pathlib import Path
from typing import Any

from torch import nn
from torch.utils.tensorboard import SummaryWriter

TAGS = {
    "play/games": "games finished since the run began, or those of the runs it follows",
    "play/length": "turns of a finished game, both players', mean",
    "play/gammons": "share of games won with a gammon (2 points)",
    "play/backgammons": "share of games won with a backgammon (3 points), where they are paid",
    "play/draws": "share of games drawn, where the rules have draws",
    "play/cut_off": "share of games cut off at algo.longest_game",
    "play/other_starts": "share of games not begun at the opening, which the above leave out",
    "play/games_per_s": "games finished a second, learning included, or by the runs it follows",
    "play/positions_per_s": "positions learnt from a second",
    "learn/loss": "cross-entropy of the outcomes against the targets, nats, mean",
    "learn/td_error": "mean |V(s) - return| of positions when they were played, points",
    "learn/rate": "Adam's step size",
    "learn/steps": "gradient steps since the run began",
    "cube/off_by": "what the head was off by on new prices, equity, root mean square",
    "cube/formula_off_by": "and the formula",
    "cube/race_error": "head against the two-sided bear-off table, mean |error| of equity",
    "cube/race_error_formula": "and the formula",
    "cube/prices": "prices made since the run began",
    "cube/prices_per_s": "prices made a second, learning included",
    "arena/random": "points a game against random moves, cubeless",
    "arena/pips": "points a game against the greedy pip-count player, cubeless",
    "arena/heuristic": "points a game against the hand-written player of long nardy, cubeless",
    "arena/gnubg-nn": "points a game against gnubg-nn at 0-ply, cubeless, where it is installed",
    "arena/random_ci95": "half width of its 95 % interval over pairs of games",
    "arena/pips_ci95": "half width of its 95 % interval over pairs of games",
    "arena/heuristic_ci95": "half width of its 95 % interval over pairs of games",
    "arena/gnubg-nn_ci95": "half width of its 95 % interval over pairs of games",
    "system/memory_mb": "resident memory of the process, MiB",
    "system/seconds": "seconds of training since the run began, over all its resumptions",
}
OTHERS = {
    "configuration": "the resolved configuration, as text",
    "weights/NAME": "histogram of a weight matrix, at each checkpoint",
}


class Metrics:
    """Writers of one run folder."""

    def __init__(self, run: Path, config_text: str) -> None:
        self.board = SummaryWriter(str(run))
        self.board.add_text("configuration", f"```yaml\n{config_text}\n```")
        self.file = open(run / "metrics.jsonl", "a", buffering=1)  # noqa: SIM115 closed in close()

    def write(self, step: int, values: dict[str, float]) -> None:
        """Write values by tag; step is the number of games. Those that are not finite are left out.

        Raises KeyError for a tag that TAGS does not explain.
        """
        row: dict[str, Any] = {"games": step, "time": round(time.time(), 1)}
        for tag, value in values.items():
            TAGS[tag]
            if math.isfinite(value):
                self.board.add_scalar(tag, value, step)
                row[tag] = round(float(value), 6)
        self.file.write(json.dumps(row) + "\n")

    def histograms(self, step: int, network: nn.Module) -> None:
        """Write a histogram of each weight matrix."""
        for name, values in network.named_parameters():
            if values.ndim > 1:
                self.board.add_histogram(f"weights/{name}", values.detach().float().cpu(), step)
        self.board.flush()

    def close(self) -> None:
        """Flush and close both files."""
        self.board.close()
        self.file.close()


def memory_mb(what: str = "VmRSS") -> float:
    """Resident memory of this process in MiB, or with "VmHWM" the most it ever was; NaN where
    the system does not tell."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{what}:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return math.nan


if __name__ == "__main__":
    for tag, meaning in (TAGS | OTHERS).items():
        print(f"{tag:24s} {meaning}")
