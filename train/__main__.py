"""Train a net.

python -m train exp=quick
python -m train name=wide net.hidden=1024 resume=auto
python -m train -m algo.lam=0,0.7,0.9 seed=1,2,3
"""

import os
import sys

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
    from train.loop import RUNS, run

    if "--help" in arguments or "-h" in arguments:
        print(help_text(Config, "usage: python -m train [-m] [key=value …]", EXAMPLES))
        return 0
    if "-m" in arguments or "--multirun" in arguments:
        return _sweep(arguments)
    try:
        config = parse("train", Config, arguments)
        run(config, RUNS / config.name, arguments)
    except (ValueError, OSError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 2
    except FloatingPointError as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("train: stopped; resume=auto goes on from the last checkpoint", file=sys.stderr)
        return 130
    return 0


def _sweep(arguments: list[str]) -> int:
    """Several runs, by Hydra's launcher; each in a folder named after its overrides."""
    from pathlib import Path

    import hydra
    from hydra.core.config_store import ConfigStore
    from hydra.core.hydra_config import HydraConfig

    from train.config import CONFIGS, Config, to_object
    from train.loop import run

    ConfigStore.instance().store(name="schema", node=Config)

    @hydra.main(config_path=str(CONFIGS), config_name="train", version_base=None)
    def job(composed: object) -> None:
        folder = Path(HydraConfig.get().runtime.output_dir)
        run(to_object(composed, Config), folder, list(HydraConfig.get().overrides.task))

    sys.argv[1:] = arguments
    job()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
