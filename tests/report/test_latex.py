"""LaTeX of tables: what it says, and, where pdflatex is, that a page of paper holds it."""

import re
import shutil
import subprocess
from pathlib import Path
from unicodedata import normalize

import pandas as pd
import pytest

from fastdecode.report.latex import ESCAPES, PREAMBLE, to_latex
from fastdecode.report.tables import Table

PAPERS = Path(__file__).parents[2] / "config/papers"
FRAME = pd.DataFrame({"system": ["a|b_c", "d"], "BLEU & co": ["1.5 ± 0.1†", "–"], "up": ["×2", ""]})
DECODER = "transformer-big/lattice-2-layers/lattice-k64-optimised"
NASTY = pd.DataFrame(
    {"[K]": ["[Mein] „a“ «b»", "*", "--out ≤ 5"], "published [ms] tokens": ["1", "2", "3"]}
)


def wide(columns: int, rows: int = 3, notes: int = 1) -> Table:
    """A table of a text, a decoder, and so many columns of numbers."""
    numbers = {f"published corpus{i // 2} {('raw', 'kd')[i % 2]}": "12.34" for i in range(columns)}
    line = {"model": "autoregressive, with a beam of five", "run here": DECODER, **numbers}
    return Table(pd.DataFrame([line] * rows), ["t: what it shows.", *["Published: there."] * notes])


def test_plain_latex_knows_every_letter_of_the_papers() -> None:
    """All but letters with accents, which it knows by itself."""
    texts = "".join(path.read_text(encoding="utf-8") for path in PAPERS.glob("*.yaml"))
    plain = {letter for letter in texts if len(normalize("NFD", letter)) == 1 and letter > "~"}
    assert {"τ", "λ", "Δ"} <= plain
    assert [letter for letter in sorted(plain) if ord(letter) not in ESCAPES] == []


def test_latex() -> None:
    table = Table(FRAME, [r"50% of \this|that.", "A note.", "And a_nother."])
    assert to_latex(table, "tab:x").splitlines() == [
        r"% \usepackage[T1]{fontenc} \usepackage{adjustbox, array, booktabs}",
        r"\begin{table}",
        r"  \centering",
        r"  \begin{adjustbox}{max totalsize={\linewidth}{0.95\textheight}}",
        r"    \begin{minipage}{\linewidth}",
        r"      \centering",
        r"      \caption{50\% of \textbackslash{}this\textbar{}that.}",
        r"      \label{tab:x}",
        r"      \footnotesize\setlength{\tabcolsep}{3pt}",
        r"      \begin{adjustbox}{max width=\linewidth}",
        r"        \begin{tabular}{lrr}",
        r"          \toprule",
        r"          system & BLEU \& co & up \\",
        r"          \midrule",
        r"          a\textbar{}b\_c & 1.5 $\pm$ 0.1$^\dagger$ & $\times$2 \\",
        r"          d & \textendash{} &  \\",
        r"          \bottomrule",
        r"        \end{tabular}",
        r"      \end{adjustbox}",
        r"      \par\smallskip\raggedright\scriptsize",
        r"      A note. And a\_nother.",
        r"    \end{minipage}",
        r"  \end{adjustbox}",
        r"\end{table}",
    ]


def test_headings_in_lines_with_rules_below_what_is_shared() -> None:
    frame = pd.DataFrame(
        [["3", "1", "2", "4", "5", "6"]],
        columns=[
            "published tokens/iteration",
            "toy a BLEU",
            "toy a ms",
            "toy tokens/s",
            "x",
            "[y]",
        ],
    )
    lines = to_latex(Table(frame, ["t."]), "tab:x").splitlines()
    first = next(i for i, line in enumerate(lines) if "toprule" in line)
    assert [line.strip() for line in lines[first + 1 : first + 7]] == [
        r"& \multicolumn{3}{c}{toy} &  &  \\",
        r"\cmidrule(lr){2-4}",
        r"& \multicolumn{2}{c}{a} &  &  &  \\",
        r"\cmidrule(lr){2-3}",
        r"\shortstack[r]{published\\tokens/\\iteration} & BLEU & ms & tokens/s & x & {[}y] \\",
        r"\midrule",
    ]


