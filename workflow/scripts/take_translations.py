"""Take translations that were made elsewhere: see fastdecode.given."""

from pathlib import Path

from fastdecode.corpus.tokenise import tokeniser
from fastdecode.errors import clear_errors
from fastdecode.given import take_translations
from fastdecode.provenance import provenance

names, params = snakemake.wildcards, snakemake.params
more = {"decoder": names.decoder, "split": names.split, "device": params.device}
with clear_errors():
    take_translations(
        Path(snakemake.input.given),
        Path(snakemake.input.lines),
        Path(snakemake.output[0]),
        provenance(**params.names, **more),
        tokeniser(params.language, lowercase=params.lowercase, pretokenised=params.pretokenised),
    )
