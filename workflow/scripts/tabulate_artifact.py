"""Print one table of a paper: see fastdecode.report.artifacts."""

from pathlib import Path

from fastdecode.config.papers import Artifact
from fastdecode.errors import clear_errors
from fastdecode.report.artifacts.make import print_table

out = snakemake.output
with clear_errors():
    artifact = Artifact.model_validate(snakemake.params.artifact)
    files = Path(snakemake.input[0]), Path(out.md), Path(out.tex)
    print_table(snakemake.wildcards.artifact, artifact, *files)
