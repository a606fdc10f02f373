"""A cube decision for a reader, and for JSON.

print(decision_text(player.cube(position)))
"""

from typing import Any

from nardy.match.cube import why_not
from nardy.play.cubeful import CubeDecision, Options
from nardy.play.player import cumulative
from nardy.rules.variants import SHORT_OUTCOMES

_NAMES = {
    "no_double": "no double",
    "double_take": "double, take",
    "double_pass": "double, pass",
    "double_beaver": "double, beaver",
}


def decision_text(decision: CubeDecision) -> str:
    """A few lines: chances, what each action is worth, the window, the verdict."""
    score, chances = decision.score, _chances(decision)
    lines = [
        f"win {chances['win']:.1%}, gammon {chances['win_gammon']:.1%}, "
        f"backgammon {chances['win_backgammon']:.1%}; lose gammon {chances['lose_gammon']:.1%}, "
        f"backgammon {chances['lose_backgammon']:.1%}; {decision.ply}-ply",
        f"{'cubeless':16}{decision.cubeless:+.4f} points at a cube of 1",
    ]
    pairs = zip(Options._fields, decision.equities, decision.values, strict=True)
    for name, equity, value in pairs:
        if equity is not None:
            worth = "" if score.money else f"  wins the match {value:.2%}"
            lines.append(f"{_NAMES[name]:16}{equity:+.4f}{worth}")
    reason = why_not(score)
    words = ("take from", "double from", "cash from", "too good from")
    window = [
        f"{word} {at:.1%}"
        for word, at in zip(words, decision.window, strict=True)
        if at is not None
    ]
    if window:
        lines.append(f"{'window':16}{', '.join(window)} of wins")
    lines.append(f"{'verdict':16}{decision.verdict}{f': {reason}' if reason else ''}")
    return "\n".join(lines)


def decision_json(decision: CubeDecision) -> dict[str, Any]:
    """variant-free numbers: chances, cubeless, equities (EMG), values, window, verdict."""
    score = decision.score
    return {
        "ply": decision.ply,
        "cube": score.cube,
        "owner": score.owner,
        "away": score.away,
        "crawford": score.crawford,
        "jacoby": score.jacoby,
        "beavers": score.beavers,
        "stake_cap": score.stake_cap,
        "cubeless": decision.cubeless,
        "equities": decision.equities._asdict(),
        "values": decision.values._asdict(),
        "window": decision.window._asdict(),
        "double": decision.double,
        "take": decision.take,
        "beaver": decision.beaver,
        "too_good": decision.too_good,
        "verdict": decision.verdict,
        **_chances(decision),
    }


def _chances(decision: CubeDecision) -> dict[str, float]:
    return cumulative(decision.chances.astype("f4"), SHORT_OUTCOMES)
