"""Bring one download into place: see fastdecode.corpus.download."""

from pathlib import Path

from fastdecode.config.corpora import DOWNLOADS
from fastdecode.config.read import Configuration
from fastdecode.corpus.download import fetch
from fastdecode.errors import clear_errors

out = Path(snakemake.output[0])
# No parameters: another mirror, or another address of the same bytes, is no reason to fetch again.
mirror = snakemake.config.get("mirror")
definitions = Path(snakemake.scriptdir).resolve().parents[1] / "config"
with clear_errors():
    fetch(
        snakemake.wildcards.key,
        Configuration(snakemake.config, definitions).downloads[snakemake.wildcards.key],
        out,
        Path(mirror).expanduser() if mirror else None,
        Path(DOWNLOADS, "checksums.lock"),
    )
