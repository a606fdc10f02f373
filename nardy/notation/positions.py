"""Any of the written positions: Position ID, `ID:MatchID`, XGID, FIBS board string.

    read_position("4HPwATDgc/ABMA")
    read_position("4HPwATDgc/ABMA:cIkFAAAAAAAA")
    read_position("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:3:0:10")

Which of them it is shows in how it begins and in its colons.
"""

from nardy.notation import fibs, xgid
from nardy.notation.ids import from_match_id, from_position_id
from nardy.notation.state import MatchState, Position


def read_position(text: str) -> Position:
    """The position that `text` describes; a bare Position ID is money play before the roll.

    Raises ValueError naming what is wrong.
    """
    text = text.strip()
    if text.lower().startswith("board:"):
        return fibs.parse(text)
    if text.upper().startswith("XGID=") or text.count(":") > 1:
        return xgid.parse(text)
    board, colon, match = text.partition(":")
    state = from_match_id(match.strip()) if colon else MatchState()
    return Position(from_position_id(board.strip()), state)


def describe(position: Position) -> str:
    """One line: who is on roll, dice, match and score, cube."""
    state, names = position.state, position.names
    mover, other = names[state.on_roll], names[1 - state.on_roll]
    parts = [f"{mover} is on roll"]
    if state.dice:
        parts[0] = f"{mover} has rolled {state.dice[0]}-{state.dice[1]}"
    if state.doubled:
        parts[0] = f"{mover} doubles to {2 * state.cube}"
    if state.resigned:
        offered = ("a single game", "a gammon", "a backgammon")[state.resigned - 1]
        parts.append(f"{names[1 - (state.turn or 0)]} offers to resign {offered}")
    score = f"{mover} {state.points[state.on_roll]}, {other} {state.points[1 - state.on_roll]}"
    if state.length:
        game = " (Crawford game)" if state.crawford else ""
        parts.append(f"match to {state.length}: {score}{game}")
    else:
        rules = ["money", "Jacoby"][: 1 + state.jacoby] + ["beavers"] * state.beavers
        parts.append(", ".join(rules) + (f": {score}" if any(state.points) else ""))
    owner = "" if state.owner is None else f", {names[state.owner]}'s"
    parts.append(f"cube {state.cube}{owner}")
    return "; ".join(parts)
