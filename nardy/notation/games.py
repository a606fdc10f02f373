"""Games from a file or a text of either format that is read: .mat or gnubg's .sgf.

match = read_games(Path("match.mat"))
match = games_from_text(text)              # which of the two shows in how it begins
"""

import re
from pathlib import Path

from nardy.notation.matread import read_mat
from nardy.notation.record import MatchRecord
from nardy.notation.sgf import read_sgf


def read_games(path: Path) -> MatchRecord:
    """The games in the file at `path`; programs for Windows write its Latin-1, editors UTF-16.

    Raises ValueError, in one sentence, for what cannot be read, and OSError.
    """
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return games_from_text(data.decode("utf-16", "replace"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return games_from_text(text)


def games_from_text(text: str) -> MatchRecord:
    """The games in a text. Raises ValueError, in one sentence, for what cannot be read."""
    opening = text.removeprefix("\ufeff").lstrip()
    return read_sgf(text) if re.match(r"\(\s*;", opening) else read_mat(text)
