"""Resamples of how good and how alike samples are, from the statistic that measured them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from fastdecode.measure.resampling import Numbers, resampled_seeds

Where = tuple[str, str, str]  # dataset, split, metric


def sample_scores(documents: Iterable[Mapping[str, Any]]) -> dict[Where, pd.DataFrame]:
    """Return a column for each target/system/temperature, of documents of the statistic `samples`.

    Documents that were written before it had resamples have none; where one seed's has none, the
    mean over seeds has none.
    """
    found: dict[Where, dict[tuple[str, float], list[Numbers]]] = defaultdict(
        lambda: defaultdict(list)
    )
    seeds_of: Counter[tuple[str, str, str]] = Counter()
    for document in documents:
        origin = document["provenance"]
        model = f"{origin['target']}/{origin['system']}"
        seeds_of[origin["dataset"], origin["split"], model] += 1
        for point in document["points"]:
            for metric, drawn in point.get("resamples", {}).items():
                where = (origin["dataset"], origin["split"], metric)
                found[where][model, point["temperature"]].append(np.array(drawn))
    return {
        where: pd.DataFrame(
            {
                f"{model}/{temperature:g}": resampled_seeds(np.stack(seeds), model)
                for (model, temperature), seeds in points.items()
                if len(seeds) == seeds_of[*where[:2], model]
            }
        )
        for where, points in found.items()
    }
