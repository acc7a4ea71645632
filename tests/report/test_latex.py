"""LaTeX of tables: what it says, and, where pdflatex is, that a page of paper holds it."""

import re
import shutil
import subprocess
from pathlib import Path
from unicodedata import normalize

import pandas as pd
import pytest

from fastdecode.report.latex import ESCAPES, PACKAGES, Head, shared, to_latex
from fastdecode.report.tables import Table

PAPERS = Path(__file__).parents[2] / "config/papers"
FRAME = pd.DataFrame({"system": ["a|b_c", "d"], "BLEU & co": ["1.5 ± 0.1†", "–"], "up": ["×2", ""]})
DECODER = "transformer-big/lattice-2-layers/lattice-k64-optimised"


def wide(columns: int, rows: int = 3) -> Table:
    """A table of a text, a decoder, and so many columns of numbers."""
    numbers = {f"published corpus{i // 2} {('raw', 'kd')[i % 2]}": "12.34" for i in range(columns)}
    line = {"model": "autoregressive, with a beam of five", "run here": DECODER, **numbers}
    return Table(
        pd.DataFrame([line] * rows), ["t: what it shows.", "Published: there.", "Note: x."]
    )


def test_plain_latex_knows_every_letter_of_the_papers() -> None:
    """All but letters with accents, which it knows by itself."""
    texts = "".join(path.read_text(encoding="utf-8") for path in PAPERS.glob("*.yaml"))
    plain = {letter for letter in texts if len(normalize("NFD", letter)) == 1 and letter > "~"}
    assert {"τ", "λ", "Δ"} <= plain
    assert [letter for letter in sorted(plain) if ord(letter) not in ESCAPES] == []


def test_latex() -> None:
    table = Table(FRAME, [r"50% of \this|that.", "A note.", "And a_nother."])
    assert to_latex(table, "tab:x").splitlines() == [
        r"% \usepackage{adjustbox, array, booktabs, rotating}",
        r"\begin{table}",
        r"  \centering\footnotesize",
        r"  \setlength{\tabcolsep}{3pt}",
        r"  \caption{50\% of \textbackslash{}this\textbar{}that.}",
        r"  \label{tab:x}",
        r"  \begin{adjustbox}{max totalsize={\linewidth}{0.75\textheight}}",
        r"    \begin{tabular}{lrr}",
        r"      \toprule",
        r"      system & BLEU \& co & up \\",
        r"      \midrule",
        r"      a\textbar{}b\_c & 1.5 $\pm$ 0.1$^\dagger$ & $\times$2 \\",
        r"      d & -- &  \\",
        r"      \bottomrule",
        r"    \end{tabular}",
        r"  \end{adjustbox}",
        r"  \par\smallskip\noindent",
        r"  \parbox{\linewidth}{\scriptsize A note. And a\_nother.}",
        r"\end{table}",
    ]


def names(*headings: str) -> list[tuple[str, ...]]:
    """Their words."""
    return [tuple(heading.split()) for heading in headings]


def test_headings_that_begin_alike_stand_below_what_they_share() -> None:
    found = shared(names("K", "published gap, raw", "published gap, kd", "published ms", "K"))
    gaps = Head("gap", 2, (Head("raw", 1), Head("kd", 1)))
    assert found == (Head("K", 1), Head("published", 3, (gaps, Head("ms", 1))), Head("K", 1))


def test_all_that_is_shared_is_said_once() -> None:
    pair = (Head("BLEU", 1), Head("ms", 1))
    assert shared(names("toy.long raw BLEU", "toy.long raw ms")) == (Head("toy.long raw", 2, pair),)


@pytest.mark.parametrize("headings", [("ms", "ms ratio"), ("ms", "ms"), ("a b", "c b", "a d")])
def test_nothing_is_shared_that_would_leave_nothing_or_is_apart(headings: tuple[str, ...]) -> None:
    assert shared(names(*headings)) == tuple(Head(heading, 1) for heading in headings)


def test_headings_in_lines_with_rules_below_what_is_shared() -> None:
    frame = pd.DataFrame(
        [["3", "1", "2", "4", "5"]],
        columns=["published tokens/iteration", "toy a BLEU", "toy a ms", "toy ms", "x"],
    )
    lines = to_latex(Table(frame, ["t."]), "tab:x").splitlines()
    assert [line.strip() for line in lines[9:15]] == [
        r"& \multicolumn{3}{c}{toy} &  \\",
        r"\cmidrule(lr){2-4}",
        r"& \multicolumn{2}{c}{a} &  &  \\",
        r"\cmidrule(lr){2-3}",
        r"\shortstack[r]{published\\tokens/\\iteration} & BLEU & ms & ms & x \\",
        r"\midrule",
    ]


def test_texts_are_broken_and_tables_turned_only_where_they_are_too_wide() -> None:
    narrow, broken, turned = (to_latex(wide(columns), "tab:x") for columns in (0, 4, 12))
    assert "{ll}" in narrow and r"\slash" not in narrow
    assert r"transformer-big\slash{}lattice-2-layers" in broken and "p{" in broken
    assert [r"\begin{table}" in text for text in (narrow, broken, turned)] == [True, True, False]
    assert r"\begin{sidewaystable}" in turned and r"0.75\textwidth" in turned


def test_what_begins_a_row_is_no_option_of_the_row_before() -> None:
    frame = pd.DataFrame({"tokens": ["[Mein] x", "*", "a *"]})
    rows = to_latex(Table(frame, ["t."]), "tab:x").splitlines()
    assert [r.strip() for r in rows if r.endswith(r" \\")][1:] == [
        r"{}[Mein] x \\",
        r"{}* \\",
        r"a * \\",
    ]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize(
    "table", [Table(FRAME, ["t."]), wide(0), wide(4), wide(12), wide(40), wide(2, rows=90)]
)
def test_a_page_holds_every_table(table: Table, tmp_path: Path) -> None:
    document = [r"\documentclass{article}", PACKAGES, r"\begin{document}"]
    document += [to_latex(table, "tab:x"), r"\end{document}"]
    (tmp_path / "x.tex").write_text("\n".join(document), encoding="utf-8")
    ran = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="latin-1",
    )
    if "adjustbox.sty' not found" in ran.stdout:
        pytest.skip("needs the LaTeX package adjustbox")
    assert ran.returncode == 0, ran.stdout[-2000:]
    assert re.findall(r"Overfull.*|.*too large.*", ran.stdout) == []
