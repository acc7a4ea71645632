"""Translate one part of the training text with a teacher: see fastdecode.decode."""

from pathlib import Path

import torch

from fastdecode.config.rows import AutoregressiveDecoder
from fastdecode.decode import distill_shard, load_system
from fastdecode.errors import clear_errors

names = snakemake.wildcards
with clear_errors():
    torch.set_num_threads(1)
    distill_shard(
        load_system(
            [Path(path) for path in snakemake.input.checkpoints],
            Path(snakemake.input.data),
            snakemake.params.device,
        ),
        AutoregressiveDecoder.model_validate(snakemake.params.decoder),
        Path(snakemake.input.source),
        int(names.shard),
        int(names.shards),
        Path(snakemake.output[0]),
        f"distill {names.dataset}/{names.target} {names.shard} of {names.shards}",
    )
