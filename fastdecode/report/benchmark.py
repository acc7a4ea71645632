"""The tables of the benchmark: decoders in ratios, stages, batches."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from fastdecode.report.tables import NOT_MEASURED, to_markdown

Rows = Sequence[Mapping[str, Any]]
BEAM5 = "random/autoregressive-6-6/{}-beam5"
OPPONENTS = {  # who writes what papers are faster than, and the fastest of those that were timed
    "reference": ("fairseq",),
    "optimised": ("ctranslate2", "fastdecode"),
}
CAPTION = (
    "Random weights, {length} tokens in and out, one sentence at a time, {device}, threads "
    "{threads}, {precision}: median milliseconds over {lines} lines and {repeats} repeats. Ratios "
    "are of medians. Reference: the decoder of tier reference that is asked for the same, with the "
    "same model. 6-6 beam 5: fairseq's for decoders of tier reference, for others CTranslate2's, "
    "or ours where that was not timed. "
    "Floor: the share of the time in which memory ({bandwidth:.1f} GB/s) could deliver the weights "
    "of all passes."
)
STAGES = "Where the time goes: mean milliseconds by stage, one sentence at a time ({family})."
BATCHES = (
    "Batches: median milliseconds a sentence, sentences a second, and the sentences a second over "
    "those of one at a time."
)


def tables(rows: Rows, facts: Mapping[str, Any]) -> str:
    """Return all tables as Markdown; `facts` are what CAPTION asks for, and `notes` of families."""
    singles = [row for row in rows if row["batch"] == 1]
    caption = " ".join([CAPTION.format(**facts), *facts["notes"]])
    parts = [to_markdown(ratios(singles), caption)]
    for family in dict.fromkeys(row["family"] for row in singles):
        staged = [row for row in singles if row["family"] == family and row["stages"]]
        if staged:
            parts.append(to_markdown(stages(staged), STAGES.format(family=family)))
    if len(singles) < len(rows):
        parts.append(to_markdown(batches(rows), BATCHES))
    return "\n".join(parts)


def ratios(rows: Rows) -> pd.DataFrame:
    """Return a line for every model and decoder, with ratios of medians."""
    medians = {row["name"]: row["median"] for row in rows}
    peers = (row["precision"] for row in rows if row["decoder"].startswith("ctranslate2-"))
    peer = f"over CTranslate2 {next(peers, '')}".rstrip()

    def over(row: Mapping[str, Any], name: str | None) -> str:
        other = medians.get(name)
        return f"×{other / row['median']:.2f}" if other else NOT_MEASURED

    opponents = {
        tier: next((name for name in map(BEAM5.format, engines) if name in medians), None)
        for tier, engines in OPPONENTS.items()
    }
    lines = []
    for row in rows:
        same_search = row["decoder"].partition("-")[2]
        ctranslate2 = f"{row['target']}/{row['system']}/ctranslate2-{same_search}"
        lines.append(
            {
                **_who(row),
                "precision": row["precision"],
                "ms": f"{row['median']:.1f}" + ("†" if row["disturbed"] else ""),
                "p90": f"{row['p90']:.1f}",
                "passes": f"{row['passes']:.0f}",
                "layers in turn": f"{row['serial_layers']:.0f}",
                "MB a pass": f"{row['bytes_per_pass'] / 1e6:.3g}",
                "floor": f"{row['floor_fraction']:.2f}",
                "over reference": over(row, row["over"]),
                peer: over(row, ctranslate2),
                "over 6-6 beam 5": over(row, opponents[row["tier"]]),
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
    speed = {(row["name"], row["batch"]): row["sentences_per_second"] for row in rows}
    lines = []
    for row in sorted(rows, key=lambda row: [r["name"] for r in rows].index(row["name"])):
        gain = speed[row["name"], row["batch"]] / speed[row["name"], 1]
        lines.append(
            {
                **_who(row),
                "batch": str(row["batch"]),
                "ms": _number(row["median"] / row["batch"]) + ("†" if row["disturbed"] else ""),
                "sentences/s": f"{row['sentences_per_second']:.3g}",
                "over singles": f"×{gain:.2f}",
            }
        )
    return pd.DataFrame(lines, dtype=str)


def _who(row: Mapping[str, Any]) -> dict[str, str]:
    return {"family": row["family"], "layers": row["layers"], "decoder": row["decoder"]}


def _number(milliseconds: float | None) -> str:
    return NOT_MEASURED if milliseconds is None else f"{milliseconds:.1f}"
