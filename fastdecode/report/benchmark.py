"""The tables of the benchmark: decoders in ratios, stages, batches."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from fastdecode.config.base import read_yaml
from fastdecode.families import untrained
from fastdecode.report.tables import DISTURBED, NOT_MEASURED, to_markdown

Rows = Sequence[Mapping[str, Any]]
BEAM5 = "random/autoregressive-6-6/{}-beam5"
OPPONENTS = {  # who writes what papers are faster than: the first that was timed
    "reference": ("fairseq",),
    "optimised": ("ctranslate2", "fastdecode"),
}
CAPTION = (
    "Random weights, {length} tokens in, and out of what writes step by step, one sentence at a "
    "time, {device}, threads {threads}, {precision}: median milliseconds over {lines} lines and "
    "{repeats} repeats. Ratios are of medians. Reference: the decoder of tier reference that is "
    "asked for the same, with the same model. 6-6 beam 5: fairseq's for decoders of tier "
    "reference, for others CTranslate2's, or ours where that was not timed. Published: what "
    "a paper gives for its own size and GPU. "
    "Floor: the share of the time in which memory ({bandwidth:.1f} GB/s) could deliver the weights "
    "of all passes."
)
INTERRUPTED = "Interrupted: more was asked for, in repeats or in sizes of batches."
STAGES = "Where the time goes: mean milliseconds by stage, one sentence at a time ({family})."
BATCHES = (
    "Batches: median milliseconds a sentence, sentences a second, and the sentences a second over "
    "those of one at a time."
)


def tables(
    rows: Rows, facts: Mapping[str, Any], published: Mapping[str, float] = MappingProxyType({})
) -> str:
    """Return all tables as Markdown.

    `facts` are what CAPTION asks for, and `notes` of families; `published` is of
    `published_speedups`.
    """
    singles = [row for row in rows if row["batch"] == 1]
    early = [INTERRUPTED] if facts["interrupted"] else []
    caption = " ".join([CAPTION.format(**facts), *early, *facts["notes"]])
    parts = [to_markdown(ratios(singles, published), caption)]
    for family in dict.fromkeys(row["family"] for row in singles):
        staged = [row for row in singles if row["family"] == family and row["stages"]]
        if staged:
            parts.append(to_markdown(stages(staged), STAGES.format(family=family)))
    if len(singles) < len(rows):
        parts.append(to_markdown(batches(rows), BATCHES))
    return "\n".join(parts)


def opponent(rows: Rows, tier: str) -> Mapping[str, Any] | None:
    """Return the beam 5 that decoders of a tier stand over, if one was timed."""
    found = {row["name"]: row for row in rows}
    names = map(BEAM5.format, OPPONENTS[tier])
    return next((found[name] for name in names if name in found), None)


def published_speedups(rows: Rows, definitions: Path) -> dict[str, float]:
    """Return what papers published of the rows, by name; `definitions` is the folder config/.

    The family's room says where it stands (`untrained.PUBLISHED`): paper, artifact, line and key.
    """
    read = cache(read_yaml)
    found = {}
    for row in rows:
        places = getattr(untrained(row["family"]), "PUBLISHED", {})
        if place := places.get(f"{row['layers']}/{row['decoder']}"):
            paper, artifact, line, key = place.split(".")
            artifacts = read(definitions / "papers" / f"{paper}.yaml")["artifacts"]
            found[row["name"]] = float(artifacts[artifact]["rows"][line][key])
    return found


def ratios(rows: Rows, published: Mapping[str, float] = MappingProxyType({})) -> pd.DataFrame:
    """Return a line for every model and decoder, with ratios of medians.

    `published` has the papers' speed-ups, by name.
    """
    named = {row["name"]: row for row in rows}
    peers = (row["precision"] for row in rows if row["decoder"].startswith("ctranslate2-"))
    peer = f"over CTranslate2 {next(peers, '')}".rstrip()

    def over(row: Mapping[str, Any], name: str | None) -> str:
        other = named.get(str(name))
        if not other:
            return NOT_MEASURED
        return f"×{other['median'] / row['median']:.2f}{_mark(other, row)}"

    opponents = {tier: (opponent(rows, tier) or {}).get("name") for tier in OPPONENTS}
    lines = []
    for row in rows:
        same_search = row["decoder"].partition("-")[2]
        ctranslate2 = f"{row['target']}/{row['system']}/ctranslate2-{same_search}"
        lines.append(
            {
                **_who(row),
                "precision": row["precision"],
                "ms": f"{row['median']:.1f}{_mark(row)}",
                "p90": f"{row['p90']:.1f}",
                "passes": f"{row['passes']:.0f}",
                "layers in turn": f"{row['serial_layers']:.0f}",
                "MB a pass": f"{row['bytes_per_pass'] / 1e6:.3g}",
                "floor": f"{row['floor_fraction']:.2f}",
                "over reference": over(row, row["over"]),
                peer: over(row, ctranslate2),
                "over 6-6 beam 5": over(row, opponents[row["tier"]]),
                "published": f"×{published[row['name']]:g}"
                if row["name"] in published
                else NOT_MEASURED,
            }
        )
    return pd.DataFrame(lines, dtype=str)


def stages(rows: Rows) -> pd.DataFrame:
    """Return a line for every model and decoder of one family, with a column for each stage."""
    names = dict.fromkeys(stage for row in rows for stage in row["stages"])
    lines = [
        {**_who(row), **{name: _number(row["stages"].get(name)) for name in names}} for row in rows
    ]
    return pd.DataFrame(lines, dtype=str)


def batches(rows: Rows) -> pd.DataFrame:
    """Return a line for every model, decoder and batch size."""
    alone = {row["name"]: row for row in rows if row["batch"] == 1}
    lines = []
    for row in sorted(rows, key=lambda row: [r["name"] for r in rows].index(row["name"])):
        single = alone[row["name"]]
        gain = row["sentences_per_second"] / single["sentences_per_second"]
        lines.append(
            {
                **_who(row),
                "batch": str(row["batch"]),
                "ms": _number(row["median"] / row["batch"]) + _mark(row),
                "sentences/s": f"{row['sentences_per_second']:.3g}",
                "over singles": f"×{gain:.2f}{_mark(single, row)}",
            }
        )
    return pd.DataFrame(lines, dtype=str)


def _mark(*rows: Mapping[str, Any]) -> str:
    """Return the mark of a number that is made of the times of some rows."""
    return DISTURBED if any(row["disturbed"] for row in rows) else ""


def _who(row: Mapping[str, Any]) -> dict[str, str]:
    return {"family": row["family"], "layers": row["layers"], "decoder": row["decoder"]}


def _number(milliseconds: float | None) -> str:
    return NOT_MEASURED if milliseconds is None else f"{milliseconds:.1f}"
