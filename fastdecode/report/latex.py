"""Tables for papers: LaTeX with booktabs, no wider and no higher than the page they stand on."""

import re
from collections.abc import Iterator, Sequence

import pandas as pd

from fastdecode.report.layout import WORD, Column, Head, Layout, divided, shared
from fastdecode.report.tables import Table

PREAMBLE = r"\usepackage[T1]{fontenc} \usepackage{adjustbox, array, booktabs}"
LETTER = 0.52  # em, an average
LIGATURE = r"(?<=-)(?=-)|(?<=,)(?=,)|(?<=')(?=')|(?<=[`!?])(?=`)"  # between these is one in T1
ESCAPES = str.maketrans(
    {
        **{character: rf"\{character}" for character in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        '"': r"\textquotedbl{}",
        "–": r"\textendash{}",
        # Options, where a row or a line of a heading has just ended.
        "[": "{[}",
        "*": "{*}",
        "α": r"$\alpha$",
        "β": r"$\beta$",
        "γ": r"$\gamma$",
        "δ": r"$\delta$",
        "ε": r"$\epsilon$",
        "θ": r"$\theta$",
        "λ": r"$\lambda$",
        "μ": r"$\mu$",
        "π": r"$\pi$",
        "σ": r"$\sigma$",
        "τ": r"$\tau$",
        "Δ": r"$\Delta$",
        "Σ": r"$\Sigma$",
        "≠": r"$\neq$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "≈": r"$\approx$",
        "∞": r"$\infty$",
        "×": r"$\times$",
        "±": r"$\pm$",
        "−": "$-$",
        "→": r"$\to$",
        "√": r"$\surd$",
        "†": r"$^\dagger$",
        "‡": r"$^\ddagger$",
        "′": r"$'$",
        "″": r"$''$",
        "ᵃ": r"$^a$",
        "ᵇ": r"$^b$",
        "ᶜ": r"$^c$",
        "ᵈ": r"$^d$",
    }
)


def to_latex(table: Table, label: str) -> str:
    """Return the table as floats for `PREAMBLE`, all text escaped.

    Headings that begin alike stand below what they share, long texts are broken, a table is turned
    on its side where that leaves it larger, what a page does not hold is shrunk, and one that would
    be too small is divided. The first sentence of the caption is LaTeX's, the others stand below.
    """
    title, *notes = table.sentences
    heads = shared([tuple(name.split()) for name in table.frame.columns])
    pieces = divided(table.frame, heads, len(" ".join(notes)))
    lines = [f"% {PREAMBLE}"]
    for number, (piece, layout) in enumerate(pieces, start=1):
        part = "" if len(pieces) == 1 else f" Part {number} of {len(pieces)}."
        caption = [
            rf"\caption{{{_escaped(title + part)}}}",
            rf"\label{{{label if number == 1 else f'{label}-{number}'}}}",
        ]
        below = notes if number == len(pieces) else []
        lines += _float(_tabular(piece, heads, layout.columns), layout, caption, " ".join(below))
    return "\n".join(lines) + "\n"


def _float(
    tabular: Sequence[str], layout: Layout, caption: Sequence[str], notes: str
) -> Iterator[str]:
    """Yield the lines of a float that no page is too small for."""
    across, turn = (r"0.95\textheight", "rotate=90, ") if layout.turned else (r"\linewidth", "")
    below = [r"\par\smallskip\raggedright\scriptsize", _escaped(notes)] if notes else []
    inner = [
        r"\centering",
        *caption,
        r"\footnotesize\setlength{\tabcolsep}{3pt}",
        *_inside("adjustbox", r"max width=\linewidth", tabular),
        *below,
    ]
    page = _inside("minipage", across, inner)
    whole = _inside("adjustbox", rf"{turn}max totalsize={{\linewidth}}{{0.95\textheight}}", page)
    yield from _inside("table", "", [r"\centering", *whole])


def _inside(environment: str, argument: str, lines: Sequence[str]) -> list[str]:
    """Return the lines in an environment."""
    head = rf"\begin{{{environment}}}" + (f"{{{argument}}}" if argument else "")
    return [head, *(f"  {line}" for line in lines), rf"\end{{{environment}}}"]


def _tabular(frame: pd.DataFrame, heads: Sequence[Head], columns: Sequence[Column]) -> list[str]:
    lines = [
        r"\toprule",
        *_headings(heads, columns),
        r"\midrule",
        *(_row(cells, columns) for cells in frame.to_numpy().tolist()),
        r"\bottomrule",
    ]
    return _inside("tabular", "".join(map(_specification, columns)) or "l", lines)


def _specification(column: Column) -> str:
    """Return what stands for a column in the head of `tabular`."""
    if column.broken:
        return rf">{{\raggedright\arraybackslash}}p{{{LETTER * column.width:.1f}em}}"
    return "r" if column.numeric else "l"


def _headings(heads: Sequence[Head], columns: Sequence[Column]) -> Iterator[str]:
    """Yield the lines of headings, that of single columns last, and rules below what is shared."""
    level = list(heads)
    for left in range(max((head.depth for head in heads), default=1), 1, -1):
        cells, rules, start = [], [], 1
        below: list[Head] = []
        for head in level:
            # What is less deep waits for its own line.
            if head.depth == left:
                cells.append(rf"\multicolumn{{{head.span}}}{{c}}{{{_escaped(head.text)}}}")
                rules.append(rf"\cmidrule(lr){{{start}-{start + head.span - 1}}}")
                below += head.below
            else:
                cells += [""] * head.span
                below.append(head)
            start += head.span
        yield " & ".join(cells) + r" \\"
        yield " ".join(rules)
        level = below
    leaves = (_leaf(head.text, column) for head, column in zip(level, columns, strict=True))
    yield " & ".join(leaves) + r" \\"


def _leaf(text: str, column: Column) -> str:
    """Return the heading of a column, in lines no wider than the column has to be."""
    lines: list[str] = []
    for word in re.findall(rf"(?:{WORD})\s*", text):
        if lines and len(lines[-1]) + len(word.rstrip()) <= column.width:
            lines[-1] += word
        else:
            lines.append(word)
    stacked = r"\\".join(_escaped(line.strip()) for line in lines)
    side = "r" if column.numeric else "l"
    return stacked if len(lines) < 2 else rf"\shortstack[{side}]{{{stacked}}}"


def _row(cells: Sequence[str], columns: Sequence[Column]) -> str:
    texts = (
        _escaped(cell).replace("/", r"\slash{}") if column.broken else _escaped(cell)
        for cell, column in zip(cells, columns, strict=True)
    )
    return " & ".join(texts) + r" \\"


def _escaped(text: str) -> str:
    """Return what LaTeX prints as `text`: neighbours are no ligature, two hyphens no dash."""
    return re.sub(LIGATURE, "{}", text.translate(ESCAPES))
