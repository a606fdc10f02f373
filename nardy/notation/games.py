"""Games from a file or a text of either format that is read: .mat or gnubg's .sgf.

match = read_games(Path("match.mat"))
match = games_from_text(text)              # which of the two shows in how it begins
"""

from pathlib import Path

from nardy.notation.matread import read_mat
from nardy.notation.record import MatchRecord
from nardy.notation.sgf import read_sgf


def read_games(path: Path) -> MatchRecord:
    """The games in the file at `path`; some programs write Latin-1.

    Raises ValueError, in one sentence, for what cannot be read, and OSError.
    """
    data = path.read_bytes()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return games_from_text(text)


def games_from_text(text: str) -> MatchRecord:
    """The games in a text. Raises ValueError, in one sentence, for what cannot be read."""
    opening = text.removeprefix("\ufeff").lstrip()
    return read_sgf(text) if opening.startswith("(;") else read_mat(text)
