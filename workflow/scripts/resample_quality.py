"""Resample the BLEU of translations: see fastdecode.measure.resampling."""

from pathlib import Path

import numpy as np
import pandas as pd

from fastdecode.errors import clear_errors
from fastdecode.files import open_to_write, read_lines
from fastdecode.measure.resampling import resampled_bleu, resampled_seeds
from fastdecode.translation import read_translations

params = snakemake.params
with clear_errors():
    reference = list(read_lines(Path(snakemake.input.raw)))
    resamples: dict[str, list] = {}
    seeds_of = dict(zip(params.entries, params.drawn_as, strict=True))
    for entry, path in zip(params.entries, snakemake.input.translations, strict=True):
        _, _, translations = read_translations(Path(path))
        texts = [translation.text for translation in translations]
        drawn = resampled_bleu(texts, reference, params.language, params.lowercase)
        resamples.setdefault(entry, []).append(drawn)
    means = {
        entry: resampled_seeds(np.stack(seeds), seeds_of[entry])
        for entry, seeds in resamples.items()
    }
    with open_to_write(Path(snakemake.output[0])) as file:
        pd.DataFrame(means).round(6).to_csv(file, index=False, lineterminator="\n")
