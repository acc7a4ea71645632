"""Table 11: sentences as they are drafted and verified, iteration by iteration."""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import pandas as pd

from fastdecode.config.papers import BESIDE, Artifact
from fastdecode.report.aggressive import tokens
from fastdecode.report.aggressive.tokens import Marked
from fastdecode.report.artifacts.cells import CELLS, published_cells
from fastdecode.report.artifacts.documents import documents, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.sources import LABEL, OURS, PUBLISHED
from fastdecode.report.tables import Table

ITERATIONS, SOURCE, RESULT = "iterations", "source", "result"
DRAFT, VERIFY = "draft", "verify"
SIGNS = {tokens.TOLERATED: "+{}", tokens.REFUSED: "[{}]", tokens.OWN: "[{}]", tokens.DROPPED: "×{}"}
LEGEND = (
    "In round brackets: written in iterations before. In square ones: where both part, the draft's "
    "token and the verifier's own, which also stands behind a whole draft. ×: dropped. +: "
    "accepted, though not the verifier's likeliest. What is drafted behind `</s>` is left out."
)
MEANINGS = {
    tokens.GIVEN: "written in iterations before",
    tokens.ACCEPTED: "accepted: the verifier's likeliest",
    tokens.TOLERATED: "accepted, though not its likeliest",
    tokens.REFUSED: "refused: here both part",
    tokens.OWN: "the verifier's own, kept",
    tokens.DROPPED: "dropped",
}
STYLE = """
:root { color-scheme: light; }
body { font-family: sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; }
table { border-collapse: collapse; margin-bottom: 2em; }
th { text-align: left; padding: .2em 1em .2em 0; vertical-align: top; font-weight: normal; }
td { line-height: 1.8; }
span { padding: .1em .3em; border-radius: .2em; border: 1px solid transparent; }
.given { background: #e8e8e8; }
.tolerated { background: #cfe4f5; border-color: #0072b2; }
.refused { background: #f8dccb; border: 1px dashed #d55e00; }
.own { border: 2px solid #009e73; font-weight: bold; }
.dropped { color: #777; text-decoration: line-through; }
"""


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells: published iterations, and of ours these and every line of the case.

    `ours` of a row is the trace that it shows. A cell of a draft or a verification holds its
    tokens, and as many marks: what became of each (fastdecode.report.aggressive.tokens). Of each
    dataset the first seed's trace is shown.
    """
    found = published_cells(evidence.artifact)
    for dataset in evidence.parts:
        for document in documents(evidence, dataset, "traces")[:1]:
            same = origin(document)
            for name, row in evidence.artifact.rows.items():
                example = int(str(row["example"])) - 1
                if example < len(document["lines"]):
                    line = document["lines"][example]
                    for cell in _case(line, line["traces"][row[BESIDE]]):
                        found.append({"row": name, **same, **cell})
    return CELLS.frame(found)


def _case(line: Mapping[str, Any], trace: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"column": ITERATIONS, "value": len(trace["iterations"]), "n": 1}
    yield {"column": SOURCE, "text": " ".join(line["source"])}
    for number, iteration in enumerate(trace["iterations"], 1):
        before = tokens.prefix(iteration)
        yield {"column": f"{DRAFT} {number}", **_marked(before + tokens.drafted(iteration))}
        yield {"column": f"{VERIFY} {number}", **_marked(before + tokens.verified(iteration))}
    yield {"column": RESULT, "text": " ".join(trace["translation"])}


def _marked(line: list[Marked]) -> dict[str, str]:
    words, states = zip(*line, strict=True)
    return {"text": " ".join(words), "marks": " ".join(states)}


def printed(name: str, artifact: Artifact, cells: pd.DataFrame) -> Table:
    """Return the table as it is printed: a line for each step of each case."""
    lines: list[dict[str, str]] = []
    for row in artifact.rows:
        head = {
            **{
                heading: _published(cells, row, LABEL, key)
                for key, heading in artifact.labels.items()
            },
            f"published {ITERATIONS}": _published(cells, row, PUBLISHED, ITERATIONS),
        }
        cases = list(_cases(cells, row))
        lines += [head] if not cases else []
        for dataset, case in cases:
            steps = [cell for cell in case if cell["column"] != ITERATIONS]
            count = next(f"{cell['value']:g}" for cell in case if cell["column"] == ITERATIONS)
            for cell in steps:
                lines.append(
                    {**head, "dataset": dataset, ITERATIONS: count}
                    | {"step": cell["column"], "tokens": _signed(cell["text"], cell["marks"])}
                )
                head = dict.fromkeys(head, "")
                dataset = count = ""
    frame = pd.DataFrame(lines, dtype=str).fillna("")
    return Table(frame, [*_caption(name, artifact, cells), LEGEND])


def page(name: str, artifact: Artifact, cells: pd.DataFrame) -> str:
    """Return the table as a page of HTML, in which tokens are coloured by what became of them."""
    parts = [f"<h1>{escape(artifact.title.capitalize())}</h1>"]
    parts += [f"<p>{escape(' '.join(_caption(name, artifact, cells)))}</p>", "<p>"]
    parts += [f"{_span(text, state)}<br>" for state, text in MEANINGS.items()]
    parts += ["What is drafted behind <code>&lt;/s&gt;</code> is left out.</p>"]
    for row in artifact.rows:
        labels = [_published(cells, row, LABEL, key) for key in artifact.labels]
        published = _published(cells, row, PUBLISHED, ITERATIONS)
        for dataset, case in _cases(cells, row):
            count = next(f"{cell['value']:g}" for cell in case if cell["column"] == ITERATIONS)
            title = f"{dataset}: {', '.join(labels)}, {count} iterations (published: {published})"
            parts.append(f"<h2>{escape(title)}</h2>\n<table>")
            for cell in case:
                if cell["column"] != ITERATIONS:
                    spans = _spans(cell["text"], cell["marks"])
                    parts.append(f'<tr><th scope="row">{cell["column"]}</th><td>{spans}</td></tr>')
            parts.append("</table>")
    body = "\n".join(parts)
    head = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(name)}</title><style>{STYLE}</style>",
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{"".join(head)}</head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def _cases(cells: pd.DataFrame, row: str) -> Iterator[tuple[str, list[dict[Any, Any]]]]:
    ours = cells[(cells["source"] == OURS) & (cells["row"] == row)]
    for dataset, case in ours.groupby("dataset", sort=False):
        yield str(dataset), case.to_dict("records")


def _published(cells: pd.DataFrame, row: str, source: str, column: str) -> str:
    found = cells[(cells["row"] == row) & (cells["source"] == source) & (cells["column"] == column)]
    return next((cell["text"] or f"{cell['value']:g}" for cell in found.to_dict("records")), "")


def _signed(text: str, marks: str) -> str:
    """Return tokens with signs for what became of them; those written before in brackets."""
    if not marks:
        return text
    pairs = list(zip(text.split(" "), marks.split(" "), strict=True))
    before = " ".join(token for token, state in pairs if state == tokens.GIVEN)
    new = [SIGNS.get(state, "{}").format(token) for token, state in pairs if state != tokens.GIVEN]
    return " ".join([f"({before})", *new] if before else new)


def _spans(text: str, marks: str) -> str:
    if not marks:
        return escape(text)
    pairs = zip(text.split(" "), marks.split(" "), strict=True)
    return " ".join(_span(token, state) for token, state in pairs)


def _span(text: str, state: str) -> str:
    return f'<span class="{state}">{escape(text)}</span>'


def _caption(name: str, artifact: Artifact, cells: pd.DataFrame) -> Iterator[str]:
    yield f"{name}: {artifact.title}."
    yield f"Published: {artifact.setting}."
    ours = cells[cells["source"] == OURS].drop_duplicates(["dataset", "what"])
    if ours.empty:
        yield "Nothing of it was run here."
    for cell in ours.to_dict("records"):
        yield f"Ours: {cell['what']} on {cell['dataset']}, {cell['split']}, {cell['precision']}."
    for note in artifact.notes:
        yield f"Note: {note}."
