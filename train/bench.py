"""How fast each stage is, beside the peers that are installed, in one run.

    python -m train.bench
    python -m train.bench seconds=0.2 json=bench.json plot=bench.png

Every figure is the median of `repeats` timings on the same positions, from games of random moves
(see train/bench_stages.py). A ratio is ours divided by the peer's, which runs in one thread. The
memory beside a figure is what the process holds while it is measured; peers have a process of
their own. Nothing here is a test: a slow machine fails nothing.
"""

import json
import os
import platform
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the threads measured are our own
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from tqdm import tqdm

from nardy.net.weights import write_whole
from train.arena import check_writable, cores
from train.bench_stages import STAGES, Bench, BenchConfig, Growth, growth
from train.command_line import answer
from train.config import help_text, parse
from train.metrics import memory_mb
from train.peers import bench as peers

EXAMPLES = ("python -m train.bench", "python -m train.bench json=bench.json plot=bench.png")


def machine() -> str:
    """The processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def report(bench: Bench, grown: Growth, start_mb: float) -> dict[str, Any]:
    """The figures as one object; scripts rely on the names of stages."""
    return {
        "machine": machine(),
        "threads": cores(),
        "precision": str(bench.precision).removeprefix("torch."),
        "repeats": bench.config.repeats,
        "seconds": bench.config.seconds,
        "stages": {
            name: {"rate": s.rate, "unit": s.unit, "peer": s.peer, "ratio": s.ratio, "mb": s.mb}
            for name, s in bench.stages.items()
        },
        "growth": grown._asdict(),
        "start_mb": start_mb,
        "peak_mb": memory_mb("VmHWM"),
        "peers_missing": peers.missing(),
    }


def draw(path: str, grown: Growth) -> None:
    """Three plots: time an evaluation and memory by batch for each net, rate by threads."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (times, memory, threads) = pyplot.subplots(1, 3, figsize=(13, 3.8))
    for axes, lines in ((times, grown.ns_by_batch), (memory, grown.mb_by_batch)):
        for size, by_batch in lines.items():
            axes.plot(list(by_batch), list(by_batch.values()), "o-", label=f"net={size}")
        axes.set_xscale("log", base=2)
        axes.set(xlabel="positions a batch")
        axes.legend()
    times.set_yscale("log")
    times.set(ylabel="ns an evaluation", title="time by batch, one thread")
    memory.set(ylabel="MiB", title="memory of the process by batch")
    memory.set_ylim(0, 1.5 * memory.get_ylim()[1])  # room for the legend
    threads.bar([str(n) for n in grown.rate_by_threads], list(grown.rate_by_threads.values()))
    threads.set(xlabel="threads", ylabel="evaluations/s", title="net=base by threads")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def run(config: BenchConfig) -> None:
    """Measure everything, print it, and write what was asked for.

    Raises ValueError naming a file that cannot be written, before anything is measured.
    """
    for name in ("json", "plot"):
        check_writable(name, getattr(config, name))
    start_mb = memory_mb()
    with ProcessPoolExecutor(1, get_context("spawn")) as engines:
        bench = Bench(config, engines)
        _introduce(bench, start_mb)
        with tqdm(total=len(STAGES) + 1, unit="stage", disable=not sys.stderr.isatty()) as bar:
            for stage in STAGES:
                stage(bench)
                bar.update()
            grown = growth(bench)
            bar.update()
    figures = report(bench, grown, start_mb)
    print(f"peak memory {figures['peak_mb']:.0f} MiB")
    if config.json:
        write_whole(config.json, (json.dumps(figures, indent=2) + "\n").encode())
    if config.plot:
        draw(config.plot, grown)


def _introduce(bench: Bench, start_mb: float) -> None:
    """Print what is measured, which peers stand beside it, and what their figures mean."""
    print(
        f"{machine()}, {cores()} cores, {bench.precision}, medians of {bench.config.repeats}; "
        f"{start_mb:.0f} MiB before anything is measured"
    )
    for name in peers.missing():
        print(f"  {name} is not installed and is left out")
    for name in peers.installed():
        if name in peers.NOTES:
            print(f"  {name}: {peers.NOTES[name]}")


def main(arguments: Sequence[str]) -> int:
    """The command line; its exit code (train.command_line)."""
    return answer(
        "train.bench",
        lambda: run(parse("bench", BenchConfig, arguments)),
        arguments,
        help_text(BenchConfig, "usage: python -m train.bench [key=value …]", EXAMPLES),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
