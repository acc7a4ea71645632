"""Resample what translations have: see fastdecode.measure.resamples."""

from pathlib import Path

import numpy as np
import pandas as pd

from fastdecode.errors import clear_errors
from fastdecode.files import read_lines, write_csv
from fastdecode.measure.resamples import Reference, resamples
from fastdecode.measure.resampling import resampled_seeds
from fastdecode.translation import read_translations

params = snakemake.params
with clear_errors():
    reference = Reference(
        raw=list(read_lines(Path(snakemake.input.raw))),
        tokenised=list(read_lines(Path(snakemake.input.tokenised))),
        language=params.language,
        lowercase=params.lowercase,
    )
    seeds_of = dict(zip(params.entries, params.drawn_as, strict=True))
    found: dict[tuple[str, str], list] = {}
    for entry, path in zip(params.entries, snakemake.input.translations, strict=True):
        _, _, translations = read_translations(Path(path))
        drawn = resamples(snakemake.wildcards.metric, translations, reference)
        for part, numbers in drawn.items():
            found.setdefault((entry, part), []).append(numbers)
    means = {
        f"{entry}/{part}" if part else entry: resampled_seeds(np.stack(seeds), seeds_of[entry])
        for (entry, part), seeds in found.items()
    }
    write_csv(Path(snakemake.output[0]), pd.DataFrame(means).round(9))
