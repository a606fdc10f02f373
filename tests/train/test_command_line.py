"""What every command does alike: help, sentences, exit codes."""

import importlib

import pytest

from train.command_line import answer

COMMANDS = ("arena", "curve", "export", "preflight", "probe", "report", "solve")


class OutOfMemoryError(RuntimeError):
    """As torch raises it."""


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ValueError("games=0"), 2, "games=0"),
        (OSError("no such folder"), 2, "no such folder"),
        (FloatingPointError("the loss became nan"), 1, "the loss became nan"),
        (OutOfMemoryError("CUDA out of memory"), 1, "too little memory: lower games_in_flight"),
        (KeyboardInterrupt(), 130, "stopped here"),
    ],
)
def test_what_stops_a_command_is_one_sentence(
    error: BaseException, code: int, says: str, capsys: pytest.CaptureFixture
) -> None:
    def command() -> None:
        raise error

    assert answer("train.x", command, stopped="stopped here") == code
    said = capsys.readouterr().err
    assert said.startswith("train.x: ") and says in said and said.count("\n") == 1


def test_what_nobody_foresaw_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        answer("train.x", lambda: {}["x"])
    with pytest.raises(RuntimeError, match="odd"):
        answer("train.x", lambda: (_ for _ in ()).throw(RuntimeError("odd")))


@pytest.mark.parametrize("word", ["--help", "-h"])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_printed_and_nothing_done(
    name: str, word: str, capsys: pytest.CaptureFixture
) -> None:
    module = importlib.import_module(f"train.{name}")
    assert module.main(["nonsense=1", word]) == 0
    said = capsys.readouterr()
    assert f"python -m train.{name}" in said.out and not said.err
    assert module.main(["nonsense=1"]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"train.{name}: ") and "nonsense" in said.err and not said.out
