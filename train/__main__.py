"""Train a net.

python -m train exp=quick
python -m train name=wide net.hidden=1024 resume=auto
python -m train -m algo.lam=0,0.7,0.9 seed=1,2,3
"""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from train.config import Config

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads are one a group of games
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

EXAMPLES = (
    "python -m train exp=quick",
    "python -m train name=wide net.hidden=1024 threads=1 resume=auto",
    "python -m train -m algo.lam=0,0.7,0.9 seed=1,2,3",
)


def main(arguments: list[str]) -> int:
    """The command line; its exit code."""
    from train.config import Config, help_text, parse
    from train.loop import RUNS

    if "--help" in arguments or "-h" in arguments:
        print(help_text(Config, "usage: python -m train [-m] [key=value …]", EXAMPLES))
        return 0
    sweep = [argument for argument in arguments if argument in ("-m", "--multirun")]
    overrides = [argument for argument in arguments if argument not in sweep]
    try:
        if not sweep:
            config = parse("train", Config, overrides)
            return _run(config, RUNS / config.name, overrides)
        for combination in combinations(overrides):
            parse("train", Config, combination)  # before anything of the sweep is begun
    except ValueError as error:
        print(f"train: {error}", file=sys.stderr)
        return 2
    return _sweep(arguments)


def _run(config: "Config", folder: "Path", overrides: Sequence[str]) -> int:
    """One run; its exit code."""
    from train.command_line import answer
    from train.loop import run

    return answer(
        "train",
        lambda: run(config, folder, overrides),
        stopped="stopped; resume=auto goes on from the last checkpoint",
    )


def combinations(overrides: Sequence[str]) -> list[list[str]]:
    """The overrides of each run of a sweep. Raises ValueError for what Hydra cannot read."""
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    for override in overrides:
        if "=" not in override:
            raise ValueError(f"arguments have the form key=value, not {override!r}")
    try:
        parsed = OverridesParser.create().parse_overrides(list(overrides))
        batches = BasicSweeper.split_arguments(parsed, None)
    except HydraException as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"the sweep {' '.join(overrides)!r} is wrong: {reason}") from None
    return [list(combination) for batch in batches for combination in batch]


def _sweep(arguments: list[str]) -> int:
    """Several runs, by Hydra's launcher; each in a folder named after its overrides, and listed
    in the sweep's index for `python -m train.report sweep=…`."""
    import json
    from pathlib import Path

    import hydra
    from hydra.core.config_store import ConfigStore
    from hydra.core.hydra_config import HydraConfig

    from train.config import CONFIGS, Config, to_object
    from train.report_runs import INDEX

    ConfigStore.instance().store(name="schema", node=Config)

    @hydra.main(config_path=str(CONFIGS), config_name="train", version_base=None)
    def job(composed: object) -> None:
        folder = Path(HydraConfig.get().runtime.output_dir)
        overrides = list(HydraConfig.get().overrides.task)
        if code := _run(to_object(composed, Config), folder, overrides):
            sys.exit(code)
        line = {"folder": folder.name, "overrides": HydraConfig.get().job.override_dirname}
        with open(folder.parent / INDEX, "a") as index:
            index.write(json.dumps(line) + "\n")

    sys.argv[1:] = arguments
    job()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
