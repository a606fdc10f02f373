"""An analysis written out: text for a terminal, JSON for programs, one HTML page for a browser.

    print(as_text(analysis))
    json.dumps(as_json(analysis))
    Path("report.html").write_text(as_html(analysis), encoding="utf-8")

The page holds all it needs and asks no other host for anything.
"""

from collections.abc import Iterator
from dataclasses import asdict
from html import escape
from typing import Any

from nardy.notation.board_svg import board_svg
from nardy.notation.ids import position_id
from nardy.play.analyze import Analysis
from nardy.play.board_text import draw
from nardy.play.judge import Decision
from nardy.play.player import cumulative
from nardy.play.tally import BAD, Tally, mark
from nardy.rules.board import flip

_STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
  color-scheme: light dark }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #8884 }
td.n { text-align: right; font-variant-numeric: tabular-nums }
tr.bad { background: #e5393522 } tr.doubtful { background: #fb8c0022 }
pre { overflow-x: auto; line-height: 1.15 } svg { max-width: 100%; height: auto }
details { margin: 1rem 0 }
"""


def as_text(analysis: Analysis) -> str:
    """Sums, every decision by game, and the blunders with their boards."""
    lines = [_title(analysis), "", *_sums(analysis)]
    games = analysis.match.games
    for number, game in enumerate(games, start=1):
        crawford = " (Crawford game)" if game.crawford else ""
        lines += ["", f"Game {number}, {game.score[0]}-{game.score[1]}{crawford}"]
        lines += [_line(analysis, d) for d in analysis.decisions if d.game == number]
    for decision in blunders(analysis):
        lines += ["", _line(analysis, decision), _board(analysis, decision), *_options(decision)]
    return "\n".join(lines)


def as_json(analysis: Analysis) -> dict[str, Any]:
    """Everything, as what json.dumps takes."""
    match = analysis.match
    return {
        "players": list(match.players),
        "variant": match.variant.name,
        "length": match.length,
        "ply": analysis.ply,
        "unit": "chance of winning the match" if match.length else "points",
        "totals": [asdict(sums) for sums in analysis.tallies],
        "games": [
            {"score": list(game.score), "crawford": game.crawford, "winner": game.winner}
            | {"points": game.points}
            for game in match.games
        ],
        "decisions": [_as_json(analysis, decision) for decision in analysis.decisions],
    }


def as_html(analysis: Analysis) -> str:
    """One self-contained page."""
    title = escape(_title(analysis))
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>",
        _sums_html(analysis),
        "<h2>Blunders</h2>",
        *(_blunder_html(analysis, decision) for decision in blunders(analysis)),
    ]
    for number, game in enumerate(analysis.match.games, start=1):
        crawford = ", Crawford game" if game.crawford else ""
        parts.append(f"<h2>Game {number}, {game.score[0]}–{game.score[1]}{crawford}</h2><table>")
        parts.append("<tr><th>player<th>roll<th>done<th>error<th>better<th>luck</tr>")
        parts += [_row_html(analysis, d) for d in analysis.decisions if d.game == number]
        parts.append("</table>")
    return "\n".join([*parts, "</body></html>", ""])


def blunders(analysis: Analysis) -> list[Decision]:
    """Decisions that were marked ? or ??, the worst first."""
    found = [decision for decision in analysis.decisions if decision.error >= BAD]
    return sorted(found, key=lambda decision: -decision.error)


def _title(analysis: Analysis) -> str:
    match = analysis.match
    names = " – ".join(match.players)
    played = f"match to {match.length}" if match.length else "money"
    games = f"{len(match.games)} game{'s' * (len(match.games) != 1)}"
    return f"{names}: {played}, {games}, judged at {analysis.ply}-ply"


def _sum_rows(sums: Tally, money: bool) -> list[tuple[str, str]]:
    loss = f"{sums.loss:.3f}" if money else f"{sums.loss:.2%}"
    return [
        ("performance rating (PR)", _number(sums.pr, 2)),
        ("error rate, gnubg", _number(sums.error_rate, 2)),
        ("error rate, Snowie", _number(sums.snowie, 2)),
        ("plays (unforced)", f"{sums.plays} ({sums.unforced})"),
        ("error of plays", f"{sums.play_error:.3f}"),
        ("cube decisions", str(sums.cubes)),
        ("error of the cube", f"{sums.cube_error:.3f}"),
        ("missed doubles, wrong doubles", f"{sums.missed}, {sums.wrong_doubles}"),
        ("wrong takes, wrong passes", f"{sums.wrong_takes}, {sums.wrong_passes}"),
        ("marked ?!, ?, ??", ", ".join(map(str, sums.marks))),
        ("lost, points" if money else "lost, chance of winning the match", loss),
        ("luck", f"{sums.luck:+.3f}"),
    ]


def _sums(analysis: Analysis) -> list[str]:
    first, second = (_sum_rows(sums, not analysis.match.length) for sums in analysis.tallies)
    names = [name[:16] for name in analysis.match.players]
    lines = [f"{'':36}{names[0]:>16}{names[1]:>18}"]
    for (name, mine), (_, his) in zip(first, second, strict=True):
        lines.append(f"{name:36}{mine:>16}{his:>18}")
    return lines


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _line(analysis: Analysis, decision: Decision) -> str:
    name = analysis.match.players[decision.player][:12]
    luck = "" if decision.luck is None else f"  luck {decision.luck:+.3f}"
    better = f"  {mark(decision.error):2} best {decision.best}" if decision.error else ""
    cost = _cost(decision)
    return f"{name:12} {_roll(decision):3} {decision.chosen:24} {cost:>6}{luck}{better}".rstrip()


def _cost(decision: Decision) -> str:
    """The error, nothing where there is none."""
    return f"{-decision.error:+.3f}" if decision.error else ""


def _roll(decision: Decision) -> str:
    return "" if decision.dice is None else "".join(map(str, decision.dice.tolist()))


def _board(analysis: Analysis, decision: Decision) -> str:
    """Drawn for the player on roll."""
    on_roll = _on_roll(decision)
    names = analysis.match.players
    checkers = analysis.match.variant.checkers
    note = _note(analysis, decision)
    return draw(decision.board, checkers, (names[on_roll], names[1 - on_roll]), note)


def _on_roll(decision: Decision) -> int:
    return 1 - decision.player if decision.kind == "answer" else decision.player


def _note(analysis: Analysis, decision: Decision) -> str:
    """Whose roll it is, the cube and the score."""
    on_roll, names = _on_roll(decision), analysis.match.players
    answers = decision.kind == "answer"
    score = decision.score.flip() if answers else decision.score
    note = f"{names[on_roll]} {'doubles' if answers else 'to roll'}"
    if decision.dice is not None:
        note = f"{names[on_roll]} rolled {_roll(decision)}"
    cube = {"centre": "in the middle", "mine": "own", "theirs": "the opponent's"}[score.owner]
    note += f"; cube {score.cube}, {cube}"
    if score.away:
        note += f"; {score.away[0]} away, {score.away[1]} away"
    return note


def _options(decision: Decision) -> Iterator[str]:
    top = max(option.equity for option in decision.options)
    for option in decision.options:
        made = "*" if option.text == decision.chosen else " "
        yield f" {made} {option.text:24} {option.equity:+.3f} ({option.equity - top:+.3f})"


def _as_json(analysis: Analysis, decision: Decision) -> dict[str, Any]:
    outcomes = analysis.match.variant.outcomes
    score = decision.score
    board = decision.board if decision.kind != "answer" else flip(decision.board)
    return {
        "game": decision.game,
        "turn": decision.turn,
        "player": decision.player,
        "kind": decision.kind,
        "position_id": position_id(decision.board),
        "board": board.tolist(),
        "dice": None if decision.dice is None else decision.dice.tolist(),
        "cube": score.cube,
        "owner": score.owner,
        "away": list(score.away) if score.away else None,
        "crawford": score.crawford,
        "chosen": decision.chosen,
        "best": decision.best,
        "error": decision.error,
        "loss": decision.loss,
        "mark": mark(decision.error),
        "luck": decision.luck,
        "options": [
            {"text": option.text, "equity": option.equity}
            | ({} if option.chances is None else cumulative(option.chances, outcomes))
            for option in decision.options
        ],
    }


def _sums_html(analysis: Analysis) -> str:
    first, second = (_sum_rows(sums, not analysis.match.length) for sums in analysis.tallies)
    names = "".join(f"<th>{escape(name)}" for name in analysis.match.players)
    rows = "".join(
        f"<tr><th>{name}<td class=n>{mine}<td class=n>{his}</tr>"
        for (name, mine), (_, his) in zip(first, second, strict=True)
    )
    return f"<table><tr><th>{names}</tr>{rows}</table>"


def _row_html(analysis: Analysis, decision: Decision) -> str:
    weight = {"": "", "?!": " class=doubtful"}.get(mark(decision.error), " class=bad")
    better = f"{mark(decision.error)} {escape(decision.best)}" if decision.error else ""
    luck = "" if decision.luck is None else f"{decision.luck:+.3f}"
    return (
        f"<tr{weight}><td>{escape(analysis.match.players[decision.player])}<td>{_roll(decision)}"
        f"<td>{escape(decision.chosen)}<td class=n>{_cost(decision)}<td>{better}"
        f"<td class=n>{luck}</tr>"
    )


def _blunder_html(analysis: Analysis, decision: Decision) -> str:
    options = "\n".join(_options(decision))
    line = escape(" ".join(_line(analysis, decision).split()))
    note = escape(_note(analysis, decision))
    variant = analysis.match.variant
    dice = None if decision.dice is None else decision.dice.tolist()
    board = board_svg(decision.board, checkers=variant.checkers, dice=dice, title=note)
    return (
        f"<details open><summary>Game {decision.game}: {line}</summary>"
        f"<p>{note}</p>{board}<pre>{escape(options)}</pre></details>"
    )
