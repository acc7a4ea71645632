"""Measure one statistic of one system on one split: see fastdecode.measure.statistic."""

from pathlib import Path

import torch

from fastdecode.decode import load_system
from fastdecode.devices import own_devices
from fastdecode.errors import clear_errors
from fastdecode.families import statistic
from fastdecode.files import write_json
from fastdecode.measure.statistic import (
    MOST_TRAINING_LINES,
    read_split,
    readable_text,
    right_translations,
)
from fastdecode.provenance import provenance

files, names, params = snakemake.input, snakemake.wildcards, snakemake.params
gpus = own_devices(params.device, snakemake.resources.gpu, snakemake.resources.gpu_sharers)
with clear_errors(), gpus:
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
    generated = Path(files.references) if files.get("references") else None
    right = right_translations(generated, list(map(Path, files.more)))
    codes = [Path(path) for path in files.codes]
    text = readable_text(right, params.text, codes[0].parent)
    most = MOST_TRAINING_LINES if names.split == "train" else None
    split = read_split(Path(files.source), Path(files.target), codes, teacher, text, most)
    origin = provenance(split=names.split, statistic=names.statistic, **params.provenance)
    measured = statistic(params.family, names.statistic)(system, split)
    write_json(Path(snakemake.output[0]), {"provenance": origin, **measured})
