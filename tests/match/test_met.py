"""The match equity table: made by us, compared with the published one; gnubg's XML."""

from pathlib import Path

import numpy as np
import pytest

from nardy.match.met import SHIPPED, MatchEquity, default_table
from nardy.match.met_make import BACKGAMMONS, GAMMONS, main, make_table
from nardy.match.score import Score, match_score

GNUBG = Path("/usr/share/gnubg/met")


@pytest.fixture(scope="module")
def made():
    return make_table()


def test_the_shipped_table_is_what_the_command_makes(made):
    shipped = default_table()
    np.testing.assert_allclose(shipped.before, made.before, atol=2e-6)
    np.testing.assert_allclose(shipped.after_crawford, made.after_crawford, atol=2e-6)
    assert "python -m nardy.match.met_make" in SHIPPED.read_text()


@pytest.mark.parametrize("length", [9, 15, 25])
def test_it_agrees_with_the_published_table(length, kazaross):
    ours, theirs = default_table(), kazaross
    apart = np.abs(ours.before - theirs.before)[:length, :length]
    assert apart.max() < 0.005 and apart.mean() < 0.002
    after = np.abs(ours.after_crawford - theirs.after_crawford)[:length]
    assert after.max() < 0.005 and after.mean() < 0.002


def test_it_is_symmetric_and_monotone():
    table = default_table()
    assert (table.before + table.before.T == 1).all()
    assert (np.diff(table.before, axis=0) < 0).all() and (np.diff(table.before, axis=1) > 0).all()
    assert (np.diff(table.after_crawford) < 0).all()


def test_games_without_a_cube_are_plain_means(made):
    # Crawford, 2 away: a gammon wins, a single game leads to an even score
    two_away = 0.5 * (GAMMONS + (1 - GAMMONS) * 0.5)
    assert made.before[1, 0] == pytest.approx(two_away, abs=1e-9)
    # 3 away after Crawford: the trailer doubles at once and needs the same
    assert made.after_crawford[2] == pytest.approx(two_away, abs=2e-3)
    lone = 0.5 * (
        (1 - GAMMONS) * made.after_crawford[1] + (GAMMONS - BACKGAMMONS) * 0.5 + BACKGAMMONS
    )
    assert made.before[2, 0] == pytest.approx(lone, abs=1e-9)


def test_the_free_drop_helps_the_leader_against_an_even_number_only(made):  # K17
    after, g, b = made.after_crawford, GAMMONS, BACKGAMMONS
    for away in range(2, 12):
        won = [1.0 if away <= n else after[away - n - 1] for n in (2, 4, 6)]
        without_drop = 0.5 * float(np.dot([1 - g, g - b, b], won))
        gain = without_drop - after[away - 1]
        assert gain > 0.0005 if away % 2 == 0 else abs(gain) < 0.0015


def test_after_a_game():
    table = default_table()
    assert table.after(match_score(7, 6, 5), 1) == 1 and table.after(match_score(7, 6, 5), -4) == 0
    # 3 away, 3 away: a point won makes no Crawford game, two do
    score = match_score(7, 4, 4)
    assert table.after(score, 1) == table.before[1, 2]
    assert table.after(score, 2) == table.before[0, 2]
    # after the Crawford game the other column holds, from either side
    crawford = match_score(7, 6, 4, crawford=True)
    assert table.after(crawford, -1) == 1 - table.after_crawford[1]
    assert table.after(crawford.flip(), 1) == table.after_crawford[1]


def test_scores_without_an_entry_are_named():
    with pytest.raises(ValueError, match="no match to win"):
        default_table().chance(Score())
    with pytest.raises(ValueError, match=r"ends at 3 away; it has not \(5, 5\)"):
        make_table(3).chance(match_score(5))
    with pytest.raises(ValueError, match="not 0"):
        make_table(0)


def test_a_table_survives_being_written(tmp_path):
    table = make_table(5)
    path = tmp_path / "met.xml"
    path.write_text(table.xml("a <test> & more"))
    read = MatchEquity.load(path)
    assert read.name == "nardy" and read.length == 5
    np.testing.assert_allclose(read.before, table.before, atol=1e-6)
    np.testing.assert_allclose(read.after_crawford, table.after_crawford, atol=1e-6)


XML = """<?xml version = "1.0"?>
<!DOCTYPE met PUBLIC "-//GNU Backgammon//DTD Match Equity Tables//EN" "met.dtd">
<met>
  <info> <name>two</name> <description>d</description> <length>2</length> </info>
  <pre-crawford-table type="explicit">
    <row> <me>0.5</me> <me> 0.69 </me> </row> <row> <me>0.32</me> <me>0.5</me> </row>
  </pre-crawford-table>
  <post-crawford-table type="explicit" player="both"> <row><me>0.5</me></row>
  </post-crawford-table>
</met>
"""


def test_gnubgs_xml_with_rounded_entries(tmp_path):
    path = tmp_path / "two.xml"
    path.write_text(XML.replace("0.69", "0.685"))
    table = MatchEquity.load(path)
    assert table.name == "two"
    np.testing.assert_allclose(table.before, [[0.5, 0.6825], [0.3175, 0.5]])
    np.testing.assert_allclose(table.after_crawford, [0.5, 0.0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", "do not add up to 1"),
        ("0.69", "1.69", "outside 0 to 1"),
        ("0.69", "much", "'much'"),
        ("0.69", "nan", "outside 0 to 1"),
        ("<me>0.32</me>", "", "not square"),
        ('pre-crawford-table type="explicit"', 'pre-crawford-table type="mec"', "no explicit"),
        ("post-crawford", "after", "no explicit"),
        ("</met>", "", "is not XML"),
    ],
)
def test_files_that_are_no_table_are_named(tmp_path, old, new, message):
    path = tmp_path / "bad.xml"
    path.write_text(XML.replace(old, new) if old else XML)
    with pytest.raises(ValueError, match=message):
        MatchEquity.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="there is no match equity table"):
        MatchEquity.load(tmp_path / "none.xml")


@pytest.mark.skipif(not GNUBG.is_dir(), reason="gnubg is not installed")
def test_gnubgs_own_files_can_be_read(kazaross):
    read = MatchEquity.load(GNUBG / "Kazaross-XG2.xml")
    np.testing.assert_allclose(read.before, kazaross.before, atol=1e-9)
    for name, length in (("g11", 11), ("woolsey", 15), ("mec26", 25), ("Rockwell-Kazaross", 25)):
        assert MatchEquity.load(GNUBG / f"{name}.xml").length >= length
    with pytest.raises(ValueError, match="no explicit"):
        MatchEquity.load(GNUBG / "zadeh.xml")


def test_the_command(tmp_path, capsys, kazaross):
    path, other = tmp_path / "met.xml", tmp_path / "other.xml"
    other.write_text(kazaross.xml("published"))
    assert main(["--to", str(path), "--length", "3", "--against", str(other)]) == 0
    assert "Kazaross-XG2: apart by 0." in capsys.readouterr().out
    assert MatchEquity.load(path).length == 3
    assert main(["--to", str(path), "--length", "26"]) == 2
    assert capsys.readouterr().err == "nardy: a match is played to 1 to 25 points, not 26\n"
