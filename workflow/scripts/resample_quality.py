"""Resample the BLEU of translations: see fastdecode.measure.resampling."""

from pathlib import Path

import numpy as np
import pandas as pd

from fastdecode.errors import clear_errors
from fastdecode.files import open_to_write, read_lines
from fastdecode.measure.resampling import (
    resampled_bleu,
    resampled_bleu_by_length,
    resampled_seeds,
)
from fastdecode.translation import read_translations

params = snakemake.params
with clear_errors():
    reference = list(read_lines(Path(snakemake.input.raw)))
    seeds_of = dict(zip(params.entries, params.drawn_as, strict=True))
    lengths = [len(line.split()) for line in read_lines(Path(snakemake.input.tokenised))]
    resamples: dict[tuple[str, str], list] = {}
    for entry, path in zip(params.entries, snakemake.input.translations, strict=True):
        _, _, translations = read_translations(Path(path))
        texts = [translation.text for translation in translations]
        kind = (params.language, params.lowercase)
        if snakemake.wildcards.metric == "bleu_by_length":
            drawn = resampled_bleu_by_length(texts, reference, lengths, *kind)
        else:
            drawn = {"": resampled_bleu(texts, reference, *kind)}
        for part, scores in drawn.items():
            resamples.setdefault((entry, part), []).append(scores)
    means = {
        f"{entry}/{part}" if part else entry: resampled_seeds(np.stack(seeds), seeds_of[entry])
        for (entry, part), seeds in resamples.items()
    }
    with open_to_write(Path(snakemake.output[0])) as file:
        pd.DataFrame(means).round(6).to_csv(file, index=False, lineterminator="\n")
