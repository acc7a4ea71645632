"""Bring one download into place: see fastdecode.corpus.download."""

from pathlib import Path

from fastdecode.config.corpora import DOWNLOADS, Download
from fastdecode.corpus.download import fetch
from fastdecode.errors import clear_errors

out = Path(snakemake.output[0])
mirror = snakemake.config.get("mirror")  # no parameter: another mirror is no reason to fetch again
with clear_errors():
    fetch(
        snakemake.wildcards.key,
        Download.model_validate(snakemake.params.row),
        out,
        Path(mirror) if mirror else None,
        Path(DOWNLOADS, "checksums.lock"),
    )
