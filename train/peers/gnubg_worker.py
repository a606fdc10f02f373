"""Answers questions about positions from inside GNU Backgammon's own Python.

Not for import: train.peers.gnubg starts `gnubg -t -q -r -p gnubg_worker.py` with two pipes, whose
numbers stand in NARDY_GNUBG_ASK and NARDY_GNUBG_ANSWER. Only the standard library is used, since
gnubg brings the system's Python.

A question is a head (kind, plies, prune, number of records) and its records, 26 cells first, in
the view of the player to move; an answer is one record for each.
    E: cells                   -> 5 float32: win, its gammons and backgammons, those lost; cubeless
    M: cells, two dice         -> 26 cells after the best move, cubeless
    C: cells, terms            -> 3 float32: no double, double and take, double and pass
    P: cells, terms, two dice  -> 26 cells after the best move with that cube at that score
Terms: cube, its owner (0 the middle, 1 the mover, 2 the other), points both need (0: money),
Crawford, Jacoby.
"""

import array
import os
import struct

import gnubg

HEAD = struct.Struct("<cBBI")
RECORD_BYTES = {b"E": 26, b"M": 28, b"C": 32, b"P": 34}

SETTINGS = (
    "set jacoby off",  # on by default; it counts no gammons while the cube is in the middle
    "set beavers 0",
    "set automatic roll off",
    "set automatic game off",
    "set automatic move off",
    "set automatic bearoff off",
)


def sides(cells):
    """(opponent, mover): checkers on 24 points from the own home and on the bar."""
    return tuple(max(-n, 0) for n in cells[24::-1]), tuple(max(n, 0) for n in cells[1:26])


def evaluated(cells, context):
    """float32[5] for the player to move."""
    return array.array("f", gnubg.evaluate(sides(cells), MONEY, context)[:5]).tobytes()


def moved(cells, info, dice, context):
    """The cells after the best move, still in the mover's view."""
    steps = gnubg.findbestmove(sides(cells), info, context, tuple(dice))
    for i in range(0, len(steps), 2):
        source, target = steps[i : i + 2]
        if source <= 0:  # places of dice that are not played
            break
        cells[source] -= 1
        if target > 0:
            if cells[target] < 0:
                cells[target] = 0
                cells[0] -= 1
            cells[target] += 1
    return cells.tobytes()


def cube_info(terms):
    """gnubg's own form of the terms."""
    cube, owner, mine, theirs, crawford, jacoby = terms
    length = max(mine, theirs)
    score = (length - mine, length - theirs)
    info = gnubg.cubeinfo(cube, owner - 1, 0, length, score, crawford, 0)
    info["jacoby"] = jacoby
    if jacoby and owner == 0:  # gammons count once the cube has been turned
        info["gammonprice"] = ((0.0, 0.0), (0.0, 0.0))
    return info


def cube_values(cells, info, context):
    """float32[3]: what not doubling, a take and a pass are worth to the player to move."""
    return array.array("f", gnubg.cfevaluate(sides(cells), info, context)[1:4]).tobytes()


def answer(kind, context, record):
    """The bytes that answer one record."""
    cells = array.array("b", record[:26])
    if kind == b"E":
        return evaluated(cells, context)
    if kind == b"M":
        return moved(cells, MONEY, record[26:], context)
    info = cube_info(record[26:32])
    if kind == b"P":
        return moved(cells, info, record[32:], context)
    return cube_values(cells, info, context)


def serve(questions, answers):
    """Answer until the pipe of questions is closed."""
    while len(head := questions.read(HEAD.size)) == HEAD.size:
        kind, plies, prune, count = HEAD.unpack(head)
        context = gnubg.evalcontext(kind in b"CP", plies, 1, prune, 0.0)
        size = RECORD_BYTES[kind]
        data = questions.read(size * count)
        for begin in range(0, len(data), size):
            answers.write(answer(kind, context, data[begin : begin + size]))
        answers.flush()


for setting in SETTINGS:
    gnubg.command(setting)
MONEY = gnubg.cubeinfo(1, -1, 0, 0, (0, 0), 0, 0)
assert MONEY["jacoby"] == 0 and MONEY["gammonprice"] == ((1, 1), (1, 1)), MONEY
with (
    os.fdopen(int(os.environ["NARDY_GNUBG_ASK"]), "rb") as questions,
    os.fdopen(int(os.environ["NARDY_GNUBG_ANSWER"]), "wb") as answers,
):
    serve(questions, answers)
