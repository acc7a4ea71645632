import pandas as pd

from fastdecode.report.tables import to_markdown

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
