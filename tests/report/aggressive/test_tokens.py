from fastdecode.report.aggressive import tokens
from tests.report.aggressive.conftest import RELAXED, STRICT


def test_a_draft_is_kept_up_to_where_both_part() -> None:
    drafted = [(m.token, m.state) for m in tokens.drafted(STRICT[1])]
    assert drafted == [
        ("Hund", "accepted"),
        ("ruht", "refused"),
        ("im", "dropped"),
        ("Gar@@", "dropped"),
        ("ten", "dropped"),
    ]
    verified = [(m.token, m.state) for m in tokens.verified(STRICT[1])]
    assert verified[:3] == [("Hund", "accepted"), ("schläft", "own"), ("im", "dropped")]
    assert verified[-1] == (".", "dropped")


def test_an_accepted_end_is_the_last() -> None:
    assert {m.state for m in tokens.drafted(STRICT[2])} == {"accepted"}
    assert [m.token for m in tokens.verified(STRICT[2])][-1] == "</s>"


def test_what_is_accepted_but_not_the_likeliest_is_tolerated() -> None:
    states = [m.state for m in tokens.drafted(RELAXED[1])]
    assert states == ["accepted", "tolerated", "accepted", "refused", "dropped"]
    assert [m.token for m in tokens.verified(RELAXED[1])][:4] == ["Hund", "ruht", "im", "Gar@@"]
    places = tokens.candidates(RELAXED[1])
    assert [(m.token, m.state, gap) for m, gap in places[1]] == [
        ("schläft", "", 0.0),
        ("ruht", "tolerated", 0.5),
        ("döst", "", 1.0),
    ]
    assert [m.state for m, _ in places[3]] == ["own", "", ""]
    assert {m.state for m, _ in places[4]} == {"dropped"}


def test_behind_a_whole_draft_stands_a_word_of_the_verifier() -> None:
    whole = {
        **STRICT[1],
        "draft": ["Hund"],
        "gaps": [0.0],
        "candidates": [[("Hund", 0.0)], [("im", 0.0)]],
    }
    whole["word"] = "im"
    assert [m.state for m in tokens.drafted(whole)] == ["accepted"]
    assert [(m.token, m.state) for m in tokens.verified(whole)][-1] == ("im", "own")
