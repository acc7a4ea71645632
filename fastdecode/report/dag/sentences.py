"""Graphs as the drawings take them: points of one sentence, and series that are numbered."""

from typing import Any

import pandas as pd

from fastdecode.report.artifacts.documents import Document

LINKS, CANDIDATE, HYPOTHESIS, PATH = "links of", "candidate", "hypothesis", "path"  # with a number


def sentence_points(sentence: Document) -> list[dict[str, Any]]:
    """Return points of one sentence of the statistic `graphs`, without their origin.

    Vertices count from 1. Series: `source` and `reference` (label: the words); `passing` (x: the
    vertex, y: probability); `candidate n` (x: vertex, y: probability, label: token); `links of u`
    (x: next vertex, y: probability); `hypothesis n` (x: n, y: score, label: the words); `path n` of
    a hypothesis, and `path 0`, lookahead's (x: place, y: vertex, label: token).
    """
    lines: list[dict[str, Any]] = [
        {"series": side, "label": " ".join(sentence[side])} for side in ("source", "reference")
    ]
    vertices = sentence["vertices"]
    for vertex, here in enumerate(vertices, 1):
        lines.append({"series": "passing", "x": vertex, "y": here["passing"]})
        for n, (token, chance) in enumerate(
            zip(here["tokens"], here["probabilities"], strict=True), 1
        ):
            lines.append({"series": f"{CANDIDATE} {n}", "x": vertex, "y": chance, "label": token})
    for vertex, leaving in enumerate(sentence["links"], 1):
        lines += [
            {"series": f"{LINKS} {vertex}", "x": after + 1, "y": chance}
            for after, chance in leaving
        ]
    walked = sentence["lookahead"]
    paths = [(walked, [vertices[vertex]["tokens"][0] for vertex in walked])]
    for n, hypothesis in enumerate(sentence["hypotheses"], 1):
        text = " ".join(hypothesis["tokens"])
        lines.append(
            {"series": f"{HYPOTHESIS} {n}", "x": n, "y": hypothesis["score"], "label": text}
        )
        paths.append((hypothesis["path"], ["<s>", *hypothesis["tokens"], "</s>"]))
    for n, (path, tokens) in enumerate(paths):
        lines += [
            {"series": f"{PATH} {n}", "x": place, "y": vertex + 1, "label": token}
            for place, (vertex, token) in enumerate(zip(path, tokens, strict=True), 1)
        ]
    return lines


def numbered(points: pd.DataFrame, word: str) -> dict[int, pd.DataFrame]:
    """Return the series called by a word and a number, by their numbers, in order."""
    found = points[points["series"].str.match(rf"{word} \d+$")]
    groups = {int(str(series).rpartition(" ")[2]): rows for series, rows in found.groupby("series")}
    return dict(sorted(groups.items()))


def words_of(points: pd.DataFrame, series: str) -> str:
    """Return the label of a series of one point; nothing if there is none."""
    return " ".join(points.loc[points["series"] == series, "label"])
