"""Table 11: sentences as they are drafted and verified, iteration by iteration."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fastdecode.config.papers import BESIDE, Artifact
from fastdecode.report.aggressive import tokens
from fastdecode.report.aggressive.tokens import Marked
from fastdecode.report.artifacts.beside import published_heading
from fastdecode.report.artifacts.caption import captioned
from fastdecode.report.artifacts.cells import CELLS, published_cells
from fastdecode.report.artifacts.documents import firsts, origin
from fastdecode.report.artifacts.evidence import Evidence
from fastdecode.report.artifacts.sources import LABEL, OURS, PUBLISHED
from fastdecode.report.tables import Table
from fastdecode.report.templates import template

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
TEMPLATE = Path(__file__).with_name("cases.html")


def cells(evidence: Evidence) -> pd.DataFrame:
    """Return the cells: published iterations, and of ours these and every line of the case.

    `ours` of a row is the trace that it shows. A cell of a draft or a verification holds its
    tokens, and as many marks: what became of each (fastdecode.report.aggressive.tokens). Of each
    dataset the first seed's trace is shown.
    """
    found = published_cells(evidence.artifact)
    for document in firsts(evidence, "traces"):
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
            published_heading(ITERATIONS): _published(cells, row, PUBLISHED, ITERATIONS),
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
    cases = []
    for row in artifact.rows:
        labels = [_published(cells, row, LABEL, key) for key in artifact.labels]
        published = _published(cells, row, PUBLISHED, ITERATIONS)
        for dataset, case in _cases(cells, row):
            count = next(f"{cell['value']:g}" for cell in case if cell["column"] == ITERATIONS)
            title = f"{dataset}: {', '.join(labels)}, {count} iterations (published: {published})"
            steps = [
                (cell["column"], _coloured(cell["text"], cell["marks"]))
                for cell in case
                if cell["column"] != ITERATIONS
            ]
            cases.append({"title": title, "steps": steps})
    return template(TEMPLATE).render(
        name=name,
        title=artifact.title[:1].upper() + artifact.title[1:],
        caption=" ".join(_caption(name, artifact, cells)),
        meanings=MEANINGS,
        cases=cases,
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


def _coloured(text: str, marks: str) -> list[tuple[str, str]]:
    """Return tokens with what became of each; what has no marks is all of it one, with none."""
    if not marks:
        return [(text, "")]
    return list(zip(text.split(" "), marks.split(" "), strict=True))


def _caption(name: str, artifact: Artifact, cells: pd.DataFrame) -> list[str]:
    ours = cells[cells["source"] == OURS].drop_duplicates(["dataset", "what"])
    said = [
        f"Ours: {cell['what']} on {cell['dataset']}, {cell['split']}, {cell['precision']}."
        for cell in ours.to_dict("records")
    ]
    return captioned(name, artifact, said, run=not ours.empty)
