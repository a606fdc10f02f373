"""train.search_loss: what the shortcuts of a search lose."""

import numpy as np
import pytest

from nardy.play.search import Filter, Search
from nardy.rules.batch import afterstates
from tests.random_nets import make_net
from train import search_loss
from train.search_loss import decisions, losses, main


def test_decisions_leave_a_choice_and_are_reproducible() -> None:
    net = make_net(24)
    boards, dice = decisions(net, 12, seed=4)
    again, _ = decisions(net, 12, seed=4)
    assert (np.diff(afterstates(boards, dice, net.variant).offsets) > 1).all()
    assert (boards == again).all() and len(np.unique(boards, axis=0)) > 6


def test_the_loss_is_of_the_whole_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand, for a search of one ply that looks at two plays alone."""
    net = make_net(24)
    narrow = (Filter(2, 9.0),)

    def search(*args: object, **options: object) -> Search:
        options.setdefault("filters", narrow)
        return Search(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(search_loss, "Search", search)
    boards, dice = decisions(net, 6, seed=1)
    lost = losses(net, 1, boards, dice, tables=False)
    for i in range(len(boards)):
        results = afterstates(boards[i : i + 1], dice[i : i + 1], net.variant)
        exact = Search(net, 1, filters=None).price(results).values
        static = Search(net, 0).price(results).values
        seen = exact[np.argsort(-static, kind="stable")[:2]]
        assert lost[i] == pytest.approx(exact.max() - seen.max(), abs=1e-6)
    assert lost.max() > 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "net is missing"),
        (["net=nowhere"], "nowhere"),
        (["net=x", "ply=4"], "ply must be 1, 2 or 3, not 4"),
        (["net=x", "positions=1"], "positions must be at least 2, not 1"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert says in err and err.count("\n") == 1 and out == ""
