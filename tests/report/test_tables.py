from pathlib import Path
from unicodedata import normalize

import pandas as pd

from fastdecode.report.tables import ESCAPES, to_latex, to_markdown

PAPERS = Path(__file__).parents[2] / "config/papers"

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


def test_plain_latex_knows_every_letter_of_the_papers() -> None:
    """All but letters with accents, which it knows by itself."""
    texts = "".join(path.read_text(encoding="utf-8") for path in PAPERS.glob("*.yaml"))
    plain = {letter for letter in texts if len(normalize("NFD", letter)) == 1 and letter > "~"}
    assert {"τ", "λ", "Δ"} <= plain
    assert [letter for letter in sorted(plain) if ord(letter) not in ESCAPES] == []


def test_latex() -> None:
    assert to_latex(FRAME, r"50% of \this|that", "tab:x").splitlines() == [
        r"\begin{table}",
        r"  \centering",
        r"  \caption{50\% of \textbackslash{}this\textbar{}that}",
        r"  \label{tab:x}",
        r"  \begin{tabular}{lrr}",
        r"    \toprule",
        r"    system & BLEU \& co & up \\",
        r"    \midrule",
        r"    a\textbar{}b\_c & 1.5 $\pm$ 0.1$^\dagger$ & $\times$2 \\",
        r"    d & -- &  \\",
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
