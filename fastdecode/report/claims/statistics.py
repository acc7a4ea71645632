"""Resamples of what statistics measured: shares of tokens, the quality and spread of samples."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from fastdecode.measure.resampling import Numbers, resampled_ratio, resampled_seeds

Document = Mapping[str, Any]
Where = tuple[str, str, str]  # dataset, split, metric
IN_PERCENT = ("accuracy", "recall")  # as their artifacts have them


def statistic_scores(documents: Iterable[Document]) -> dict[Where, pd.DataFrame]:
    """Return a column for each target/system, or target/system/part, of documents of statistics.

    Documents that were written before they had resamples, or counts of lines, have none; where one
    seed's has none, the mean over seeds has none.
    """
    trained: dict[tuple[str, ...], list[Document]] = defaultdict(list)
    for document in documents:
        origin = document["provenance"]
        model = f"{origin['target']}/{origin['system']}"
        where = (origin[key] for key in ("dataset", "split", "statistic"))
        trained[*where, model].append(document)
    found: dict[Where, dict[str, Numbers]] = defaultdict(dict)
    for (dataset, split, _, model), seeds in trained.items():
        first, *others = map(_resamples, seeds)
        for metric, part in first:
            if all((metric, part) in other for other in others):
                drawn = np.stack([seed[metric, part] for seed in (first, *others)])
                column = f"{model}/{part}" if part else model
                found[dataset, split, metric][column] = resampled_seeds(drawn, model)
    return {where: pd.DataFrame(columns) for where, columns in found.items()}


def _resamples(document: Document) -> dict[tuple[str, str], Numbers]:
    """Return every resample's number, (R,), by metric and by what of the lines it is of."""
    statistic = document["provenance"]["statistic"]
    scale = 100 if statistic in IN_PERCENT else 1
    return {
        **{
            (metric, f"{point['temperature']:g}"): np.array(drawn)
            for point in document.get("points", ())
            for metric, drawn in point.get("resamples", {}).items()
        },
        **{
            (statistic, part): scale * resampled_ratio(np.array(counts))
            for part, counts in document.get("by_line", {}).items()
        },
    }
