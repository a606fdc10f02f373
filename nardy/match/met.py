"""Match equity: the chance of winning a match at each score, before a game.

    table = MatchEquity.load("met.xml")            # gnubg's XML
    default_table().after(match_score(7, 3, 2), 2)  # having won two points

The table that is shipped, nardy/data/met.xml, is made by `python -m nardy.match.met_make`.
"""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from nardy.match.score import Score

Floats = NDArray[np.float64]

SHIPPED = Path(__file__).parents[1] / "data" / "met.xml"

_ROUNDING = 0.006
"""By how much a printed table may fall short of adding up to 1."""


@dataclass(frozen=True, eq=False)
class MatchEquity:
    """Chances of winning a match, for two equal players.

    before: float64[N, N]; before[i - 1, j - 1] for the player who needs i points when the other
        needs j, before the first game at that score; where one needs one point that is the
        Crawford game (K17). before + before.T = 1.
    after_crawford: float64[N]; [i - 1] for the player who needs i when the other needs one point
        and the Crawford game has been played.
    """

    name: str
    before: Floats = field(repr=False)
    after_crawford: Floats = field(repr=False)

    @property
    def length(self) -> int:
        """The longest match in the table."""
        return len(self.before)

    def chance(self, score: Score) -> float:
        """My chance of winning the match before a game at `score`; the cube is not looked at.

        Raises ValueError for money, and for scores beyond the table.
        """
        if score.away is None:
            raise ValueError("in money play there is no match to win")
        mine, theirs = score.away
        if max(mine, theirs) > self.length:
            raise ValueError(
                f"the table {self.name!r} ends at {self.length} away; it has not {score.away!r}"
            )
        if not score.post_crawford:
            return float(self.before[mine - 1, theirs - 1])
        if theirs == 1:
            return float(self.after_crawford[mine - 1])
        return 1 - float(self.after_crawford[theirs - 1])

    def after(self, score: Score, points: int) -> float:
        """My chance of winning the match after a game that brought me `points` at `score`.

        points: negative where the other player won them; not 0.
        """
        following = score.next_game(points)
        return float(points > 0) if following is None else self.chance(following)

    @staticmethod
    def load(path: str | Path) -> "MatchEquity":
        """The table in a file of gnubg's XML (met.dtd) with explicit entries.

        What rounding leaves short of 1 is shared between a score and its opposite. Raises
        ValueError, in one sentence, where the file is no such table.
        """
        return _read_xml(Path(path))

    def text(self, length: int) -> str:
        """The table up to `length` away, in percent: rows for what I need, columns for the other;
        below it my chance when he needs one and the Crawford game has been played."""
        head = "  away" + "".join(f"{theirs:6d}" for theirs in range(1, length + 1))
        rows = [
            f"{mine:6d}" + "".join(f"{100 * chance:6.1f}" for chance in row[:length])
            for mine, row in enumerate(self.before[:length], 1)
        ]
        after = "".join(f"{100 * chance:6.1f}" for chance in self.after_crawford[:length])
        return "\n".join(
            [
                self.name,
                head,
                *rows,
                "after the Crawford game, the other needing 1:",
                " " * 6 + after,
            ]
        )

    def xml(self, description: str) -> str:
        """The table as gnubg's XML."""
        rows = "\n".join(f"    <row>\n{_entries(row)}    </row>" for row in self.before)
        return (
            '<?xml version="1.0"?>\n'
            '<!DOCTYPE met PUBLIC "-//GNU Backgammon//DTD Match Equity Tables//EN" "met.dtd">\n'
            f"<met>\n  <info>\n    <name>{escape(self.name)}</name>\n"
            f"    <description>{escape(description)}</description>\n"
            f"    <length>{self.length}</length>\n  </info>\n"
            f'  <pre-crawford-table type="explicit">\n{rows}\n  </pre-crawford-table>\n'
            '  <post-crawford-table type="explicit" player="both">\n'
            f"    <row>\n{_entries(self.after_crawford)}    </row>\n"
            "  </post-crawford-table>\n</met>\n"
        )


@cache
def default_table() -> MatchEquity:
    """The table that is shipped with nardy."""
    return MatchEquity.load(SHIPPED)


def _entries(row: Floats) -> str:
    return "".join(f"      <me>{value:.6f}</me>\n" for value in row)


def _read_xml(path: Path) -> MatchEquity:
    from xml.etree import ElementTree

    try:
        root = ElementTree.parse(path).getroot()
        name = (root.findtext("info/name") or path.stem).strip()
        before = _rows(root.findall("pre-crawford-table"), path)
        after = _rows(root.findall("post-crawford-table"), path)
    except FileNotFoundError:
        raise ValueError(f"there is no match equity table {str(path)!r}") from None
    except ElementTree.ParseError as error:
        raise ValueError(f"{str(path)!r} is not XML: {error}") from None
    n = len(before)
    if any(len(row) != n for row in before) or len(after) != 1 or len(after[0]) < n - 1:
        raise ValueError(f"the match equity table in {str(path)!r} is not square and complete")
    # some files leave out the last entry after the Crawford game, which no game can lead to
    trailer = np.array((after[0] + [0.0])[:n])
    return MatchEquity(name, _symmetric(np.array(before), path), trailer)


def _rows(tables: list[Any], path: Path) -> list[list[float]]:
    """The entries of one table of the file, row by row."""
    if len(tables) != 1 or tables[0].get("type") != "explicit":
        raise ValueError(f"{str(path)!r} has no explicit match equity table for two equal players")
    rows = []
    for row in tables[0].findall("row"):
        texts = [(entry.text or "").strip() for entry in row.findall("me")]
        try:
            values = [float(text) for text in texts]
        except ValueError as error:
            raise ValueError(f"{str(path)!r} has an entry that is no number: {error}") from None
        if not all(0 <= value <= 1 for value in values):
            raise ValueError(f"{str(path)!r} has an entry outside 0 to 1: {values!r}")
        rows.append(values)
    return rows


def _symmetric(before: Floats, path: Path) -> Floats:
    off = np.abs(before + before.T - 1)
    if len(before) == 0 or off.max() > _ROUNDING:
        raise ValueError(f"the entries of {str(path)!r} do not add up to 1 with their opposites")
    symmetric: Floats = (before + 1 - before.T) / 2
    return symmetric
