"""What the commands of train/ do alike: help, a sentence on stderr where they fail, exit codes."""

import sys
from collections.abc import Callable, Sequence


def answer(
    name: str,
    command: Callable[[], object],
    arguments: Sequence[str] = (),
    help_text: str = "",
    stopped: str = "interrupted",
) -> int:
    """Print the help where `arguments` ask for it, or else run the command; the exit code.

    2 after one sentence about bad input, 1 where the loss stopped being a number or the device has
    too little memory, 130 after Ctrl-C, with what `stopped` says of the work that was done.
    """
    if {"-h", "--help"} & set(arguments):
        print(help_text)
        return 0
    try:
        command()
    except (ValueError, OSError) as error:
        return _fail(name, str(error), 2)
    except FloatingPointError as error:
        return _fail(name, str(error), 1)
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # torch's, which not every command imports
            raise
        wish = "lower games_in_flight, minibatch or the net's width"
        return _fail(name, f"the device has too little memory: {wish}", 1)
    except KeyboardInterrupt:
        return _fail(name, stopped, 130)
    return 0


def _fail(name: str, sentence: str, code: int) -> int:
    print(f"{name}: {sentence}", file=sys.stderr)
    return code
