"""Print one table of a paper as a page of HTML: see fastdecode.report.artifacts."""

from pathlib import Path

from fastdecode.config.papers import Artifact
from fastdecode.errors import clear_errors
from fastdecode.report.artifacts.make import print_page

with clear_errors():
    artifact = Artifact.model_validate(snakemake.params.artifact)
    files = Path(snakemake.input[0]), Path(snakemake.output[0])
    print_page(snakemake.wildcards.artifact, artifact, *files)
