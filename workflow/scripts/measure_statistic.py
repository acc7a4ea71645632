"""Measure one statistic of one system on one split: see fastdecode.measure.statistic."""

from pathlib import Path

import torch

from fastdecode.decode import load_system
from fastdecode.errors import clear_errors
from fastdecode.families import statistic
from fastdecode.files import write_json
from fastdecode.measure.statistic import read_split
from fastdecode.provenance import provenance

files, names, params = snakemake.input, snakemake.wildcards, snakemake.params
with clear_errors():
    torch.set_num_threads(1)  # as in every translation, so that it repeats exactly
    system = load_system(
        [Path(files.checkpoint)],
        Path(files.data),
        params.device,
        params.precision,
        Path(params.assets) if params.assets else None,
        {name: Path(path) for name, path in params.companions.items()},
    )
    teacher = Path(files.teacher) if files.get("teacher") else None
    split = read_split(Path(files.source), Path(files.target), [*map(Path, files.codes)], teacher)
    measured = statistic(params.family, names.statistic)(system, split)
    origin = provenance(
        decoder=None, split=names.split, statistic=names.statistic, **params.provenance
    )
    write_json(Path(snakemake.output[0]), {"provenance": origin, **measured})
