"""Translate one part of the training text with a teacher: see fastdecode.decode."""

from pathlib import Path

import torch

from fastdecode.decode import distill_shard, load_system
from fastdecode.devices import own_devices
from fastdecode.errors import clear_errors

names, files, params = snakemake.wildcards, snakemake.input, snakemake.params
gpus = own_devices(params.device, snakemake.resources.gpu, snakemake.resources.gpu_sharers)
with clear_errors(), gpus:
    torch.set_num_threads(1)
    system = load_system(
        [Path(path) for path in files.checkpoints],
        Path(files.data),
        params.device,
        params.precision,
    )
    distill_shard(
        system,
        system.decoder(params.family, params.decoder, finish=" ".join),
        Path(files.source),
        int(names.shard),
        int(names.shards),
        Path(snakemake.output[0]),
        f"distill {names.dataset}/{names.target} {names.shard} of {names.shards}",
    )
