"""Translate one test split with one system and decoder: see fastdecode.decode."""

from pathlib import Path

import torch

from fastdecode.decode import MOST_TOKENS, decode_all, load_system
from fastdecode.devices import own_devices
from fastdecode.errors import clear_errors
from fastdecode.files import read_lines
from fastdecode.provenance import provenance
from fastdecode.text import Text
from fastdecode.translation import write_translations

names, params = snakemake.wildcards, snakemake.params
gpus = own_devices(params.device, snakemake.resources.gpu, snakemake.resources.gpu_sharers)
with clear_errors(), gpus:
    torch.set_num_threads(1)  # as in every other translation, so that it repeats exactly
    text = Text(**params.text, codes=Path(snakemake.input.codes).parent)
    system = load_system(
        list(map(Path, snakemake.input.checkpoints)),
        Path(snakemake.input.data),
        params.device,
        params.precision,
        Path(params.assets) if params.assets else None,
        {name: Path(path) for name, path in params.companions.items()},
    )
    decoder = system.decoder(params.family, params.decoder, text.target_text)
    lines = list(read_lines(Path(snakemake.input.lines)))
    label = f"translate {names.target}/{names.system} {names.split} {names.decoder}"
    sentences = [text.source_tokens(line) for line in lines]
    origin = provenance(
        decoder=names.decoder,
        split=names.split,
        settings=params.decoder,
        **params.provenance,
    )
    translations = decode_all(decoder, sentences, MOST_TOKENS, label, system.longest)
    write_translations(Path(snakemake.output[0]), {"provenance": origin}, lines, translations)
