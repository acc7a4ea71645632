import pandas as pd

from fastdecode.report.tables import is_numeric, seeds_of, signed, to_markdown

FRAME = pd.DataFrame({"system": ["a|b_c", "d"], "BLEU & co": ["1.5 ± 0.1†", "–"], "up": ["×2", ""]})


def test_markdown() -> None:
    assert to_markdown(FRAME, "A caption.").splitlines() == [
        "A caption.",
        "",
        "| system | BLEU & co | up |",
        "| --- | ---: | ---: |",
        r"| a\|b_c | 1.5 ± 0.1† | ×2 |",
        "| d | – |  |",
    ]


def test_what_markdown_would_read_as_its_own_is_escaped() -> None:
    words = "&lt;unk&gt; R&D *a* _b_ c_d `e` [f](g) [h] <s> i\\j"
    row = to_markdown(pd.DataFrame({"words": [words]}), "A caption.").splitlines()[-1]
    escaped = r"\&lt;unk\&gt; R&D \*a\* \_b\_ c_d \`e\` [f\](g) [h] \<s> i\\j"
    assert row == f"| {escaped} |"


def test_numbers_below_zero_are_numbers_with_a_minus() -> None:
    assert signed("-0.7 ± 0.1") == "−0.7 ± 0.1"
    assert signed("0.7") == "0.7" and signed("dag-beam") == "dag-beam"
    assert is_numeric(pd.Series(["1.5", signed("-0.7")]))
    assert not is_numeric(pd.Series(["1.5", "-"]))


def test_seeds_stand_once_in_the_order_of_numbers() -> None:
    assert seeds_of(["1 10", "2 1"]) == "1, 2, 10"