def test_a_wide_table_is_turned_and_its_texts_may_be_broken_at_slashes() -> None:
    narrow, broken, turned = (to_latex(wide(columns, rows=12), "tab:x") for columns in (0, 4, 20))
    assert "{ll}" in to_latex(wide(0), "tab:x") or "p{" in narrow
    assert r"transformer-big\slash{}lattice-2-layers" in broken and "p{" in broken
    assert ["rotate=90" in text for text in (narrow, broken, turned)] == [False, False, True]


def test_pieces_of_a_long_table_have_names_of_their_own_and_the_notes_once() -> None:
    text = to_latex(wide(4, rows=150), "tab:x")
    parts = text.count(r"\begin{table}")
    assert parts > 1 and text.count("Published: there.") == 1 and text.count(DECODER[:15]) == 150
    assert f"Part {parts} of {parts}.}}" in text and rf"\label{{tab:x-{parts}}}" in text
    assert r"\label{tab:x}" in text
    assert text.rindex(r"\begin{table}") < text.index("Published: there.")  # below the last one


def test_neighbours_are_no_ligatures() -> None:
    text = to_latex(Table(pd.DataFrame({"t": ["--,,''!`?``"]}), ["t."]), "tab:x")
    assert "-{}-,{},'{}'!{}`?{}`{}`" in text


def test_a_table_without_columns() -> None:
    assert r"\begin{tabular}{l}" in to_latex(Table(pd.DataFrame(), ["t."]), "tab:x")


def compiled(document: str, folder: Path) -> str:
    """Return what pdflatex says about a document, which it must know how to set."""
    (folder / "x.tex").write_text(document, encoding="utf-8")
    ran = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="latin-1",
    )
    if "adjustbox.sty' not found" in ran.stdout:
        pytest.skip("needs the LaTeX package adjustbox")
    assert ran.returncode == 0, ran.stdout[-2000:]
    return ran.stdout


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize(
    "table",
    [
        Table(FRAME, ["t."]),
        Table(NASTY, ["t."]),
        Table(FRAME.iloc[:0], ["t.", "n."]),
        wide(0),
        wide(4),
        wide(12),
        wide(40),
        wide(2, rows=90),
        wide(20, rows=30, notes=150),
    ],
)
@pytest.mark.parametrize("options", ["", "twocolumn"])
def test_a_page_holds_every_table(table: Table, options: str, tmp_path: Path) -> None:
    """Of a float that is turned and too wide LaTeX would say nothing: the boxes are measured."""
    text = to_latex(table, "tab:x")
    boxes = re.findall(r"\\begin{table}\s*\\centering(.*?)\\end{table}", text, re.DOTALL)
    measured = [
        rf"\sbox0{{\expandafter\def\csname @captype\endcsname{{table}}{box.strip()}}}"
        r"\typeout{SIZE \the\wd0 \the\dimexpr\ht0+\dp0\relax \the\linewidth \the\textheight}"
        for box in boxes
    ]
    begin = [rf"\documentclass[{options}]{{article}}", PREAMBLE, r"\begin{document}"]
    said = compiled("\n".join([*begin, *measured, text, r"\end{document}"]), tmp_path)
    assert re.findall(r"Overfull.*|.*too large.*", said) == []
    sizes = re.findall(r"SIZE (\S+)pt ?(\S+)pt ?(\S+)pt ?(\S+)pt", said.replace("pt", "pt "))
    assert len(sizes) == len(boxes) > 0
    for width, height, across, down in (map(float, size) for size in sizes):
        assert width <= across + 0.1 and height <= down
