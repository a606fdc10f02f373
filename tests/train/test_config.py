"""Configuration: everything in configs/ composes, and everything wrong is one sentence."""

import json
from pathlib import Path

import pytest

from train.config import CONFIGS, Config, about, help_text, parse
from train.loop import merge

WRONG = [
    ("nonsense=1", "'nonsense'"),
    ("net.nonsense=1", "'nonsense'"),
    ("algo.lamb=0.5", "'lamb'"),
    ("games=many", "'many'"),
    ("games=1.5", "'1.5'"),
    ("games=0", "games must be above 0, not 0"),
    ("games=-5", "-5"),
    ("minutes=nan", "nan"),
    ("seed=-1", "seed must be 0 or above and below 2**63, not -1"),
    ("seed=99999999999999999999", "99999999999999999999"),
    ("threads=0", "threads"),
    ("threads=4 algo.games_in_flight=3", "algo.games_in_flight (3)"),
    ("device=abacus", "'abacus'"),
    ("precision=float64", "'float64'"),
    ("resume=maybe", "'maybe'"),
    ("gauge_pairs=1", "gauge_pairs must be at least 2, not 1"),
    ("gauge_minutes=-1", "gauge_minutes"),
    ("checkpoint_minutes=-1", "checkpoint_minutes"),
    ("net.hidden=0", "net.hidden"),
    ("net.tail=[8,0]", "[8, 0]"),
    ("net.tail=8", "'net.tail=8' is wrong: a list is written [a,b]"),
    ("stages.td.lam=0.5", "'td'"),
    ("exp=quick stages={tdd:{lam:0.5}}", "'tdd'"),
    ("stages={td:{lamb:0.5}}", "'lamb'"),
    ("stages={td:{lam:2}}", "stages.td.lam must lie between 0 and 1, not 2"),
    ("stages={td:3}", "stages"),
    ("net.phases=3", "net.phases"),
    ("algo.lam=1.01", "1.01"),
    ("algo.lam=-0.1", "-0.1"),
    ("algo.hot=1", "algo.hot"),
    ("algo.rate=0", "algo.rate"),
    ("algo.minibatch=0", "algo.minibatch"),
    ("algo.plies_per_round=0", "algo.plies_per_round"),
    ("algo.longest_game=0", "algo.longest_game"),
    ("variant=chess", "variant/chess"),
    ("variant.name=chess", "'chess'"),
    ("variant.opening=coin", "'coin'"),
    ("variant.start={0:1}", "point 0"),
    ("variant.start={24:1,1:1}", "both sides"),
    ("variant.start={6:16}", "16"),
    ("variant.start={six:1}", "'six'"),
    ("variant.start=24", "24"),
    ("net=enormous", "net/enormous'; there are base, large, small"),
    ("exp=nowhere", "exp/nowhere"),
    ("name=", "''"),
    ("name=../up", "'../up'"),
    ("name=.hidden", "'.hidden'"),
    ("exp quick", "'exp'"),
    ("quick", "'quick'"),
    ("+games=5", "'+games=5'"),
    ("~games=5", "'~games=5'"),
    ("games=1,2", "games=1,2"),
    ("games={", "games={"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG, ids=[wrong for wrong, _ in WRONG])
def test_what_is_wrong_is_one_sentence(arguments: str, says: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse("train", Config, arguments.split(" "))
    sentence = str(caught.value)
    assert says in sentence and "\n" not in sentence, sentence


def yaml_files() -> list[Path]:
    return sorted(CONFIGS.rglob("*.yaml"))


def test_there_are_few_files() -> None:
    assert 5 <= len(yaml_files()) <= 20


@pytest.mark.parametrize(
    "path", [path for path in yaml_files() if path.parent != CONFIGS], ids=lambda path: path.stem
)
def test_every_choice_of_every_group_composes(path: Path) -> None:
    assert isinstance(parse("train", Config, [f"{path.parent.name}={path.stem}"]), Config)


def test_groups_and_keys_arrive() -> None:
    config = parse("train", Config, ["net=small", "variant=hyper", "algo.lam=0.25", "games=9"])
    assert (config.net.hidden, config.net.tail) == (256, [32])
    assert config.variant.make().checkers == 3
    assert (config.algo.lam, config.games) == (0.25, 9)


def test_stages_may_be_given_whole() -> None:
    given = "stages={one:{lam:0.5},two:{targets:one_roll,label:0.3}}"
    stages = parse("train", Config, [given]).schedule()
    assert list(stages) == ["stages.one", "stages.two"] and stages["stages.one"].lam == 0.5
    assert stages["stages.two"].targets == "one_roll" and stages["stages.two"].label == 0.3
    shorter = parse("train", Config, ["exp=quick", "stages={td:{share:0.1}}"]).stages
    assert list(shorter) == ["td", "polish"] and shorter["td"].share == 0.1


def test_a_start_of_one_s_own() -> None:
    config = parse("train", Config, ["variant.start={24:1,6:2}", "variant.opening=reroll"])
    game = config.variant.make()
    assert game.checkers == 3 and game.start[24] == 1 and game.start[6] == 2
    assert game.opening == "reroll"


def test_defaults_are_the_dataclass_s() -> None:
    config = parse("train", Config, [])
    assert config.algo == Config().algo and config.games == Config().games


def test_help_names_every_key_and_choice() -> None:
    text = help_text(Config, "usage", ["an example"])
    for key in ("net.hidden=", "algo.lam=", "variant.start=", "checkpoint_minutes=", "resume="):
        line = next(line for line in text.splitlines() if line.strip().startswith(key))
        assert len(line.split(None, 1)[1]) > 5, line
    for path in yaml_files():
        if path.parent != CONFIGS:
            assert path.stem in text and f"{path.parent.name}=" in text
    assert "an example" in text


def test_lists_are_not_shared_between_configurations() -> None:
    one, other = Config(), Config()
    one.net.tail.append(5)
    assert other.net.tail != one.net.tail
    assert about("help", [1]).default_factory() == [1]


# ---------------------------------------------------------------- what a resumed run may change


def stored(*overrides: str) -> dict[str, object]:
    """A configuration as state.json has it."""
    from dataclasses import asdict

    found = json.loads(json.dumps(asdict(parse("train", Config, list(overrides)))))
    assert isinstance(found, dict)
    return found


def test_a_resumed_run_keeps_its_configuration() -> None:
    before = stored("net.hidden=8", "variant.start={24:1}", "games=10", "seed=5")
    config = merge(parse("train", Config, ["games=20"]), before, ["games=20"])
    assert (config.net.hidden, config.seed, config.games) == (8, 5, 20)
    assert config.variant.start == {24: 1}


@pytest.mark.parametrize(
    "same", [["variant.start={24:1}"], ["net=small"], ["algo.lam=0.5", "variant=hyper"]]
)
def test_the_same_values_may_be_given_again(same: list[str]) -> None:
    before = stored(*same)
    assert stored(*same) == before
    merge(parse("train", Config, same), before, same)


@pytest.mark.parametrize(
    "other",
    ["net.hidden=8", "net=large", "variant=hyper", "variant.name=nack", "variant.start={24:1}",
     "algo.lam=0.1", "seed=2", "threads=1", "net.tail=[5]", "variant.opening=reroll"],
)  # fmt: skip
def test_another_net_game_or_algorithm_is_refused(other: str) -> None:
    with pytest.raises(ValueError, match="cannot go on with") as caught:
        merge(parse("train", Config, [other]), stored(), [other])
    assert "\n" not in str(caught.value)
